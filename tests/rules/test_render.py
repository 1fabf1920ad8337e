"""Diagnostics as people see them."""

from __future__ import annotations

import re

import pytest
from effort import examples
from hypothesis import example, given, settings
from hypothesis import strategies as st
from wcwidth import wcswidth

from rules.diagnostics import Diagnostic, Label
from rules.render import render, render_all
from rules.source import SourceFile, Span


def place(text: str, part: str, name: str = "a.rules") -> Span:
    file = SourceFile(name, text)
    return Span(file, text.index(part), text.index(part) + len(part))


def drawn(span: Span | None, **more: object) -> list[str]:
    return render(Diagnostic("CEP0101", "error", "what", span, **{"help": "", **more})).splitlines()  # type: ignore[arg-type]


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


def test_labels_of_one_line_hang_below_it_where_they_would_collide() -> None:
    source = "first\nsecond\nthird\nfourth fourth2\n"
    main = place(source, "fourth2")
    labels = (Label(Span(main.file, 0, 5), "one"), Label(Span(main.file, 19, 25), "same line"))
    assert drawn(main, labels=labels, note="main")[3:] == [
        "1 | first",
        "  | ----- one",
        "...",
        "4 | fourth fourth2",
        "  | ------ ^^^^^^^ main",
        "  | |",
        "  | same line",
    ]


def test_a_label_inside_another_place_hangs_below_it() -> None:
    main = place("on payment[a == b]", "payment[a == b]")
    labels = tuple(
        Label(Span(main.file, at, at + 1), text) for at, text in ((11, "a string"), (16, "a double"))
    )
    assert drawn(main, labels=labels, note="all of it")[3:] == [
        "1 | on payment[a == b]",
        "  |    ^^^^^^^^-^^^^-^",
        "  |    |       |    |",
        "  |    |       |    a double",
        "  |    |       a string",
        "  |    all of it",
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


PACK = """\
rule card_testing {
  by card
  match a: payment
     -> b: payment
     -> c: payment
  within 5m
  emit n
}
"""


def test_a_bar_runs_along_a_place_of_several_lines() -> None:
    assert drawn(place(PACK, PACK[:50].rstrip()), note="all this")[3:] == [
        "1 | / rule card_testing {",
        "2 | |   by card",
        "3 | |   match a: payment",
        "  | |__________________^ all this",
    ]


def test_long_places_are_shown_by_their_ends_and_nested_ones_side_by_side() -> None:
    main = place(PACK, PACK[PACK.index("{") :].rstrip())
    inner = place(PACK, "match a: payment\n     -> b: payment").start
    labels = (
        Label(Span(main.file, inner, PACK.index("\n     -> c")), "two steps"),
        Label(Span(main.file, PACK.index("b: "), PACK.index("\n     -> c")), "one"),
    )
    assert drawn(main, labels=labels, note="the body")[3:] == [
        "1 |    rule card_testing {",
        "  |  ____________________^",
        "2 | |    by card",
        "3 | |/   match a: payment",
        "4 | ||      -> b: payment",
        "  | ||         ---------- one",
        "  | ||__________________- two steps",
        "...",
        "7 | |    emit n",
        "8 | |  }",
        "  | |__^ the body",
    ]


def test_places_that_overlap_over_lines_are_reported_apart() -> None:
    source = "one { two\n three } four\n five }"
    main = place(source, "{ two\n three }")
    labels = (Label(Span(main.file, source.index("two"), len(source)), "second"),)
    assert drawn(main, labels=labels, note="first")[3:] == [
        "1 |    one { two",
        "  |   _____^",
        "  |  |_______-",
        "2 | ||  three } four",
        "  | ||________^ first",
        "3 | |   five }",
        "  | |________- second",
    ]


def test_a_line_end_belongs_to_the_line_that_it_ends() -> None:
    assert drawn(place("first\nsecond\n", "first\n"))[3:] == ["1 | first", "  | ^^^^^"]


def test_the_end_of_a_file_can_be_underlined() -> None:
    file = SourceFile("a", "abc")
    assert drawn(Span(file, 3, 3))[3:] == ["1 | abc", "  |    ^"]


def test_a_place_without_length_is_one_mark() -> None:
    file = SourceFile("a", "a\n\nb")
    assert drawn(Span(file, 2, 2))[3:] == ["2 |", "  | ^"]
    assert drawn(Span(SourceFile("a", ""), 0, 0))[3:] == ["1 |", "  | ^"]


@pytest.mark.parametrize("filler", ["x", "中", "\t", "e\u0301"])
def test_long_lines_are_cut_around_the_place(filler: str) -> None:
    span = place(filler * 5_000 + "bad" + "y" * 5_000, "bad")
    text = render(Diagnostic("CEP0101", "error", "what", span, "here", help=""), width=60)
    line, under = text.splitlines()[3:]
    shown = line.removeprefix("1 | ")
    assert wcswidth(shown) <= 60
    assert shown.startswith("...")
    assert shown.endswith("...")
    cells = under.removeprefix("  | ").index("^")
    assert wcswidth(shown[: shown.index("bad")]) == cells
    assert under.endswith("^^^ here")


def test_what_is_not_shown_of_a_long_line_is_marked_at_the_dots() -> None:
    source = "start " + "x" * 100 + "bad" + "y" * 100
    main = place(source, "bad")
    labels = (Label(Span(main.file, 0, 5), "there"),)
    reported = render(Diagnostic("CEP0101", "error", "what", main, "", labels, help=""), width=40)
    assert reported.splitlines()[3:] == [
        "1 | ...xxxxxxxxxxxxxxxbadyyyyyyyyyyyyyyyy...",
        "  | -                 ^^^",
        "  | |",
        "  | there",
    ]


def test_emoji_are_drawn_in_parts_on_which_all_terminals_agree() -> None:
    assert drawn(place("👩\u200d💻 ❤\ufe0f bad", "bad"))[3:] == ["1 | 👩💻 ❤ bad", "  |        ^^^"]


def test_no_text_reaches_the_terminal_as_a_command() -> None:
    main = place("x", "x", "a\x1b[2J.rules")
    text = render(
        Diagnostic(
            "CEP0101", "error", "m\x1b[2J", main, "n\x07", (Label(main, "l\x9b"),), help="h\u202e\nh\r"
        )
    )
    assert not set(text) & set("\x1b\x07\x9b\u202e\r")


def test_colours_change_no_text() -> None:
    diagnostic = Diagnostic("CEP0101", "warning", "what", place("a bad b", "bad"), "note", help="help")
    coloured = render(diagnostic, colour=True)
    assert "\x1b[1;33m" in coloured
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == render(diagnostic)


def test_several_have_an_empty_line_between() -> None:
    one = Diagnostic("CEP0101", "error", "what", help="")
    assert render_all([one, one]) == "error[CEP0101]: what\n\nerror[CEP0101]: what\n\n"


places = st.tuples(st.integers(0, 80), st.integers(0, 80), st.text(max_size=8))


@pytest.mark.slow
@example("\r", [(1, 0, "")], 20)
@settings(max_examples=examples(300))
@given(st.text(max_size=80), st.lists(places, min_size=1, max_size=4), st.integers(1, 100))
def test_any_text_and_places_can_be_drawn(text: str, spans: list[tuple[int, int, str]], width: int) -> None:
    file = SourceFile("f", text)
    at = [Span(file, min(s, len(text)), min(s + length, len(text))) for s, length, _ in spans]
    labels = tuple(Label(span, said) for span, (_, _, said) in zip(at[1:], spans[1:], strict=True))
    diagnostic = Diagnostic("CEP0101", "error", "what", at[0], spans[0][2], labels, help="")
    lines = render(diagnostic, width=width).splitlines()
    assert any("^" in line for line in lines[4:])
    assert all(line.isprintable() or not line.isascii() for line in lines)
