"""Durations, counts and conditions in the words of an explanation."""

from __future__ import annotations

from typing import assert_never

from rules.source import Span
from rules.typed import Guard, Quantifier, Skip
from rules.typed.window import Hopping, LastEvents, Session, Sliding, Tumbling, Window

_UNITS = (
    ("week", 604_800_000_000_000),
    ("day", 86_400_000_000_000),
    ("hour", 3_600_000_000_000),
    ("minute", 60_000_000_000),
    ("second", 1_000_000_000),
    ("millisecond", 1_000_000),
    ("nanosecond", 1),
)


def duration(ns: int) -> str:
    """`30 minutes`, `1 hour 5 seconds`."""
    parts = []
    for name, size in _UNITS:
        number, ns = divmod(ns, size)
        if number:
            parts.append(f"{number:,} {name}{'' if number == 1 else 's'}")
    return " ".join(parts) or "no time"


def written(span: Span) -> str:
    """The text of a place on one line, without its comments."""
    lines = (line.split("#")[0] if '"' not in line else line for line in span.text.splitlines())
    return " ".join(" ".join(lines).split())


def guarded(guard: Guard) -> str:
    """`settlement[amount > 5]`."""
    return guard.stream if guard.condition is None else f"{guard.stream}[{written(guard.condition.span)}]"


def often(quantifier: Quantifier) -> str:
    """`3 or more, as many as possible`; empty for once."""
    least, most = quantifier.least, quantifier.most
    if (least, most) == (1, 1):
        return ""
    if (least, most) == (0, 1):
        count = "or nothing"
    elif most is None:
        count = f"{least} or more"
    else:
        count = f"{least} times" if least == most else f"{least} to {most} times"
    how = {
        "greedy": "as many as possible",
        "reluctant": "as few as possible",
        "each": "every number a match of its own",
    }[quantifier.mode]
    own = {"relaxed": "", "contiguous": "one right after another", "any": "any choice of them"}[
        quantifier.own
    ]
    said = [count, how if least != most or quantifier.mode == "each" else "", own]
    return ", ".join(part for part in said if part)


def skipping(skip: Skip) -> str:
    """The runs that a raised match ends, in words."""
    match skip.to:
        case "past last":
            return "a match ends the runs that began from its first event to its last"
        case "next":
            return "a match ends the runs with the same first event"
        case "first" | "last":
            return (
                "a match ends the runs that began from its first event on, "
                f"before the {skip.to} event of `{skip.step}`"
            )
        case "none":
            return "a match ends no other run"


def window(shape: Window) -> str:
    """The shape of a window."""
    match shape:
        case Tumbling(size, zone, early):
            return f"{duration(size)}{_days(zone)} each, one after the other, {_when(early)}"
        case Hopping(size, every, zone, early):
            begun = f"one begun every {duration(every)}"
            return f"{duration(size)}{_days(zone)} each, {begun}, {_when(early)}"
        case Sliding(size):
            return f"the {duration(size)} up to every event, evaluated at the event"
        case Session(gap, longest, early):
            most = "" if longest is None else f", for less than {duration(longest)}"
            return f"events less than {duration(gap)} apart{most}, {_when(early)}"
        case LastEvents(count, within):
            young = "" if within is None else f" of the {duration(within)} up to every event"
            return f"the last {count:,} events{young}, evaluated at every event"
        case _:
            assert_never(shape)


def _days(zone: str | None) -> str:
    return "" if zone is None else f" of the days of {zone}"


def _when(early: bool) -> str:
    return "evaluated at every event until it is raised" if early else "evaluated at the end"


def bytes_of(number: int) -> str:
    """`184 bytes`, `1.3 MB`."""
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if number >= size:
            return f"{number / size:.3g} {unit}"
    return f"{number} bytes"
