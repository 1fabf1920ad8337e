"""Coverage: which parts of its rules a pack's tests have tried, from the stories of the tests.

Every rule should be named by a test and raise an alert. Of a rule, every step should have taken an event and
refused one, and a step that may be left out should have been; every part of every condition should have come
out each way (`branches`); every bound should have ended a run and been kept; every guard should have fired
and held. A window should have held two events, and one of its key should have been outside of it. The
percentage counts these sides.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal, assert_never

from rules.source import Span
from rules.testing.branches import UNKNOWN, branches, outcomes
from rules.testing.guards import came_past, looks_back
from rules.testing.run import Result
from rules.testing.story import Happening, Story
from rules.typed import (
    Absent,
    AnyOrder,
    Either,
    Expression,
    Group,
    Guard,
    LastEvents,
    Match,
    On,
    Over,
    Pack,
    Rule,
    Sequence,
    Step,
    walk,
)

Kind = Literal[
    "rule", "alert", "event", "window", "step", "guard", "within", "gap", "comparison", "and", "or", "range",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Item:
    """A part of a rule with the sides that tests should show, each with how often they did.

    `unknown` counts how often a part of a condition was unknown, which is asked of no test.
    """

    kind: Kind
    span: Span
    sides: tuple[tuple[str, int], ...]
    unknown: int = 0

    @property
    def missing(self) -> tuple[str, ...]:
        """The sides that no test showed."""
        return tuple(side for side, count in self.sides if not count)


@dataclass(frozen=True, slots=True)
class RuleCoverage:
    """The coverage of one rule; `tests` name it, `alerts` were raised in them, also withheld ones."""

    rule: Rule
    tests: int
    alerts: int
    items: tuple[Item, ...]

    @property
    def total(self) -> int:
        """The sides that tests should show."""
        return sum(len(item.sides) for item in self.items)

    @property
    def covered(self) -> int:
        """The sides that they did show."""
        return self.total - sum(len(item.missing) for item in self.items)


def percent(rules: Iterable[RuleCoverage]) -> float:
    """Of all sides of the rules, those that tests showed; 100 where there are none."""
    counts = [(one.covered, one.total) for one in rules]
    total = sum(total for _, total in counts)
    return 100 * sum(covered for covered, _ in counts) / total if total else 100.0


@dataclass(slots=True)
class Coverage:
    """Collects what tests show of a pack's rules."""

    pack: Pack
    _rules: dict[str, _Seen] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._rules = {rule.name: _Seen(rule) for rule in self.pack.rules}

    def add(self, result: Result, story: Story) -> None:
        """Count what one test showed. The story is that of the test's rules."""
        decided = [seen for _, seen in result.comparison.met] + [*result.comparison.others, *result.withheld]
        for name in result.test.rules:
            self._rules[name].tests += 1
            self._rules[name].held_before.clear()  # tests know nothing of one another
            self._rules[name].alerts += sum(seen.rule == name for seen in decided)
        for happening in story:
            self._rules[happening.rule].add(happening)

    def rules(self) -> tuple[RuleCoverage, ...]:
        """The coverage so far, in the order of the pack's rules."""
        return tuple(seen.result() for seen in self._rules.values())


class _Seen:
    """The parts of one rule that were seen, by kind and place."""

    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        self.tests = self.alerts = 0
        self._expected = list(_expected(rule))
        self._counts: Counter[tuple[Kind, Span, str]] = Counter()
        steps = walk(rule.body.pattern) if isinstance(rule.body, Match) else ()
        self._optional = [s for s in steps if isinstance(s, Step) and s.quantifier.least == 0]
        pattern = rule.body.pattern if isinstance(rule.body, Match) else None
        self._watching = [] if pattern is None else list(came_past(pattern))
        self._looks = {} if pattern is None else looks_back(pattern)
        self._fired: set[tuple[Span, object]] = set()
        self.held_before: dict[object, set[tuple[object, int]]] = {}
        self._gaps: dict[Span, list[tuple[Span, int]]] = {}
        for element, gap, step in _gaps(rule):
            self._gaps.setdefault(step.span, []).append((element, gap))
        self._having = rule.body.having if isinstance(rule.body, Match) else None

    def add(self, seen: Happening) -> None:
        """Count what one happening shows."""
        node = seen.node
        if isinstance(node, Over):
            self._of_window(node, seen)
            return
        match seen.kind:
            case "began" | "took" if isinstance(node, Step):
                self._count("step", node.span, "taken")
                if len(seen.taken) > 1:
                    self._count("within", self.rule.span, "kept")
                    for element, _ in self._gaps.get(node.span, ()):
                        self._count("gap", element, "kept")
                else:
                    self._look_back(node, "held")
                self._count_outcomes(node.condition, seen)
            case "tried" if isinstance(node, Step) and seen.failed == "until":
                pass  # the step would have taken it
            case "tried" if isinstance(node, Step):
                if seen.failed == "absence":
                    self._look_back(node, "fired")
                else:
                    self._count("step", node.span, "refused")
                self._count_outcomes(node.condition, seen)
            case "tried" if isinstance(node, Guard):
                self._count_outcomes(node.condition, seen)
            case "prevented" | "stopped" if isinstance(node, Guard):
                self._count("guard", node.span, "fired")
                self._fired.add((node.span, _beginning(seen)))
                self._count_outcomes(node.condition, seen)
            case "passed" if isinstance(node, Guard):
                self._count("guard", node.span, "held")
            case "matched" | "tried" if isinstance(node, On):
                self._count("event", node.span, "satisfied" if seen.kind == "matched" else "refused")
                self._count_outcomes(node.condition, seen)
            case "matched":
                taken = {step for step, _ in seen.taken}
                self._left_out(taken)
                self._held(taken, seen)
                self._count_outcomes(self._having, seen)
            case "refused":
                self._count_outcomes(self._having, seen)
            case "expired" | "timed out" if seen.bound == "within":
                self._count("within", self.rule.span, "ended a run")
            case "expired" | "timed out" if seen.bound == "gap":
                last = seen.taken[-1][1].time
                gaps = (one for of_step in self._gaps.values() for one in of_step)
                ended = {element for element, gap in gaps if last + gap == seen.time}
                for element in ended:
                    self._count("gap", element, "ended a run")

    def _of_window(self, body: Over, seen: Happening) -> None:
        """An event that was taken or not; a window that was judged."""
        if seen.window is None:
            self._count("event", body.span, "taken" if seen.kind == "took" else "refused")
            self._count_outcomes(body.condition, seen)
        elif seen.kind != "waiting":
            now = {(arrival.id, arrival.time) for _, arrival in seen.taken}
            before = self.held_before.setdefault(seen.key, set())
            self._count("window", _clause(body), "kept", len(now) > 1)
            self._count("window", _clause(body), "left", bool(before - now))
            before |= now
            self._count_outcomes(body.having, seen)

    def _left_out(self, taken: set[str]) -> None:
        for step in self._optional:
            if step.name not in taken:
                self._count("step", step.span, "left out")

    def _held(self, taken: set[str], seen: Happening) -> None:
        """The `not` and `until` that a match came past; an `absent` behind a step is in the story."""
        for guard, steps in self._watching:
            if steps & taken and (guard.span, _beginning(seen)) not in self._fired:
                self._count("guard", guard.span, "held")

    def _look_back(self, step: Step, side: str) -> None:
        for guard in self._looks[step.span]:
            self._count("guard", guard.span, side)

    def _count_outcomes(self, condition: Expression | None, seen: Happening) -> None:
        if condition is not None and seen.value is not None:
            for branch, outcome in outcomes(condition, seen.value):
                self._count(branch.kind, branch.span, outcome)

    def _count(self, kind: Kind, span: Span, side: str, shown: bool = True) -> None:
        self._counts[kind, span, side] += shown

    def result(self) -> RuleCoverage:
        """The rule's items with their counts."""
        head = [
            Item("rule", self.rule.span, (("tested", self.tests),)),
            Item("alert", self.rule.span, (("raised", self.alerts),)),
        ]
        items = [
            Item(
                kind,
                span,
                tuple((side, self._counts[kind, span, side]) for side in sides),
                self._counts[kind, span, UNKNOWN],
            )
            for kind, span, sides in self._expected
        ]
        return RuleCoverage(self.rule, self.tests, self.alerts, (*head, *items))


def _expected(rule: Rule) -> Iterator[tuple[Kind, Span, tuple[str, ...]]]:
    """The parts of a rule that tests should show, with their sides."""
    match rule.body:
        case On(_, condition, span):
            yield "event", span, ("satisfied", *(() if condition is None else ("refused",)))
            yield from _of_condition(condition)
        case Match():
            yield from _of_match(rule, rule.body)
        case Over():
            yield from _of_windows(rule.body)
        case _:
            assert_never(rule.body)


def _of_windows(body: Over) -> Iterator[tuple[Kind, Span, tuple[str, ...]]]:
    yield "event", body.span, ("taken", *(() if body.condition is None else ("refused",)))
    yield from _of_condition(body.condition)
    alone = isinstance(body.window, LastEvents) and body.window.events == 1
    yield "window", _clause(body), (*(() if alone else ("kept",)), "left")
    yield from _of_condition(body.having)


def _clause(body: Over) -> Span:
    """Where the window is written: behind the stream and its condition, before `having`."""
    start = body.span.start if body.condition is None else body.condition.span.end
    return Span(body.span.file, start, body.having.span.start)


def _of_match(rule: Rule, body: Match) -> Iterator[tuple[Kind, Span, tuple[str, ...]]]:
    steps = list(_steps(rule))
    first = _first(body.pattern)
    if body.within is not None and (len(steps) > 1 or not all(s.quantifier.single for s in steps)):
        yield "within", rule.span, ("kept", "ended a run")
    for node in walk(body.pattern):
        match node:
            case Step():
                refused = () if node.condition is None else ("refused",)
                left_out = ("left out",) if node.quantifier.least == 0 else ()
                yield "step", node.span, ("taken", *refused, *left_out)
                yield from _of_condition(node.condition)
            case Guard():
                yield "guard", node.span, ("fired", "held")
                if node.span not in first:  # how those were evaluated is not in the story
                    yield from _of_condition(node.condition)
        if isinstance(node, Step | Group | Either | AnyOrder) and node.gap is not None:
            yield "gap", node.span, ("kept", "ended a run")
    yield from _of_condition(body.having)


def _steps(rule: Rule) -> Iterator[Step]:
    if isinstance(rule.body, Match):
        yield from (node for node in walk(rule.body.pattern) if isinstance(node, Step))


def _gaps(rule: Rule) -> Iterator[tuple[Span, int, Step]]:
    """The elements with a `gap`, it, and each step that it holds for."""
    for node in walk(rule.body):
        if isinstance(node, Step | Group | Either | AnyOrder) and node.gap is not None:
            yield from ((node.span, node.gap, step) for step in walk(node) if isinstance(step, Step))


def _first(pattern: Sequence) -> set[Span]:
    """The guards of what is to be absent before any step."""
    found: set[Span] = set()
    for _, element in pattern.elements:
        if not isinstance(element, Absent):
            break
        found.add(element.guard.span)
    return found


def _beginning(seen: Happening) -> tuple[object, ...]:
    """The identity that a run shares with all that forked from it: key and first event."""
    first = seen.taken[0][1]
    return seen.key, first.stream, first.id, first.time


def _of_condition(condition: Expression | None) -> Iterator[tuple[Kind, Span, tuple[str, ...]]]:
    if condition is not None:
        yield from ((branch.kind, branch.span, branch.sides) for branch in branches(condition))
