"""A rule's live runs: compact columns between batches, linked rows in flat arrays while the kernel runs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cep.automata.tables import Tables
from cep.matching import kernel
from cep.matching.engines import Engine

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Runs:
    """The live runs of one rule, by key, in order of their first event; ways in order of preference.

    `lists` has a row per key: its number, the sequence number of the last event seen, and how many runs;
    `runs` a row per run: sequence number and time of its first event, its number among the forks, and how
    many threads; `threads` a row per thread as the kernel has it, but with the number of rows that it and
    those in it take for its link; `nodes` a row per event taken: the node before, the edge, the event's
    number, its sequence number.
    """

    lists: Ints
    runs: Ints
    threads: Ints
    nodes: Ints

    @classmethod
    def none(cls, tables: Tables) -> Runs:
        """No run."""
        return cls(
            np.zeros((0, 3), np.int64),
            np.zeros((0, 4), np.int64),
            np.zeros((0, tables.thread), np.int64),
            np.zeros((0, 4), np.int64),
        )


@dataclass(slots=True)
class Pool:
    """Flat arrays and the cursor that the kernel works on; see cep.matching.kernel."""

    tables: Tables
    lists: Ints
    runs: Ints
    threads: Ints
    nodes: Ints
    matches: Ints
    index: Ints
    cursor: Ints
    trace: Ints

    @classmethod
    def of(cls, tables: Tables, live: Runs, room: int, engine: Engine) -> Pool:
        """The pool of some live runs, with room for about so many more."""
        width = tables.thread
        lists = np.zeros((len(live.lists) + room, kernel.LIST), np.int64)
        runs = np.zeros((len(live.runs) + room, kernel.RUN), np.int64)
        threads = np.zeros((len(live.threads) + 1 + room, width), np.int64)
        nodes = np.zeros((len(live.nodes) + 2 * room, kernel.NODE), np.int64)
        count = len(live.lists)
        if count:
            _lay_out(tables, lists, runs, threads, nodes, live, engine)
        threads[0, kernel.T_NEXT] = kernel.NONE
        threads[0, kernel.T_NODE] = kernel.NONE
        initial = int(tables.array[kernel.H_INITIAL])
        nulls = int(tables.array[kernel.H_NULLS])
        words = int(tables.array[kernel.H_VALUES]) - nulls
        threads[0, nulls : nulls + words] = tables.array[initial : initial + words]
        cursor = np.zeros(kernel.CURSOR, np.int64)
        cursor[kernel.C_LISTS] = count * kernel.LIST
        cursor[kernel.C_NODES] = len(live.nodes) * kernel.NODE
        cursor[kernel.C_THREAD] = cursor[kernel.C_RUN] = cursor[kernel.C_ENTRY] = kernel.NONE
        cursor[kernel.C_FORKS] = live.runs[:, 2].max(initial=0)
        pool = cls(
            tables, lists.ravel(), runs.ravel(), threads.ravel(), nodes.ravel(),
            np.zeros(64 * kernel.MATCH, np.int64), np.zeros(0, np.int64), cursor, np.zeros(0, np.int64),
        )  # fmt: skip
        pool._free_threads(1 + len(live.threads))
        pool._free_runs(len(live.runs))
        return pool

    def grow(self, engine: Engine) -> None:
        """Double what is short; the kernel has noted how many threads it needs."""
        cursor, need = self.cursor, int(self.cursor[kernel.C_NEED])
        width = self.tables.thread
        if cursor[kernel.C_THREADS] < need:
            first = len(self.threads) // width
            self.threads = _extended(self.threads, (first + need) * width)
            self._free_threads(first)
        if cursor[kernel.C_RUNS] < need:
            first = len(self.runs) // kernel.RUN
            self.runs = _extended(self.runs, (first + need) * kernel.RUN)
            self._free_runs(first)
        if cursor[kernel.C_LISTS] + kernel.LIST > len(self.lists):
            self.lists = _extended(self.lists, len(self.lists) + 16 * kernel.LIST)
        if cursor[kernel.C_NODES] + need * kernel.NODE > len(self.nodes):
            if cursor[kernel.C_TRACES] < 0:
                self._drop_nodes(engine)
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

    def _drop_nodes(self, engine: Engine) -> None:
        """Leave out the nodes that no thread and no match names: the kernel only ever adds some."""
        walk = self._walk(engine)
        matches = self.matches[: self.cursor[kernel.C_MATCHES]]
        engine.mark(self.nodes, np.ascontiguousarray(matches[kernel.M_NODE :: kernel.MATCH]), walk.marks)
        nodes, moved = _kept(self.nodes, walk.marks)
        self.nodes[: nodes.size] = nodes.ravel()
        self.cursor[kernel.C_NODES] = nodes.size
        at = walk.threads[self.threads[walk.threads + kernel.T_STATE] > kernel.EACH] + kernel.T_NODE
        self.threads[at] = moved[self.threads[at] // kernel.NODE]
        matches[kernel.M_NODE :: kernel.MATCH] = moved[matches[kernel.M_NODE :: kernel.MATCH] // kernel.NODE]

    def told(self) -> Ints:
        """What the trace says, a row each, in order."""
        return self.trace[: self.cursor[kernel.C_TRACES]].reshape(-1, kernel.TRACE)

    def found(self) -> Ints:
        """What was raised, a row each, in order of decision."""
        return self.matches[: self.cursor[kernel.C_MATCHES]].reshape(-1, kernel.MATCH)

    def _free_threads(self, first: int) -> None:
        """Chain the rows from the first on into the free list."""
        width = self.tables.thread
        rows = np.arange(first * width, len(self.threads), width)
        if len(rows):
            self.threads[rows[:-1]] = rows[1:]
            self.threads[rows[-1]] = self.cursor[kernel.C_THREAD]
            self.cursor[kernel.C_THREAD] = rows[0]
            self.cursor[kernel.C_THREADS] += len(rows)

    def _free_runs(self, first: int) -> None:
        rows = np.arange(first * kernel.RUN, len(self.runs), kernel.RUN)
        if len(rows):
            self.runs[rows[:-1]] = rows[1:]
            self.runs[rows[-1]] = self.cursor[kernel.C_RUN]
            self.cursor[kernel.C_RUN] = rows[0]
            self.cursor[kernel.C_RUNS] += len(rows)

    def _walk(self, engine: Engine) -> _Walk:
        lists_most = int(self.cursor[kernel.C_LISTS]) // kernel.LIST
        runs_most, threads_most = len(self.runs) // kernel.RUN, len(self.threads) // self.tables.thread
        nodes = int(self.cursor[kernel.C_NODES]) // kernel.NODE
        sizes = (lists_most, runs_most, threads_most, threads_most, lists_most, runs_most, nodes, 3)
        lists, runs, threads, inside, run_counts, thread_counts, marks, counts = (
            np.zeros(n, np.int64) for n in sizes
        )
        engine.collect(
            self.lists, self.runs, self.threads, self.nodes, lists, runs, threads, inside, run_counts,
            thread_counts, marks, counts, self.cursor,
        )  # fmt: skip
        a, b, c = counts.tolist()
        return _Walk(lists[:a], runs[:b], threads[:c], inside[:c], run_counts[:a], thread_counts[:b], marks)

    def live(self, engine: Engine) -> Runs:
        """The runs that live on, with the nodes that they name."""
        width = self.tables.thread
        walk = self._walk(engine)
        lists = (
            self.lists[walk.lists + kernel.L_KEY],
            self.lists[walk.lists + kernel.L_SEEN],
            walk.run_counts,
        )
        runs = (
            self.runs[walk.runs + kernel.R_START],
            self.runs[walk.runs + kernel.R_TIME],
            self.runs[walk.runs + kernel.R_FORK],
            walk.thread_counts,
        )
        threads = self.threads.reshape(-1, width)[walk.threads // width]
        threads[:, kernel.T_NEXT] = walk.inside
        nodes, moved = _kept(self.nodes, walk.marks)
        ways = threads[:, kernel.T_STATE] > kernel.EACH
        threads[ways, kernel.T_NODE] = moved[threads[ways, kernel.T_NODE] // kernel.NODE]
        if not ways.all():
            # A fork has no values of its own: they are null.
            first, last = (int(self.tables.array[h]) for h in (kernel.H_NULLS, kernel.H_VALUES))
            threads[~ways, kernel.T_TIME :] = 0
            threads[~ways, first:last] = -1
        return Runs(np.stack(lists, axis=1), np.stack(runs, axis=1), threads, nodes)


@dataclass(frozen=True, slots=True)
class _Walk:
    """Offsets of the live rows in order, how many runs and threads belong to each, and the nodes in use.

    `inside` counts the rows that a thread and those in it take.
    """

    lists: Ints
    runs: Ints
    threads: Ints
    inside: Ints
    run_counts: Ints
    thread_counts: Ints
    marks: Ints


def _kept(nodes: Ints, marks: Ints) -> tuple[Ints, Ints]:
    """The marked nodes, one a row, and the new offset of each of them by its old number."""
    moved = (np.cumsum(marks) - 1) * kernel.NODE
    kept = nodes[: len(marks) * kernel.NODE].reshape(-1, kernel.NODE)[np.flatnonzero(marks)]
    before = kept[:, kernel.N_PREVIOUS]
    kept[:, kernel.N_PREVIOUS] = np.where(before < 0, kernel.NONE, moved[before // kernel.NODE])
    return kept, moved


def _extended(array: Ints, least: int) -> Ints:
    grown = np.zeros(max(least, 2 * len(array)), np.int64)
    grown[: len(array)] = array
    return grown


def _lay_out(
    tables: Tables, lists: Ints, runs: Ints, threads: Ints, nodes: Ints, live: Runs, engine: Engine
) -> None:
    """Lay compact rows out as linked ones: list i at row i, run i at row i, thread i at row i + 1."""
    threads[1 : len(live.threads) + 1] = live.threads
    of_runs = runs[: len(live.runs)]
    of_runs[:, kernel.R_START] = live.runs[:, 0]
    of_runs[:, kernel.R_TIME] = live.runs[:, 1]
    of_runs[:, kernel.R_FORK] = live.runs[:, 2]
    of_lists = lists[: len(live.lists)]
    of_lists[:, kernel.L_KEY] = live.lists[:, 0]
    of_lists[:, kernel.L_SEEN] = live.lists[:, 1]
    nodes[: len(live.nodes)] = live.nodes
    engine.link(
        tables.array, lists.ravel(), runs.ravel(), threads.ravel(),
        live.lists[:, 2].copy(), live.runs[:, 3].copy(),
    )  # fmt: skip
