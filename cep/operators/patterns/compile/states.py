"""Patterns to automata: what may come next, computed once for every place in the pattern.

What an alternative waits for depends on what follows in the pattern (a continuation: the rest of each
sequence and loop around), on how often loops went round (counters, read when a state is entered) and on
nothing else. So the reading of the pattern that `cep.reference.pattern` does for every event is done here for
every continuation that can be reached, and where it would look at a counter or at time a transition gets a
need. The names are those of docs/language.md.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import assert_never
from weakref import finalize

from cep.operators.patterns.compile.automaton import (
    Automaton,
    Each,
    Item,
    Need,
    Since,
    State,
    Transition,
    Watch,
)
from cep.operators.patterns.compile.continuations import (
    Again,
    Guarded,
    Inside,
    Operands,
    Path,
    Place,
    Rest,
    Then,
)
from cep.operators.patterns.compile.size import MOST_STATES, MOST_TRANSITIONS, only_absence
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

Quantified = Step | Group | Either | AnyOrder
_OWN: dict[str, Sign] = {"relaxed": "->", "contiguous": "=>", "any": "~>"}


MOST_WATCHED = 250_000
"""Guards, times and counters that transitions look at, over all of them: 20 MB of tables."""
_MOST_PASSED = 20 * MOST_TRANSITIONS


class TooLargeError(Exception):
    """A pattern of more states, transitions or guards than a pattern may have; how many were found so far."""

    def __init__(self, states: int, transitions: int, watched: int) -> None:
        super().__init__(f"{states} states, {transitions} transitions, {watched} guards")
        self.states, self.transitions, self.watched = states, transitions, watched


_BUILT: dict[int, Automaton] = {}
"""By the identity of a body that is there: checks and plans of a pack ask for the same ones."""


def automaton(match: Match) -> Automaton:
    """The automaton of a pattern, built once for as long as `match` is there. Raises TooLargeError."""
    found = _BUILT.get(id(match))
    if found is None:
        found = _BUILT[id(match)] = _Builder(match.pattern).built()
        finalize(match, _BUILT.pop, id(match), None).atexit = False
    return found


@dataclass(slots=True)
class _Builder:
    pattern: Sequence
    steps: list[Step] = field(default_factory=list)
    guards: list[Guard] = field(default_factory=list)
    elements: list[Quantified] = field(default_factory=list)
    sequences: list[Sequence] = field(default_factory=list)
    numbers: dict[int, int] = field(default_factory=dict)
    """By identity of a node, its number among those of its kind."""
    step_numbers: dict[int, int] = field(default_factory=dict)
    timed: list[bool] = field(default_factory=list)
    repeated: list[frozenset[str]] = field(default_factory=list)
    """By element, the names of its steps, if it is a group that repeats."""
    counters: dict[tuple[str, int], int] = field(default_factory=dict)
    states: dict[Place, int] = field(default_factory=dict)
    places: list[Place] = field(default_factory=list)
    edges: list[int] = field(default_factory=list)
    transitions: int = 0
    watched: int = 0
    passed: int = 0
    """How often a path came to the end of something: some paths lead to no transition."""

    def built(self) -> Automaton:
        """Every state that can be reached, from the start on."""
        self._number(self.pattern)
        start = Rest(self.numbers[id(self.pattern)], 0, Inside(), None)
        self._state(("start", None, start, frozenset()))
        found: list[State] = []
        while len(found) < len(self.places):
            what, _, then, fresh = self.places[len(found)]
            path = Path(taken=what != "start", timed=what == "timer", fresh=fresh)
            found.append(State(self._then(then, path)))
        names = tuple(dict.fromkeys(step.name for step in self.steps))
        return Automaton(
            tuple(self.steps), names, tuple(self.guards), tuple(found), tuple(self.edges),
            frozenset().union(*self.repeated),
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
                self.timed.append(_timed(part))
                self.repeated.append(frozenset(_names(part) if _repeats(part) else ()))
                if isinstance(part, Step):
                    self.step_numbers[id(part)] = len(self.steps)
                    self.steps.append(part)
            else:
                continue
            self.numbers[id(part)] = len(kind)
            kind.append(part)

    def _state(self, place: Place) -> int:
        number = self.states.setdefault(place, len(self.states))
        if number == len(self.places):
            self.places.append(place)
        return number

    def _counter(self, kind: str, of: int = 0) -> int:
        return self.counters.setdefault((kind, of), len(self.counters))

    # What follows.

    def _then(self, then: Then, path: Path) -> tuple[Item, ...]:
        self.passed += 1
        match then:
            case None:
                return self._end(path)
            case Rest(sequence, at, inside, after):
                return self._follow(self.sequences[sequence], at, inside, after, None, path)
            case Again():
                return self._again(then, path)
            case Operands(waiting=waiting):
                return self._operands(then, waiting, "->", path)
            case _:
                assert_never(then)

    def _follow(
        self, sequence: Sequence, at: int, inside: Inside, then: Then, sign: Sign | None, path: Path
    ) -> tuple[Item, ...]:
        """A path that has come to an element; `sign` stands for the element's own.

        Elements that may be left out are passed over one after the other, so that a thousand of them need
        no deeper stack than one.
        """
        passed: list[tuple[Again, Path]] = []
        found: deque[Item] = deque()
        for at in range(at, len(sequence.elements) + 1):  # noqa: B020 - from where the path is
            if at == len(sequence.elements):
                found.extend(self._then(then, path))
                break
            own, element = sequence.elements[at]
            before, sign = sign or own, None
            following = Rest(self.numbers[id(sequence)], at + 1, inside, then)
            match element:
                case Unless(guard):
                    watch = Guarded(self.numbers[id(guard)], next_only=before == "=>")
                    path = replace(path, watches=(*path.watches, watch))
                case Absent() if path.taken:
                    absences = _waiting_together(sequence, at)
                    following = replace(following, at=at + len(absences))
                    found.append(self._wait(absences, inside, following, path))
                    break
                case Absent():  # before the first event, a condition on what came before it
                    path = _looking_back(path, self.numbers[id(element.guard)], element)
                case Step() | Group() | Either() | AnyOrder():
                    number = self.numbers[id(element)]
                    watches = () if element.quantifier.single else self._watches_behind(sequence, at)
                    loop = Again(number, before, inside, watches, following)
                    path = path.doing("as many", self._start(loop))
                    passed.append((loop, replace(path, entered=path.entered | {number})))
                    self._rounds(number)
                    if element.quantifier.least > 0:
                        break
                case _:
                    assert_never(element)
        for loop, entered in reversed(passed):
            self._first_round(loop, entered, found)
        return tuple(found)

    def _first_round(self, loop: Again, path: Path, leave: deque[Item]) -> None:
        """Adds the first round of a loop to what follows it."""
        element = self.elements[loop.loop]
        if element.quantifier.most == 0:
            return
        go = self._round(loop, element, True, path)
        match element.quantifier.mode:
            case "each":
                both = _each(go, tuple(leave))
                leave.clear()
                leave.extend(both)
            case "greedy":
                leave.extendleft(reversed(go))
            case "reluctant":
                leave.extend(go)

    def _wait(self, absences: list[Absent], inside: Inside, then: Then, path: Path) -> Transition:
        """Goes on when the times are over."""
        watches = [Guarded(self.numbers[id(a.guard)], timed=True, duration=a.duration) for a in absences]
        watched = replace(inside, watches=(*inside.watches, *watches))
        over = tuple(dict.fromkeys(Since(None, absent.duration) for absent in absences))
        return self._timer(over, watched, then, path)

    def _timer(
        self, over: tuple[Since, ...], inside: Inside, then: Then, path: Path, *needs: Need
    ) -> Transition:
        # What a round left behind is forgotten with its next event: the events taken say all.
        target = self._state(("timer", None, then, path.fresh))
        transition = self._transition("timer", inside, path.needing(*needs))
        return replace(transition, over=over, target=target)

    def _transition(self, kind: str, inside: Inside, path: Path) -> Transition:
        transition = Transition(
            kind,  # type: ignore[arg-type]
            needs=path.needs,
            untils=tuple(self._untils(inside.untils, path)),
            watches=tuple(self._resolved((*path.watches, *inside.watches), path)),
            actions=path.actions,
            fresh=path.fresh,
        )
        self.transitions += 1
        self.watched += (
            len(transition.needs) + len(transition.untils) + len(transition.watches) + len(transition.actions)
        )
        if (
            len(self.places) > MOST_STATES
            or self.transitions > MOST_TRANSITIONS
            or self.watched > MOST_WATCHED
            or self.passed > _MOST_PASSED
        ):
            raise TooLargeError(len(self.places), self.transitions, self.watched)
        return transition

    def _resolved(self, watches: Iterable[Guarded], path: Path) -> Iterable[Watch]:
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

    def _untils(self, untils: Iterable[Guarded], path: Path) -> Iterable[Watch]:
        """Watches for what ends a loop where the path has come to, or keeps an event from beginning it."""
        for until in untils:
            found = tuple(self._resolved((until,), path))
            yield from found or (Watch(until.guard, begins=True),)

    def _end(self, path: Path) -> tuple[Item, ...]:
        """Nothing more to wait for. A match holds at least one event."""
        if not path.taken:
            return ()
        prevented = any(watch.next_only for watch in path.watches)
        transition = self._transition("ending" if prevented else "end", Inside(), path)
        return (transition,) if prevented else (replace(transition, watches=()),)

    # Loops.

    def _loop(self, loop: Again, path: Path) -> tuple[Item, ...]:
        """After a round: another one, or what follows the loop."""
        element = self.elements[loop.loop]
        quantifier = element.quantifier
        counter = self._rounds(loop.loop)
        leaving = going = path
        if counter is not None:
            leaving = path.needing(Need("at least", counter, quantifier.least))
            if quantifier.most is not None:
                going = path.needing(Need("below", counter, quantifier.most))
        leave = self._then(loop.then, leaving)
        go = () if quantifier.most in (0, 1) else self._round(loop, element, False, going)
        match quantifier.mode:
            case "each":
                return _each(go, leave)
            case "greedy":
                return (*go, *leave)
            case "reluctant":
                return (*leave, *go)

    def _again(self, loop: Again, path: Path) -> tuple[Item, ...]:
        """A round is over. One that took nothing is none: the missing ones would take nothing either."""
        if loop.loop in path.begun:
            return self._then(loop.then, path)
        begun = self._begun(loop.loop)
        if not path.timed or begun is None:
            return self._loop(loop, path)
        nothing = self._then(loop.then, path.needing(Need("nothing taken", begun)))
        return (*nothing, *self._loop(loop, path.needing(Need("something taken", begun))))

    def _rounds(self, loop: int) -> int | None:
        """The counter of rounds begun before the present one, where their number matters."""
        quantifier = self.elements[loop].quantifier
        if quantifier.most == 1 or (quantifier.least <= 1 and quantifier.most is None):
            return None
        return self._counter("rounds", loop)

    def _begun(self, loop: int) -> int | None:
        """The counter of events taken when the present round began, where time may end a round."""
        if not self.timed[loop]:
            return None
        self._counter("taken")
        return self._counter("begun", loop)

    def _start(self, loop: Again) -> int | None:
        """The counter of events taken when the loop began, where something is watched from then on."""
        element = self.elements[loop.loop]
        if not self.timed[loop.loop] or not (loop.watches or (element.until and loop.sign == "~>")):
            return None
        self._counter("taken")
        return self._counter("start", loop.loop)

    def _round(self, loop: Again, element: Quantified, first: bool, path: Path) -> tuple[Item, ...]:
        """One round of an element."""
        inside = self._inside(loop, element)
        path = path.doing("zero" if first else "one more", self._rounds(loop.loop))
        path = path.doing("as many", self._begun(loop.loop))
        path = replace(path, begun=path.begun | {loop.loop})
        sign = loop.sign if first else _OWN[element.quantifier.own]
        if isinstance(element, Step):
            return (self._option(element, sign, inside, loop, path),)
        if self.repeated[loop.loop]:
            path = replace(path, fresh=path.fresh | self.repeated[loop.loop])
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

    def _option(self, step: Step, sign: Sign, inside: Inside, loop: Again, path: Path) -> Transition:
        number = self.step_numbers[id(step)]
        target = self._state(("step", number, loop, frozenset()))
        self.edges.append(number)
        transition = self._transition("option", inside, path)
        return replace(
            transition, step=number, sign=sign, gap=inside.gap, absences=path.absences, target=target,
            edge=len(self.edges) - 1,
        )  # fmt: skip

    def _inside(self, loop: Again, element: Quantified) -> Inside:
        untils = loop.outside.untils
        if element.until is not None:
            after = loop.loop if loop.sign == "~>" else None
            untils = (*untils, Guarded(self.numbers[id(element.until)], after=after))
        gaps = [gap for gap in (loop.outside.gap, element.gap) if gap is not None]
        watches = tuple(replace(watch, after=loop.loop) for watch in loop.watches)
        return Inside(untils, min(gaps, default=None), (*loop.outside.watches, *watches))

    def _watches_behind(self, sequence: Sequence, at: int) -> tuple[Guarded, ...]:
        found = []
        for sign, element in sequence.elements[at + 1 :]:
            if not isinstance(element, Unless):
                break
            found.append(Guarded(self.numbers[id(element.guard)], next_only=sign == "=>"))
        return tuple(found)

    # Any order.

    def _any_order(
        self, number: int, element: AnyOrder, sign: Sign, inside: Inside, then: Then, path: Path
    ) -> tuple[Item, ...]:
        """One operand after the other, in the order in which they come; absences count from here."""
        absences = [absent for operand in element.operands if (absent := only_absence(operand)) is not None]
        waiting = tuple(n for n, operand in enumerate(element.operands) if only_absence(operand) is None)
        timed = bool(absences) and path.taken
        if timed:
            path = replace(path, grouped=path.grouped | {number}).doing("now", self._counter("group", number))
            watches = (
                Guarded(self.numbers[id(a.guard)], timed=True, any_order=number, duration=a.duration)
                for a in absences
            )
            inside = replace(inside, watches=(*inside.watches, *watches))
        else:
            for absent in absences:
                path = _looking_back(path, self.numbers[id(absent.guard)], absent)
        return self._operands(Operands(number, waiting, timed, inside, then), waiting, sign, path)

    def _operands(
        self, group: Operands, waiting: tuple[int, ...], sign: Sign, path: Path
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

    def _after_operands(self, group: Operands, element: AnyOrder, path: Path) -> tuple[Item, ...]:
        if not group.timed:
            return self._then(group.then, path)
        absences = [a for operand in element.operands if (a := only_absence(operand)) is not None]
        fresh = group.group in path.grouped
        counter = None if fresh else self._counter("group", group.group)
        over = tuple(Since(counter, absent.duration) for absent in absences)
        if fresh:
            return (self._timer(over, group.inside, group.then, path),)
        reached = (Need("reached", since.counter, since.duration) for since in over)
        ready = self._then(group.then, path.needing(*reached))
        return (*ready, self._timer(over, group.inside, group.then, path, Need("ahead")))


def _looking_back(path: Path, guard: int, absent: Absent) -> Path:
    return replace(path, absences=(*path.absences, (guard, absent.duration or 0)))


def _waiting_together(sequence: Sequence, at: int) -> list[Absent]:
    """The `absent` at a place, and, if it runs to the end of `within`, those behind it, which do so, too."""
    found: list[Absent] = []
    for _, element in sequence.elements[at:]:
        if not isinstance(element, Absent) or (found and element.duration is not None):
            break
        found.append(element)
        if element.duration is not None:
            break
    return found


def _each(*branches: tuple[Item, ...]) -> tuple[Item, ...]:
    open_ = tuple(branch for branch in branches if branch)
    return (Each(open_),) if len(open_) > 1 else open_[0] if open_ else ()


def _names(element: Element) -> list[str]:
    return [part.name for part in walk(element) if isinstance(part, Step)]


def _timed(element: Quantified) -> bool:
    """True if time alone may fire a transition inside the element."""
    return any(isinstance(part, Absent) for part in walk(element))


def _repeats(element: Quantified) -> bool:
    quantifier: Quantifier = element.quantifier
    return not isinstance(element, Step) and not quantifier.single
