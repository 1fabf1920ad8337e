"""What a rule over windows keeps of each key, how far back it looks, and when it is judged, in words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import assert_never

from cep.explanation.wording import bytes_of, duration, written
from cep.operators.windows.compile.readings import aggregates_in
from cep.operators.windows.compile.shapes import Newest, Panes, Sessions
from cep.operators.windows.compile.window_plan import WindowPlan, window_plan
from cep.operators.windows.runtime.layout import Layout
from cep.operators.windows.runtime.window_rows import HEAD
from rules.nouns import counted
from rules.resolve.windows import EVENTS
from rules.typed import (
    AtEachEvent,
    Hopping,
    LastEvents,
    Over,
    Pack,
    Rule,
    Session,
    Sliding,
    Tumbling,
    WindowAggregate,
)

_DAY = 86_400 * 10**9
_WORD = 8
_HEAD = HEAD * _WORD
_SUM = 24
"""Bytes of a packed sum of prices; of widely different values it takes more (decision 38)."""


@dataclass(frozen=True, slots=True)
class WindowFacts:
    """The state of each key: so many `items` (panes, sessions, events) at most, None where that depends on
    the stream; those of the window itself and those `back`, for earlier windows, in words where they differ.

    `each` is what an item keeps, in so many `bytes`, ids of events aside; `goes` when a key is forgotten.
    """

    kind: str
    items: int | None
    this: str
    back: str
    each: tuple[str, ...]
    goes: str
    bytes: int

    def lines(self) -> Iterator[str]:
        """The facts as text."""
        most = "" if self.items is None else f", at most {self.items:,}"
        yield f"a key keeps {self.kind}{most}"
        yield f"  {self.this}"
        if self.back:
            yield f"  {self.back}"
        one = {"panes": "a pane", "sessions": "a session", "events": "an event"}[self.kind]
        yield f"{one} keeps {', '.join(self.each)}: {bytes_of(self.bytes)}"
        if self.items is not None:
            yield f"a key takes at most {bytes_of(_HEAD + self.items * self.bytes)}, ids of events aside"
        yield f"a key is {self.goes}"


def window_facts(pack: Pack, rule: Rule, body: Over) -> WindowFacts:
    """The facts of a rule of a checked pack."""
    plan = window_plan(pack, rule, body)
    layout = Layout(plan)
    folded = layout.folded
    each = tuple(_kept(plan) if folded else _events(plan))
    size = _WORD * layout.width + (_SUM * len(layout.packed) if folded else 0)
    match plan.shape:
        case Panes() as shape:
            return _panes(shape, folded, each, size)
        case Sessions() as shape:
            return _sessions(shape, folded, each, size)
        case Newest() as shape:
            return _newest(shape, each, size)
        case _:
            assert_never(plan.shape)


def bounds(body: Over, rule: Rule) -> Iterator[tuple[str, str]]:
    """When the rule is judged, how far back it looks and its limit: names and words."""
    yield "judged", _judged(body)
    named = list(aggregates_in(body.having, *rule.emit))
    for which in ("previous", "ago"):
        refs = [ref for ref in named if ref.which == which]
        if refs:
            calls = ", ".join(dict.fromkeys(written(ref.span) for ref in refs))
            yield which, f"{_reach(body, refs)}: {calls}"
    if isinstance(body.window, AtEachEvent):
        default = " (the default)" if body.limit == EVENTS else ""
        text = f"{body.limit:,} events of a key{default}; beyond it the oldest is dropped and counted"
        yield "limit", text


def _judged(body: Over) -> str:
    match body.window:
        case Tumbling(early=True) | Hopping(early=True) | Session(early=True):
            return "at each event, over the window so far, until it is raised: once a window"
        case Tumbling() | Hopping():
            return "once, when the watermark comes to its end; its time is that end"
        case Session(gap):
            return f"once, when the watermark is {duration(gap)} past its last event; its time is then"
        case Sliding() | LastEvents():
            return "at each event; raised where `having` is true and was not at the key's event before"
        case _:
            assert_never(body.window)


def _reach(body: Over, refs: list[WindowAggregate]) -> str:
    """The distance back that some aggregates over earlier windows look."""
    offset = max(ref.offset for ref in refs)
    match body.window:
        case Tumbling(size) | Hopping(size) | Sliding(size):
            back = offset * size if refs[0].which == "previous" else offset
            return f"{duration(back)} back"
        case Session():
            return f"{counted(offset, 'session')} back"
        case LastEvents(events):
            return f"{counted(offset * events, 'event')} back"
        case _:
            assert_never(body.window)


def _panes(shape: Panes, folded: bool, each: tuple[str, ...], size: int) -> WindowFacts:
    length = duration(shape.every) if shape.zone is None else counted(shape.every // _DAY, "day")
    zone = "" if shape.zone is None else f" of {shape.zone}"
    open_ = counted(shape.panes, "pane")
    this = f"of each window that is open the events, in panes of {length}{zone}: {open_} a window"
    back = f"and {counted(shape.back, 'pane')} behind it" if shape.back else ""
    after = shape.panes + shape.back
    goes = f"forgotten {_span(shape, after)} after the pane of its last event has begun"
    number = shape.panes + shape.back if folded else None
    return WindowFacts("panes" if folded else "events", number, this, back, each, goes, size)


def _span(shape: Panes, panes: int) -> str:
    if shape.zone is not None:
        return counted(panes * shape.every // _DAY, "day")
    return duration(panes * shape.every)


def _sessions(shape: Sessions, folded: bool, each: tuple[str, ...], size: int) -> WindowFacts:
    this = "the open session" if folded else "the events of the open session"
    back = f"and {counted(shape.back, 'session')} before it" if shape.back else ""
    goes = f"forgotten {duration(shape.gap)} after its last event, when its session is judged"
    if shape.early:
        goes = f"forgotten {duration(shape.gap)} after its last event"
    if shape.back:
        goes = "never forgotten: the sessions before stay, however old"
    number = 1 + shape.back if folded else None
    return WindowFacts("sessions" if folded else "events", number, this, back, each, goes, size)


def _newest(shape: Newest, each: tuple[str, ...], size: int) -> WindowFacts:
    limit = shape.limit
    if shape.events is None:
        assert shape.length is not None
        this = f"those of the last {duration(shape.length)}"
        back = f"and of {duration(shape.back)} before, for earlier windows" if shape.back else ""
        goes = f"forgotten {duration(shape.length + shape.back)} after its last event"
        return WindowFacts("events", limit, this, back, each, goes, size)
    young = "" if shape.length is None else f" that are younger than {duration(shape.length)}"
    this = f"its newest {counted(shape.events, 'event')}{young}"
    back = f"and the {shape.back:,} before them, for earlier windows" if shape.back else ""
    goes = "never forgotten: `within` would bound it"
    if shape.length is not None:
        goes = f"forgotten {duration(shape.length)} after its last event"
    return WindowFacts("events", min(limit, shape.events + shape.back), this, back, each, goes, size)


def _kept(plan: WindowPlan) -> Iterator[str]:
    """The values that a pane or a session keeps instead of its events."""
    yield "its time and the ids of its newest 100 events"
    of = [written(argument.span) for argument in plan.readings.arguments]
    words = {
        "true": "how many are true of {}",
        "sum": "the exact sum of {}",
        "squares": "that of its squares",
        "least": "the least {}",
        "greatest": "the greatest {}",
        "first": "the first {}",
        "last": "the last {}",
    }
    for one in plan.readings.accumulators:
        if one.kind == "count":
            yield "the number of events"
        elif one.argument is not None:
            yield words[one.kind].format(of[one.argument])


def _events(plan: WindowPlan) -> Iterator[str]:
    """The values that are kept of each event."""
    yield "its time"
    yield from (written(argument.span) for argument in plan.readings.arguments)
    yield "of the newest 100 the id"
