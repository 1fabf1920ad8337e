"""Diagnostics as people see them."""

from __future__ import annotations

import re

from hypothesis import example, given
from hypothesis import strategies as st

from rules.diagnostics import Diagnostic, Label
from rules.render import LONG, render, render_all
from rules.source import SourceFile, Span


def place(text: str, part: str, name: str = "a.rules") -> Span:
    file = SourceFile(name, text)
    return Span(file, text.index(part), text.index(part) + len(part))


def drawn(span: Span | None, **more: object) -> list[str]:
    return render(Diagnostic("CEP0101", "error", "what", span, **more)).splitlines()  # type: ignore[arg-type]


def test_a_place_is_underlined() -> None:
    assert drawn(place("one\ntwo three\n", "three"), note="here", help="do this") == [
        "error[CEP0101]: what",
        " --> a.rules:2:5",
        "  |",
        "2 | two three",
        "  |     ^^^^^ here",
        "  = help: do this",
    ]


def test_without_a_place_there_is_a_line() -> None:
    assert drawn(None) == ["error[CEP0101]: what"]


def test_tabs_and_wide_characters_keep_the_underline_below() -> None:
    assert drawn(place("\ta\t中文 e\u0301x bad", "bad"))[3:] == [
        "1 |     a   中文 e\u0301x bad",
        "  |" + " " * 17 + "^^^",
    ]


def test_an_underline_over_a_tab_reaches_to_its_end() -> None:
    assert drawn(place("a\tb", "\t"))[3:] == ["1 | a   b", "  |  ^^^"]


def test_control_characters_do_not_reach_the_terminal() -> None:
    text = drawn(place("a \x1b[31m \u202e bad", "bad"))[3]
    assert text == "1 | a \ufffd[31m \ufffd bad"


def test_secondary_places_follow_in_order_of_line() -> None:
    source = "first\nsecond\nthird\nfourth fourth2\n"
    main = place(source, "fourth2")
    labels = (Label(Span(main.file, 0, 5), "one"), Label(Span(main.file, 19, 25), "same line"))
    assert drawn(main, labels=labels)[3:] == [
        "1 | first",
        "  | ----- one",
        "...",
        "4 | fourth fourth2",
        "  |        ^^^^^^^",
        "  | ------ same line",
    ]


def test_places_in_another_file_are_named() -> None:
    label = Label(place("other text", "text", "b.rules"), "there")
    assert drawn(place("some text", "some"), labels=(label,))[3:] == [
        "1 | some text",
        "  | ^^^^",
        " ::: b.rules:1:7",
        "  |",
        "1 | other text",
        "  |       ---- there",
    ]


def test_a_place_of_several_lines_shows_its_first() -> None:
    assert drawn(place("rule r {\n  on\n}", "{\n  on\n}"))[3:] == ["1 | rule r {", "  |        ^"]


def test_the_end_of_a_file_can_be_underlined() -> None:
    file = SourceFile("a", "abc")
    assert drawn(Span(file, 3, 3))[3:] == ["1 | abc", "  |    ^"]


def test_long_lines_are_cut_around_the_place() -> None:
    line, under = drawn(place("x" * 5_000 + "bad" + "y" * 5_000, "bad"))[3:]
    assert len(line) == len("1 | ") + LONG
    start = under.index("^")
    assert line[start : start + 3] == "bad"


def test_colours_change_no_text() -> None:
    diagnostic = Diagnostic("CEP0101", "warning", "what", place("a bad b", "bad"), "note", help="help")
    coloured = render(diagnostic, colour=True)
    assert "\x1b[1;33m" in coloured
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == render(diagnostic)


def test_several_have_an_empty_line_between() -> None:
    one = Diagnostic("CEP0101", "error", "what")
    assert render_all([one, one]) == "error[CEP0101]: what\n\nerror[CEP0101]: what\n\n"


@example("\r", 1, 0)
@given(st.text(max_size=80), st.integers(0, 80), st.integers(0, 80))
def test_any_text_and_place_can_be_drawn(text: str, start: int, length: int) -> None:
    start = min(start, len(text))
    lines = drawn(Span(SourceFile("f", text), start, min(start + length, len(text))))
    assert "^" in lines[4]
