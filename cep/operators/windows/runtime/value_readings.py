"""Readings of all values: `distinct` and `percentile`, exact, or estimated of large panes and sessions."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from cep.operators.windows.kernel.layout import Doubles, Ranges
from cep.operators.windows.runtime.columns import Column, ends_of
from cep.operators.windows.runtime.entry_points import Engine
from cep.operators.windows.runtime.frames import Frame
from cep.operators.windows.runtime.lists import Lists, Sketch, Summaries
from cep.operators.windows.runtime.sketches import REGISTERS, Ordered, different, percentile, put_hashes
from cep.state.keyed_rows import Bools, Ints, ranges

_MANY = 1000
"""Values of a window that are too many to be kept in order one by one."""


def among(lists: Lists, frame: Frame) -> Ranges:
    """The values of the windows, as ranges."""
    return Ranges(lists.places[frame.firsts], lists.places[frame.ends])


def count_different(engine: Engine, codes: tuple[Ints, int], counts: Ints, windows: Ranges) -> Ints:
    """The number of different values of each window."""
    numbers, size = codes
    found = np.zeros(len(windows.firsts), np.int64)
    engine.count_distinct(numbers, counts, windows, np.zeros(max(size, 1), np.int64), found)
    return found


def percentiles(
    engine: Engine, column: Column, values: Doubles, windows: Ranges, of: Ints, parts: Doubles
) -> Doubles:
    """The percentiles of windows of keys: a row for each, a column for each part."""
    found, sizes = np.zeros((len(of), len(parts))), windows.ends - windows.firsts
    most = np.zeros(int(of.max(initial=-1)) + 1, np.int64)
    np.maximum.at(most, of, sizes)
    large = most[of] > _MANY
    few = np.flatnonzero(~large)
    read = np.zeros(len(few) * len(parts))
    room = np.zeros(int(sizes[few].max(initial=0)) + 1)
    some = Ranges(windows.firsts[few], windows.ends[few])
    engine.find_percentiles(values, column.counts, some, parts, room, read)
    found[few] = read.reshape(-1, len(parts))
    for key in np.flatnonzero(most > _MANY).tolist():
        rows = np.flatnonzero(large & (of == key))
        base, end = int(windows.firsts[rows].min()), int(windows.ends[rows].max())
        order = np.argsort(values[base:end], kind="stable")
        places = np.empty(len(order), np.int64)
        places[order] = np.arange(len(order))
        read = np.zeros(len(rows) * len(parts))
        some = Ranges(windows.firsts[rows] - base, windows.ends[rows] - base)
        counts, tree = column.counts[base:end], np.zeros(len(order) + 1, np.int64)
        engine.find_percentiles_of_many(values[base:end][order], places, counts, some, parts, tree, read)
        found[rows] = read.reshape(-1, len(parts))
    return found


def estimate_different(summaries: Summaries, frame: Frame, found: Ints) -> Bools:
    """Estimate the readings of windows that have sketches; which these are."""
    estimated = np.zeros(len(found), bool)
    for row, sketches, values in _sketched(summaries, frame):
        registers = np.zeros(REGISTERS, np.uint8)
        put_hashes(registers, summaries.hashes[values])
        for sketch in sketches:
            assert not isinstance(sketch, Ordered)
            np.maximum(registers, sketch, out=registers)
        found[row] = different(registers)
        estimated[row] = True
    return estimated


def estimate_percentiles(summaries: Summaries, frame: Frame, parts: Doubles, found: Doubles) -> Bools:
    """The same of percentiles."""
    estimated = np.zeros(len(found), bool)
    for row, sketches, values in _sketched(summaries, frame):
        exact = summaries.lists.low[values].view(np.float64)
        weighted = [
            (exact, 1),
            *(level for one in sketches if isinstance(one, Ordered) for level in one.weighted()),
        ]
        every = np.concatenate([of for of, _ in weighted])
        weights = np.repeat([weight for _, weight in weighted], [len(of) for of, _ in weighted])
        order = np.argsort(every, kind="stable")
        found[row] = [percentile(every[order], weights[order], part) for part in parts.tolist()]
        estimated[row] = True
    return estimated


def _sketched(summaries: Summaries, frame: Frame) -> Iterator[tuple[int, list[Sketch], Ints]]:
    """Windows with sketches: their number, the sketches, and the places of the values that are in none."""
    groups, large, places = summaries.groups, summaries.large, summaries.lists.places
    if not large.any():
        return
    of_item = np.repeat(np.arange(len(large)), np.diff(groups))
    before = ends_of(large[of_item].astype(np.int64))
    for row in np.flatnonzero(before[frame.ends] > before[frame.firsts]).tolist():
        if frame.known is not None and not frame.known[row]:
            continue
        end = int(frame.ends[row])
        mine = np.arange(of_item[frame.firsts[row]], of_item[end - 1] + 1)
        ends = np.minimum(groups[mine + 1], end)
        sketches = [
            summaries.upto(int(group), int(last)) if large[group] else None
            for group, last in zip(mine, ends, strict=True)
        ]
        known = [sketch for sketch in sketches if sketch is not None]
        if known:
            exact = np.array([sketch is None for sketch in sketches])
            firsts = places[groups[mine[exact]]]
            yield row, known, ranges(firsts, places[ends[exact]] - firsts)
