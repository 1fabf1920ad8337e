"""The last-seen index, for `absent` before the first event: when the last event that it forbids was there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cep.operators.patterns.compile.pattern_plan import PatternPlan
from cep.operators.patterns.compile.tables import LookBack, Tables
from cep.operators.patterns.kernel import bytecode, layout
from cep.operators.patterns.kernel import tables as kernel_tables
from cep.operators.patterns.runtime.outside_conditions import Lookups, OutsideEvaluator
from cep.state.keyed_rows import FlatRows

Ints = npt.NDArray[np.int64]
Bytes = npt.NDArray[np.uint8]
LOOK, TIME = 2, 3
"""Columns of the rows in which the index is kept, after the numbers of key and rule."""
_KEPT = 2
"""Times per key that later events may look back at: the last, and one before it for events of its instant."""


@dataclass(frozen=True, slots=True)
class LastSeen:
    """When events that a look back forbids were there: key number, number of the look back, time."""

    keys: Ints
    looks: Ints
    times: Ints

    @classmethod
    def none(cls) -> LastSeen:
        """No event."""
        return cls(*(np.zeros(0, np.int64) for _ in range(3)))

    @classmethod
    def of(cls, rows: Ints) -> LastSeen:
        """From rows of one rule."""
        return cls(rows[:, 0], rows[:, LOOK], rows[:, TIME])

    def chosen(self, which: npt.NDArray[np.bool_]) -> LastSeen:
        """Some of them."""
        return LastSeen(self.keys[which], self.looks[which], self.times[which])


def kept_rows(index: Mapping[int, LastSeen]) -> FlatRows:
    """The indexes of rules, by number, as rows sorted by key."""
    parts = [np.zeros((0, TIME + 1), np.int64)]
    for number, seen in sorted(index.items()):
        parts.append(np.stack((seen.keys, np.full(len(seen.keys), number), seen.looks, seen.times), axis=1))
    together = np.concatenate(parts)
    return FlatRows(together[np.argsort(together[:, 0], kind="stable")])


@dataclass(frozen=True, slots=True)
class Inputs:
    """The events as the kernel sees them, by place and by column, and what programs need besides."""

    keys: Ints
    times: Ints
    places: Bytes
    values: Ints
    nulls: Bytes
    constants: Ints
    ranks: Ints
    lookups: Lookups


def times_before(
    rule: PatternPlan, before: LastSeen, events: Inputs, watermark: int
) -> tuple[Ints, Bytes, LastSeen]:
    """A row of values and of nulls per look back: when the last such event before each event's instant was.

    `keys` and `times` are of the events in key order. Also what later events may still look back at.
    """
    looks = rule.tables.look_backs
    size = len(events.keys)
    values, nulls = np.zeros((len(looks), size), np.int64), np.ones((len(looks), size), np.uint8)
    kept = []
    for number, look in enumerate(looks):
        mine = before.chosen(before.looks == number)
        seen = np.flatnonzero(_satisfied(rule, look, events))
        keys = np.concatenate((mine.keys, events.keys[seen]))
        times = np.concatenate((mine.times, events.times[seen]))
        last, known = _last_before(keys, times, events.keys, events.times)
        values[number], nulls[number] = last, ~known
        kept.append(_remembered(number, look, keys, times, watermark))
    together = (np.concatenate([getattr(part, name) for part in kept]) for name in ("keys", "looks", "times"))
    return values, nulls, LastSeen(*together)


def _satisfied(rule: PatternPlan, look: LookBack, events: Inputs) -> npt.NDArray[np.bool_]:
    found: npt.NDArray[np.bool_] = events.places[look.place] == 1
    if not look.program[1] or not found.any():
        return found
    # A condition over other events (`prev`, steps that took nothing): few rules have one, so it is run as
    # it stands.
    slots = np.zeros(rule.tables.slots + 2, np.int64)
    blank = _NothingTaken.by(rule.tables)
    blank.cursor[layout.C_EVENTS] = len(events.keys)
    asked = layout.Rule(
        rule.tables.array, events.constants, events.places.ravel(), events.values.ravel(),
        events.nulls.ravel(), events.ranks, slots, slots.view(np.float64), np.zeros(len(slots), np.int64),
    )  # fmt: skip
    with OutsideEvaluator(rule, blank, events.lookups, events.values, events.nulls).installed():
        for event in np.flatnonzero(found).tolist():
            blank.cursor[layout.C_KEY] = events.keys[event]
            found[event] = bytecode.holds(asked, *look.program, event, 0, blank.alternatives, blank.cursor)
    return found


@dataclass(frozen=True, slots=True)
class _NothingTaken:
    """The alternative from which runs begin: whatever it says of steps is null."""

    alternatives: Ints
    nodes: Ints
    cursor: Ints

    @classmethod
    def by(cls, tables: Tables) -> _NothingTaken:
        """A rule's alternative and registers before the first event."""
        alternative = np.zeros(tables.row_width, np.int64)
        alternative[layout.T_NODE] = layout.NONE
        initial, nulls, values = (
            int(tables.array[place])
            for place in (kernel_tables.H_INITIAL, kernel_tables.H_NULLS, kernel_tables.H_VALUES)
        )
        alternative[nulls:values] = tables.array[initial : initial + values - nulls]
        return cls(alternative, np.zeros(0, np.int64), np.zeros(layout.CURSOR, np.int64))


def _last_before(
    keys: Ints, times: Ints, of_keys: Ints, of_times: Ints
) -> tuple[Ints, npt.NDArray[np.bool_]]:
    """The greatest of `times` under the same key that is less than each of `of_times`; if there is one."""
    count = len(keys)
    all_keys, all_times = np.concatenate((keys, of_keys)), np.concatenate((times, of_times))
    seen = np.arange(len(all_keys)) < count
    order = np.lexsort((seen, all_times, all_keys))
    place = np.maximum.accumulate(np.where(seen[order], np.arange(len(order)), -1))
    source = order[np.maximum(place, 0)]
    known = (place >= 0) & (all_keys[source] == all_keys[order])
    asked = ~seen[order]
    last, there = np.zeros(len(of_keys), np.int64), np.zeros(len(of_keys), bool)
    last[order[asked] - count] = np.where(known, all_times[source], 0)[asked]
    there[order[asked] - count] = known[asked]
    return last, there


def _remembered(number: int, look: LookBack, keys: Ints, times: Ints, watermark: int) -> LastSeen:
    # The watermark is no earlier than these times; unsigned, their difference cannot overflow.
    age = np.uint64(watermark & (2**64 - 1)) - times.view(np.uint64)
    young = age <= np.uint64(look.duration)
    pairs = np.unique(np.stack((keys[young], times[young]), axis=1), axis=0)
    later = np.arange(len(pairs)) + _KEPT
    last = (
        (later >= len(pairs)) | (pairs[np.minimum(later, len(pairs) - 1), 0] != pairs[:, 0])
        if len(pairs)
        else np.zeros(0, bool)
    )
    pairs = pairs[last]
    return LastSeen(pairs[:, 0], np.full(len(pairs), number, np.int64), pairs[:, 1])
