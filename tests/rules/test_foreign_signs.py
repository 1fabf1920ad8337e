"""Signs of other languages cost one message a block, and hide nothing else of the file."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from writing import STREAMS, loaded, on

from rules.diagnostics import Diagnostic
from rules.packs import load_texts
from rules.render import render

ALSO = "rule also { on payment[amout > 5] }\n"
"""A rule with a mistake of its own: it is reported beside the signs, so the file was read on."""


def errors(text: str) -> list[Diagnostic]:
    return [d for d in loaded(text).diagnostics if d.level == "error"]


REMARKS = {
    "//": "// all of {them}\n// it's \"nice\nrule r { on payment  // not `all\n  emit n }\n",
    "--": "-- all of {them}\n-- it's \"nice\nrule r { on payment  -- not `all\n  emit n }\n",
    "/*": "/* all of {them,\nit's \"nice */ rule r { on payment  /* not `all */ emit n }\n",
}


@pytest.mark.parametrize("sign", REMARKS)
def test_a_comment_of_another_language_is_reported_once(sign: str) -> None:
    first, *others = errors(REMARKS[sign] + ALSO)
    assert (first.code, first.message) == ("CEP0114", f"`{sign}` begins no comment here")
    assert first.help == "comments begin with `#` and end with their line"
    assert [d.code for d in others] == ["CEP0202"]


def test_each_block_tells_of_its_first_comment_and_how_many_there_are() -> None:
    head, tail = STREAMS.split("\n", 1)
    text = f"// cards\n{head}\n// a\n// b\n{tail}rule r {{ on payment }} // c\n"
    found = [d for d in load_texts([("t.rules", text)]).diagnostics if d.code == "CEP0114"]
    assert [(d.span.line, d.note) for d in found if d.span] == [
        (1, "the first of 3"),
        (10, ""),
    ]


SIGNS = {
    on("kind == 'x'"): ("'", 'strings stand in double quotes: `"x"`'),
    on("kind in ('a', 'b')"): ("'", 'strings stand in double quotes: `"a"`'),
    on("kind == 'a\"b'"): ("'", 'strings stand in double quotes: `"a\'b"`'),
    on("kind == 'it''s # {one}'"): ("'", "strings stand in double quotes: `\"it''s # {one}\"`"),
    on("kind == “x”"): ("“", 'strings stand in double quotes: `"x"`'),
    on("kind == „x“"): ("„", 'strings stand in double quotes: `"x"`'),
    on("kind == ‘x’"): ("‘", 'strings stand in double quotes: `"x"`'),
    on("n\u00a0>\u00a05"): ("\u00a0", "write an ordinary space, or nothing: it came with a copied text"),
    on("n\u200b > 5"): ("\u200b", "write an ordinary space, or nothing: it came with a copied text"),
    on("n − 5 > 5"): ("−", "write `-`"),
    on("n × 5 > 5"): ("×", "write `*`"),
    on("（n > 5）"): ("（", "write `(`"),
    "rule r { on payment; emit n; }": (";", "nothing is needed between clauses: remove it"),
    "rule r { on payment };": (";", "nothing is needed between clauses: remove it"),
    "let x = 5;\n" + on("n > x"): (";", "nothing is needed between clauses: remove it"),
}


@pytest.mark.parametrize("text", SIGNS)
def test_a_sign_is_reported_once_and_the_rest_of_the_file_is_read(text: str) -> None:
    sign, help_ = SIGNS[text]
    found = errors(f"{text}\n{ALSO}")
    assert sorted(d.code for d in found) in (["CEP0108", "CEP0202"], ["CEP0108", "CEP0108", "CEP0202"])
    first = next(d for d in found if d.code == "CEP0108")
    assert (first.span.text if first.span else "", first.help) == (sign, help_)


LOST = {
    on("n ≥ 5"): ("≥", "write `>=`"),
    on("n ≠ 5"): ("≠", "write `!=`"),
    "rule r { by card_id  match a: payment → b: payment  within 1h }": ("→", "write `->`"),
    "rule r { by card_id  match a: payment ⇒ b: payment  within 1h }": ("⇒", "write `=>`"),
}


@pytest.mark.parametrize("text", LOST)
def test_a_sign_that_stands_for_two_costs_its_clause_and_one_message(text: str) -> None:
    found = errors(f"{text}\n{ALSO}")
    assert [(d.code, d.span.text if d.span else "", d.help) for d in found] == [
        ("CEP0108", *LOST[text]),
        ("CEP0202", "amout", "did you mean `amount`?"),
    ]


RIGHT = (
    on('kind == "// -- /* ; \' “ ” → \u00a0"'),
    "# // -- /* ; ' “ ” → \u00a0\n" + on("n > 5"),
    on("n - -n > 5 and n --n > 5 and 5--n > 5 and 10/2/5 > 0"),
    'rule r { on payment  emit n  runbook "https://x.y/z" }',
    on('kind =~ "^/a/" and kind like "; -- \\"x\\""'),
    on('`kind` == "\'"'),
)


@pytest.mark.parametrize("text", RIGHT)
def test_what_is_right_has_no_such_message(text: str) -> None:
    assert [d.code for d in errors(text)] == []


def test_the_message_points_at_the_sign_alone() -> None:
    (found,) = errors("rule r { on payment[kind =~ /^D/] }")
    assert render(found).splitlines()[-3:] == [
        "7 | rule r { on payment[kind =~ /^D/] }",
        "  |                             ^^^^",
        '  = help: a pattern is a string: `"^D"`',
    ]


def test_text_that_is_no_block_has_one_message_whatever_signs_are_in_it() -> None:
    assert [d.code for d in errors("@App:name('x');\n" + on("n > 5"))] == ["CEP0101"]
    assert [d.code for d in errors("define stream s (a string, t long);\n" + on("n > 5"))] == ["CEP0101"]


@given(st.text(alphabet="ab \n\"'`#/-*;{}[]()=~“”→\u00a0\u200b", max_size=60))
def test_the_places_of_a_text_are_those_of_the_file(text: str) -> None:
    """The sign read in place of another is as long as it, so no finding points outside of the file."""
    whole = f"{STREAMS}{text}\nrule r {{ on paymnet }}\n"
    found = load_texts([("t.rules", whole)]).diagnostics
    for one in found:
        if one.span is not None:
            assert 0 <= one.span.start <= one.span.end <= len(whole)
    unknown = [d for d in found if d.code == "CEP0201" and d.span is not None]
    assert all(d.span is not None and d.span.text == "paymnet" for d in unknown)
