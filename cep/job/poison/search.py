"""Search for the events that end the process that works on them, by halving, as `git bisect` finds a commit.

The first events that die together, and live without their last one, have that one to blame; it is left out,
and the search goes on behind it. So an event is found that dies by itself, and also one that dies only after
others. Each costs about log2(events) trials; where events do not depend on each other, these together take
as long as working on all events two or three times.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cep.job.poison.trial import Death

Indices = NDArray[np.int64]
Dies = Callable[[Indices], Death | None]
"""How a process ends that works on these of the events, in their order; None if it does not."""

SINGLE = 16
"""So many are looked for one by one; from then on each time twice as many are given up with the one found."""
_ALONE = 3
"""So often an event must die alone."""
_DOUBTS = 3
"""So often a process may die that does not die again."""


@dataclass(frozen=True, slots=True)
class Blamed:
    """Events that are left out together, by number in order: the first is the one that dies, of the others
    nothing is known."""

    events: Indices
    death: Death


def blamed(count: int, dies: Dies, *, independent: bool) -> list[Blamed] | None:
    """The events, of `count`, without which the others can be worked on.

    None where that is not for the events to decide: it dies also without any, or not each time, or at the
    hand of others, when there are many events, whichever they are. `independent`: what happens to an event
    does not depend on others, so that one to blame dies alone, too.
    """
    left = np.arange(count, dtype=np.int64)
    found: list[Blamed] = []
    lives, doubts, width = 0, 0, 1
    while dies(left[lives if independent else 0 :]) is not None:
        if dies(left[:0]) is not None:
            return None
        last = _first_to_die(left, lives, dies, independent)
        death = _again(left, last, dies, independent)
        if death is None:
            doubts, lives = doubts + 1, 0
            if doubts > _DOUBTS:
                return None
            continue
        if len(found) >= SINGLE:
            if death.killed:
                return None
            width *= 2
        found.append(Blamed(left[last : last + width], death))
        left = np.delete(left, slice(last, last + width))
        lives = last
    return found


def _first_to_die(left: Indices, lives: int, dies: Dies, independent: bool) -> int:
    """The place of the first event with which those up to it die; the first `lives` do not."""
    low, high = lives, len(left)
    while high - low > 1:
        middle = (low + high) // 2
        if dies(left[low if independent else 0 : middle]) is None:
            low = middle
        else:
            high = middle
    return low


def _again(left: Indices, last: int, dies: Dies, independent: bool) -> Death | None:
    """The end with the event at that place, if it comes again; None if it does not."""
    death = None
    if not independent:
        death = dies(left[: last + 1])
        if death is None or dies(left[:last]) is not None:
            return None
    if death is None or death.killed:
        for _ in range(_ALONE):
            if (death := dies(left[last : last + 1])) is None:
                return None
    return death
