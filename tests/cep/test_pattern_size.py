"""The size of a pattern is counted before it is built; one too large is refused at its cause."""

from __future__ import annotations

import gc
import random
from pathlib import Path

import overlapping_rules
import pytest
from duel import accepted
from effort import examples
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from random_packs import dense_packs, packs

from cep.operators.patterns.compile import states, too_large
from cep.operators.patterns.compile.pattern_plan import PatternPlan
from cep.operators.patterns.compile.size import MOST_STATES, MOST_TRANSITIONS, Size, counted
from cep.operators.patterns.compile.states import automaton
from cep.packs.compile import compile_plan
from cep.packs.read import checked_text
from cep.packs.unsupported import unsupported
from rules.diagnostics import DiagnosticsError
from rules.packs import load_texts
from rules.typed import Absent, Match, Pack, walk

HEAD = """pack p version "1"
stream s { id_: string  at: timestamp  k: string  v: long  id id_  time at }
"""
QUIET = {"deadline": None, "suppress_health_check": list(HealthCheck)}


def text_of(pattern: str) -> str:
    return f"{HEAD}rule r {{ by k  match {pattern}  within 1 hour }}"


def pack_of(pattern: str) -> Pack:
    return load_texts([("p.rules", text_of(pattern))]).need()


def match_of(pack: Pack) -> Match:
    body = pack.rules[0].body
    assert isinstance(body, Match)
    return body


def assert_counted(text: str) -> None:
    bodies = [rule.body for rule in load_texts([("p.rules", text)]).need().rules]
    matches = [body for body in bodies if isinstance(body, Match)]
    assume(matches)
    for match in matches:
        machine = automaton(match)
        built = Size(len(machine.states), sum(len(state.transitions) for state in machine.states))
        found = counted(match.pattern).size
        if any(isinstance(part, Absent) for part in walk(match.pattern)):
            assert not found.exact
        else:
            assert found == built, text


def test_an_automaton_is_built_once_and_goes_with_its_pattern() -> None:
    pack = pack_of("a: s -> (b: s | c: s)+ -> d: s")
    machine = automaton(match_of(pack))
    assert unsupported(pack) == []
    (space,) = compile_plan([pack]).spaces
    (rule,) = space.rules
    assert isinstance(rule, PatternPlan)
    assert rule.tables.automaton is machine
    assert automaton(match_of(pack_of("a: s -> (b: s | c: s)+ -> d: s"))) is not machine
    kept = len(states._BUILT)
    del pack, space, rule
    gc.collect()
    assert len(states._BUILT) < kept


@pytest.mark.slow
@settings(max_examples=examples(60), **QUIET)
@given((packs(True) | dense_packs()).filter(accepted))
def test_the_count_is_that_of_the_automaton(text: str) -> None:
    assert_counted(text)


@settings(max_examples=examples(60), **QUIET)
@given(st.integers(0, 10**9))
def test_the_count_is_that_of_the_automaton_of_loops_in_loops(seed: int) -> None:
    text = overlapping_rules.HEAD + overlapping_rules.rule(random.Random(seed))
    assume(accepted(text))
    assert_counted(text)


def joined(sign: str, count: int, more: str = "") -> str:
    return f" {sign} ".join(f"a{n}: s[v == {n}]{more}" for n in range(count))


def nested(inner: str, depth: int, more: str) -> str:
    for _ in range(depth):
        inner = f"({inner}){more}"
    return inner


OPTIONAL, WIDE = joined("->", 400, "?"), joined("|", 230)
TOO_LARGE = {
    f"x: s -> ({joined('&', 13)}) -> z: s": (
        f"({joined('&', 13)})",
        "this pattern may be in 53,251 states, and 4,096 are the most",
        "`&` of 13 operands stands for 6,227,020,800 orders",
    ),
    f"({joined('&', 400)})": (
        f"({joined('&', 400)})",
        "this pattern may be in about 10^122 states, and 4,096 are the most",
        "`&` of 400 operands stands for about 10^868 orders",
    ),
    f"x: s -> {OPTIONAL} -> z: s": (
        f"x: s -> {OPTIONAL} -> z: s",
        "this pattern has 80,603 transitions from its 403 states, and 50,000 are the most",
        "any of 400 elements in a row may be left out",
    ),
    f"({WIDE})+ -> z: s": (
        f"({WIDE})+",
        "this pattern has 53,361 transitions from its 232 states, and 50,000 are the most",
        "each of 230 branches may be followed by each",
    ),
    f"x: s -> ({joined('&', 8, '*')}) -> z: s": (
        f"({joined('&', 8, '*')})",
        "this pattern has 557,122 transitions from its 1,027 states, and 50,000 are the most",
        "8 operands of `&` may take nothing",
    ),
    f"x: s -> {nested('a: s*', 20, '*')} -> z: s": (
        nested("a: s*", 8, "*"),
        "this pattern has about 10^19 transitions from its 4 states, and 50,000 are the most",
        "loops that may take nothing stand in one another: `((a*)*)*` means what `a*` means",
    ),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("pattern", TOO_LARGE, ids=[expected[2][:40] for expected in TOO_LARGE.values()])
def test_a_pattern_is_refused_before_it_is_built(pattern: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(too_large, "automaton", lambda _: pytest.fail("this builds it"))
    place, message, help_ = TOO_LARGE[pattern]
    (found,) = unsupported(pack_of(pattern))
    assert found.span is not None
    assert (found.code, found.level, found.message) == ("CEP0906", "error", message)
    assert found.help is not None
    assert found.help.startswith(help_)
    assert found.span.text == place


OTHERWISE = {
    "an event can make 15,858 alternatives of one": f"x: s -> {joined('->', 100, '? each')} -> z: s",
    "this pattern waits for 2,676 things at once": f"x: s -> ({joined('&', 6, '?')}) -> z: s",
    "this pattern watches guards in more than 250,000 places": "x: s -> "
    + " -> ".join(f"a{n}: s? -> not s[v == {n}]" for n in range(200))
    + " -> z: s",
}


@pytest.mark.slow
@pytest.mark.parametrize("message", OTHERWISE)
def test_what_one_event_may_come_to_is_bounded(message: str) -> None:
    (found,) = unsupported(pack_of(OTHERWISE[message]))
    assert found.code == "CEP0906"
    assert found.message.startswith(message)


@pytest.mark.slow
def test_a_pattern_in_which_time_ends_rounds_is_given_up_while_it_is_built() -> None:
    """The count only estimates it."""
    pattern = "absent s[v == 1] for 1s"
    for number in range(20):
        pattern = f"({pattern} -> a{number}: s?)+"
    (found,) = unsupported(pack_of(f"x: s -> {pattern} -> z: s"))
    assert found.code == "CEP0906"


@pytest.mark.slow
@pytest.mark.parametrize(
    "pattern",
    [
        f"x: s -> {joined('->', 310, '?')} -> z: s",
        f"x: s -> {joined('->', 310, '*?')} -> z: s",
        f"({joined('|', 400)}) -> z: s",
        f"({joined('&', 9)})",
        joined("->", 490),
        nested("a: s{100}", 20, "{100}") + " -> z: s",
        f"x: s -> {joined('->', 40, '? each')} -> z: s",
    ],
)
def test_large_patterns_compile(pattern: str) -> None:
    """Just below a bound; hundreds of elements need no deeper stack than one."""
    pack = pack_of(pattern)
    assert unsupported(pack) == []
    size = counted(match_of(pack).pattern).size
    assert size.states <= MOST_STATES
    assert size.transitions <= MOST_TRANSITIONS
    compile_plan([pack])


@pytest.mark.parametrize("where", ["match a: s+ -> b: s[v > {}] ", "match a: s+ having first(a.v) > {} "])
def test_values_far_back_are_bounded_in_conditions(where: str) -> None:
    for offset, codes in ((1_000, []), (1_001, ["CEP0426"]), (1_000_000, ["CEP0426"])):
        rule = where.format(f"last(a.v, {offset})") + " within 1 hour"
        pack = load_texts([("p.rules", f"{HEAD}rule r {{ by k  {rule} }}")]).need()
        assert [found.code for found in unsupported(pack)] == codes
    emit = (
        "match a: s+ -> b: s[v == 2] within 1 hour emit far = last(a.v, 1000000), near = first(a.v, 1000000)"
    )
    assert unsupported(load_texts([("p.rules", f"{HEAD}rule r {{ by k  {emit} }}")]).need()) == []


def test_check_tells_it_as_an_error_also_where_nothing_is_to_run() -> None:
    """That a construct is not executed yet is a hint there; this will never be."""
    text = text_of(next(iter(TOO_LARGE)))
    found = checked_text("p.rules", text, Path(), to_run=False).diagnostics
    assert [d.code for d in found if d.level == "error"] == ["CEP0906"]
    with pytest.raises(DiagnosticsError):
        compile_plan([load_texts([("p.rules", text)]).need()])
