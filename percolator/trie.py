"""Phrases as one trie over leaves: a document walks it with a set of states, and nothing is checked again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class Trie:
    """States in order of depth, then parent, then leaf; 0 is the root.

    The children of state s are `first[s]` up to `first[s + 1]`, in order of the leaf by which each is
    entered. `accepts` has the phrase that ends in a state, or -1.
    """

    first: Ints
    entered: Ints
    accepts: Ints


def trie_of(phrases: Mapping[tuple[int, ...], int]) -> Trie:
    """The trie of phrases (leaves of their words -> leaf of the phrase), each of two words or more."""
    edges: dict[tuple[int, int], int] = {}
    parents, entered, accepts, depths = [-1], [-1], [-1], [0]
    for parts, phrase in phrases.items():
        state = 0
        for part in parts:
            following = edges.get((state, part))
            if following is None:
                following = edges[state, part] = len(parents)
                parents.append(state)
                entered.append(part)
                accepts.append(-1)
                depths.append(depths[state] + 1)
            state = following
        accepts[state] = phrase
    count = len(parents)
    old_parent, old_entered = np.array(parents), np.array(entered)
    depth = np.array(depths)
    place = np.zeros(count, np.int64)  # old number -> new number
    order = np.zeros(count, np.int64)  # new number -> old number
    done = 1
    for level in range(1, int(depth.max()) + 1):
        here = np.flatnonzero(depth == level)
        here = here[np.lexsort((old_entered[here], place[old_parent[here]]))]
        place[here] = np.arange(done, done + len(here))
        order[done : done + len(here)] = here
        done += len(here)
    children = np.bincount(place[old_parent[1:]], minlength=count) if count > 1 else np.zeros(1, np.int64)
    first = np.concatenate(([1], 1 + np.cumsum(children)))
    return Trie(
        first.astype(np.int32),
        old_entered[order].astype(np.int32),
        np.array(accepts)[order].astype(np.int32),
    )
