"""Where the kernel works: rules whose ways have rows of one width, in flat arrays that they share."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cep.automata.space_tables import WidthClass
from cep.matching import kernel
from cep.matching.blocks import at_once
from cep.matching.engines import Engine
from cep.matching.runs import Runs, ranges

Ints = npt.NDArray[np.int64]
MAY_LIVE = 1 << 20
"""Runs that there is room for at the end of a batch from the beginning, if so many may begin. Room that is
not used takes no memory."""


@dataclass(slots=True)
class Pool:
    """Flat arrays and the cursor that the kernel works on; see cep.matching.kernel.

    `rules` are the rows of the rules that run, `blocks` those of the blocks of keys (cep.matching.blocks).
    The runs that were kept come into the pool when it is the turn of their key and rule; `order` numbers them
    by rule. What is left of them and of new ones goes to `left` (lists, runs, ways, nodes), what matches took
    to `taken`.
    """

    width: int
    rules: Ints
    tables: Ints
    blocks: Ints
    kept: Runs
    order: Ints
    lists: Ints
    runs: Ints
    threads: Ints
    nodes: Ints
    marks: Ints
    matches: Ints
    index: Ints
    seen: Ints
    left: list[Ints]
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
        of_lists = kept.lists[:, kernel.KEPT_RULE]
        order = np.argsort(of_lists, kind="stable")
        numbers = rules[:, kernel.U_RULE]
        rules[:, kernel.U_KEPT] = np.searchsorted(of_lists[order], numbers, "left")
        rules[:, kernel.U_KEPT_END] = np.searchsorted(of_lists[order], numbers, "right")
        cursor = np.zeros(kernel.CURSOR, np.int64)
        cursor[kernel.C_THREAD] = cursor[kernel.C_RUN] = cursor[kernel.C_ENTRY] = kernel.NONE
        cursor[kernel.C_TRACES] = 0 if traced else kernel.NONE
        cursor[kernel.C_WIDTH] = width
        cursor[kernel.C_EFFORT] = kernel.END_OF_TIME
        left = (
            (len(kept.lists), kernel.KEPT_LIST), (len(kept.runs), kernel.KEPT_RUN),
            (len(kept.threads), width), (len(kept.nodes) + more, kernel.NODE),
        )  # fmt: skip
        pool = cls(
            width, rules, of_width.tables, blocks, kept, order,
            np.zeros(room * kernel.LIST, np.int64), np.zeros(room * kernel.RUN, np.int64),
            np.zeros((1 + room) * width, np.int64), np.zeros(2 * room * kernel.NODE, np.int64),
            np.zeros(2 * room * kernel.MARK, np.int64), np.zeros(64 * kernel.MATCH, np.int64),
            np.zeros(0, np.int64), np.zeros(kernel.MOST_SEEN * kernel.SEEN, np.int64),
            [np.empty((more + rows) * columns, np.int64) for rows, columns in left],
            np.zeros(64 * kernel.TAKEN, np.int64), cursor, np.zeros(0, np.int64),
        )  # fmt: skip
        # The first thread is the blank one from which runs begin.
        cursor[kernel.C_FRESH_THREAD] = width
        cursor[kernel.C_THREADS] = cursor[kernel.C_RUNS] = room
        return pool

    def pools(self) -> kernel.Pools:
        """The arrays as they are until the pool grows again."""
        alternatives = kernel.Alternatives(self.threads, self.nodes, self.cursor, self.trace)
        return kernel.Pools(self.lists, self.runs, self.matches, self.index, self.seen, alternatives)

    def kept_later(self) -> kernel.Left:
        """Room for what the kernel writes behind each block, until the pool grows again."""
        lists, runs, threads, nodes = self.left
        return kernel.Left(lists, runs, threads, nodes, self.taken, self.marks)

    def grow(self, engine: Engine) -> None:
        """Double what is short; the kernel has noted how many rows it needs."""
        cursor = self.cursor
        need, nodes = int(cursor[kernel.C_NEED]), int(cursor[kernel.C_NODES_NEED]) * kernel.NODE
        if cursor[kernel.C_FULL]:
            self._make_room_for_what_is_left()
            return
        if cursor[kernel.C_THREADS] < need:
            before = len(self.threads)
            self.threads = _extended(self.threads, before + need * self.width, cursor[kernel.C_FRESH_THREAD])
            cursor[kernel.C_THREADS] += (len(self.threads) - before) // self.width
        if cursor[kernel.C_RUNS] < need:
            before = len(self.runs)
            self.runs = _extended(self.runs, before + need * kernel.RUN, cursor[kernel.C_FRESH_RUN])
            cursor[kernel.C_RUNS] += (len(self.runs) - before) // kernel.RUN
        if cursor[kernel.C_LISTS] + kernel.LIST > len(self.lists):
            self.lists = _extended(self.lists, len(self.lists) + 16 * kernel.LIST, cursor[kernel.C_LISTS])
        if cursor[kernel.C_NODES] + nodes > len(self.nodes):
            if cursor[kernel.C_TRACES] < 0:
                engine.drop_nodes(self.pools(), self.marks)
            if 2 * (cursor[kernel.C_NODES] + nodes) > len(self.nodes):
                self.nodes = _extended(self.nodes, len(self.nodes) + nodes, cursor[kernel.C_NODES])
                self.marks = np.zeros(kernel.MARK * len(self.nodes) // kernel.NODE, np.int64)
        if cursor[kernel.C_MATCHES] + (need + 1) * kernel.MATCH > len(self.matches):
            self.matches = _extended(
                self.matches, len(self.matches) + (need + 1) * kernel.MATCH, cursor[kernel.C_MATCHES]
            )
        if cursor[kernel.C_SHORT]:
            self._lengthen_chains()
        if cursor[kernel.C_TRACES] >= 0:
            told = cursor[kernel.C_TRACES]
            self.trace = _extended(self.trace, int(told) + 4 * (need + 4) * kernel.TRACE, told)

    def _make_room_for_what_is_left(self) -> None:
        """Room for all that is in the pool now."""
        cursor = self.cursor
        used = (
            cursor[kernel.C_KEPT_LISTS] * kernel.KEPT_LIST,
            cursor[kernel.C_KEPT_RUNS] * kernel.KEPT_RUN,
            cursor[kernel.C_KEPT_THREADS] * self.width,
            cursor[kernel.C_KEPT_NODES] * kernel.NODE,
        )
        kept_runs = len(self.runs) // kernel.RUN * kernel.KEPT_RUN
        more = (len(self.lists), kept_runs, len(self.threads), len(self.nodes))
        self.left = [
            rows if len(rows) >= written + of_pool else _extended(rows, int(written + of_pool), written)
            for rows, written, of_pool in zip(self.left, used, more, strict=True)
        ]
        if len(self.taken) < cursor[kernel.C_FULL]:
            self.taken = _extended(self.taken, int(cursor[kernel.C_FULL]), cursor[kernel.C_TAKEN])
        cursor[kernel.C_FULL] = 0

    def _lengthen_chains(self) -> None:
        """Twice the room for runs that sleep: each list is put to sleep again when an event comes to it."""
        least = max(2 * int(self.cursor[kernel.C_ENTRIES]), int(self.cursor[kernel.C_NEED]))
        entries = 1 << (least - 1).bit_length()
        chains = 2 * entries
        self.index = np.full(chains + entries * kernel.ENTRY, kernel.NONE, np.int64)
        rows = np.arange(chains, len(self.index), kernel.ENTRY)
        self.index[rows[:-1] + kernel.E_NEXT] = rows[1:]
        self.cursor[kernel.C_CHAINS] = self.cursor[kernel.C_ENTRY] = chains
        self.cursor[kernel.C_ENTRIES] = entries
        self.cursor[kernel.C_SHORT] = 0
        self.lists[kernel.L_SLEEPS :: kernel.LIST] = 0

    def told(self, row: int) -> Ints:
        """What the trace says of the rule in a row, a row each, in order."""
        rows = self.trace.reshape(-1, kernel.TRACE)
        first = self.rules[row - 1, kernel.U_TRACES] if row else 0
        return rows[first // kernel.TRACE : self.rules[row, kernel.U_TRACES] // kernel.TRACE]

    def found(self) -> Iterator[tuple[int, Ints, Ints, Ints]]:
        """By number of the rule what was raised: rows in order of decision, where the events that each took
        end, and these, a row each (kernel.A_EDGE and what follows)."""
        matches = self.matches[: self.cursor[kernel.C_MATCHES]].reshape(-1, kernel.MATCH)
        taken = self.taken[: self.cursor[kernel.C_TAKEN]].reshape(-1, kernel.TAKEN)
        ends = matches[:, kernel.M_NODE]
        counts = np.diff(ends, prepend=0)
        by_rule = np.argsort(matches[:, kernel.M_RULE], kind="stable")
        of_row = np.bincount(matches[:, kernel.M_RULE], minlength=len(self.rules))
        last = np.cumsum(of_row)
        for row in np.flatnonzero(of_row).tolist():
            mine = by_rule[last[row] - of_row[row] : last[row]]
            chosen = ranges(ends[mine] - counts[mine], counts[mine])
            number = int(self.rules[row, kernel.U_RULE])
            yield number, matches.take(mine, axis=0), np.cumsum(counts[mine]), taken.take(chosen, axis=0)

    def live(self) -> Runs:
        """The runs that live on, with the nodes that they name."""
        cursor = self.cursor
        columns = (kernel.KEPT_LIST, kernel.KEPT_RUN, self.width, kernel.NODE)
        counts = (kernel.C_KEPT_LISTS, kernel.C_KEPT_RUNS, kernel.C_KEPT_THREADS, kernel.C_KEPT_NODES)
        found = []
        for rows, count, of in zip(self.left, counts, columns, strict=True):
            # What was never written is given back.
            rows.resize(int(cursor[count]) * of, refcheck=False)
            found.append(rows.reshape(-1, of))
        return Runs(*found)


def _extended(array: Ints, least: int, used: int) -> Ints:
    """A longer array; only what was used of the old one is copied, and only that takes memory yet."""
    grown = np.zeros(max(least, 2 * len(array)), np.int64)
    grown[:used] = array[:used]
    return grown
