"""Conditions over earlier steps: the programs that run over registers give what `scalar` gives.

Each of many keys gets three events; a loop takes two of them, and the condition of the last step, over the
third and those two, is asked three times: is it true, is it false, is it unknown.
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pytest
from effort import examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from random_expressions import FIELDS, booleans, rows

from cep.decode import decode_typed
from cep.expressions.held import value_at
from cep.expressions.scalar import aggregate_of, evaluate
from cep.inprocess.session import Session
from cep.packs.compile import compile_plan
from cep.shard.advance import MatchOptions
from rules.packs import load_texts
from rules.typed import Aggregate, Match, Pack, Path, PrevRef, Step, StepRef, TextMatch, WindowAggregate

QUIET = {"deadline": None, "suppress_health_check": list(HealthCheck)}
STREAM = (
    "stream e {\n  pair: long\n"
    + "".join(f"  {name}: {type_}\n" for name, type_ in FIELDS.items())
    + "  id id_\n  time at\n}\n"
)
_EARLIER = (
    "first(s.{})",
    "last(s.{})",
    "min(s.{})",
    "max(s.{})",
    "prev({})",
    "prev({}, 2)",
    "first(s.{}, 1)",
)
_BY_FIELD = {"v": (*_EARLIER, "sum(s.{})"), "n": (*_EARLIER, "sum(s.{})")}
_BY_FIELD |= dict.fromkeys("wx", (*_EARLIER, "sum(s.{})", "avg(s.{})"))
_WHOLE = ("first(s.{})", "last(s.{})", "prev({})", "last(s.{}, 1)")
_BY_FIELD |= dict.fromkeys(("f", "l", "u", "j", "r", "y", "y.s", "y.n"), _WHOLE)
_LITERAL = re.compile(r'"(?:[^"\\]|\\.)*"')
_FIELD = re.compile(r"\b(?:" + "|".join(FIELDS) + r")\b(?:\.[a-z]+)?")


def about_earlier(condition: str, chance: random.Random) -> str:
    """The condition with some of its fields replaced by what earlier events had there."""

    def replaced(found: re.Match[str]) -> str:
        name = found.group()
        forms = ("{}", "{}", *_BY_FIELD.get(name, _EARLIER))
        return chance.choice(forms).format(name)

    parts = []
    at = 0
    for literal in _LITERAL.finditer(condition):
        parts += [_FIELD.sub(replaced, condition[at : literal.start()]), literal.group()]
        at = literal.end()
    return "".join([*parts, _FIELD.sub(replaced, condition[at:])])


@dataclass
class Third:
    """The third event as the candidate, after two that the loop took."""

    events: Sequence[Mapping[str, object]]

    def field(self, path: Path) -> object:
        return value_at(self.events[2], path)

    def key(self, name: str) -> object:
        raise AssertionError(name)

    def step(self, ref: StepRef) -> object:
        place = ref.offset if ref.which == "first" else 1 - ref.offset
        return value_at(self.events[place], ref.path) if 0 <= place < 2 else None

    def previous(self, ref: PrevRef) -> object:
        return value_at(self.events[2 - ref.offset], ref.path) if ref.offset <= 2 else None

    def window(self, ref: WindowAggregate) -> object:
        raise AssertionError(ref)

    def aggregate(self, ref: Aggregate) -> object:
        values = [value_at(event, ref.path) for event in self.events[:2]]
        return aggregate_of(ref.function, values, ref.parameter)

    def text_match(self, ref: TextMatch) -> bool | None:
        raise AssertionError(ref)


def pack_for(condition: str) -> Pack | None:
    """Three rules that ask for the condition; None where the front end refuses it."""
    asked = {"yes": condition, "no": f"not ({condition})", "unknown": f"({condition}) is null"}
    rules = "".join(
        f"rule {name} {{\n  by pair\n  match s: e{{2}} => c: e[{test}]\n  within unbounded\n}}\n"
        for name, test in asked.items()
    )
    return load_texts([("p.rules", f'pack p version "1"\n{STREAM}{rules}')]).pack


def assert_agreement(
    condition: str, triples: Sequence[Sequence[Mapping[str, object]]], compiled: bool
) -> bool:
    """False where it was not asked, since an engine does not execute it."""
    pack = pack_for(condition)
    if pack is None:
        return False
    events = [
        {**row, "pair": pair, "id_": f"{pair} {n}", "at": pair * 10 + n}
        for pair, triple in enumerate(triples)
        for n, row in enumerate(triple)
    ]
    body = pack.rules[0].body
    assert isinstance(body, Match)
    step = body.pattern.elements[1][1]
    assert isinstance(step, Step)
    assert step.condition is not None
    expected = {}
    for pair in range(len(triples)):
        truth = evaluate(step.condition, Third(events[3 * pair : 3 * pair + 3]))
        expected[pair] = {True: "yes", False: "no", None: "unknown"}[truth]  # type: ignore[index]
    session = Session(compile_plan([pack]), options=MatchOptions(compiled=compiled))
    decoded = decode_typed(
        pack.streams[0], events, offsets=list(range(len(events))), file="one", partition="0"
    )
    assert not decoded.dead
    raised = session.feed([decoded.events]) + session.drain()
    got = {one.alert.key["pair"]: one.alert.rule for one in raised}
    wrong = [
        f"  {condition}\n  by row {expected[pair]}, by program {got.get(pair)}\n"
        + "\n".join(f"    {row}" for row in events[3 * pair : 3 * pair + 3])
        for pair in expected
        if got.get(pair) != expected[pair]
    ]
    assert not wrong, "\n" + "\n".join(wrong[:2])
    assert len(raised) == len(triples)
    return True


TRIPLES = st.lists(st.tuples(rows(), rows(), rows()), min_size=1, max_size=12)


@pytest.mark.slow
@pytest.mark.timeout(0)
@settings(max_examples=examples(300), **QUIET)
@given(booleans(2) | booleans(3), st.randoms(use_true_random=False), TRIPLES, st.integers(0, 5))
def test_programs_and_rows_agree(
    condition: str, chance: random.Random, triples: list[tuple[dict[str, object], ...]], form: int
) -> None:
    """The compiled form mostly, the interpreted one for a sixth."""
    assert_agreement(about_earlier(condition, chance), triples, compiled=form > 0)
