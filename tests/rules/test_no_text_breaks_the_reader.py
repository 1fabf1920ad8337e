"""Whatever the text: a pack or diagnostics, drawn; never an exception, and in time that grows with it."""

from __future__ import annotations

import re
import threading

import pytest
from calls import calls
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from writing import STREAMS, fraud, matching, on

from rules.diagnostics import has_errors
from rules.packs import Loaded, load_texts
from rules.render import render_all

TOKEN = re.compile(r'"[^"\n]*"|[A-Za-z_]\w*|[0-9][\w.]*|->|=>|~>|==|!=|<=|>=|=~|\s+|.')
CONSTRUCTS = (
    STREAMS
    + """
stream reading { at: timestamp  sent: timestamp  got: timestamp  time at corrected by sent, got }
table cards key id { id: string  since: timestamp  limit: double?  time since }
queries watchlist { from "watchlist.jsonl" }
rule burst { by card_id  over payment[amount > 2] hopping 1h every 5m
 having count() > 3 * previous(count(), 2) and ago(avg(n), 1d) > 1 emit card_id, p = last(n) into bursts }
rule hit { by card_id  match b: bursts -> h: payment matching watchlist["x" in tags]{2,} within 1h
 emit card_id, limit = cards[card_id].limit, q = last(h.query) }
rule rest { on reading  emit at }
"""
)
EVERYTHING = (
    fraud()
    + CONSTRUCTS[len(STREAMS) :]
    + """
rule zoo { by card_id match (a: payment | b: payment[amount > 2 ? true : false]) ~> c: payment{2,}? contiguous
 gap 5s until payment[kind == "x"] => not payment -> (d: payment & e: payment) -> absent payment for 3h
 within 3 days having count(c) > 2 and max(c.amount) between 1 and 3 skip to last c
 on timeout emit n = count(c) limit 5 runs emit x = list(c.amount), y = first(c.amount, 1) runbook "http" }
test card_testing, zoo "x" { start "2026-01-05T09:00Z" at 1s late payment {} x 2 every 1s
 expect at 2s {key: {card_id: "x"}, events: {a: ["1"]}, severity: "high"} allow other at 2s watermark }
"""
)
TOKENS = TOKEN.findall(EVERYTHING)
WORDS = [token for token in TOKENS if token.strip()]


def assert_checked(text: str) -> Loaded:
    found = load_texts([("some.rules", text)])
    assert (found.pack is None) == has_errors(found.diagnostics), text
    for diagnostic in found.diagnostics:
        span = diagnostic.span
        assert span is None or 0 <= span.start <= span.end <= len(span.file.text), diagnostic
        assert diagnostic.message.strip()
        assert diagnostic.help.strip(), f"{diagnostic.code} does not say what to do: {diagnostic.message}"
    assert render_all(found.diagnostics) is not None
    return found


@pytest.mark.parametrize("text", [fraud(), CONSTRUCTS])
def test_the_example_itself_is_right(text: str) -> None:
    assert assert_checked(text).pack is not None


@pytest.mark.slow
@pytest.mark.parametrize("text", [fraud(), CONSTRUCTS])
def test_a_missing_token_gives_a_diagnostic_or_another_pack(text: str) -> None:
    tokens = TOKEN.findall(text)
    for place in (n for n, token in enumerate(tokens) if token.strip()):
        assert_checked("".join(tokens[:place] + tokens[place + 1 :]))


@settings(max_examples=examples(200), deadline=None)
@given(st.text())
def test_any_text_is_checked(text: str) -> None:
    assert_checked(text)


@settings(max_examples=examples(200), deadline=None)
@given(st.lists(st.sampled_from(WORDS), max_size=60))
def test_any_words_are_checked(words: list[str]) -> None:
    assert_checked(STREAMS + " ".join(words))


@pytest.mark.slow
@settings(max_examples=examples(200), deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, len(TOKENS) - 1), st.sampled_from([*WORDS, *'()[]{}"|&?*+,.:=<>~#`\\$é\t'])),
        min_size=1,
        max_size=5,
    )
)
def test_any_damage_is_checked(damage: list[tuple[int, str]]) -> None:
    tokens = list(TOKENS)
    for place, token in damage:
        tokens[place] = token
    assert_checked("".join(tokens))


DEEP = {
    "parentheses": on("(" * 100_000 + "n"),
    "closed parentheses": on("(" * 190 + "n" + ")" * 190 + " > 1"),
    "minus": on("-" * 50_000 + "n > 1"),
    "not": on("not " * 50_000 + "flag"),
    "sum": on("+".join(["n"] * 50_000) + " > 1"),
    "conditional": on("flag ? true : " * 20_000 + "false"),
    "open conditional": on("flag ? " * 20_000),
    "groups": matching("(" * 50_000 + "a: payment"),
    "regular expression": on('kind =~ "' + "(" * 5_000 + ")" * 5_000 + '"'),
    "records": "stream q { a: " + "{" * 5_000 + "}" * 5_000 + " }",
    "fields": "stream q { " + "a: {" * 5_000 + "b: long" + "}" * 5_000 + " }",
    "lists": "stream q { a: " + "list<" * 50_000 + " }",
    "values": 'test r "t" { at 1s s { a: ' + "[" * 50_000 + "]" * 50_000 + " } }",
    "maps": 'test r "t" { at 1s s ' + "{ a:" * 5_000 + "1" + "}" * 5_000 + " }",
    "dots": on("a" + ".b" * 50_000 + " > 1"),
}


@pytest.mark.slow
@pytest.mark.parametrize("text", DEEP.values(), ids=DEEP.keys())
def test_depth_is_refused(text: str) -> None:
    assert assert_checked(STREAMS + text).pack is None


WIDE = {
    "or": on(" or ".join(["n == 1"] * 5_000)),
    "in": on("n in (" + ",".join(map(str, range(20_000))) + ")"),
    "branches": matching("(" + " | ".join(f"a: payment[n > {i}]" for i in range(450)) + ")"),
    "steps": matching(" -> ".join(f"a{i}: payment[n > {i}]" for i in range(450))),
    "constants": "let a0 = 1\n"
    + "".join(f"let a{i} = a{i - 1} + 1\n" for i in range(1, 2_000))
    + on("n > a1999"),
    "comments": "# why\n" * 50_000 + on("n > 1"),
    "a long comment": f"rule r {{ on payment[n > 1 #{'x' * 200_000}\n] #{'y' * 200_000}\n severity low }}",
}


@pytest.mark.slow
@pytest.mark.parametrize("text", WIDE.values(), ids=WIDE.keys())
def test_width_is_taken(text: str) -> None:
    found = assert_checked(STREAMS + text)
    assert found.pack is not None, render_all(found.diagnostics[:3])


MANY_ERRORS = {
    "unclosed rules": "rule r { match a: payment[ \n" * 3_000,
    "quotes": '"\n' * 5_000,
    "closing braces": "}" * 20_000,
    "keywords": "rule " * 5_000,
    "heads": "rule r {} " * 2_000,
    "stray words": "foo " * 50_000,
}


@pytest.mark.slow
@pytest.mark.parametrize("text", MANY_ERRORS.values(), ids=MANY_ERRORS.keys())
def test_the_number_of_errors_is_bounded(text: str) -> None:
    found = assert_checked(STREAMS + text)
    assert found.pack is None
    assert len(found.diagnostics) < 5_000


@pytest.mark.slow
def test_work_grows_with_the_text_and_not_with_its_square() -> None:
    def work(rules: int) -> int:
        body = matching('a: payment{3,} -> b: payment[amount > 2 * avg(a.amount) and kind in ("x", "y")]')
        text = STREAMS + "".join(body.replace("rule r", f"rule r{n}") for n in range(rules))
        found: list[Loaded] = []
        count = calls(lambda: found.append(load_texts([("many.rules", text)])))
        assert found[0].pack is not None
        return count

    work(10)
    assert work(200) < 11 * work(20)


def test_threads_may_read_at_the_same_time() -> None:
    expected = load_texts([("a", fraud())])
    found: list[Loaded] = []
    threads = [threading.Thread(target=lambda: found.append(load_texts([("a", fraud())]))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    structures = [r.structure for r in expected.need().rules]
    assert [[r.structure for r in f.need().rules] for f in found] == [structures] * 8
