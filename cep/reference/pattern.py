"""The alternatives that a pattern opens: the steps that may come next after an element.

In continuation-passing style: `then` gives the tree for what follows the element. The names are those of
docs/language.md; `within` is in nanoseconds, MAX_TIME for `within unbounded`.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Sequence as Several
from dataclasses import dataclass, replace
from typing import assert_never

from cep.events import MAX_TIME
from cep.reference.alternatives import Alternative, Inside, Node, Option, Then, Timer, Watch, each, joint
from rules.typed import Absent, AnyOrder, Either, Element, Group, Sequence, Sign, Step, Unless

Quantified = Step | Group | Either | AnyOrder
Elements = Several[tuple[Sign, Element]]
_OWN: dict[str, Sign] = {"relaxed": "->", "contiguous": "=>", "any": "~>"}


@dataclass(frozen=True, slots=True)
class Pattern:
    """The alternatives of a pattern."""

    sequence: Sequence
    within: int

    def begin(self, end: Then) -> Node:
        """The alternatives that a run may begin with; `end` is where a complete one goes."""
        return self._follow(self.sequence.elements, Inside(), end)(Alternative())

    def end_of_within(self, alternative: Alternative) -> int:
        """The time from which on the alternative can take nothing."""
        return MAX_TIME if self.within == MAX_TIME else alternative.taken[0][1].time + self.within

    def _follow(self, elements: Elements, inside: Inside, then: Then, sign: Sign | None = None) -> Then:
        """The next states of an alternative at these elements; `sign` stands for the first one's own."""

        def enter(alternative: Alternative) -> Node:
            if not elements:
                return then(alternative)
            (own, element), *rest = elements
            before = sign or own
            following = self._follow(rest, inside, then)
            match element:
                case Unless(guard):
                    watch = Watch(guard, strict=before == "=>")
                    return following(replace(alternative, watches=(*alternative.watches, watch)))
                case Absent():
                    absences = [element, *_as_long(element, rest)]
                    following = self._follow(rest[len(absences) - 1 :], inside, then)
                    return self._wait(alternative, absences, inside, following)
                case Step() | Group() | Either() | AnyOrder():
                    watches = () if element.quantifier.single else tuple(_watches_behind(rest))
                    loop = _Loop(self, element, before, len(alternative.taken), inside, watches, following)
                    return loop.after(0, alternative)
                case _:
                    assert_never(element)

        return enter

    def _wait(self, alternative: Alternative, absences: list[Absent], inside: Inside, then: Then) -> Node:
        """Goes on when all the times are over. Before the first event, a condition on what came before it."""
        if not alternative.taken:
            return then(
                replace(
                    alternative,
                    lookback=(*alternative.lookback, *((a.guard, a.duration or 0) for a in absences)),
                )
            )
        watches = self._watches_of(alternative, absences)
        over = max(alternative.time, *(watch.until for watch in watches))
        return Timer(alternative, replace(inside, watches=(*inside.watches, *watches)), over, then)

    def _watches_of(self, alternative: Alternative, absences: list[Absent]) -> tuple[Watch, ...]:
        ends = [
            self.end_of_within(alternative) if a.duration is None else alternative.time + a.duration
            for a in absences
        ]
        return tuple(Watch(a.guard, until=end) for a, end in zip(absences, ends, strict=True))

    def round(
        self, element: Quantified, sign: Sign, alternative: Alternative, inside: Inside, then: Then
    ) -> Node:
        """One round of an element."""
        if isinstance(element, Step):
            if not alternative.taken:
                return Option(element, sign, alternative, inside, MAX_TIME, then)
            deadline = min(self.end_of_within(alternative), alternative.taken[-1][1].time + inside.gap)
            return (
                Option(element, sign, alternative, inside, deadline, then)
                if alternative.time < deadline
                else None
            )
        if not element.quantifier.single:
            names = {step.name for step in steps(element)}
            kept = [(name, begin) for name, begin in alternative.rounds if name not in names]
            alternative = replace(
                alternative, rounds=(*kept, *((name, len(alternative.taken)) for name in sorted(names)))
            )
        match element:
            case Group(body):
                return self._follow(body.elements, inside, then, sign)(alternative)
            case Either(branches):
                return joint(
                    self._follow(branch.elements, inside, then, sign)(alternative) for branch in branches
                )
            case AnyOrder(operands):
                return self._any_order(operands, sign, alternative, inside, then)
            case _:
                assert_never(element)

    def _any_order(
        self, operands: tuple[Sequence, ...], sign: Sign, alternative: Alternative, inside: Inside, then: Then
    ) -> Node:
        """One operand after the other, in the order in which they come; absences count from here."""
        absences = [absence for operand in operands if (absence := _only_absence(operand)) is not None]
        others = tuple(operand for operand in operands if _only_absence(operand) is None)
        if not alternative.taken and absences:
            return self._wait(
                alternative, absences, inside, lambda w: self._any_order(others, sign, w, inside, then)
            )
        watches = self._watches_of(alternative, absences)
        over = max((watch.until for watch in watches), default=alternative.time)
        watched = replace(inside, watches=(*inside.watches, *watches))

        def enter(waiting: tuple[Sequence, ...], sign: Sign, now: Alternative) -> Node:
            if not waiting:
                return then(now) if now.time >= over else Timer(now, watched, over, then)
            alternatives = []
            for operand in waiting:
                left = tuple(other for other in waiting if other is not operand)
                leave = lambda after, left=left: enter(left, "->", after)  # noqa: E731
                alternatives.append(self._follow(operand.elements, watched, leave, sign)(now))
            return joint(alternatives)

        return enter(others, sign, alternative)


@dataclass(frozen=True, slots=True)
class _Loop:
    """An element, entered with `start` events taken. `watches` are the `not`s right behind it."""

    pattern: Pattern
    element: Quantified
    sign: Sign
    start: int
    outside: Inside
    watches: tuple[Watch, ...]
    then: Then

    def after(self, rounds: int, alternative: Alternative) -> Node:
        """Another round, or what follows the loop."""
        quantifier = self.element.quantifier
        leave = self.then(alternative) if rounds >= quantifier.least else None
        if quantifier.most is not None and rounds >= quantifier.most:
            return leave

        def again(after: Alternative) -> Node:
            # A round that took nothing is none: the rounds that are missing would take nothing either.
            return (
                self.then(after)
                if len(after.taken) == len(alternative.taken)
                else self.after(rounds + 1, after)
            )

        sign = _OWN[quantifier.own] if rounds else self.sign
        go = self.pattern.round(self.element, sign, alternative, self._inside(), again)
        match quantifier.mode:
            case "each":
                return each([go, leave])
            case "greedy":
                return joint([go, leave])
            case "reluctant":
                return joint([leave, go])

    def _inside(self) -> Inside:
        untils = self.outside.untils
        if self.element.until is not None:
            untils = (*untils, (self.element.until, self.start if self.sign == "~>" else -1))
        gap = self.outside.gap if self.element.gap is None else min(self.outside.gap, self.element.gap)
        watches = tuple(replace(watch, after=self.start) for watch in self.watches)
        return Inside(untils, gap, (*self.outside.watches, *watches))


def _watches_behind(elements: Elements) -> Iterable[Watch]:
    for sign, element in elements:
        if not isinstance(element, Unless):
            return
        yield Watch(element.guard, strict=sign == "=>")


def _as_long(absent: Absent, rest: Elements) -> Iterable[Absent]:
    """Those that follow one without `for` and have none: all of them last until `within` is over."""
    for _, element in rest if absent.duration is None else ():
        if not isinstance(element, Absent) or element.duration is not None:
            return
        yield element


def _only_absence(operand: Sequence) -> Absent | None:
    (_, element), *rest = operand.elements
    return element if isinstance(element, Absent) and not rest else None


def steps(element: Element | Sequence) -> Iterable[Step]:
    """All steps, in the order of the text."""
    match element:
        case Step():
            yield element
        case Group(body):
            yield from steps(body)
        case Either(parts) | AnyOrder(parts):
            for part in parts:
                yield from steps(part)
        case Sequence(elements):
            for _, follower in elements:
                yield from steps(follower)
        case Unless() | Absent():
            return
        case _:
            assert_never(element)
