"""A rule's live runs: compact columns between batches, linked rows in flat arrays while the kernel runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cep import kernel
from cep.tables import Tables

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Runs:
    """The live runs of one rule, by key, in order of their first event; ways in order of preference.

    `lists` has a row per key: its number, the sequence number of the last event seen, and how many runs;
    `runs` a row per run: sequence number and time of its first event, and how many threads; `threads` a row
    per thread: state, time, sequence number, deadline, node, null words, registers; `nodes` a row per event
    taken: the node before, the step, the event's number, its sequence number.
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
            np.zeros((0, 3), np.int64),
            np.zeros((0, tables.thread - 1), np.int64),
            np.zeros((0, 4), np.int64),
        )


@dataclass(slots=True)
class Pool:
    """Flat arrays and the cursor that the kernel works on; see cep.kernel."""

    tables: Tables
    lists: Ints
    runs: Ints
    threads: Ints
    nodes: Ints
    matches: Ints
    cursor: Ints

    @classmethod
    def of(cls, tables: Tables, live: Runs, room: int) -> Pool:
        """The pool of some live runs, with room for about so many more."""
        width = tables.thread
        lists = np.zeros((len(live.lists) + room, kernel.LIST), np.int64)
        runs = np.zeros((len(live.runs) + room, kernel.RUN), np.int64)
        threads = np.zeros((len(live.threads) + 1 + room, width), np.int64)
        nodes = np.zeros((len(live.nodes) + 2 * room, kernel.NODE), np.int64)
        count = len(live.lists)
        if count:
            _link(lists, runs, threads, nodes, live, width)
        threads[0, kernel.T_NEXT] = kernel.NONE
        threads[0, kernel.T_NODE] = kernel.NONE
        initial = int(tables.array[kernel.H_INITIAL])
        words = int(tables.array[kernel.H_NULL_WORDS])
        threads[0, kernel.T_NULLS : kernel.T_NULLS + words] = tables.array[initial : initial + words]
        cursor = np.zeros(kernel.CURSOR, np.int64)
        cursor[kernel.C_LISTS] = count * kernel.LIST
        cursor[kernel.C_NODES] = len(live.nodes) * kernel.NODE
        cursor[kernel.C_THREAD] = cursor[kernel.C_RUN] = kernel.NONE
        pool = cls(
            tables, lists.ravel(), runs.ravel(), threads.ravel(), nodes.ravel(),
            np.zeros(64 * kernel.MATCH, np.int64), cursor,
        )  # fmt: skip
        pool._free_threads(1 + len(live.threads))
        pool._free_runs(len(live.runs))
        return pool

    def grow(self) -> None:
        """Double what is short; the kernel has noted how many threads it needs."""
        cursor, need = self.cursor, int(self.cursor[kernel.C_NEED])
        width = self.tables.thread
        if cursor[kernel.C_THREADS] < need:
            first = len(self.threads) // width
            self.threads = _extended(self.threads, (first + need) * width)
            self._free_threads(first)
        if cursor[kernel.C_RUNS] < 1:
            first = len(self.runs) // kernel.RUN
            self.runs = _extended(self.runs, (first + 16) * kernel.RUN)
            self._free_runs(first)
        if cursor[kernel.C_LISTS] + kernel.LIST > len(self.lists):
            self.lists = _extended(self.lists, len(self.lists) + 16 * kernel.LIST)
        if cursor[kernel.C_NODES] + need * kernel.NODE > len(self.nodes):
            self.nodes = _extended(self.nodes, len(self.nodes) + need * kernel.NODE)
        if cursor[kernel.C_MATCHES] + (2 * need + 2) * kernel.MATCH > len(self.matches):
            self.matches = _extended(self.matches, len(self.matches) + (2 * need + 2) * kernel.MATCH)

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

    def live(self, collect: Callable[..., None]) -> Runs:
        """The runs that live on. Nodes keep their numbers: `compacted` leaves out those that none names."""
        width = self.tables.thread
        lists_most = int(self.cursor[kernel.C_LISTS]) // kernel.LIST
        list_rows = np.zeros(lists_most, np.int64)
        run_rows = np.zeros(len(self.runs) // kernel.RUN, np.int64)
        thread_rows = np.zeros(len(self.threads) // width, np.int64)
        counts = np.zeros(3, np.int64)
        run_counts = np.zeros(len(list_rows), np.int64)
        thread_counts = np.zeros(len(run_rows), np.int64)
        marks = np.zeros(int(self.cursor[kernel.C_NODES]) // kernel.NODE, np.int64)
        collect(
            self.lists, self.runs, self.threads, self.nodes, list_rows, run_rows, thread_rows, run_counts,
            thread_counts, marks, counts, self.cursor,
        )  # fmt: skip
        lists_count, runs_count, threads_count = counts.tolist()
        at = list_rows[:lists_count]
        lists = np.stack(
            (self.lists[at + kernel.L_KEY], self.lists[at + kernel.L_SEEN], run_counts[:lists_count]), axis=1
        )
        at = run_rows[:runs_count]
        runs = np.stack(
            (self.runs[at + kernel.R_START], self.runs[at + kernel.R_TIME], thread_counts[:runs_count]),
            axis=1,
        )
        threads = self.threads.reshape(-1, width)[thread_rows[:threads_count] // width, 1:].copy()
        alive = np.flatnonzero(marks)
        renumbered = np.cumsum(marks) - 1
        nodes = self.nodes[: len(marks) * kernel.NODE].reshape(-1, kernel.NODE)[alive].copy()
        before = nodes[:, kernel.N_PREVIOUS]
        nodes[:, kernel.N_PREVIOUS] = np.where(
            before < 0, kernel.NONE, renumbered[before // kernel.NODE] * kernel.NODE
        )
        column = kernel.T_NODE - 1
        threads[:, column] = renumbered[threads[:, column] // kernel.NODE] * kernel.NODE
        return Runs(lists, runs, threads, nodes)


def _extended(array: Ints, least: int) -> Ints:
    grown = np.zeros(max(least, 2 * len(array)), np.int64)
    grown[: len(array)] = array
    return grown


def _link(lists: Ints, runs: Ints, threads: Ints, nodes: Ints, live: Runs, width: int) -> None:
    """Lay compact rows out as linked ones: list i at row i, run i at row i, thread i at row i + 1."""
    run_counts, thread_counts = live.lists[:, 2], live.runs[:, 2]
    run_ends, thread_ends = np.cumsum(run_counts), np.cumsum(thread_counts)
    run_starts, thread_starts = run_ends - run_counts, thread_ends - thread_counts
    threads_of_list = np.add.reduceat(thread_counts, run_starts)
    count = len(live.threads)
    body = threads[1 : count + 1]
    body[:, 1:] = live.threads
    following = np.arange(2, count + 2) * width
    following[thread_ends - 1] = kernel.NONE
    body[:, kernel.T_NEXT] = following
    of_runs = runs[: len(live.runs)]
    following = np.arange(1, len(live.runs) + 1) * kernel.RUN
    following[run_ends - 1] = kernel.NONE
    of_runs[:, kernel.R_NEXT] = following
    of_runs[:, kernel.R_THREAD] = (thread_starts + 1) * width
    of_runs[:, kernel.R_START] = live.runs[:, 0]
    of_runs[:, kernel.R_TIME] = live.runs[:, 1]
    deadlines = np.where(
        body[:, kernel.T_STATE] == kernel.MATCHED, kernel.END_OF_TIME, body[:, kernel.T_DEADLINE]
    )
    of_lists = lists[: len(live.lists)]
    of_lists[:, kernel.L_KEY] = live.lists[:, 0]
    of_lists[:, kernel.L_SEEN] = live.lists[:, 1]
    of_lists[:, kernel.L_RUNS] = run_counts
    of_lists[:, kernel.L_THREADS] = threads_of_list
    of_lists[:, kernel.L_FIRST] = run_starts * kernel.RUN
    of_lists[:, kernel.L_LAST] = (run_ends - 1) * kernel.RUN
    of_lists[:, kernel.L_DEADLINE] = np.minimum.reduceat(deadlines, thread_starts[run_starts])
    nodes[: len(live.nodes)] = live.nodes
