"""Phrases whose words may move: a word from each part, all different, with a small enough spread.

The spread is that of (position - index of the part), as Lucene's sloppy phrases count.
"""

from __future__ import annotations

from typing import NamedTuple

from kernels.family import inlined
from percolator.matching.kernel.arrays import Longs
from percolator.matching.kernel.counters import C_BUDGET, C_SPANS, C_WORK, DONE, OVER_BUDGET
from percolator.matching.kernel.spans import append, first_from

_FAR = 1 << 40


class Parts(NamedTuple):
    """The parts of a phrase, one cell each but for the last two, which have one for each shifted position."""

    starts: Longs
    """Where in `Room.spans` the places of a part begin."""
    ends: Longs
    heads: Longs
    """The place that is looked at."""
    taken: Longs
    low: Longs
    """A cell more, as `high`."""
    high: Longs
    owner: Longs
    wanted_by: Longs


def cells_of(count: int, slop: int, inner: bool) -> int:
    """The number of cells that the parts of a phrase take; `inner` if all its spans are asked for."""
    return 6 * count + 2 + (0 if inner else 2 * (count + slop + 1))


def parts_in(room: Longs, count: int, slop: int) -> Parts:
    """The room divided."""
    width = count + slop + 1
    behind = 6 * count + 2
    return Parts(
        room[:count],
        room[count : 2 * count],
        room[2 * count : 3 * count],
        room[3 * count : 4 * count],
        room[4 * count : 5 * count + 1],
        room[5 * count + 1 : behind],
        room[behind : behind + width],
        room[behind + width : behind + 2 * width],
    )


@inlined
def own_words(spans: Longs, parts: Parts, low: int, highest: int, counters: Longs) -> bool:
    """True if parts can take different words, each from its head on, shifted to between `low` and `highest`.

    A matching of parts and positions by augmenting paths (Kuhn 1955).
    """
    owner, wanted_by, held, waiting = parts.owner, parts.wanted_by, parts.taken, parts.low
    count = parts.heads.size
    width = highest - low + count + 1
    for place in range(width):
        owner[place] = -1
    for part in range(count):
        held[part] = -1
    for newcomer in range(count):
        for place in range(width):
            wanted_by[place] = -1
        waiting[0] = newcomer
        first, behind = 0, 1
        free = -1
        while first < behind and free < 0:
            part = int(waiting[first])
            first += 1
            for i in range(parts.heads[part], parts.ends[part]):
                counters[C_WORK] += 1
                place = int(spans[i] >> 32) - low
                if place - part > highest - low:
                    break
                if wanted_by[place] >= 0:
                    continue
                wanted_by[place] = part
                if owner[place] < 0:
                    free = place
                    break
                waiting[behind] = owner[place]
                behind += 1
        if free < 0:
            return False
        while free >= 0:
            part = int(wanted_by[free])
            owner[free] = part
            following = int(held[part])
            held[part] = free
            free = following
    return True


def apart(spans: Longs, heads: Longs) -> bool:
    """True if all heads are different words."""
    for part in range(heads.size):
        for other in range(part):
            if spans[heads[part]] == spans[heads[other]]:
                return False
    return True


@inlined
def stand_together(spans: Longs, parts: Parts, slop: int, counters: Longs) -> bool:
    """True if a word can be taken from each part.

    The narrowest windows are looked at from the left, each beginning at one shifted position.
    """
    heads = parts.heads
    count = heads.size
    for part in range(count):
        heads[part] = parts.starts[part]
    while True:
        counters[C_WORK] += count
        low, high, first = _FAR, -_FAR, 0
        for part in range(count):
            shifted = int(spans[heads[part]] >> 32) - part
            if shifted < low:
                low, first = shifted, part
            high = max(high, shifted)
        if high <= low + slop and (apart(spans, heads) or own_words(spans, parts, low, low + slop, counters)):
            return True
        heads[first] += 1
        if heads[first] == parts.ends[first]:
            return False


def enclosing(taken: Longs) -> int:
    """The span from the first to the last of some positions."""
    first, last = int(taken[0]), int(taken[0])
    for i in range(1, taken.size):
        first, last = min(first, int(taken[i])), max(last, int(taken[i]))
    return (first << 32) | last


@inlined
def all_together(spans: Longs, parts: Parts, slop: int, counters: Longs) -> int:
    """Appends the span of every choice for which `stand_together` holds; DONE, or what is missing."""
    heads, taken, low, high = parts.heads, parts.taken, parts.low, parts.high
    begin = int(counters[C_SPANS])
    low[0], high[0] = _FAR, -_FAR
    heads[0] = parts.starts[0]
    depth = 0
    steps = 0
    while depth >= 0:
        steps += 1
        counters[C_WORK] += 1
        if steps > 8 * counters[C_BUDGET]:
            return OVER_BUDGET
        if heads[depth] >= parts.ends[depth]:
            depth -= 1
            if depth >= 0:
                heads[depth] += 1
            continue
        position = int(spans[heads[depth]] >> 32)
        shifted = position - depth
        if depth > 0 and shifted > low[depth] + slop:
            heads[depth] = parts.ends[depth]
            continue
        free = depth == 0 or shifted >= high[depth] - slop
        for other in range(depth):
            if taken[other] == position:
                free = False
        if not free:
            heads[depth] += 1
            continue
        taken[depth] = position
        low[depth + 1] = min(int(low[depth]), shifted)
        high[depth + 1] = max(int(high[depth]), shifted)
        if depth + 1 < heads.size:
            depth += 1
            reach = int(high[depth]) - slop + depth
            heads[depth] = first_from(spans, int(parts.starts[depth]), int(parts.ends[depth]), max(reach, 0))
            continue
        status = append(enclosing(taken), spans, counters, begin)
        if status != DONE:
            return status
        heads[depth] += 1
    return DONE
