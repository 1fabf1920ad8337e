"""How windows are kept: as panes, as sessions, or as the newest events; and how far back.

Durations are integers in nanoseconds; with a zone they are days of its calendar, each of 24 hours.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import assert_never

from rules.typed import Hopping, LastEvents, Over, Session, Sliding, Tumbling, WindowAggregate

_WEEK = 7 * 86_400 * 10**9
_MONDAY = 4 * 86_400 * 10**9
"""1970-01-05, from which whole weeks count."""


@dataclass(frozen=True, slots=True)
class Panes:
    """Tumbling and hopping windows: panes of `every`, from `origin` on, of which a window has `panes`.

    A pane is kept until the window that begins with it has ended, and `back` panes longer, for `previous` and
    `ago`. `early`: a window is evaluated with each of its events, and a bit says that it was raised.
    """

    every: int
    panes: int
    origin: int
    zone: str | None
    early: bool
    back: int


@dataclass(frozen=True, slots=True)
class Sessions:
    """Sessions: one record of the open one, and of `back` that have ended."""

    gap: int
    longest: int | None
    early: bool
    back: int


@dataclass(frozen=True, slots=True)
class Newest:
    """Sliding windows and last events: a key's newest rows, evaluated with each.

    A window has the rows of the last `length` (None: however old), of these the newest `events` (None: all).
    Rows are kept for `back` longer than `length`, or `back` events more than `events`; never more than
    `limit`. Once `length` is over without an event, `having` counts as not true; rows of last events are gone
    with that, those of sliding windows when no earlier window holds them.
    """

    length: int | None
    events: int | None
    back: int
    limit: int


Shape = Panes | Sessions | Newest


def shape_of(body: Over, named: Iterable[WindowAggregate]) -> Shape:
    """The shape of a rule's windows; `named` are the aggregates that it names anywhere."""
    previous = max((ref.offset for ref in named if ref.which == "previous"), default=0)
    ago = max((ref.offset for ref in named if ref.which == "ago"), default=0)
    match body.window:
        case Tumbling(size, zone, early):
            return _panes(size, size, zone, early, max(previous * size, ago))
        case Hopping(size, every, zone, early):
            return _panes(size, every, zone, early, max(previous * size, ago))
        case Session(gap, longest, early):
            return Sessions(gap, longest, early, previous)
        case Sliding(size):
            return Newest(size, None, max(previous * size, ago), body.limit)
        case LastEvents(events, within):
            return Newest(within, events, previous * events, body.limit)
        case _:
            assert_never(body.window)


def _panes(size: int, every: int, zone: str | None, early: bool, back: int) -> Panes:
    return Panes(every, size // every, _MONDAY if every % _WEEK == 0 else 0, zone, early, back // every)
