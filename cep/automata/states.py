"""Patterns to automata: what may come next, worked out once for every place in the pattern.

What a way waits for depends on what follows in the pattern (a continuation: the rest of each sequence and
loop around), on how often loops went round (counters, looked at when a way arrives) and on nothing else.
So the reading of the pattern that `cep.reference.pattern` does for every event is done here for every
continuation that can be reached, and where it would look at a counter or at time a leaf gets a need.
The names are those of language.md.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import assert_never

from cep.automata.automaton import Action, Automaton, Each, Item, Leaf, Need, Since, State, Watch
from rules.typed import (
    Absent,
    AnyOrder,
    Either,
    Element,
    Group,
    Guard,
    Match,
    Quantifier,
    Sequence,
    Sign,
    Step,
    Unless,
    walk,
)

MOST_STATES = 4096
Quantified = Step | Group | Either | AnyOrder
_OWN: dict[str, Sign] = {"relaxed": "->", "contiguous": "=>", "any": "~>"}


class TooManyStatesError(Exception):
    """A pattern that comes to more than MOST_STATES states."""


@dataclass(frozen=True, slots=True)
class _Guarded:
    """A watch before it is known where a way stands: `any_order` numbers the group whose beginning it counts
    from (None: from where the way came to), `duration` is how long (None: until `within` is over), `after`
    the loop that must have taken an event."""

    guard: int
    next_only: bool = False
    timed: bool = False
    any_order: int | None = None
    duration: int | None = None
    after: int | None = None


@dataclass(frozen=True, slots=True)
class _Inside:
    """What holds for every event taken inside the elements around a step."""

    untils: tuple[_Guarded, ...] = ()
    gap: int | None = None
    watches: tuple[_Guarded, ...] = ()


@dataclass(frozen=True, slots=True)
class _Rest:
    """The rest of a sequence from element `at` on, then what follows it."""

    sequence: int
    at: int
    inside: _Inside
    then: _Then


@dataclass(frozen=True, slots=True)
class _Again:
    """The end of a round of a loop that was entered by a sign."""

    loop: int
    sign: Sign
    outside: _Inside
    watches: tuple[_Guarded, ...]
    then: _Then


@dataclass(frozen=True, slots=True)
class _Operands:
    """The operands of `&` that still wait, by number. `timed`: its absences count from its beginning."""

    group: int
    waiting: tuple[int, ...]
    timed: bool
    inside: _Inside
    then: _Then


_Then = _Rest | _Again | _Operands | None
"""What is waited for after that; None: nothing, the pattern is complete."""


@dataclass(frozen=True, slots=True)
class _Path:
    """What was passed since the last event or time: the difference between two ways at one place.

    `entered` and `begun` are loops and rounds, `grouped` groups of `&`, that began since. `timed`: the last
    thing was a time, so that a loop may have taken nothing in its round.
    """

    taken: bool = True
    timed: bool = False
    needs: tuple[Need, ...] = ()
    actions: tuple[Action, ...] = ()
    fresh: frozenset[str] = frozenset()
    watches: tuple[_Guarded, ...] = ()
    absences: tuple[tuple[int, int], ...] = ()
    entered: frozenset[int] = frozenset()
    begun: frozenset[int] = frozenset()
    grouped: frozenset[int] = frozenset()

    def needing(self, *needs: Need) -> _Path:
        return replace(self, needs=(*self.needs, *needs))

    def doing(self, kind: str, counter: int | None) -> _Path:
        if counter is None:
            return self
        return replace(self, actions=(*self.actions, Action(kind, counter)))  # type: ignore[arg-type]


_Place = tuple[str, int | None, _Then, frozenset[str]]
"""A state before it is worked out: what happened, at which step, what follows, names of earlier rounds."""


def automaton(match: Match) -> Automaton:
    """The automaton of a pattern. Raises TooManyStatesError."""
    return _Builder(match.pattern).built()


@dataclass(slots=True)
class _Builder:
    pattern: Sequence
    steps: list[Step] = field(default_factory=list)
    guards: list[Guard] = field(default_factory=list)
    elements: list[Quantified] = field(default_factory=list)
    sequences: list[Sequence] = field(default_factory=list)
    numbers: dict[int, int] = field(default_factory=dict)
    """By identity of a node, its number among those of its kind."""
    counters: dict[tuple[str, int], int] = field(default_factory=dict)
    states: dict[_Place, int] = field(default_factory=dict)
    edges: list[int] = field(default_factory=list)

    def built(self) -> Automaton:
        """Every state that can be reached, from the start on."""
        self._number(self.pattern)
        start = _Rest(self.numbers[id(self.pattern)], 0, _Inside(), None)
        self._state(("start", None, start, frozenset()))
        found: list[State] = []
        while len(found) < len(self.states):
            what, _, then, fresh = list(self.states)[len(found)]
            path = _Path(taken=what != "start", timed=what == "timer", fresh=fresh)
            found.append(State(self._then(then, path)))
        names = tuple(dict.fromkeys(step.name for step in self.steps))
        return Automaton(
            tuple(self.steps), names, tuple(self.guards), tuple(found), tuple(self.edges),
            frozenset(name for e in self.elements if _repeats(e) for name in _names(e)),
            len(self.counters), self.counters.get(("taken", 0)),
        )  # fmt: skip

    def _number(self, node: object) -> None:
        """Number what the pattern consists of, in the order of the text."""
        for part in walk(node):
            kind: list[object]
            if isinstance(part, Guard):
                kind = self.guards  # type: ignore[assignment]
            elif isinstance(part, Sequence):
                kind = self.sequences  # type: ignore[assignment]
            elif isinstance(part, Step | Group | Either | AnyOrder):
                kind = self.elements  # type: ignore[assignment]
                if isinstance(part, Step):
                    self.steps.append(part)
            else:
                continue
            self.numbers[id(part)] = len(kind)
            kind.append(part)

    def _state(self, place: _Place) -> int:
        if len(self.states) >= MOST_STATES:
            raise TooManyStatesError
        return self.states.setdefault(place, len(self.states))

    def _counter(self, kind: str, of: int = 0) -> int:
        return self.counters.setdefault((kind, of), len(self.counters))

    # What follows.

    def _then(self, then: _Then, path: _Path) -> tuple[Item, ...]:
        match then:
            case None:
                return self._end(path)
            case _Rest(sequence, at, inside, after):
                return self._follow(self.sequences[sequence], at, inside, after, None, path)
            case _Again():
                return self._again(then, path)
            case _Operands(waiting=waiting):
                return self._operands(then, waiting, "->", path)
            case _:
                assert_never(then)

    def _follow(
        self, sequence: Sequence, at: int, inside: _Inside, then: _Then, sign: Sign | None, path: _Path
    ) -> tuple[Item, ...]:
        """A way that has come to an element; `sign` stands for the element's own."""
        if at == len(sequence.elements):
            return self._then(then, path)
        own, element = sequence.elements[at]
        before = sign or own
        following = _Rest(self.numbers[id(sequence)], at + 1, inside, then)
        match element:
            case Unless(guard):
                watch = _Guarded(self.numbers[id(guard)], next_only=before == "=>")
                return self._then(following, replace(path, watches=(*path.watches, watch)))
            case Absent():
                absences = _together(sequence, at)
                following = replace(following, at=at + len(absences))
                return self._wait(absences, inside, following, path)
            case Step() | Group() | Either() | AnyOrder():
                number = self.numbers[id(element)]
                watches = () if element.quantifier.single else self._watches_behind(sequence, at)
                loop = _Again(number, before, inside, watches, following)
                entered = replace(path, entered=path.entered | {number})
                return self._loop(loop, True, entered.doing("as many", self._start(loop)))
            case _:
                assert_never(element)

    def _wait(self, absences: list[Absent], inside: _Inside, then: _Then, path: _Path) -> tuple[Item, ...]:
        """Goes on when the times are over. Before the first event, conditions on what came before it."""
        if not path.taken:
            for absent in absences:
                path = _looking_back(path, self.numbers[id(absent.guard)], absent)
            return self._then(then, path)
        watches = [_Guarded(self.numbers[id(a.guard)], timed=True, duration=a.duration) for a in absences]
        watched = replace(inside, watches=(*inside.watches, *watches))
        over = tuple(dict.fromkeys(Since(None, absent.duration) for absent in absences))
        return (self._timer(over, watched, then, path),)

    def _timer(
        self, over: tuple[Since, ...], inside: _Inside, then: _Then, path: _Path, *needs: Need
    ) -> Leaf:
        # What a round left behind is forgotten with its next event, so that the events taken tell all.
        target = self._state(("timer", None, then, path.fresh))
        leaf = self._leaf("timer", inside, path.needing(*needs))
        return replace(leaf, over=over, target=target)

    def _leaf(self, kind: str, inside: _Inside, path: _Path) -> Leaf:
        return Leaf(
            kind,  # type: ignore[arg-type]
            needs=path.needs,
            untils=tuple(self._untils(inside.untils, path)),
            watches=tuple(self._resolved((*path.watches, *inside.watches), path)),
            actions=path.actions,
            fresh=path.fresh,
        )

    def _resolved(self, watches: Iterable[_Guarded], path: _Path) -> Iterable[Watch]:
        """The watches that can be on where the path has come to."""
        for watch in watches:
            after = None
            if watch.after is not None:
                if watch.after in path.entered:
                    continue
                if path.timed:
                    after = self.counters.get(("start", watch.after))
            until = None
            if watch.timed:
                counted = watch.any_order is not None and watch.any_order not in path.grouped
                group = self._counter("group", watch.any_order or 0) if counted else None
                until = Since(group, watch.duration)
            yield Watch(watch.guard, watch.next_only, until, after)

    def _untils(self, untils: Iterable[_Guarded], path: _Path) -> Iterable[Watch]:
        """What ends a loop where the path has come to, or keeps an event from beginning it."""
        for until in untils:
            found = tuple(self._resolved((until,), path))
            yield from found or (Watch(until.guard, begins=True),)

    def _end(self, path: _Path) -> tuple[Item, ...]:
        """Nothing more to wait for. A match holds at least one event."""
        if not path.taken:
            return ()
        prevented = any(watch.next_only for watch in path.watches)
        leaf = self._leaf("ending" if prevented else "end", _Inside(), path)
        return (leaf,) if prevented else (replace(leaf, watches=()),)

    # Loops.

    def _loop(self, loop: _Again, first: bool, path: _Path) -> tuple[Item, ...]:
        """Another round, or what follows the loop; `first`: none was made."""
        element = self.elements[loop.loop]
        quantifier = element.quantifier
        leave: tuple[Item, ...] = ()
        go: tuple[Item, ...] = ()
        counter = self._rounds(loop.loop)
        if first or counter is None:
            least, more = quantifier.least == 0 or not first, first or quantifier.most != 1
            leaving = going = path
        else:
            least = more = True
            leaving = path.needing(Need("at least", counter, quantifier.least))
            going = path
            if quantifier.most is not None:
                going = path.needing(Need("below", counter, quantifier.most))
        if quantifier.most == 0:
            more = False
        if least:
            leave = self._then(loop.then, leaving)
        if more:
            go = self._round(loop, element, first, going)
        match quantifier.mode:
            case "each":
                return _each(go, leave)
            case "greedy":
                return (*go, *leave)
            case "reluctant":
                return (*leave, *go)

    def _again(self, loop: _Again, path: _Path) -> tuple[Item, ...]:
        """A round is over. One that took nothing is none: the missing ones would take nothing either."""
        if loop.loop in path.begun:
            return self._then(loop.then, path)
        begun = self._begun(loop.loop)
        if not path.timed or begun is None:
            return self._loop(loop, False, path)
        nothing = self._then(loop.then, path.needing(Need("nothing taken", begun)))
        return (*nothing, *self._loop(loop, False, path.needing(Need("something taken", begun))))

    def _rounds(self, loop: int) -> int | None:
        """The counter of rounds begun before the present one, where their number matters."""
        quantifier = self.elements[loop].quantifier
        if quantifier.most == 1 or (quantifier.least <= 1 and quantifier.most is None):
            return None
        return self._counter("rounds", loop)

    def _begun(self, loop: int) -> int | None:
        """The counter of events taken when the present round began, where time may end a round."""
        if not _timed(self.elements[loop]):
            return None
        self._counter("taken")
        return self._counter("begun", loop)

    def _start(self, loop: _Again) -> int | None:
        """The counter of events taken when the loop began, where something is watched from then on."""
        element = self.elements[loop.loop]
        if not _timed(element) or not (loop.watches or (element.until and loop.sign == "~>")):
            return None
        self._counter("taken")
        return self._counter("start", loop.loop)

    def _round(self, loop: _Again, element: Quantified, first: bool, path: _Path) -> tuple[Item, ...]:
        """One round of an element."""
        inside = self._inside(loop, element)
        path = path.doing("zero" if first else "one more", self._rounds(loop.loop))
        path = path.doing("as many", self._begun(loop.loop))
        path = replace(path, begun=path.begun | {loop.loop})
        sign = loop.sign if first else _OWN[element.quantifier.own]
        if isinstance(element, Step):
            return (self._option(element, sign, inside, loop, path),)
        if _repeats(element):
            path = replace(path, fresh=path.fresh | frozenset(_names(element)))
        match element:
            case Group(body):
                return self._follow(body, 0, inside, loop, sign, path)
            case Either(branches):
                found: list[Item] = []
                for branch in branches:
                    found.extend(self._follow(branch, 0, inside, loop, sign, path))
                return tuple(found)
            case AnyOrder():
                return self._any_order(loop.loop, element, sign, inside, loop, path)
            case _:
                assert_never(element)

    def _option(self, step: Step, sign: Sign, inside: _Inside, loop: _Again, path: _Path) -> Leaf:
        number = next(n for n, known in enumerate(self.steps) if known is step)
        target = self._state(("step", number, loop, frozenset()))
        self.edges.append(number)
        leaf = self._leaf("option", inside, path)
        return replace(
            leaf, step=number, sign=sign, gap=inside.gap, absences=path.absences, target=target,
            edge=len(self.edges) - 1,
        )  # fmt: skip

    def _inside(self, loop: _Again, element: Quantified) -> _Inside:
        untils = loop.outside.untils
        if element.until is not None:
            after = loop.loop if loop.sign == "~>" else None
            untils = (*untils, _Guarded(self.numbers[id(element.until)], after=after))
        gaps = [gap for gap in (loop.outside.gap, element.gap) if gap is not None]
        watches = tuple(replace(watch, after=loop.loop) for watch in loop.watches)
        return _Inside(untils, min(gaps, default=None), (*loop.outside.watches, *watches))

    def _watches_behind(self, sequence: Sequence, at: int) -> tuple[_Guarded, ...]:
        found = []
        for sign, element in sequence.elements[at + 1 :]:
            if not isinstance(element, Unless):
                break
            found.append(_Guarded(self.numbers[id(element.guard)], next_only=sign == "=>"))
        return tuple(found)

    # Any order.

    def _any_order(
        self, number: int, element: AnyOrder, sign: Sign, inside: _Inside, then: _Then, path: _Path
    ) -> tuple[Item, ...]:
        """One operand after the other, in the order in which they come; absences count from here."""
        absences = [absent for operand in element.operands if (absent := _only_absence(operand)) is not None]
        waiting = tuple(n for n, operand in enumerate(element.operands) if _only_absence(operand) is None)
        timed = bool(absences) and path.taken
        if timed:
            path = replace(path, grouped=path.grouped | {number}).doing("now", self._counter("group", number))
            watches = (
                _Guarded(self.numbers[id(a.guard)], timed=True, any_order=number, duration=a.duration)
                for a in absences
            )
            inside = replace(inside, watches=(*inside.watches, *watches))
        else:
            for absent in absences:
                path = _looking_back(path, self.numbers[id(absent.guard)], absent)
        return self._operands(_Operands(number, waiting, timed, inside, then), waiting, sign, path)

    def _operands(
        self, group: _Operands, waiting: tuple[int, ...], sign: Sign, path: _Path
    ) -> tuple[Item, ...]:
        element = self.elements[group.group]
        assert isinstance(element, AnyOrder)
        if not waiting:
            return self._after_operands(group, element, path)
        found: list[Item] = []
        for number in waiting:
            left = replace(group, waiting=tuple(other for other in waiting if other != number))
            found.extend(self._follow(element.operands[number], 0, group.inside, left, sign, path))
        return tuple(found)

    def _after_operands(self, group: _Operands, element: AnyOrder, path: _Path) -> tuple[Item, ...]:
        if not group.timed:
            return self._then(group.then, path)
        absences = [a for operand in element.operands if (a := _only_absence(operand)) is not None]
        fresh = group.group in path.grouped
        counter = None if fresh else self._counter("group", group.group)
        over = tuple(Since(counter, absent.duration) for absent in absences)
        if fresh:
            return (self._timer(over, group.inside, group.then, path),)
        reached = (Need("reached", since.counter, since.duration) for since in over)
        ready = self._then(group.then, path.needing(*reached))
        return (*ready, self._timer(over, group.inside, group.then, path, Need("ahead")))


def _looking_back(path: _Path, guard: int, absent: Absent) -> _Path:
    return replace(path, absences=(*path.absences, (guard, absent.duration or 0)))


def _together(sequence: Sequence, at: int) -> list[Absent]:
    """The `absent` at a place, and, if it runs to the end of `within`, those behind it, which do so, too."""
    found: list[Absent] = []
    for _, element in sequence.elements[at:]:
        if not isinstance(element, Absent) or (found and element.duration is not None):
            break
        found.append(element)
        if element.duration is not None:
            break
    return found


def _each(*ways: tuple[Item, ...]) -> tuple[Item, ...]:
    open_ = tuple(way for way in ways if way)
    return (Each(open_),) if len(open_) > 1 else open_[0] if open_ else ()


def _only_absence(operand: Sequence) -> Absent | None:
    (_, element), *rest = operand.elements
    return element if isinstance(element, Absent) and not rest else None


def _names(element: Element) -> list[str]:
    return [part.name for part in walk(element) if isinstance(part, Step)]


def _timed(element: Quantified) -> bool:
    """Whether time alone may move a way inside the element."""
    return any(isinstance(part, Absent) for part in walk(element))


def _repeats(element: Quantified) -> bool:
    quantifier: Quantifier = element.quantifier
    return not isinstance(element, Step) and not quantifier.single
