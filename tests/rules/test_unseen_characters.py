"""Texts that are not what they look like: characters that nobody sees, mixed scripts, names like paths."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from writing import STREAMS, on

from percolator.query.lookalikes import lookalikes
from percolator.query.parse import parse
from percolator.query.unseen import UNSEEN, mixes, skeleton
from rules.packs import load_texts
from rules.render import render_all

TURNING = ["\u202a", "\u202b", "\u202d", "\u202e", "\u202c", "\u2066", "\u2067", "\u2068", "\u2069"]
DRIVING = ["\x00", "\x07", "\x08", "\x1b", "\x7f", "\x9b", "\x85", "\u2028", "\u2029"]
PLACES = {
    "a comment": "# {}\n" + on("n > 5"),
    "a string": on('kind == "{}"'),
    "a summary": on("n > 5").replace("rule r {", 'rule r { summary "{}" '),
    "a name": on("n > 5").replace("rule r", "rule `r{}`"),
    "a query": 'rule q { on article[body matches "a{}"] }',
    "nothing": on("n > 5") + " {} ",
}


def codes(text: str) -> list[tuple[str, int]]:
    found = load_texts([("a.rules", STREAMS + text)]).diagnostics
    return [(one.code, 0 if one.span is None else one.span.start - len(STREAMS)) for one in found]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("sign", [*TURNING, *DRIVING], ids=ascii)
def test_what_cannot_be_seen_is_refused_wherever_it_stands(place: str, sign: str) -> None:
    text = PLACES[place].replace("{}", sign)
    found = codes(text)
    assert ("CEP0237", text.index(sign)) in found
    assert [at for code, at in found].count(text.index(sign)) == 1


@pytest.mark.parametrize(
    "sign", ["\u200b", "\u2060", "\ufeff", "\u200e", "\u200f", "\u061c", "\u00ad", "\U000e0061"]
)
def test_a_name_has_no_character_without_a_form(sign: str) -> None:
    text = on("n > 5").replace("rule r", f"rule `r{sign}x`")
    assert ("CEP0237", text.index(sign)) in codes(text)
    assert all(code != "CEP0237" for code, _ in codes(on(f'kind == "{sign}"')))


def test_an_escape_says_the_same_in_a_string() -> None:
    assert all(code != "CEP0237" for code, _ in codes(on(r'kind == "\u202e"')))


def test_one_of_each_line_is_reported() -> None:
    text = "# \u202e \u202e\n# \u202c\n" + on("n > 5")
    assert [at for code, at in codes(text) if code == "CEP0237"] == [2, 8]


@given(st.text(st.sampled_from(["\u202e", "\x1b", "\x9b", "a", "\n", '"', "{", "#", "\r"]), max_size=30))
def test_no_message_has_such_a_character(text: str) -> None:
    drawn = render_all(load_texts([("a.rules", STREAMS + text)]).diagnostics)
    assert UNSEEN.search(drawn) is None


@pytest.mark.parametrize("name", ["../../etc/passwd", "a/b", r"..\x", "..", "."])
@pytest.mark.parametrize(
    "head", ['pack {} version "1"', "rule {} {{ on payment }}", "stream {} {{ a: long }}"]
)
def test_names_that_are_paths_are_refused(name: str, head: str) -> None:
    text = head.format(f"`{name}`")
    found = load_texts([("a.rules", text)]).diagnostics
    assert "CEP0238" in [one.code for one in found]


@pytest.mark.parametrize(
    ("name", "reported"),
    [
        ("c\u0430rd", True),  # Cyrillic a
        ("\u0441\u0441", True),  # all Cyrillic, and looks like the next rule
        ("caf\u00e9", False),
        ("\u043a\u0430\u0440\u0442\u0430", False),  # a word of one script
        ("\u30ab\u30fc\u30c9\u8a8d\u8a3cOK", False),  # Japanese beside Latin
        ("\u03b1\u03b2\u03b3", False),
    ],
)
def test_names_that_are_not_what_they_look_like_are_reported(name: str, reported: bool) -> None:
    text = f"rule {name} {{ severity high on payment }} rule cc {{ severity low on payment[n > 5] }}"
    found = [(code, at) for code, at in codes(text) if code == "CEP0319"]
    assert found == ([("CEP0319", 5)] if reported else [])


def test_one_name_in_two_forms_is_reported() -> None:
    text = "rule caf\u00e9 { severity high on payment } rule `cafe\u0301` { on payment[n > 5] }"
    assert [code for code, _ in codes(text) if code == "CEP0319"] == ["CEP0319"] * 2


def test_a_comment_allows_a_mixture() -> None:
    text = "# allow CEP0319: a test\nrule c\u0430rd { severity high on payment }"
    assert "CEP0319" not in [code for code, _ in codes(text)]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("p\u0430ypal", [("PQ18", (0, 6))]),
        ("recall\u2028tyres", [("PQ17", (6, 7))]),
        ("\u03bcg TNF\u03b2 \u043e\u0442\u0437\u044b\u0432 recall", []),
        ("\u202erecall p\u0430ypal or x", [("PQ17", (0, 1)), ("PQ18", (8, 14)), ("PQ14", (15, 17))]),
    ],
)
def test_queries_that_are_not_what_they_look_like_are_reported(
    query: str, found: list[tuple[str, tuple[int, int]]]
) -> None:
    reported = [(str(one.code), (one.span.start, one.span.end)) for one in lookalikes(query, parse(query))]
    assert reported == found


@given(st.text(st.characters(codec="ascii", categories=["L"]), min_size=1))
def test_a_word_of_ascii_is_its_own_skeleton(word: str) -> None:
    assert skeleton(word) == word
    assert not mixes(word)
