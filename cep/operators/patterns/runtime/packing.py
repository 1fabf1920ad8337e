"""Runs of strict sequences in both forms: row by row, as every run can be kept, and packed.

They are unpacked for what looks at single runs, a trace, a revision, events that another plan evaluated, and
packed again in the next batch. Segments of earlier programs hold them row by row.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from cep.operators.patterns.compile.space_tables import SpaceTables, width_class
from cep.operators.patterns.compile.strict_groups import StrictGroup
from cep.operators.patterns.kernel import layout
from cep.operators.patterns.kernel.strict_layout import (
    ENTRY_HEAD,
    O_NULLS,
    O_NUMBER,
    O_TIME,
    P_KEY,
)
from cep.operators.patterns.runtime.engines import Engine
from cep.operators.patterns.runtime.packed_runs import PackedRows, PackedRuns, packed
from cep.operators.patterns.runtime.runs import RunRows, Runs, joined, ranges
from cep.operators.patterns.runtime.stored_events import StoredEvents

Ints = npt.NDArray[np.int64]


def unpacked(
    tables: SpaceTables, runs: RunRows, others: PackedRuns, stored: StoredEvents, engine: Engine
) -> RunRows:
    """All runs row by row, those that were packed with registers evaluated from the events that they took."""
    parts: dict[int, list[Runs]] = {}
    for of in others.groups.values():
        for rule in np.unique(of.rules[of.rules >= 0]).tolist():
            width = width_class(tables.tables(rule).row_width)
            one = _of_rule(of, rule, width, tables.rules[rule].body.within)
            if len(one.lists):
                parts.setdefault(width, []).append(one)
    fresh = stored.replayed(tables, {width: joined(found) for width, found in parts.items()}, engine)
    return _with(runs, fresh)


def _with(runs: RunRows, fresh: Mapping[int, Runs]) -> RunRows:
    found = dict(runs.by_width)
    for width, more in fresh.items():
        found[width] = joined([found[width], more]) if width in found else more
    return RunRows(found)


def _of_rule(of: PackedRows, rule: int, width: int, within: int | None) -> Runs:
    """The runs of a rule, of a key those that have taken most first."""
    (place,) = np.flatnonzero(of.rules == rule).tolist()
    live = (of.sets[:, :, place // layout.BITS] >> (place % layout.BITS)) & 1
    row, backward = np.nonzero(live[:, ::-1])
    taken = of.depth - backward
    numbers, times = (np.stack([of.entry(n)[:, c] for n in range(of.depth)], 1) for c in (O_NUMBER, O_TIME))
    start, last = numbers[row, taken - 1], numbers[row, 0]
    begun, now = times[row, taken - 1], times[row, 0]
    due = np.full(len(row), layout.END_OF_TIME)
    if within is not None:
        due = np.where(begun > layout.END_OF_TIME - within, due, begun + within)
    nodes = np.empty((int(taken.sum()), layout.NODE), np.int64)
    step = ranges(np.zeros(len(row), np.int64), taken)
    firsts = np.flatnonzero(np.diff(row, prepend=-1))
    of_list = np.cumsum(np.diff(row, prepend=-1) > 0) - 1
    counts = np.add.reduceat(taken, firsts) if len(row) else taken
    # Nodes are numbered within their list.
    place_in_list = np.arange(len(nodes)) - np.repeat((np.cumsum(counts) - counts)[of_list], taken)
    nodes[:, layout.N_PREVIOUS] = np.where(step > 0, place_in_list - 1, layout.NONE)
    nodes[:, layout.N_EDGE] = step
    event = numbers[np.repeat(row, taken), np.repeat(taken, taken) - 1 - step]
    nodes[:, layout.N_EVENT] = nodes[:, layout.N_SEQUENCE] = event
    alternatives = np.zeros((len(row), width), np.int64)
    for column, value in (
        (layout.T_NEXT, 1), (layout.T_STATE, taken), (layout.T_TIME, now), (layout.T_LAST, now),
        (layout.T_SEQUENCE, last), (layout.T_DEADLINE, due), (layout.T_MASK, 1),
        (layout.T_NODE, place_in_list[np.cumsum(taken) - 1]),
    ):  # fmt: skip
        alternatives[:, column] = value
    runs = np.zeros((len(row), layout.KEPT_RUN), np.int64)
    runs[:, layout.KEPT_START], runs[:, layout.KEPT_TIME], runs[:, layout.KEPT_RUN_ALTS] = start, begun, 1
    lists = np.zeros((len(firsts), layout.KEPT_LIST), np.int64)
    if len(row):
        runs_of = np.diff(firsts, append=len(row))
        for column, value in (
            (layout.KEPT_KEY, of.rows[row[firsts], P_KEY]), (layout.KEPT_RULE, rule),
            (layout.KEPT_SEEN, last[firsts]), (layout.KEPT_RUNS, runs_of), (layout.KEPT_ALTS, runs_of),
            (layout.KEPT_NODES, counts), (layout.KEPT_DUE, np.minimum.reduceat(due, firsts)),
        ):  # fmt: skip
            lists[:, column] = value
    return Runs(lists, runs, alternatives, nodes)


def all_packed(
    tables: SpaceTables, runs: RunRows, others: PackedRuns, stored: StoredEvents
) -> tuple[RunRows, PackedRuns] | None:
    """The runs of all strict sequences packed, and the other runs.

    None where those of a key do not agree about its last events: a pack that has grown by a rule sees events
    that waited otherwise than the rule, for which they were not evaluated.
    """
    rest: dict[int, Runs] = {}
    groups = dict(others.groups)
    of_group = np.full(len(tables.rules), -1, np.int64)
    for number, group in enumerate(tables.strict):
        of_group[group.rules] = number
    for width, of_width in runs.by_width.items():
        mine = of_group[of_width.lists[:, layout.KEPT_RULE]]
        for number in np.unique(mine[mine >= 0]).tolist():
            group = tables.strict[number]
            chosen = of_width.chosen(np.flatnonzero(mine == number))
            found = _packed(tables, group, chosen, stored)
            if found is None:
                return None
            fresh = PackedRuns({number: found})
            known = PackedRuns({number: groups[number]} if number in groups else {})
            groups[number] = known.joined([fresh]).groups[number]
        others_of = np.flatnonzero(mine < 0)
        if len(others_of) == len(mine):
            rest[width] = of_width
        elif len(others_of):
            rest[width] = of_width.chosen(others_of)
    return RunRows(rest), PackedRuns(groups)


def _packed(tables: SpaceTables, group: StrictGroup, runs: Runs, stored: StoredEvents) -> PackedRows | None:
    lists, alternatives, nodes = runs.lists, runs.alternatives, runs.nodes
    # Of these rules a run has one alternative, which has taken as many events as its state says.
    taken = alternatives[:, layout.T_STATE]
    of_run = np.repeat(np.arange(len(lists)), lists[:, layout.KEPT_RUNS])
    keys, row = np.unique(lists[of_run, layout.KEPT_KEY], return_inverse=True)
    if (
        len(taken) != len(of_run)
        or len(nodes) != taken.sum()
        or np.any(nodes[:, layout.N_EDGE] == layout.SPLICE)
    ):
        return None
    of_node = np.repeat(np.arange(len(taken)), taken)
    back = taken[of_node] - 1 - nodes[:, layout.N_EDGE]
    depth = group.depth
    numbers = np.full((len(keys), depth), layout.NONE, np.int64)
    numbers[row[of_node], back] = nodes[:, layout.N_SEQUENCE]
    if np.any(numbers[row[of_node], back] != nodes[:, layout.N_SEQUENCE]):
        return None
    times = np.zeros((len(keys), depth), np.int64)
    times[row, taken - 1] = runs.runs[:, layout.KEPT_TIME]
    times[row, 0] = alternatives[:, layout.T_LAST]
    members = np.zeros((len(keys), depth, len(group.rules)), bool)
    members[row, taken - 1, np.searchsorted(group.rules, lists[of_run, layout.KEPT_RULE])] = True
    due = np.full(len(keys), layout.END_OF_TIME)
    np.minimum.at(due, row, alternatives[:, layout.T_DEADLINE])
    entries = np.zeros((len(keys), depth, ENTRY_HEAD + len(group.columns)), np.int64)
    entries[:, :, O_NUMBER], entries[:, :, O_TIME] = numbers, times
    used = numbers >= 0
    events = np.unique(numbers[used])
    values, nulls = stored.columns(tables.tables(int(group.rules[0])), events)
    which = np.searchsorted(events, numbers[used])
    for place, column in enumerate(group.columns.tolist()):
        known = nulls[column, which] == 0
        entries[used, ENTRY_HEAD + place] = np.where(known, values[column, which], 0)
        entries[used, O_NULLS] |= np.where(known, 0, 1 << place)
    rows = np.concatenate(
        (keys[:, None], due[:, None], entries.reshape(len(keys), -1), packed(members).reshape(len(keys), -1)),
        axis=1,
    )
    return PackedRows(group.rules, depth, len(group.columns), group.texts, rows)
