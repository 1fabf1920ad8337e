"""Coverage is exact: it is what a brute-force reading of the language finds, and it tells what is missing."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import ClassVar
from unittest.mock import patch

from cep_command import cep
from effort import examples
from hypothesis import HealthCheck, given, settings
from random_packs import packs
from random_tests import Trial, trials

import cep.reference
from alerts.notation import json_value
from cep.cli.timelines import engine_of, observer_of
from cep.expressions.scalar import evaluate
from cep.expressions.text_judge import text_judge
from cep.reference import Decided, ways
from cep.reference.runs import Matcher, Scope
from cep.reference.ways import Done, Event, First, Joint, Leaf, Node, Timer, Way
from rules.testing import Coverage, run_test, timeline
from rules.testing.operands import is_range
from rules.typed import (
    Compare,
    Expression,
    Guard,
    In,
    IsNull,
    Like,
    Logical,
    On,
    Search,
    Step,
    TextMatch,
    walk,
)

Sides = set[tuple[str, int, int, str]]
"""Kind, first and last character of the place, side."""


class Recording(Matcher):
    """Remembers every event that a run was shown."""

    shown: ClassVar[list[tuple[Matcher, Step | Guard, Way, Event]]]
    held: ClassVar[list[Guard]]
    judged: ClassVar[list[tuple[Matcher, Way]]]
    tried: ClassVar[list[tuple[Step | Guard, Way]]]

    def see(self, event: Event) -> None:
        Recording.tried = []
        super().see(event)
        Recording.shown += [(self, what, way, event) for what, way in Recording.tried]

    def expire(self, now: int) -> None:
        for run in self.runs:
            for leaf in ways.leaves(run.tree):
                if isinstance(leaf, Timer) and leaf.deadline <= now:
                    Recording.held += [watch.guard for watch in leaf.inside.watches if watch.until <= now]
        super().expire(now)

    def matched(self, way: Way) -> Node:
        Recording.judged.append((self, way))
        return super().matched(way)

    def fits(self, what: Step | Guard, way: Way, event: Event) -> bool:
        if event.stream == what.stream:
            Recording.tried.append((what, way))
        return super().fits(what, way, event)


def in_order_of_preference(node: Node, leaf: Callable[[Leaf], tuple[Node, bool]]) -> tuple[Node, bool]:
    """`ways.move`, without what does not matter.

    What stands behind a way that is complete is not shown the event; and a guard that waits together with
    what takes the event does not fire.
    """

    def shown(parts: Sequence[Node], fitting: bool) -> tuple[list[Node], bool]:
        moved: list[tuple[Node, bool]] = []
        for part in parts:
            moved.append(in_order_of_preference(part, leaf))
            kept = ways.first(p for p, fits in moved if fits or not fitting)
            if kept is not None and isinstance(ways.leaves(kept)[-1], Done):
                break
        return [p for p, fits in moved if fits or not fitting], any(fits for _, fits in moved)

    match node:
        case Joint(nodes):
            before = len(Recording.tried)
            fit, any_fits = shown(nodes, True)
            since = Recording.tried[before:]
            Recording.tried[before:] = [one for one in since if any_fits and isinstance(one[0], Step)]
            return (ways.first(fit), True) if any_fits else ways.move(node, leaf)
        case First(nodes):
            alive, any_fits = shown(nodes, False)
            return ways.first(alive), any_fits
        case _:
            return ways.move(node, leaf)


def by_brute_force(trial: Trial, given_up: bool) -> Sides:
    """The sides of steps, guards and parts of conditions, from the reference engine.

    `given_up`: also of ways that the same event gives up, which an engine may look at or not.
    """
    pack, line = trial.pack, timeline(trial.pack, trial.test)
    arrivals = [(a.stream, str(a.id), a.values) for a in line.arrivals() if not a.late]
    Recording.shown, Recording.held, Recording.judged = [], [], []
    with (
        patch.object(cep.reference, "Matcher", Recording),
        patch.object(cep.reference.runs, "move", ways.move if given_up else in_order_of_preference),
    ):
        watermark = line.moments[-1].watermark
        alerts = cep.reference.decided(pack, arrivals, watermark, text_judge(pack))
    found: Sides = set()
    for matcher, what, way, event in Recording.shown:
        scope = matcher.scope(way, event)
        fits = scope.holds(what.condition)
        kind = "step" if isinstance(what, Step) else "guard"
        if kind == "step" or fits:
            side = ("taken" if fits else "refused") if kind == "step" else "fired"
            found.add((kind, what.span.start, what.span.end, side))
        found |= set(of_condition(what.condition, scope))
    for matcher, way in Recording.judged:
        found |= set(of_condition(matcher.body.having, matcher.scope(way, None)))
    found |= {("guard", guard.span.start, guard.span.end, "held") for guard in Recording.held}
    for rule in pack.rules:
        mine = [alert for alert in alerts if alert.rule == rule.name]
        if isinstance(rule.body, On):
            found |= set(of_events(trial, rule.body))
        else:
            found |= set(of_matches(rule.body.pattern, mine))
    return found


def of_matches(pattern: object, alerts: list[Decided]) -> Iterator[tuple[str, int, int, str]]:
    """Steps that matches left out."""
    for alert, node in itertools.product(alerts, walk(pattern)):
        if isinstance(node, Step) and node.name not in dict(alert.events):
            yield "step", node.span.start, node.span.end, "left out"


def of_events(trial: Trial, body: On) -> Iterator[tuple[str, int, int, str]]:
    for a in timeline(trial.pack, trial.test).arrivals():
        if a.stream == body.stream and not a.late:
            event = Event(a.stream, str(a.id), a.time, a.values, 0)
            scope = Scope(Way(), event, [event], None, text_judge(trial.pack), {})
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


# Patterns of single and greedy steps; of `until`, `absent` and groups no oracle of coverage exists yet.
@settings(max_examples=examples(25), deadline=None, suppress_health_check=list(HealthCheck))
@given(trials(packs(fancy=False)))
def test_coverage_is_what_brute_force_finds(trial: Trial) -> None:
    result = run_test(trial.pack, trial.test, engine_of(trial.pack), json_value)
    coverage = Coverage(trial.pack)
    coverage.add(result, observer_of(trial.pack)(result.timeline.moments, trial.test.rules))
    items = [item for rule in coverage.rules() for item in rule.items]
    seen = {
        (item.kind, item.span.start, item.span.end, side)
        for item in items
        for side, count in item.sides
        if count and item.kind not in ("rule", "alert", "within", "gap")
    }
    known = {(item.kind, item.span.start, item.span.end, side) for item in items for side, _ in item.sides}
    least, most = by_brute_force(trial, given_up=False), by_brute_force(trial, given_up=True)
    assert shown(trial, (least & known) - seen) == shown(trial, seen - most) == [], f"{trial}"


def shown(trial: Trial, sides: Sides) -> list[str]:
    return sorted(f"{kind} {trial.text[start:end]}: {side}" for kind, start, end, side in sides)
