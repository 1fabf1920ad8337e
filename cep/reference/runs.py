"""One rule over one key's events, in order of time: runs begin, take events, end, and are raised."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from cep.events import MAX_TIME
from cep.expressions.scalar import aggregate_of, evaluate
from cep.reference.alternatives import (
    Alternative,
    Done,
    Ending,
    Event,
    Inside,
    Leaf,
    Node,
    Option,
    Timer,
    Watch,
    complete,
    each,
    forks,
    leaves,
    move,
)
from cep.reference.pattern import Pattern, steps
from rules.typed import (
    Aggregate,
    Emit,
    Expression,
    Guard,
    Match,
    Path,
    PrevRef,
    Rule,
    Step,
    StepRef,
    TextMatch,
    WindowAggregate,
)

TextPredicate = Callable[[TextMatch, Mapping[str, object]], bool]
"""True if an event's values satisfy a query; the percolator's business."""
HitLookup = Callable[[str, Mapping[str, object], int], list[Mapping[str, object]]]
"""Stream of hits, values and time of a document -> what each hit has besides, in order of query id."""
Key = tuple[tuple[str, object], ...]
MOST_ALTERNATIVES = 10_000
"""Alternatives of the runs of one key beyond which the reference gives up: it keeps all, and loops in loops
make exponentially many (decision 12)."""


class TooManyAlternativesError(Exception):
    """The runs of one key of a rule have more alternatives than can be tried one by one."""


@dataclass(frozen=True, slots=True)
class Decided:
    """A decided alert, before suppression. `events` and `emit` in the order of the pattern and of the rule.

    Values are those of rules.types.Scalar. `rank` orders what has the same time, rule and key: deadlines
    before events, then earlier first event, then arrival of the events taken. `query` is that of a hit.
    `taken` says by step which events were taken, by their places. Of a window there are its start and end,
    the id of the event at which it was evaluated, and the emitted names that are estimates.
    """

    rule: str
    kind: str
    key: Key
    time: int
    events: tuple[tuple[str, tuple[str, ...]], ...]
    emit: tuple[tuple[str, object], ...]
    rank: tuple[object, ...] = field(compare=False, default=())
    query: str | None = None
    taken: tuple[tuple[str, tuple[int, ...]], ...] = field(compare=False, default=())
    window: tuple[int, int, str | None] | None = None
    approximate: tuple[str, ...] = ()


@dataclass(slots=True)
class Run:
    """A run, by the event that it began with."""

    first: Event
    tree: Node


class Matcher:
    """The runs of one key. `since`: when the rule began to watch, under any key."""

    def __init__(
        self, rule: Rule, body: Match, key: Key, events: list[Event], since: int, text: TextPredicate | None
    ) -> None:
        self.rule, self.body, self.key, self.events = rule, body, key, events
        self.since, self.text = since, text
        self.pattern = Pattern(body.pattern, MAX_TIME if body.within is None else body.within)
        self.steps = list(dict.fromkeys(step.name for step in steps(body.pattern)))
        self.runs: list[Run] = []
        self.alerts: list[Decided] = []

    def run(self, watermark: int) -> list[Decided]:
        """Everything that is decided up to the watermark."""
        for event in self.events:
            self.settle(event.time)
            self.see(event)
        self.settle(watermark)
        if watermark == MAX_TIME:
            self.drain()
        return self.alerts

    # Time. At one instant, deadlines are settled before events.

    def settle(self, time: int) -> None:
        """Deadlines up to and including a time, one instant after the other."""
        while True:
            waiting = [leaf.deadline for run in self.runs for leaf in leaves(run.tree)]
            now = min(waiting, default=MAX_TIME)
            if now > time or now == MAX_TIME:
                return
            self.expire(now)

    def expire(self, now: int) -> None:
        """Let a deadline pass."""
        for run in self.runs:
            for fork in forks(run.tree):
                if move(fork, lambda leaf: self.due(leaf, now))[0] is None:
                    self.timed_out(leaves(fork)[0].alternative, now)
            run.tree, _ = move(run.tree, lambda leaf: self.due(leaf, now))
        self.raise_complete(now, 0)
        self.keep_to_limit()

    def due(self, leaf: Leaf, now: int) -> tuple[Node, bool]:
        """The effect of a deadline on one that waits."""
        match leaf:
            case Timer(alternative, _, deadline, then) if deadline <= now:
                return then(replace(alternative, time=now, watches=())), True
            case Ending(alternative, deadline) if deadline <= now:
                return self.matched(alternative), True
            case Option(deadline=deadline) if deadline <= now:
                return None, False
            case _:
                return leaf, False

    def timed_out(self, alternative: Alternative, now: int) -> None:
        """A run has ended by time alone; `alternative` is its preferred one."""
        if self.body.on_timeout is not None:
            self.report("timeout", alternative, now, 0, self.body.on_timeout)

    def drain(self) -> None:
        """No event will come: what nothing else ends is raised at the time of its last event."""

        def after(leaf: Leaf) -> tuple[Node, bool]:
            match leaf:
                case Done():
                    return leaf, False
                case Ending(alternative):
                    return self.matched(alternative), True
                case _:
                    return None, False

        for run in self.runs:
            run.tree, _ = move(run.tree, after)
        self.raise_complete(None, 0)

    def keep_to_limit(self) -> None:
        """Drops the runs with the oldest first events, forks counted, that are more than `limit`.

        Raises TooManyAlternativesError.
        """
        while sum(len(forks(run.tree)) for run in self.runs) > self.body.limit:
            self.runs[0].tree = each(forks(self.runs[0].tree)[1:])
            self.runs = [run for run in self.runs if run.tree is not None]
        if sum(len(leaves(run.tree)) for run in self.runs) > MOST_ALTERNATIVES:
            raise TooManyAlternativesError(self.rule.name)

    # Events.

    def see(self, event: Event) -> None:
        """An event moves every run, may begin one, and decides matches."""
        for run in self.runs:
            run.tree, _ = move(run.tree, lambda leaf: self.offer(leaf, event))
        begun, _ = move(self.pattern.begin(self.end), lambda leaf: self.begin(leaf, event))
        self.runs.append(Run(event, begun))
        self.raise_complete(event.time, 1)
        self.keep_to_limit()

    def offer(self, leaf: Leaf, event: Event) -> tuple[Node, bool]:
        """The effect of the event on one that waits."""
        match leaf:
            case Option(step, sign, alternative, inside, _, then):
                if self.loop_ended(inside, alternative, event):
                    return None, False
                if self.fits(step, alternative, event) and not self.ends_loops(inside, alternative, event):
                    taken = then(alternative.take(step.name, event))
                    goes_on = sign == "~>" and not self.is_last(leaf, event)
                    return (each([taken, _waiting_on(leaf)]) if goes_on else taken), True
                if sign == "=>" or self.ended(alternative.watches + inside.watches, alternative, event):
                    return None, False
                return _waiting_on(leaf), False
            case Timer(alternative, inside):
                if self.loop_ended(inside, alternative, event):
                    return None, False
                if self.ended(alternative.watches + inside.watches, alternative, event):
                    return None, False
                return _waiting_on(leaf), False
            case Ending(alternative):
                return (
                    (None, False)
                    if self.ended(alternative.watches, alternative, event)
                    else (self.matched(alternative), True)
                )
            case Done():
                return leaf, False

    def begin(self, leaf: Leaf, event: Event) -> tuple[Node, bool]:
        """A run begins with an event that fits a first step; what took nothing does not wait."""
        match leaf:
            case Option(step, _, alternative, inside, _, then) if self.fits(step, alternative, event):
                if not self.ends_loops(inside, alternative, event) and all(
                    self.was_absent(guard, duration, event) for guard, duration in alternative.lookback
                ):
                    return then(alternative.take(step.name, event)), True
                return None, False
            case _:
                return None, False

    def fits(self, what: Step | Guard, alternative: Alternative, event: Event) -> bool:
        """True if the event is one of that stream that satisfies the condition."""
        return event.stream == what.stream and self.scope(alternative, event).holds(what.condition)

    def loop_ended(self, inside: Inside, alternative: Alternative, event: Event) -> bool:
        """True if the event satisfies an `until` of a loop around what waits."""
        return any(
            len(alternative.taken) > after and self.fits(until, alternative, event)
            for until, after in inside.untils
        )

    def is_last(self, leaf: Option, event: Event) -> bool:
        """True if an event that is taken ends the waiting for later ones, too."""
        return self.ended(leaf.alternative.watches + leaf.inside.watches, leaf.alternative, event)

    def ends_loops(self, inside: Inside, alternative: Alternative, event: Event) -> bool:
        """True if the event satisfies the `until` of a loop, which takes no such event, not even first."""
        return any(self.fits(until, alternative, event) for until, _ in inside.untils)

    def ended(self, watches: tuple[Watch, ...], alternative: Alternative, event: Event) -> bool:
        """True if a watched event came in time."""
        return any(
            len(alternative.taken) > watch.after
            and event.time < watch.until
            and self.fits(watch.guard, alternative, event)
            for watch in watches
        )

    def was_absent(self, guard: Guard, duration: int, event: Event) -> bool:
        """No such event in [t - d, t), and the rule has been watching since t - d or before."""
        start = event.time - duration
        return self.since <= start and not any(
            start <= other.time < event.time and self.fits(guard, Alternative(), other)
            for other in self.events
        )

    # Matches.

    def end(self, alternative: Alternative) -> Node:
        """The node of an alternative that has nothing more to wait for. A match holds at least one event."""
        if not alternative.taken:
            return None
        if any(watch.strict for watch in alternative.watches):
            return Ending(alternative, max(alternative.time, self.pattern.end_of_within(alternative)))
        return self.matched(alternative)

    def matched(self, alternative: Alternative) -> Node:
        """An alternative that ends where `having` is not true comes to no match."""
        return Done(alternative) if self.scope(alternative, None).holds(self.body.having) else None

    def raise_complete(self, time: int | None, phase: int) -> None:
        """Raises what is decided, the earliest start first; each ends the runs that its `skip` says."""
        found = []
        for run in self.runs:
            alternatives, run.tree = complete(run.tree)
            found += [(run, alternative) for alternative in alternatives]
        ended: set[int] = set()
        for run, alternative in sorted(found, key=lambda item: item[1].arrival):
            if run.first.index not in ended:
                at = alternative.taken[-1][1].time if time is None else time
                self.report("match", alternative, at, phase, self.rule.emit)
                ended |= self.skipped(alternative)
        self.runs = [run for run in self.runs if run.tree is not None and run.first.index not in ended]

    def skipped(self, alternative: Alternative) -> set[int]:
        """The indices of the first events of the runs that this match ends."""
        begin, skip = alternative.taken[0][1].index, self.body.skip
        if skip.to == "none":
            return set()
        point = begin + 1
        if skip.to == "past last":
            point = alternative.taken[-1][1].index + 1
        elif skip.step is not None and (events := alternative.of(skip.step)):
            point = max(point, events[0 if skip.to == "first" else -1].index)
        return set(range(begin, point))

    def report(
        self, kind: str, alternative: Alternative, time: int, phase: int, emit: tuple[Emit, ...]
    ) -> None:
        """One alert."""
        events = tuple(
            (name, tuple(e.id for e in alternative.of(name))) for name in self.steps if alternative.of(name)
        )
        taken = tuple(
            (name, tuple(e.place for e in alternative.of(name)))
            for name in self.steps
            if alternative.of(name)
        )
        values = emitted(emit, self.scope(alternative, None))
        self.alerts.append(
            Decided(
                self.rule.name,
                kind,
                self.key,
                time,
                events,
                values,
                (phase, *alternative.arrival),
                taken=taken,
            )
        )

    def scope(self, alternative: Alternative, candidate: Event | None) -> Scope:
        """The values that the rule's expressions see."""
        return Scope(alternative, candidate, self.events, self.body.within, self.text, dict(self.key))


def _waiting_on(leaf: Option | Timer) -> Option | Timer:
    """The very next event has passed: what watched only for that one is over."""
    alternative, inside = leaf.alternative, leaf.inside
    if not any(watch.strict for watch in alternative.watches + inside.watches):
        return leaf
    lasting = replace(alternative, watches=tuple(watch for watch in alternative.watches if not watch.strict))
    around = replace(inside, watches=tuple(watch for watch in inside.watches if not watch.strict))
    return replace(leaf, alternative=lasting, inside=around)


def emitted(emit: tuple[Emit, ...], scope: Scope) -> tuple[tuple[str, object], ...]:
    """The emitted names with their values."""
    return tuple((item.name, evaluate(item.value, scope)) for item in emit)


@dataclass(frozen=True, slots=True)
class Scope:
    """The candidate by field, the steps by what the alternative took, and what came before the candidate."""

    alternative: Alternative
    candidate: Event | None
    events: list[Event]
    within: int | None
    text: TextPredicate | None
    names: Mapping[str, object]

    def holds(self, condition: Expression | None) -> bool:
        """Unknown is not true; no condition is."""
        return condition is None or evaluate(condition, self) is True

    def field(self, path: Path) -> object:
        """A field of the candidate."""
        assert self.candidate is not None
        return self.candidate.get(path)

    def key(self, name: str) -> object:
        """A field of the key."""
        return self.names[name]

    def step(self, ref: StepRef) -> object:
        """Of a single step inside a group, the one of the same round."""
        begin = dict(self.alternative.rounds).get(ref.step, 0) if ref.which == "only" else 0
        events = [event for name, event in self.alternative.taken[begin:] if name == ref.step]
        place = ref.offset if ref.which == "first" else len(events) - 1 - ref.offset
        return events[place].get(ref.path) if 0 <= place < len(events) else None

    def previous(self, ref: PrevRef) -> object:
        """Taken or not, no further back than `within`."""
        assert self.candidate is not None
        place = self.candidate.index - ref.offset
        if place < 0:
            return None
        event = self.events[place]
        if self.within is not None and self.candidate.time - event.time > self.within:
            return None
        return event.get(ref.path)

    def aggregate(self, ref: Aggregate) -> object:
        """Over all that the step took; `count` has no field."""
        events = self.alternative.of(ref.step)
        values = [event.get(ref.path) if ref.path else event.id for event in events]
        return aggregate_of(ref.function, values, ref.parameter)

    def window(self, ref: WindowAggregate) -> object:
        raise AssertionError(f"{ref.function} of a window in a pattern")

    def text_match(self, ref: TextMatch) -> bool | None:
        """By the percolator; unknown where the text is null."""
        if self.field(ref.path) is None:
            return None
        assert self.text is not None
        assert self.candidate is not None
        return self.text(ref, self.candidate.values)
