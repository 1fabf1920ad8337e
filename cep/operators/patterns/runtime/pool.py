"""A pool: flat arrays that the kernel works on, shared by rules whose alternatives have rows of one width."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cep.operators.patterns.compile.space_tables import WidthClass
from cep.operators.patterns.kernel import layout, merge
from cep.operators.patterns.kernel import trace as kernel_trace
from cep.operators.patterns.runtime.blocks import at_once
from cep.operators.patterns.runtime.engines import Engine
from cep.operators.patterns.runtime.runs import Runs, ranges

Ints = npt.NDArray[np.int64]
MAY_LIVE = 1 << 20
"""Runs that there is room for at the end of a batch from the beginning, if so many may begin. Room that is
not used takes no memory."""


@dataclass(slots=True)
class Pool:
    """Flat arrays and the cursor that the kernel works on; see cep.operators.patterns.kernel.

    `rules` are the rows of the rules that run, `blocks` those of the blocks of keys
    (cep.operators.patterns.runtime.blocks). The runs that were kept come into the pool when it is the turn of
    their key and rule; `order` numbers them by rule. Those of them and of the new ones that live on go to
    `written` (lists, runs, alternatives, nodes), what matches took to `taken`.
    """

    width: int
    rules: Ints
    tables: Ints
    blocks: Ints
    kept: Runs
    order: Ints
    lists: Ints
    runs: Ints
    alternatives: Ints
    nodes: Ints
    marks: Ints
    matches: Ints
    index: Ints
    seen: Ints
    written: list[Ints]
    taken: Ints
    cursor: Ints
    trace: Ints

    @classmethod
    def of(
        cls, of_width: WidthClass, rules: Ints, blocks: Ints, kept: Runs, begun: int, traced: bool
    ) -> Pool:
        """A pool for rules of a class and their kept runs, where about so many more begin."""
        width = of_width.width
        room = 16 + min(begun + len(kept.runs), at_once(len(rules)))
        more = 16 + min(begun, MAY_LIVE + begun // 2)
        of_lists = kept.lists[:, layout.KEPT_RULE]
        order = np.argsort(of_lists, kind="stable")
        numbers = rules[:, layout.U_RULE]
        rules[:, layout.U_KEPT] = np.searchsorted(of_lists[order], numbers, "left")
        rules[:, layout.U_KEPT_END] = np.searchsorted(of_lists[order], numbers, "right")
        cursor = np.zeros(layout.CURSOR, np.int64)
        cursor[layout.C_ALT] = cursor[layout.C_RUN] = cursor[layout.C_ENTRY] = layout.NONE
        cursor[layout.C_TRACES] = 0 if traced else layout.NONE
        cursor[layout.C_WIDTH] = width
        cursor[layout.C_EFFORT] = layout.END_OF_TIME
        sizes = (
            (len(kept.lists), layout.KEPT_LIST), (len(kept.runs), layout.KEPT_RUN),
            (len(kept.alternatives), width), (len(kept.nodes) + more, layout.NODE),
        )  # fmt: skip
        pool = cls(
            width, rules, of_width.tables, blocks, kept, order,
            np.zeros(room * layout.LIST, np.int64), np.zeros(room * layout.RUN, np.int64),
            np.zeros((1 + room) * width, np.int64), np.zeros(2 * room * layout.NODE, np.int64),
            np.zeros(2 * room * layout.MARK, np.int64), np.zeros(64 * layout.MATCH, np.int64),
            np.zeros(0, np.int64), np.zeros(merge.MOST_SEEN * merge.SEEN, np.int64),
            [np.empty((more + rows) * columns, np.int64) for rows, columns in sizes],
            np.zeros(64 * layout.TAKEN, np.int64), cursor, np.zeros(0, np.int64),
        )  # fmt: skip
        # The first row is the blank alternative from which runs begin.
        cursor[layout.C_FRESH_ALT] = width
        cursor[layout.C_ALTS] = cursor[layout.C_RUNS] = room
        return pool

    def pools(self) -> layout.Pools:
        """The arrays as they are until the pool grows again."""
        alternatives = layout.Alternatives(self.alternatives, self.nodes, self.cursor, self.trace)
        return layout.Pools(self.lists, self.runs, self.matches, self.index, self.seen, alternatives)

    def output(self) -> layout.Output:
        """Room for what the kernel writes behind each block, until the pool grows again."""
        lists, runs, alternatives, nodes = self.written
        return layout.Output(lists, runs, alternatives, nodes, self.taken, self.marks)

    def grow(self, engine: Engine) -> None:
        """Double what is short; the kernel has noted how many rows it needs."""
        cursor = self.cursor
        need, nodes = int(cursor[layout.C_NEED]), int(cursor[layout.C_NODES_NEED]) * layout.NODE
        if cursor[layout.C_FULL]:
            self._make_room_for_output()
            return
        if cursor[layout.C_ALTS] < need:
            before = len(self.alternatives)
            self.alternatives = _extended(
                self.alternatives, before + need * self.width, cursor[layout.C_FRESH_ALT]
            )
            cursor[layout.C_ALTS] += (len(self.alternatives) - before) // self.width
        if cursor[layout.C_RUNS] < need:
            before = len(self.runs)
            self.runs = _extended(self.runs, before + need * layout.RUN, cursor[layout.C_FRESH_RUN])
            cursor[layout.C_RUNS] += (len(self.runs) - before) // layout.RUN
        if cursor[layout.C_LISTS] + layout.LIST > len(self.lists):
            self.lists = _extended(self.lists, len(self.lists) + 16 * layout.LIST, cursor[layout.C_LISTS])
        if cursor[layout.C_NODES] + nodes > len(self.nodes):
            if cursor[layout.C_TRACES] < 0:
                engine.drop_nodes(self.pools(), self.marks)
            if 2 * (cursor[layout.C_NODES] + nodes) > len(self.nodes):
                self.nodes = _extended(self.nodes, len(self.nodes) + nodes, cursor[layout.C_NODES])
                self.marks = np.zeros(layout.MARK * len(self.nodes) // layout.NODE, np.int64)
        if cursor[layout.C_MATCHES] + (need + 1) * layout.MATCH > len(self.matches):
            self.matches = _extended(
                self.matches, len(self.matches) + (need + 1) * layout.MATCH, cursor[layout.C_MATCHES]
            )
        if cursor[layout.C_SHORT]:
            self._lengthen_chains()
        if cursor[layout.C_TRACES] >= 0:
            traced = cursor[layout.C_TRACES]
            self.trace = _extended(self.trace, int(traced) + 4 * (need + 4) * kernel_trace.TRACE, traced)

    def _make_room_for_output(self) -> None:
        """Room for all that is in the pool now."""
        cursor = self.cursor
        used = (
            cursor[layout.C_KEPT_LISTS] * layout.KEPT_LIST,
            cursor[layout.C_KEPT_RUNS] * layout.KEPT_RUN,
            cursor[layout.C_KEPT_ALTS] * self.width,
            cursor[layout.C_KEPT_NODES] * layout.NODE,
        )
        kept_runs = len(self.runs) // layout.RUN * layout.KEPT_RUN
        more = (len(self.lists), kept_runs, len(self.alternatives), len(self.nodes))
        self.written = [
            rows if len(rows) >= written + of_pool else _extended(rows, int(written + of_pool), written)
            for rows, written, of_pool in zip(self.written, used, more, strict=True)
        ]
        if len(self.taken) < cursor[layout.C_FULL]:
            self.taken = _extended(self.taken, int(cursor[layout.C_FULL]), cursor[layout.C_TAKEN])
        cursor[layout.C_FULL] = 0

    def _lengthen_chains(self) -> None:
        """Twice the room for parked runs: each list is parked again when an event comes to it."""
        least = max(2 * int(self.cursor[layout.C_ENTRIES]), int(self.cursor[layout.C_NEED]))
        entries = 1 << (least - 1).bit_length()
        chains = 2 * entries
        self.index = np.full(chains + entries * layout.ENTRY, layout.NONE, np.int64)
        rows = np.arange(chains, len(self.index), layout.ENTRY)
        self.index[rows[:-1] + layout.E_NEXT] = rows[1:]
        self.cursor[layout.C_CHAINS] = self.cursor[layout.C_ENTRY] = chains
        self.cursor[layout.C_ENTRIES] = entries
        self.cursor[layout.C_SHORT] = 0
        self.lists[layout.L_PARKED :: layout.LIST] = 0

    def traced(self, row: int) -> Ints:
        """The rows of the trace about the rule in a row, in order."""
        rows = self.trace.reshape(-1, kernel_trace.TRACE)
        first = self.rules[row - 1, layout.U_TRACES] if row else 0
        return rows[first // kernel_trace.TRACE : self.rules[row, layout.U_TRACES] // kernel_trace.TRACE]

    def found(self) -> Iterator[tuple[int, Ints, Ints, Ints]]:
        """By number of the rule what was raised: rows in order of decision, where the events that each took
        end, and these, a row each (kernel.A_EDGE and what follows)."""
        matches = self.matches[: self.cursor[layout.C_MATCHES]].reshape(-1, layout.MATCH)
        taken = self.taken[: self.cursor[layout.C_TAKEN]].reshape(-1, layout.TAKEN)
        ends = matches[:, layout.M_NODE]
        counts = np.diff(ends, prepend=0)
        by_rule = np.argsort(matches[:, layout.M_RULE], kind="stable")
        of_row = np.bincount(matches[:, layout.M_RULE], minlength=len(self.rules))
        last = np.cumsum(of_row)
        for row in np.flatnonzero(of_row).tolist():
            mine = by_rule[last[row] - of_row[row] : last[row]]
            chosen = ranges(ends[mine] - counts[mine], counts[mine])
            number = int(self.rules[row, layout.U_RULE])
            yield number, matches.take(mine, axis=0), np.cumsum(counts[mine]), taken.take(chosen, axis=0)

    def live(self) -> Runs:
        """The runs that live on, with the nodes that they name."""
        cursor = self.cursor
        columns = (layout.KEPT_LIST, layout.KEPT_RUN, self.width, layout.NODE)
        counts = (layout.C_KEPT_LISTS, layout.C_KEPT_RUNS, layout.C_KEPT_ALTS, layout.C_KEPT_NODES)
        found = []
        for rows, count, of in zip(self.written, counts, columns, strict=True):
            # What was never written is given back.
            rows.resize(int(cursor[count]) * of, refcheck=False)
            found.append(rows.reshape(-1, of))
        return Runs(*found)


def _extended(array: Ints, least: int, used: int) -> Ints:
    """A longer array; only what was used of the old one is copied, and only that takes memory yet."""
    grown = np.zeros(max(least, 2 * len(array)), np.int64)
    grown[:used] = array[:used]
    return grown
