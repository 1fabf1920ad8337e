"""Phrases with slop: whether words stand close enough to their places."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice


def stand_together(parts: Sequence[Sequence[int]], slop: int) -> bool:
    """Whether one position can be taken from each part, all different, with a small enough spread.

    The spread is that of (position - index of the part), as Lucene's sloppy phrases count; positions
    ascend. The narrowest windows are looked at from the left, each beginning at one shifted position.
    """
    shifted = [[position - index for position in part] for index, part in enumerate(parts)]
    if not all(shifted):
        return False
    shared = sum(map(len, parts)) != len(set().union(*parts))
    heads = [0] * len(parts)
    while True:
        window = [values[head] for values, head in zip(shifted, heads, strict=True)]
        lowest = min(window)
        first = window.index(lowest)
        if max(window) <= lowest + slop and (not shared or _distinct(shifted, heads, lowest + slop)):
            return True
        heads[first] += 1
        if heads[first] == len(shifted[first]):
            return False


def _distinct(shifted: Sequence[Sequence[int]], heads: Sequence[int], highest: int) -> bool:
    """Whether the parts can take different words, each from its head on and shifted to at most `highest`.

    A matching of parts and positions by augmenting paths (Kuhn 1955).
    """
    owner: dict[int, int] = {}
    for newcomer in range(len(shifted)):
        wanted_by: dict[int, int] = {}
        waiting = [newcomer]
        free: int | None = None
        while waiting and free is None:
            part = waiting.pop()
            for value in islice(shifted[part], heads[part], None):
                position = value + part
                if value > highest:
                    break
                if position in wanted_by:
                    continue
                wanted_by[position] = part
                if position not in owner:
                    free = position
                    break
                waiting.append(owner[position])
        if free is None:
            return False
        # Everybody on the way moves on by one, so that the newcomer has a place.
        held = {part: position for position, part in owner.items()}
        while free is not None:
            part = wanted_by[free]
            owner[free] = part
            free = held.get(part)
    return True
