"""The windows of one key: what each holds, when it is evaluated, and the windows before it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import assert_never

from cep.reference.alternatives import Event
from cep.reference.windows.aligned import Grid
from rules.typed import Aligned, Hopping, LastEvents, Over, Session, Sliding, Tumbling, WindowAggregate


@dataclass(frozen=True, slots=True)
class View:
    """The events of a window, or of several taken together, in order of time; its bounds in nanoseconds."""

    start: int
    end: int
    events: tuple[Event, ...]


Earlier = Callable[[WindowAggregate], View | None]
"""The window that `previous` or `ago` looks at; None where there is none."""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """A window at the moment at which it is evaluated: at its end, or at the event `at`.

    `name` is equal for evaluations of one window. `anew`: it is the first of the key, or the window had
    emptied.
    """

    view: View
    earlier: Earlier
    name: int
    at: Event | None = None
    anew: bool = False

    @property
    def time(self) -> int:
        """The time of its alert."""
        return self.view.end if self.at is None else self.at.time


def evaluations(body: Over, events: Sequence[Event]) -> Iterator[Evaluation]:
    """All evaluations of a key's windows, in the order in which they are decided; of windows that are
    evaluated at their end, the end of time included.

    `events` are those that satisfy the condition, in order of time.
    """
    match body.window:
        case Tumbling() | Hopping():
            return _aligned(body.window, events)
        case Session():
            return _sessions(body.window, events)
        case Sliding():
            return _sliding(body.window, body.limit, events)
        case LastEvents():
            return _last(body.window, body.limit, events)
        case _:
            assert_never(body.window)


def _aligned(window: Aligned, events: Sequence[Event]) -> Iterator[Evaluation]:
    grid = Grid.of(window)

    def between(start: int, end: int, upto: Event | None) -> View:
        first, last = grid.instant(start), grid.instant(end)
        seen = events if upto is None else events[: events.index(upto) + 1]
        return View(first, last, tuple(e for e in seen if first <= e.time < last))

    def evaluation(start: int, at: Event | None) -> Evaluation:
        def earlier(ref: WindowAggregate) -> View | None:
            if ref.which == "previous":
                return between(start - ref.offset * window.size, start, at)
            return between(start - ref.offset, start - ref.offset + window.size, at)

        return Evaluation(between(start, start + window.size, at), earlier, start, at)

    if window.early:
        return (evaluation(start, event) for event in events for start in grid.holding(event.time))
    return (evaluation(start, None) for start in sorted({s for e in events for s in grid.holding(e.time)}))


def _sessions(window: Session, events: Sequence[Event]) -> Iterator[Evaluation]:
    sessions: list[list[Event]] = []
    for event in events:
        if sessions and event.time < _end(window, sessions[-1]):
            sessions[-1].append(event)
        else:
            sessions.append([event])

    def evaluation(number: int, at: Event | None) -> Evaluation:
        def earlier(ref: WindowAggregate) -> View | None:
            before = sessions[max(number - ref.offset, 0) : number]
            if len(before) < ref.offset:
                return None
            return View(before[0][0].time, _end(window, before[-1]), tuple(e for of in before for e in of))

        held = sessions[number]
        held = held if at is None else held[: held.index(at) + 1]
        return Evaluation(View(held[0].time, _end(window, held), tuple(held)), earlier, number, at)

    for number, held in enumerate(sessions):
        if window.early:
            yield from (evaluation(number, event) for event in held)
        else:
            yield evaluation(number, None)


def _end(window: Session, held: Sequence[Event]) -> int:
    end = held[-1].time + window.gap
    return end if window.longest is None else min(end, held[0].time + window.longest)


def _sliding(window: Sliding, limit: int, events: Sequence[Event]) -> Iterator[Evaluation]:
    for number, event in enumerate(events):
        kept = events[max(number + 1 - limit, 0) : number + 1]

        def between(start: int, end: int, kept: Sequence[Event] = kept) -> View:
            return View(start, end, tuple(e for e in kept if start < e.time <= end))

        def earlier(ref: WindowAggregate, event: Event = event, between: _Between = between) -> View:
            if ref.which == "previous":
                end = event.time - window.size
                return between(end - ref.offset * window.size, end)
            end = event.time - ref.offset
            return between(end - window.size, end)

        view = between(event.time - window.size, event.time)
        anew = _emptied(events, number, window.size)
        yield Evaluation(view, earlier, number, event, anew)


_Between = Callable[[int, int], View]


def _last(window: LastEvents, limit: int, events: Sequence[Event]) -> Iterator[Evaluation]:
    begin = 0
    for number, event in enumerate(events):
        anew = _emptied(events, number, window.within)
        begin = number if anew else begin
        kept = events[max(number + 1 - limit, begin) : number + 1]
        held = kept[-window.events :]
        if window.within is not None:
            held = [e for e in held if e.time > event.time - window.within]
        before = kept[: len(kept) - len(held)]

        def earlier(ref: WindowAggregate, before: Sequence[Event] = before) -> View | None:
            wanted = ref.offset * window.events
            return _bounded(before[-wanted:]) if len(before) >= wanted else None

        yield Evaluation(_bounded(held), earlier, number, event, anew)


def _bounded(events: Sequence[Event]) -> View:
    return View(events[0].time, events[-1].time, tuple(events))


def _emptied(events: Sequence[Event], number: int, length: int | None) -> bool:
    """True of a key's first event, and of one before which its window had emptied."""
    if number == 0:
        return True
    return length is not None and events[number].time - events[number - 1].time >= length
