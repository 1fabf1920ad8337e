"""Strict sequences over one shard's events, group by group: from sets of runs to matches and sets of runs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cep.batch.arrivals import Arrivals
from cep.batch.decisions import lengths, rows_with
from cep.counters import Overflows
from cep.hashing.rows import order_of
from cep.operators.operator import BatchContext
from cep.operators.patterns.compile.space_tables import SpaceTables
from cep.operators.patterns.compile.strict_groups import StrictGroup
from cep.operators.patterns.kernel import layout, strict_layout
from cep.operators.patterns.kernel import tables as kernel_tables
from cep.operators.patterns.runtime.engines import Engine
from cep.operators.patterns.runtime.looking_back import Events
from cep.operators.patterns.runtime.matches import Matches
from cep.operators.patterns.runtime.packed_runs import PackedRows, PackedRuns
from cep.operators.patterns.runtime.predicate_bits import PredicateReader
from cep.state.keyed_rows import ranges

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class StrictBatch:
    """Values that the groups of a space share in one shard and batch."""

    tables: SpaceTables
    engine: Engine
    events: Events
    reader: PredicateReader
    context: BatchContext

    def run(self, kept: PackedRuns) -> tuple[list[Matches], PackedRuns]:
        """Run every group; what its rules matched, and the runs that live on."""
        matched: list[Matches] = []
        groups: dict[int, PackedRows] = {}
        for number, group in enumerate(self.tables.strict):
            came = any(part.stream in group.masks for part in self.reader.events.parts)
            if not came and number not in kept.groups:
                continue
            found, left = self._group(group, kept.groups.get(number, none_of(group)))
            matched += found
            if len(left.rows):
                groups[number] = left
        return matched, PackedRuns(groups)

    def _group(self, group: StrictGroup, kept: PackedRows) -> tuple[list[Matches], PackedRows]:
        rules, keys = len(group.rules), self.context.keys.count
        came = self._events(group, kept)
        sets, entry = group.depth * group.words, strict_layout.WINDOW_HEAD + len(group.columns)
        states = np.zeros((keys, group.depth * entry + sets), np.int64)
        states[:, : group.depth * entry : entry] = layout.NONE
        slots = self.tables.most_slots + 2
        cursor = np.zeros(layout.C_JOINS, np.int64)
        cursor[layout.C_EVENTS] = len(came.keys) + group.depth * len(kept.rows)
        cursor[layout.C_EFFORT] = layout.END_OF_TIME
        room = strict_layout.StrictRoom(
            states.ravel(), states.ravel().view(np.float64), np.zeros(sets, np.int64),
            np.zeros(group.words, np.int64), np.zeros(group.words, np.int64),
            np.zeros(group.depth + 1, np.int64), np.zeros(_row_of(group), np.int64), np.zeros(1, np.int64),
            np.zeros(slots, np.int64), np.zeros(slots, np.int64), np.zeros(rules, np.int64), cursor,
        )  # fmt: skip
        width = strict_layout.X_EVENTS + group.depth + 1
        output = strict_layout.StrictOutput(
            np.empty(keys * kept.rows.shape[1], np.int64),
            np.empty(2 * width * (group.depth + 1), np.int64),
            np.empty(2 * rules, np.int64),
        )
        stored = kept.rows.ravel()
        while self.engine.run_strict(group.arrays, came, stored, room, output, self.events.watermark):
            output = output._replace(
                matches=_with_room(output.matches, cursor[layout.C_MATCHES]),
                rules=_with_room(output.rules, cursor[layout.C_DECIDED]),
            )
        self._count(group, room.overflows)
        found = output.matches[: cursor[layout.C_MATCHES]].reshape(-1, width)
        size = int(cursor[layout.C_KEPT_LISTS])
        # A copy, so that the room for all keys is given back.
        rows = output.rows[:size].copy().reshape(-1, kept.rows.shape[1])
        left = PackedRows(group.rules, group.depth, kept.values, group.texts, rows)
        return list(self._matches(group, found, output.rules[: cursor[layout.C_DECIDED]])), left

    def _events(self, group: StrictGroup, kept: PackedRows) -> strict_layout.StrictEvents:
        """The events with what the group reads of them, and behind them those that kept runs took."""
        events, arrivals = self.events, self.reader.events
        size, depth = len(events.keys), group.depth
        width = (depth + 1) * group.words
        fits, seen = np.zeros(size * width, np.int64), np.zeros(size, np.uint8)
        for number, part in enumerate(arrivals.parts):
            if part.stream in group.masks:
                where, rows = arrivals.rows_of(number)
                masks, bits = group.masks[part.stream], part.predicates
                self.engine.fit_events(
                    bits.data, bits.ends, bits.bits, rows, where, masks.firsts, masks.rows, masks.halves,
                    fits, width,
                )  # fmt: skip
                seen[where] = 1
        more = len(kept.rows) * depth
        of_rule = self.reader.columns(group.rules[:1], more)
        numbers = np.full(1 + more, self.context.book.first)
        for number in range(depth):
            entry, here = kept.entry(number), slice(size + number, None, depth)
            numbers[1 + number :: depth] = entry[:, strict_layout.O_NUMBER]
            for place, column in enumerate(group.columns.tolist()):
                of_rule.values[column, here] = entry[:, strict_layout.ENTRY_HEAD + place]
                of_rule.nulls[column, here] = (entry[:, strict_layout.O_NULLS] >> place) & 1
        columns = of_rule.values.ravel()
        return strict_layout.StrictEvents(
            events.keys, seen, fits, events.times, numbers, columns, columns.view(np.float64),
            of_rule.nulls.ravel(), events.constants, events.constants.view(np.float64), events.ranks,
        )  # fmt: skip

    def _count(self, group: StrictGroup, overflows: Ints) -> None:
        for place in np.flatnonzero(overflows).tolist():
            name = self.tables.rules[int(group.rules[place])].name
            self.context.counts[Overflows("rule", *name)] += int(overflows[place])

    def _matches(self, group: StrictGroup, found: Ints, places: Ints) -> Iterator[Matches]:
        """The matches in order of time, those of rules with the same steps together; `places` are the rules
        of each."""
        time, decided = found[:, strict_layout.X_TIME], found[:, strict_layout.X_DECIDED]
        if np.any(time[1:] < time[:-1]):
            order, counts = order_of(time), lengths(decided)
            places = places[ranges((decided - counts)[order], counts[order])]
            found, decided = found.take(order, axis=0), np.cumsum(counts[order])
        of_steps: dict[tuple[int, ...], list[int]] = {}
        for place in np.flatnonzero(np.bincount(places)).tolist():
            steps = tuple(self.tables.tables(int(group.rules[place])).edges.tolist())
            of_steps.setdefault(steps, []).append(place)
        for steps, mine in of_steps.items():
            rows, of_each, by = found, decided, places
            if len(of_steps) > 1:
                some = np.flatnonzero(np.isin(places, mine))
                which, of_each = rows_with(decided, some)
                rows, by = found[which], places[some]
            size, first = len(rows), strict_layout.X_EVENTS
            events = rows[:, first : first + len(steps)][:, ::-1].ravel()
            yield Matches(
                group.rules[by],
                of_each,
                rows[:, strict_layout.X_TIME],
                np.ones(size, np.int64),
                rows[:, strict_layout.X_KEY],
                events[:: len(steps)],
                np.zeros(size, bool),
                np.arange(1, size + 1) * len(steps),
                np.tile(np.array(steps, np.int64), size),
                events,
                events,
            )


def _with_room(numbers: Ints, used: int) -> Ints:
    """The first numbers of an array, with more room behind them."""
    found = np.empty(4 * len(numbers), np.int64)
    found[:used] = numbers[:used]
    return found


def none_of(group: StrictGroup) -> PackedRows:
    """No run of a group."""
    values = len(group.columns)
    width = strict_layout.PACKED + group.depth * (strict_layout.ENTRY_HEAD + values + group.words)
    return PackedRows(group.rules, group.depth, values, group.texts, np.zeros((0, width), np.int64))


def packable(plan: str, events: Arrivals) -> bool:
    """True if all events were evaluated under the plan that runs."""
    return all(part.layout.plan == plan for part in events.parts)


def _row_of(group: StrictGroup) -> int:
    """The numbers that the row of an alternative takes."""
    return int(group.arrays.tables[kernel_tables.H_ALT])
