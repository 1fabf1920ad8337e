"""Where the kernel works: the rules of one width class in flat arrays that they share."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cep.matching import kernel
from cep.matching.engines import Engine
from cep.matching.runs import Runs

Ints = npt.NDArray[np.int64]


@dataclass(slots=True)
class Pool:
    """Flat arrays and the cursor that the kernel works on; see cep.matching.kernel.

    `rules` are the rows of the rules that run. The runs that were kept come into the pool rule by rule, when
    it is the rule's turn; `order` numbers them by rule.
    """

    width: int
    rules: Ints
    tables: Ints
    kept: Runs
    order: Ints
    lists: Ints
    runs: Ints
    threads: Ints
    nodes: Ints
    matches: Ints
    index: Ints
    cursor: Ints
    trace: Ints

    @classmethod
    def of(cls, width: int, rules: Ints, tables: Ints, kept: Runs, room: int, traced: bool) -> Pool:
        """A pool for kept runs and about so many more."""
        of_lists = kept.lists[:, kernel.KEPT_RULE]
        order = np.argsort(of_lists, kind="stable")
        numbers = rules[:, kernel.U_RULE]
        rules[:, kernel.U_KEPT] = np.searchsorted(of_lists[order], numbers, "left")
        rules[:, kernel.U_KEPT_END] = np.searchsorted(of_lists[order], numbers, "right")
        cursor = np.zeros(kernel.CURSOR, np.int64)
        cursor[kernel.C_THREAD] = cursor[kernel.C_RUN] = cursor[kernel.C_ENTRY] = kernel.NONE
        cursor[kernel.C_TRACES] = 0 if traced else kernel.NONE
        cursor[kernel.C_WIDTH] = width
        pool = cls(
            width, rules, tables, kept, order,
            np.zeros((len(kept.lists) + room) * kernel.LIST, np.int64),
            np.zeros((len(kept.runs) + room) * kernel.RUN, np.int64),
            np.zeros((len(kept.threads) + 1 + room) * width, np.int64),
            np.zeros((len(kept.nodes) + 2 * room) * kernel.NODE, np.int64),
            np.zeros(64 * kernel.MATCH, np.int64), np.zeros(0, np.int64), cursor, np.zeros(0, np.int64),
        )  # fmt: skip
        # The first thread is the blank one from which runs begin.
        cursor[kernel.C_FRESH_THREAD] = width
        cursor[kernel.C_THREADS] = len(pool.threads) // width - 1
        cursor[kernel.C_RUNS] = len(pool.runs) // kernel.RUN
        return pool

    def grow(self, engine: Engine) -> None:
        """Double what is short; the kernel has noted how many rows it needs."""
        cursor, need = self.cursor, int(self.cursor[kernel.C_NEED])
        if cursor[kernel.C_THREADS] < need:
            before = len(self.threads)
            self.threads = _extended(self.threads, before + need * self.width)
            cursor[kernel.C_THREADS] += (len(self.threads) - before) // self.width
        if cursor[kernel.C_RUNS] < need:
            before = len(self.runs)
            self.runs = _extended(self.runs, before + need * kernel.RUN)
            cursor[kernel.C_RUNS] += (len(self.runs) - before) // kernel.RUN
        if cursor[kernel.C_LISTS] + kernel.LIST > len(self.lists):
            self.lists = _extended(self.lists, len(self.lists) + 16 * kernel.LIST)
        if cursor[kernel.C_NODES] + need * kernel.NODE > len(self.nodes):
            if cursor[kernel.C_TRACES] < 0:
                engine.drop_nodes(
                    self.lists,
                    self.runs,
                    self.threads,
                    self.nodes,
                    self.matches,
                    self._node_numbers(),
                    cursor,
                )
            if 2 * (cursor[kernel.C_NODES] + need * kernel.NODE) > len(self.nodes):
                self.nodes = _extended(self.nodes, len(self.nodes) + need * kernel.NODE)
        if cursor[kernel.C_MATCHES] + (need + 1) * kernel.MATCH > len(self.matches):
            self.matches = _extended(self.matches, len(self.matches) + (need + 1) * kernel.MATCH)
        if cursor[kernel.C_SHORT]:
            self._lengthen_chains()
        if cursor[kernel.C_TRACES] >= 0:
            self.trace = _extended(self.trace, int(cursor[kernel.C_TRACES]) + 4 * (need + 4) * kernel.TRACE)

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
        return self._of_rule(self.trace.reshape(-1, kernel.TRACE), row, kernel.U_TRACES, kernel.TRACE)

    def found(self, row: int) -> Ints:
        """What was raised of the rule in a row, a row each, in order of decision."""
        return self._of_rule(self.matches.reshape(-1, kernel.MATCH), row, kernel.U_MATCHES, kernel.MATCH)

    def _of_rule(self, rows: Ints, row: int, end: int, size: int) -> Ints:
        first = self.rules[row - 1, end] if row else 0
        return rows[first // size : self.rules[row, end] // size]

    def live(self, keys: int, engine: Engine) -> Runs:
        """The runs that live on, with the nodes that they name; `keys` is how many keys there are."""
        cursor = self.cursor
        order = np.zeros(int(cursor[kernel.C_LISTS]) // kernel.LIST, np.int64)
        count = engine.in_key_order(self.lists, np.zeros(keys + 1, np.int64), order, cursor)
        if not count:
            return Runs.none(self.width)
        sizes = (
            count,
            len(self.runs) // kernel.RUN - int(cursor[kernel.C_RUNS]),
            len(self.threads) // self.width - 1 - int(cursor[kernel.C_THREADS]),
            int(cursor[kernel.C_NODES]) // kernel.NODE,
        )
        columns = (kernel.KEPT_LIST, kernel.KEPT_RUN, self.width, kernel.NODE)
        kept = [np.zeros((n, of), np.int64) for n, of in zip(sizes, columns, strict=True)]
        row_of_rule = np.zeros(int(self.rules[:, kernel.U_RULE].max()) + 1, np.int64)
        row_of_rule[self.rules[:, kernel.U_RULE]] = np.arange(len(self.rules))
        engine.keep(
            self.rules.ravel(), row_of_rule, self.tables, self.lists, self.runs, self.threads, self.nodes,
            order[:count], self._node_numbers(), *(rows.ravel() for rows in kept), cursor,
        )  # fmt: skip
        lists, runs, threads, nodes = kept
        return Runs(lists, runs, threads, nodes[: cursor[kernel.C_KEPT_NODES]].copy())

    def _node_numbers(self) -> Ints:
        return np.zeros(int(self.cursor[kernel.C_NODES]) // kernel.NODE, np.int64)


def _extended(array: Ints, least: int) -> Ints:
    grown = np.zeros(max(least, 2 * len(array)), np.int64)
    grown[: len(array)] = array
    return grown
