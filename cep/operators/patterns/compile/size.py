"""The size of a pattern's automaton, counted before it is built.

A pattern's parts say how many transitions enter them, how many paths pass them taking nothing, how many
transitions are within them, and how many paths leave them; the size of a pattern of them follows (as first,
last and follow sets do: Glushkov, Russian Mathematical Surveys 16, 1961). The counts are those of
`cep.operators.patterns.compile.states`, but where time may end a round (`absent` in a loop or beside `&`),
which they estimate. Counting takes time linear in the text, and in the orders that the groups with `&` stand
for as long as they are no more than the states a pattern may have.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import astuple, dataclass, field, replace
from typing import assert_never

from rules.typed import Absent, AnyOrder, Either, Element, Group, Sequence, Sign, Step, Unless, walk

MOST_STATES = 4096
MOST_TRANSITIONS = 50_000
"""Transitions of all states: `cep check` takes 15 us for each, a deploy 60 in all."""

Quantified = Step | Group | Either | AnyOrder
_OWN: Mapping[str, Sign] = {"relaxed": "->", "contiguous": "=>", "any": "~>"}


@dataclass(frozen=True, slots=True)
class Size:
    """States and transitions of a pattern or of one of its parts; `exact`: it is not an estimate."""

    states: int
    transitions: int
    exact: bool = True

    @property
    def fits(self) -> bool:
        """True if a pattern may be as large."""
        return self.states <= MOST_STATES and self.transitions <= MOST_TRANSITIONS


@dataclass(frozen=True, slots=True)
class Counted:
    """A pattern's size, and the smallest part that is too large by itself; None: the whole, or nothing is."""

    size: Size
    part: Quantified | None


@dataclass(frozen=True, slots=True)
class _Part:
    """Counts of a part. `enter` and `empty` are transitions into it and paths past it that take nothing, for
    one path that comes to it; `first_enter` and `first_empty` the same before the first event. The others are
    sums over its states: transitions within, paths out of it after an event, and after a time.
    """

    enter: int = 0
    empty: int = 1
    first_enter: int = 0
    first_empty: int = 1
    states: int = 0
    within: int = 0
    out: int = 0
    timed_out: int = 0

    def then(self, other: _Part) -> _Part:
        """This part and another behind it."""
        leaving = self.out + self.timed_out
        return _Part(
            self.enter + self.empty * other.enter,
            self.empty * other.empty,
            self.first_enter + self.first_empty * other.first_enter,
            self.first_empty * other.first_empty,
            self.states + other.states,
            self.within + leaving * other.enter + other.within,
            self.out * other.empty + other.out,
            self.timed_out * other.empty + other.timed_out,
        )

    def beside(self, other: _Part) -> _Part:
        """Either of two parts."""
        return _Part(*(one + more for one, more in zip(astuple(self), astuple(other), strict=True)))

    def within_also(self, other: _Part) -> _Part:
        """The same part, standing in the automaton once more, as the other."""
        states, within = self.states + other.states, self.within + other.within
        out, timed = self.out + other.out, self.timed_out + other.timed_out
        return replace(self, states=states, within=within, out=out, timed_out=timed)


_NONE = _Part(empty=0, first_empty=0)


def counted(pattern: Sequence) -> Counted:
    """The size of a pattern's automaton, which is not built, however large."""
    counter = _Counter()
    whole = counter.sequence(pattern, ("->",))
    transitions = whole.first_enter + whole.within + whole.out + whole.timed_out
    exact = not any(isinstance(part, Absent) for part in walk(pattern))
    return Counted(Size(1 + whole.states, transitions, exact), counter.part)


@dataclass(slots=True)
class _Counter:
    part: Quantified | None = None
    """The first part found that is too large by itself: of those within one another the innermost."""
    known: dict[tuple[int, Sign], _Part] = field(default_factory=dict)
    """By identity of an element and the sign before it."""

    def sequence(self, sequence: Sequence, signs: tuple[Sign, ...]) -> _Part:
        """`signs`: those by which its first element may be come to, which are different places."""
        (_, first), *rest = sequence.elements
        found = self._element(first, signs[0])
        for sign in signs[1:]:
            found = found.within_also(self._element(first, sign))
        for sign, element in rest:
            found = found.then(self._element(element, sign))
        return found

    def _element(self, element: Element, sign: Sign) -> _Part:
        match element:
            case Unless():
                return _Part()
            case Absent():
                return _Part(enter=1, empty=0, states=1, timed_out=1)
            case Step() | Group() | Either() | AnyOrder():
                key = (id(element), sign)
                if key not in self.known:
                    found = self.known[key] = self._loop(element, sign)
                    transitions = found.enter + found.within + found.out + found.timed_out
                    if self.part is None and not Size(found.states, transitions).fits:
                        self.part = element
                return self.known[key]
            case _:
                assert_never(element)

    def _loop(self, element: Quantified, sign: Sign) -> _Part:
        quantifier = element.quantifier
        if quantifier.most == 0:
            return _Part()
        again = quantifier.most != 1
        own = _OWN[quantifier.own]
        body = self._round(element, (sign, own) if again and own != sign else (sign,))
        rounds = 1 + again * body.empty
        return replace(
            body,
            empty=body.empty + (quantifier.least == 0),
            first_empty=body.first_empty + (quantifier.least == 0),
            within=body.within + (body.out + body.timed_out) * again * body.enter,
            out=body.out * rounds,
            # After a time, a round that took nothing differs from one that took something.
            timed_out=body.timed_out * (1 + rounds),
        )

    def _round(self, element: Quantified, signs: tuple[Sign, ...]) -> _Part:
        match element:
            case Step():
                return _Part(enter=1, empty=0, first_enter=1, first_empty=0, states=1, out=1)
            case Group(body):
                return self.sequence(body, signs)
            case Either(branches):
                found = _NONE
                for branch in branches:
                    found = found.beside(self.sequence(branch, signs))
                return found
            case AnyOrder():
                return self._any_order(element, signs)
            case _:
                assert_never(element)

    def _any_order(self, element: AnyOrder, signs: tuple[Sign, ...]) -> _Part:
        """One operand after the other: each stands behind every choice of the others."""
        operands = [one for one in element.operands if only_absence(one) is None]
        begins = [self.sequence(one, signs) for one in operands]
        later = [self.sequence(one, ("->",)) for one in operands]
        choices = 2 ** max(0, len(operands) - 1)
        states = sum(a.states + (choices - 1) * b.states for a, b in zip(begins, later, strict=True))
        if states > MOST_STATES:
            return _Part(enter=1, empty=0, first_enter=1, first_empty=0, states=states, within=states, out=1)
        taken = _Orders([(one.enter, one.empty) for one in later])
        first = _Orders([(one.first_enter, one.first_empty) for one in later])
        within = out = 0
        for number, (begin, other) in enumerate(zip(begins, later, strict=True)):
            left = taken.all & ~(1 << number)
            within += begin.within + (choices - 1) * other.within
            for waiting in taken.below(left):
                leaving = begin if waiting == left else other
                within += (leaving.out + leaving.timed_out) * taken.enter[waiting]
                out += (leaving.out + leaving.timed_out) * taken.empty[waiting]
        every = taken.all
        found = _Part(
            taken.enter[every],
            taken.empty[every],
            first.enter[every],
            first.empty[every],
            states,
            within,
            out,
        )
        if len(operands) == len(element.operands):
            return found
        # What is absent is waited for when all others have come.
        return replace(
            found,
            enter=found.enter + found.empty,
            empty=0,
            states=states + 1,
            within=within + out,
            timed_out=1,
        )


class _Orders:
    """For each choice of operands that still wait, as bits: transitions that come next, paths past all."""

    def __init__(self, operands: list[tuple[int, int]]) -> None:
        self.all = (1 << len(operands)) - 1
        self.enter, self.empty = [0], [1]
        for waiting in range(1, self.all + 1):
            enter = empty = 0
            for number, (entered, passed) in enumerate(operands):
                if waiting >> number & 1:
                    left = waiting & ~(1 << number)
                    enter += entered + passed * self.enter[left]
                    empty += passed * self.empty[left]
            self.enter.append(enter)
            self.empty.append(empty)

    def below(self, waiting: int) -> Iterator[int]:
        """All choices of those that wait."""
        chosen = waiting
        while chosen:
            yield chosen
            chosen = (chosen - 1) & waiting
        yield 0


def only_absence(operand: Sequence) -> Absent | None:
    """The absence that an operand of `&` is, if it is one."""
    (_, element), *rest = operand.elements
    return element if isinstance(element, Absent) and not rest else None
