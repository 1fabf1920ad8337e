"""Nothing goes on for ever: loops in loops, independent, optional, timed, without a bound; and the drain.

The timeout is there to tell of a loop without end; the kernel cannot be interrupted otherwise.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from duel import Program, assert_agreement, by_engine, gave_up
from effort import examples
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from random_streams import Arrival
from small_patterns import UNSHRUNK, Stream, accepted, patterns, rows, streams

HEAD = (
    'pack p version "1"\nstream e { id_: string  at: timestamp  k: string  id id_  time at  lateness 0s }\n'
)
LOOPS = st.sampled_from(("* any", "* each", "*", "*?", "+ each", "{2,} any", "{2,}", "? each", "??", ""))
AROUND = st.sampled_from(
    (
        "({p} & {q}){loop}",
        "({p} | {q}){loop}",
        "(({p})* & ({q})*){loop}",
        "(({p})* each | ({q})* any){loop}",
        "(({p})? each & absent {guard} for 3s & ({q})*?){loop}",
        "(absent {guard} for 1s -> ({p})?){loop} -> ({q})* each",
        "({p}){loop} -> absent {guard} for 2s => not {guard}",
        "(({p} & absent {guard} for 3s)* & ({q})* any){loop}",
        "({p}){loop} ~> ({q})* any until {guard}",
    )
)
GUARDS = st.sampled_from(("e", 'e[k == "a"]', 'e[k == "z"]'))
CLAUSES = st.sampled_from(("", "skip none", "skip to next", "limit 5 runs", "skip none  limit 2 runs"))


@st.composite
def endless(draw: st.DrawFn) -> str:
    """A rule without any bound on time."""
    p, q = draw(patterns(True, "p")), draw(patterns(True, "q"))
    around = draw(AROUND).format(p=p, q=q, guard=draw(GUARDS), loop=draw(LOOPS))
    first = draw(st.sampled_from(("", 's: e[k == "a"] -> ', "s: e ~> ")))
    return f"match {first}{around} within unbounded {draw(CLAUSES)}"


def program(rule: str, stream: Stream, cut: int) -> Program:
    """A stream in two batches; then no event comes."""
    came = [
        Arrival("e", "0", "one", {name: values[name] for name in ("id_", "at", "k")})
        for _, _, values in rows(stream)
    ]
    text = f"{HEAD}\nrule r {{ {rule} }}\n"
    return Program(text, (tuple(came[:cut]), tuple(came[cut:])), crowd=0)


@pytest.mark.slow
@pytest.mark.timeout(900, method="thread")
@settings(max_examples=examples(60), **UNSHRUNK)
@given(endless().filter(accepted), streams(5), st.integers(0, 5))
def test_every_run_ends_and_the_engines_agree(rule: str, stream: Stream, cut: int) -> None:
    assert_agreement(program(rule, stream, cut))


@pytest.mark.slow
@pytest.mark.timeout(900, method="thread")
@settings(max_examples=examples(60), **UNSHRUNK)
@given(endless().filter(accepted), streams(8), st.integers(0, 8))
def test_every_run_ends_in_the_compiled_kernel(rule: str, stream: Stream, cut: int) -> None:
    asked = program(rule, stream, cut)
    compiled = by_engine(replace(asked, compiled=True))
    assume(not gave_up(compiled))
    assert compiled.alerts == by_engine(asked).alerts
