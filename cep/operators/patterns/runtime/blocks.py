"""Blocks of keys: so many together that what the rules touch of them stays in a processor's cache."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from cep.hashing.rows import rising
from cep.operators.patterns.kernel import layout
from cep.operators.patterns.runtime.runs import Runs

Ints = npt.NDArray[np.int64]
AT_ONCE = 8192
"""Events looked at, an event counted for each rule that looks, and kept runs in a block: each touches 100 to
200 bytes."""
A_RULE = 32
"""What turning to the next rule costs, in the same measure, if it is to be a few percent of the work."""


def at_once(rules: int) -> int:
    """The work that so many rules do in a block."""
    return max(AT_ONCE, A_RULE * rules)


def blocks(keys: Ints, count: int, looks: int, kept: Runs, rules: int) -> Ints:
    """Where blocks end, a row each: before which event and before which key (kernel.B_EVENT, B_KEY).

    `keys` are the events' keys, rising, of `count`; `looks` is how often so many rules look at the events.
    A key lies in one block with all its events and all that is kept of it.
    """
    if not count:
        return np.zeros((0, layout.BLOCK), np.int64)
    work = np.zeros(count)
    if len(keys):
        work += np.bincount(keys, minlength=count) * (looks / len(keys))
    if len(kept.lists):
        lists = kept.lists
        work += np.bincount(lists[:, layout.KEPT_KEY], lists[:, layout.KEPT_RUNS], count)
    done, size = np.cumsum(work), at_once(rules)
    # A block ends before the key with which so much is done again; the last one, where keys end.
    ends = rising(np.searchsorted(done, size * np.arange(1, int(done[-1] // size) + 1)))
    ends = np.append(ends[ends > 0], count)
    found = np.empty((len(ends), layout.BLOCK), np.int64)
    found[:, layout.B_EVENT] = np.searchsorted(keys, ends)
    found[:, layout.B_KEY] = ends
    return found
