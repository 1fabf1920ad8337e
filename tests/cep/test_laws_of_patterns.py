"""Patterns of which docs/language.md says that they mean the same, or that one finds all that the other does.

Whatever the events. The reference is asked for both sides, so that a mistake in it shows where they are
written differently.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pytest
from effort import examples
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from small_patterns import (
    KINDS,
    SECOND,
    SKIPS,
    Alerts,
    Row,
    Stream,
    accepted,
    alerts,
    by_content,
    pack_of,
    patterns,
    rows,
    source,
    streams,
)

from cep.events import MAX_TIME
from cep.reference import TooManyAlternativesError, decided

QUIET: dict[str, Any] = {"deadline": None, "suppress_health_check": list(HealthCheck)}
MANY = settings(max_examples=examples(45), **QUIET)
CLAUSES = st.tuples(
    st.sampled_from(("within 3s", "within 9s", "within 20s", "within unbounded")), st.sampled_from(SKIPS[1:])
)
SOURCES = st.sampled_from([source(kinds) for kinds in ("a", "b", "c", "ab", "bc", KINDS)])
ANY_PATTERN = st.booleans().flatmap(patterns)
QUANTIFIERS = {
    "{1}": "", "?": "{0,1}", "+": "{1,}", "*": "{0,}", "??": "{0,1}?", "+?": "{1,}?", "*?": "{0,}?",
    "{2}?": "{2}", "{2} each": "{2}", "{1,2} any": "{1,2} any each",
}  # fmt: skip
ROUNDS = {
    "{2}": "x -> y", "{2} contiguous": "x => y", "{2} any": "x ~> y", "{2} gap 2s": "x gap 2s -> y gap 2s",
    "{1,2}": "x -> y?", "{1,2}?": "x -> y??", "{1,2} contiguous": "x => y?", "{1,2} each": "x -> y? each",
    "{1,2} any": "x ~> y? each", "{0,2}": "(x -> y?)?", "{0,2}?": "(x -> y??)??",
    "{1,3}": "x -> (y -> z?)?", "{0,2} each": "(x -> y? each)? each", "{3} any": "x ~> y ~> z",
}  # fmt: skip
"""Loops, and their rounds written out; each letter is a step of the loop's stream and condition."""


def told(pattern: str, clauses: tuple[str, str], stream: Stream) -> Alerts:
    """The alerts of a rule with that pattern once no event will come."""
    return alerts(_accepted(pattern, clauses), stream, MAX_TIME)


def _accepted(pattern: str, clauses: tuple[str, str]) -> Any:
    rule = f"match {pattern} {' '.join(clauses)}"
    assume(accepted(rule))
    return pack_of(rule)


def assert_same(left: str, right: str, clauses: tuple[str, str], stream: Stream) -> None:
    """Both patterns tell the same at the same times."""
    try:
        one, other = told(left, clauses, stream), told(right, clauses, stream)
    except TooManyAlternativesError:
        assume(False)
    assert one == other, f"{clauses} {stream}\n{left}\n  {one}\n{right}\n  {other}"


def as_one_step(found: Alerts, names: Iterable[str], name: str) -> Alerts:
    """The alerts, with what several steps took in order as what one step took."""
    merged: Alerts = {}
    for (kind, events), time in found.items():
        of_name = tuple(id_ for step, ids in events if step in names for id_ in ids)
        other = [(step, ids) for step, ids in events if step not in names]
        content = kind, tuple(sorted([*other, (name, of_name)] if of_name else other))
        merged[content] = min(time, merged.get(content, time))
    return merged


def union(*found: Alerts) -> Alerts:
    """The alerts that any of them raises, at the time when it is first raised."""
    return {one: min(times[one] for times in found if one in times) for one in set().union(*found)}


def law(*strategies: st.SearchStrategy[Any]) -> Callable[[Callable[..., None]], Any]:
    """A test over patterns and the like, with the clauses behind them and a stream, by many examples."""
    return lambda test: pytest.mark.slow(MANY(given(*strategies, CLAUSES, streams(7))(test)))


@law(ANY_PATTERN)
def test_parentheses_mean_nothing(p: str, clauses: tuple[str, str], stream: Stream) -> None:
    assert_same(p, f"({p})", clauses, stream)
    assert_same(p, f"({p}){{1}}", clauses, stream)


@law(patterns(True, "p"), patterns(True, "q"), patterns(False, "r"), st.sampled_from(("->", "=>", "~>")))
def test_a_sequence_may_be_grouped_anyhow(
    p: str, q: str, r: str, sign: str, clauses: tuple[str, str], stream: Stream
) -> None:
    assert_same(f"({p} {sign} {q}) {sign} {r}", f"{p} {sign} ({q} {sign} {r})", clauses, stream)


@law(ANY_PATTERN)
def test_a_pattern_or_itself_is_the_pattern(p: str, clauses: tuple[str, str], stream: Stream) -> None:
    assert_same(p, f"({p} | {p})", clauses, stream)


@law(patterns(True, "p"), patterns(True, "q"), patterns(False, "r"))
def test_alternatives_may_be_grouped_anyhow(
    p: str, q: str, r: str, clauses: tuple[str, str], stream: Stream
) -> None:
    assert_same(f"({p} | {q} | {r})", f"({p} | ({q} | {r}))", clauses, stream)
    assert_same(f"({p} | {q} | {r})", f"(({p} | {q}) | {r})", clauses, stream)


@law(patterns(True, "p"), SOURCES, patterns(True, "q"), st.booleans(), st.booleans())
def test_an_optional_step_is_the_alternative_of_leaving_it_out(
    p: str, step: str, q: str, after: bool, reluctant: bool, clauses: tuple[str, str], stream: Stream
) -> None:
    before = f"{p} -> " if after else ""
    left, right = (f"{q}", f"x: {step} -> {q}") if reluctant else (f"x: {step} -> {q}", f"{q}")
    optional = f"x: {step}{'??' if reluctant else '?'} -> {q}"
    assert_same(before + optional, f"{before}({left} | {right})", clauses, stream)


@law(patterns(True, "p"), SOURCES | patterns(False, "r").map("({})".format), st.sampled_from([*QUANTIFIERS]))
def test_quantifiers_have_long_forms(
    p: str, element: str, short: str, clauses: tuple[str, str], stream: Stream
) -> None:
    named = element if element.startswith("(") else f"x: {element}"
    other = f"{p} -> {named}{QUANTIFIERS[short]} -> y: e"
    assert_same(f"{p} -> {named}{short} -> y: e", other, clauses, stream)


@law(SOURCES, SOURCES, patterns(True, "q"), st.sampled_from([*ROUNDS]), st.booleans())
def test_a_loop_is_its_rounds_written_out(
    p: str, step: str, q: str, loop: str, last: bool, clauses: tuple[str, str], stream: Stream
) -> None:
    behind = "" if last else f" -> {q}"
    rounds = re.sub("[xyz]", lambda name: f"{name[0]}: {step}", ROUNDS[loop])
    short = told(f"p: {p} -> s: {step}{loop}{behind}", clauses, stream)
    long = told(f"p: {p} -> {rounds}{behind}", clauses, stream)
    assert as_one_step(short, "s", "s") == as_one_step(long, "xyz", "s"), f"{short}\n{long}"


@law(SOURCES, SOURCES, patterns(False, "q"), st.sampled_from(((0, 1), (0, 2), (1, 2), (1, 3), (2, 3))))
def test_each_is_the_union_of_all_lengths(
    p: str, step: str, q: str, lengths: tuple[int, int], clauses: tuple[str, str], stream: Stream
) -> None:
    least, most = lengths
    clauses = clauses[0], "skip none"
    each = told(f"p: {p} -> s: {step}{{{least},{most}}} each -> {q}", clauses, stream)
    lone = [f" -> s: {step}{{{n}}}" if n else "" for n in range(least, most + 1)]
    assert each == union(*(told(f"p: {p}{some} -> {q}", clauses, stream) for some in lone))


@law(patterns(True, "p"), patterns(True, "q"), SOURCES)
def test_what_never_comes_prevents_nothing(
    p: str, q: str, step: str, clauses: tuple[str, str], stream: Stream
) -> None:
    never = 'e[k == "z"]'
    assert_same(f"{p} -> {q}", f"{p} -> not {never} -> {q}", clauses, stream)
    # Not with an optional step behind it: a `=> not` that comes last is decided by the next event.
    assert_same(f"{p} -> x: {step} -> {q}", f"{p} => not {never} -> x: {step} -> {q}", clauses, stream)
    assert_same(f"{p} -> x: {step}+", f"{p} -> x: {step}+ until {never}", clauses, stream)


@law(ANY_PATTERN, st.lists(st.integers(0, 6), max_size=3))
def test_an_event_that_fits_nothing_is_skipped(
    p: str, places: Sequence[int], clauses: tuple[str, str], stream: Stream
) -> None:
    assume("=>" not in p and "contiguous" not in p)
    noisy = list(stream)
    for place in sorted(places, reverse=True):
        noisy.insert(place, ("z", 0))
    pack = _accepted(p, clauses)
    numbered = iter(rows(stream))
    among = [row if row[2]["k"] == "z" else next(numbered) for row in rows(tuple(noisy))]
    assert of_rows(pack, among) == alerts(pack, stream, MAX_TIME)


@law(ANY_PATTERN, st.sampled_from((1, 1_000, 10**8)))
def test_all_events_may_come_later(p: str, by: int, clauses: tuple[str, str], stream: Stream) -> None:
    pack = _accepted(p, clauses)
    (kind, after), *rest = stream
    later = alerts(pack, ((kind, after + by), *rest), MAX_TIME)
    assert {one: time - by * SECOND for one, time in later.items()} == alerts(pack, stream, MAX_TIME)


@law(ANY_PATTERN)
def test_names_mean_nothing(p: str, clauses: tuple[str, str], stream: Stream) -> None:
    other = told(re.sub(r"\bs(\d)", r"count\1", p), clauses, stream)
    named = {
        (kind, tuple((step.replace("count", "s"), ids) for step, ids in events)): time
        for (kind, events), time in other.items()
    }
    assert named == told(p, clauses, stream)


@law(ANY_PATTERN)
def test_keys_know_nothing_of_one_another(p: str, clauses: tuple[str, str], stream: Stream) -> None:
    pack = _accepted(p, (f"{clauses[0]} by g", clauses[1]))
    both = [row for pair in zip(rows(stream), rows(stream, "y"), strict=True) for row in pair]
    assert of_rows(pack, both) == of_rows(pack, rows(stream)) | of_rows(pack, rows(stream, "y"))


@law(st.permutations(KINDS), st.lists(st.sampled_from(("", "{2}", "+", "{1,2}?")), min_size=3, max_size=3))
def test_operands_that_share_no_event_may_stand_in_any_order(
    kinds: Sequence[str], loops: Sequence[str], clauses: tuple[str, str], stream: Stream
) -> None:
    steps = {kind: f"{kind}: {source(kind)}{loop}" for kind, loop in zip(KINDS, loops, strict=True)}
    for sign in (" & ", " | "):
        told_so = told("(" + sign.join(steps[kind] for kind in kinds) + ")", clauses, stream)
        in_order = told("(" + sign.join(steps.values()) + ")", clauses, stream)
        assert as_one_step(told_so, "", "") == as_one_step(in_order, "", "")


FIXED = st.lists(
    st.tuples(st.sampled_from(("->", "->", "=>")), SOURCES, st.sampled_from(("", "", "{2}"))),
    min_size=2,
    max_size=4,
)


@law(FIXED, st.data())
def test_going_on_finds_all_that_the_first_finds(
    parts: list[tuple[str, str, str]], data: st.DataObject, clauses: tuple[str, str], stream: Stream
) -> None:
    clauses = clauses[0], "skip none"
    place = data.draw(st.integers(1, len(parts) - 1))
    more = [*parts[:place], ("~>", *parts[place][1:]), *parts[place + 1 :]]
    first = [*parts[:place], ("->", *parts[place][1:]), *parts[place + 1 :]]
    assert (
        told(in_sequence(first), clauses, stream).items() <= told(in_sequence(more), clauses, stream).items()
    )


@pytest.mark.slow
@MANY
@given(FIXED, streams(7))
def test_a_longer_within_only_adds(parts: list[tuple[str, str, str]], stream: Stream) -> None:
    found = [told(in_sequence(parts), (f"within {n}s", "skip none"), stream).items() for n in (1, 2, 4, 8)]
    assert all(short <= long for short, long in itertools.pairwise(found))


def in_sequence(parts: list[tuple[str, str, str]]) -> str:
    """Steps as a pattern."""
    text = " ".join(f"{sign} s{n}: {step}{loop}" for n, (sign, step, loop) in enumerate(parts))
    return text[2:]


def of_rows(pack: Any, given_rows: Sequence[Row]) -> Alerts:
    """The alerts of events that are no stream of one key."""
    return by_content(decided(pack, given_rows))
