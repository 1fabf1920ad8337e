"""Coverage is exact: it is what a brute-force reading of the language finds, and it tells what is missing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, ClassVar
from unittest.mock import patch

from cep_command import cep
from effort import examples
from hypothesis import HealthCheck, given, settings
from random_packs import packs
from random_tests import Trial, trials

import cep.reference
from alerts.notation import json_value
from cep.expressions.scalar import evaluate
from cep.inprocess.timelines import engine_of, observer_of
from cep.reference import alternatives
from cep.reference.alternatives import (
    Alternative,
    Done,
    Each,
    Event,
    First,
    Inside,
    Joint,
    Leaf,
    Node,
    Option,
    Timer,
)
from cep.reference.runs import Matcher, Scope
from cep.reference.text_conditions import text_predicate
from rules.packs import load_texts
from rules.testing import Coverage, run_test, timeline
from rules.testing.operands import is_range
from rules.typed import (
    Absent,
    AnyOrder,
    Compare,
    Expression,
    Guard,
    In,
    IsNull,
    Like,
    Logical,
    On,
    Search,
    Sequence,
    Step,
    TextMatch,
    Unless,
    walk,
)

Sides = set[tuple[str, int, int, str]]
"""Kind, first and last character of the place, side."""


class Recording(Matcher):
    """Notes the sides that runs show, as docs/testing.md tells them."""

    sides: ClassVar[Sides]
    tried: ClassVar[list[tuple[Step | Guard, Alternative, Event]]]

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.fired: set[tuple[Guard, int]] = set()
        self.begun: list[tuple[Option, Event, bool]] = []
        self.skipped_to = -1
        self.gaps = [node for node in walk(self.body.pattern) if getattr(node, "gap", None) is not None]

    def note(self, kind: str, node: Any, side: str) -> None:
        Recording.sides.add((kind, node.span.start, node.span.end, side))

    def judge(self, condition: Expression | None, alternative: Alternative, event: Event | None) -> None:
        Recording.sides |= set(of_condition(condition, self.scope(alternative, event)))

    def fits(self, what: Step | Guard, alternative: Alternative, event: Event) -> bool:
        if event.stream == what.stream:
            Recording.tried.append((what, alternative, event))
        return super().fits(what, alternative, event)

    def begin(self, leaf: Leaf, event: Event) -> tuple[Node, bool]:
        node, fits = super().begin(leaf, event)
        number = len(Recording.tried)
        if (
            isinstance(leaf, Option)
            and super().fits(leaf.step, leaf.alternative, event)
            and not super().ends_loops(leaf.inside, leaf.alternative, event)
        ):
            self.begun.append((leaf, event, fits))
        del Recording.tried[number:]
        return node, fits

    def ends_loops(self, inside: Inside, alternative: Alternative, event: Event) -> bool:
        """An event that a loop may not take shows nothing of the step that it fits, which was asked last."""
        number = len(Recording.tried)
        found = super().ends_loops(inside, alternative, event)
        del Recording.tried[number - 1 if found else number :]
        return found

    def is_last(self, leaf: Option, event: Event) -> bool:
        """As in the reference; what ends the waiting for later events is no trial where one is taken."""
        number = len(Recording.tried)
        found = super().is_last(leaf, event)
        del Recording.tried[number:]
        return found

    def was_absent(self, guard: Guard, duration: int, event: Event) -> bool:
        """As in the reference; what is looked back at is no trial. Where it was there, nor is the step that
        would else have taken the event."""

        number = len(Recording.tried)
        absent = super().was_absent(guard, duration, event)
        del Recording.tried[number if absent else number - 1 :]
        return absent

    def behind(self, leaf: Option) -> Iterator[Guard]:
        """The events to be absent before a step, in its own sequence or beside it."""
        for guard, _ in leaf.alternative.lookback:
            for node in walk(self.body.pattern):
                if guard in absences(node) and leaf.step in walk(node):
                    yield guard

    def see(self, event: Event) -> None:
        self.begun, self.skipped_to = [], -1
        super().see(event)

    def raise_complete(self, time: int | None, phase: int) -> None:
        """No run begins with an event that a match of another run skips: it is not tried."""
        first = [one for one in Recording.tried if not one[1].taken]
        for what, alternative, event in Recording.tried:
            if alternative.taken:
                self.show(what, alternative, event)
        Recording.tried.clear()
        super().raise_complete(time, phase)
        for what, alternative, event in first:
            if event.index > self.skipped_to:
                self.show(what, alternative, event)
        for leaf, event, fits in self.begun if phase == 1 else ():
            if event.index > self.skipped_to:
                self.judge(leaf.step.condition, leaf.alternative, event)
                for guard in self.behind(leaf):
                    self.note("guard", guard, "held" if fits else "fired")

    def skipped(self, alternative: Alternative) -> set[int]:
        ended = super().skipped(alternative)
        if len(alternative.taken) > 1:
            self.skipped_to = max(self.skipped_to, *ended, -1)
        return ended

    def show(self, what: Step | Guard, alternative: Alternative, event: Event) -> None:
        fits = self.scope(alternative, event).holds(what.condition)
        if isinstance(what, Step):
            self.note("step", what, "taken" if fits else "refused")
            if fits and alternative.taken:
                self.note("within", self.rule, "kept")
                for element in self.gaps:
                    if what in walk(element):
                        self.note("gap", element, "kept")
        elif fits:
            self.note("guard", what, "fired")
            self.fired.add((what, alternative.taken[0][1].index))
        self.judge(what.condition, alternative, event)

    def expire(self, now: int) -> None:
        for run in self.runs:
            for leaf in alternatives.leaves(run.tree):
                if isinstance(leaf, Timer) and leaf.deadline <= now:
                    for watch in leaf.inside.watches:
                        if watch.until <= now:
                            self.note("guard", watch.guard, "held")
        super().expire(now)

    def timed_out(self, alternative: Alternative, now: int) -> None:
        super().timed_out(alternative, now)
        if self.body.within is not None and now == alternative.taken[0][1].time + self.body.within:
            self.note("within", self.rule, "ended a run")
        else:
            for element in self.gaps:
                if alternative.taken[-1][1].time + element.gap == now:
                    self.note("gap", element, "ended a run")

    def matched(self, alternative: Alternative) -> Node:
        node = super().matched(alternative)
        if node is None:
            self.judge(self.body.having, alternative, None)
        return node

    def report(self, kind: str, alternative: Alternative, *more: Any) -> None:
        super().report(kind, alternative, *more)
        if kind != "match":
            return
        self.judge(self.body.having, alternative, None)
        for node in walk(self.body.pattern):
            if isinstance(node, Step) and not alternative.of(node.name):
                self.note("step", node, "left out")
            for guard in guards_at(node):
                there = any(alternative.of(step.name) for step in walk(node) if isinstance(step, Step))
                if there and (guard, alternative.taken[0][1].index) not in self.fired:
                    self.note("guard", guard, "held")


def absences(node: object) -> list[Guard]:
    """Those in a sequence, and the operands that are nothing else."""
    if isinstance(node, AnyOrder):
        return [
            guard for operand in node.operands if len(operand.elements) == 1 for guard in absences(operand)
        ]
    elements = [element for _, element in node.elements] if isinstance(node, Sequence) else []
    return [element.guard for element in elements if isinstance(element, Absent)]


def guards_at(node: object) -> list[Guard]:
    """The `not`s that stand in a sequence, the `until` of a loop."""
    if isinstance(node, Sequence):
        return [element.guard for _, element in node.elements if isinstance(element, Unless)]
    until = getattr(node, "until", None)
    return [] if until is None else [until]


def in_order_of_preference(node: Node, leaf: Callable[[Leaf], tuple[Node, bool]]) -> tuple[Node, bool]:
    """`alternatives.move`, without what does not matter.

    An alternative that stands in reserve behind a complete one is not shown the event; and a guard that waits
    together with what takes the event does not fire.
    """
    match node:
        case Joint(nodes):
            before = len(Recording.tried)
            moved = [in_order_of_preference(part, leaf) for part in nodes]
            if not any(fits for _, fits in moved):
                return alternatives.joint(part for part, _ in moved), False
            steps_only(before)
            return alternatives.first(part for part, fits in moved if fits), True
        case Each(nodes):
            moved = [in_order_of_preference(part, leaf) for part in nodes]
            return alternatives.each(part for part, _ in moved), any(fits for _, fits in moved)
        case Option():
            before = len(Recording.tried)
            moved_on, fits = alternatives.move(node, leaf)
            if fits:
                steps_only(before)
            return moved_on, fits
        case First(nodes):
            moved = []
            for part in nodes:
                moved.append(in_order_of_preference(part, leaf))
                kept = alternatives.first(part for part, _ in moved)
                if isinstance(kept.nodes[-1] if isinstance(kept, First) else kept, Done):
                    break
            return alternatives.first(part for part, _ in moved), any(fits for _, fits in moved)
        case _:
            return alternatives.move(node, leaf)


def steps_only(since: int) -> None:
    Recording.tried[since:] = [one for one in Recording.tried[since:] if isinstance(one[0], Step)]


def by_brute_force(trial: Trial) -> Sides:
    """All sides that a test shows, from the reference engine."""
    pack, line = trial.pack, timeline(trial.pack, trial.test)
    arrivals = [(a.stream, str(a.id), a.values) for a in line.arrivals() if not a.late]
    Recording.sides, Recording.tried = set(), []
    with (
        patch.object(cep.reference, "Matcher", Recording),
        patch.object(cep.reference.runs, "move", in_order_of_preference),
    ):
        cep.reference.decided(pack, arrivals, line.moments[-1].watermark, text_predicate(pack))
    for rule in pack.rules:
        if isinstance(rule.body, On):
            Recording.sides |= set(of_events(trial, rule.body))
    return Recording.sides


def of_events(trial: Trial, body: On) -> Iterator[tuple[str, int, int, str]]:
    for a in timeline(trial.pack, trial.test).arrivals():
        if a.stream == body.stream and not a.late:
            event = Event(a.stream, str(a.id), a.time, a.values, 0)
            scope = Scope(Alternative(), event, [event], None, text_predicate(trial.pack), {})
            side = "satisfied" if scope.holds(body.condition) else "refused"
            yield "event", body.span.start, body.span.end, side
            yield from of_condition(body.condition, scope)


def of_condition(condition: Expression | None, scope: Scope) -> Iterator[tuple[str, int, int, str]]:
    """An operand decides where the whole turns over with it, whatever the others are: tried by turning it."""
    for node in () if condition is None else walk(condition):
        if isinstance(node, Logical) and not is_range(node):
            values = [evaluate(operand, scope) for operand in node.operands]
            for number, operand in enumerate(node.operands):
                turned = [[*values[:number], to, *values[number + 1 :]] for to in (True, False)]
                if [combined(node.operator, one) for one in turned] == [True, False] and values[
                    number
                ] is not None:
                    side = "true" if values[number] else "false"
                    yield node.operator, operand.span.start, operand.span.end, side
        elif isinstance(node, Logical):
            low, high = (evaluate(operand, scope) for operand in node.operands)
            sides = {(True, True): "inside", (False, True): "below", (True, False): "above"}
            if (low, high) in sides:
                yield "range", node.span.start, node.span.end, sides[low, high]
        elif isinstance(node, Compare | In | Like | Search | IsNull | TextMatch):
            value = evaluate(node, scope)
            if value is not None:
                yield "comparison", node.span.start, node.span.end, "true" if value else "false"


def combined(operator: str, values: list[object]) -> object:
    decisive = operator == "or"
    if decisive in values:
        return decisive
    return None if None in values else not decisive


@settings(max_examples=examples(25), deadline=None, suppress_health_check=list(HealthCheck))
@given(trials(packs()))
def test_coverage_is_what_brute_force_finds(trial: Trial) -> None:
    assert_exact(trial)


def assert_exact(trial: Trial) -> None:
    result = run_test(trial.pack, trial.test, engine_of(trial.pack), json_value)
    coverage = Coverage(trial.pack)
    coverage.add(result, observer_of(trial.pack)(result.timeline.moments, trial.test.rules))
    items = [item for rule in coverage.rules() for item in rule.items if item.kind not in ("rule", "alert")]
    sides = {
        (item.kind, item.span.start, item.span.end, side): count
        for item in items
        for side, count in item.sides
    }
    seen = {side for side, count in sides.items() if count}
    found = by_brute_force(trial) & sides.keys()
    assert shown(trial, found - seen) == shown(trial, seen - found) == [], f"{trial}"


IN_RESERVE = """pack p version "1"
stream e { id_: string  at: timestamp  v: long  w: double  id id_  time at }
rule r {
  match (
    s0: e{0,2} contiguous -> s1: e[v < sum(s0.w) or last(s0.v) <= 2]+? contiguous & s2: e{0,2}
  ){2} contiguous
  within 20s
}
test r "the last event completes an alternative, and of those behind it one would show more" {
  allow other
  at 0s e { v: 2, w: 20.0 }
  at 1s e { v: 2, w: 2.0 }
  at 2s e { v: 9, w: 0.0 }
  at 5s e { v: 3, w: 0.5 }
  expect at 20s {}
}
"""


def test_an_alternative_behind_one_that_an_event_completes_is_not_shown_it() -> None:
    pack = load_texts([("p.rules", IN_RESERVE)]).need()
    trial = Trial(IN_RESERVE, pack, pack.tests[0])
    assert_exact(trial)
    place = IN_RESERVE.index("v < sum")
    sides = {side for kind, start, _, side in by_brute_force(trial) if (kind, start) == ("or", place)}
    assert "true" not in sides


ENDED = """pack p version "1"
stream e { id_: string  at: timestamp  id id_  time at }
rule r { match absent e for 1s -> s0: e{2} contiguous until e  within 20s }
test r "the loop may take neither, whatever came before" {
  at 0s e { }
  at 0s e { }
  expect at 20s {}
}
"""


def test_what_ends_a_loop_shows_nothing_of_the_absence_before_it() -> None:
    pack = load_texts([("p.rules", ENDED)]).need()
    trial = Trial(ENDED, pack, pack.tests[0])
    assert_exact(trial)
    assert not any(kind == "guard" for kind, *_ in by_brute_force(trial))


def shown(trial: Trial, sides: Sides) -> list[str]:
    return sorted(f"{kind} {trial.text[start:end]}: {side}" for kind, start, end, side in sides)
