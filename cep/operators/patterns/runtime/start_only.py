"""Start-only keys: their events can only begin runs, so that their state need not be loaded.

Runs know nothing of one another until a match is raised, and a match ends only runs that began at or after
its first event. So a run that begins changes none that began before it. An event that no waiting run can wait
for, by what it is alone (`compile.interests`), transitions all of its key as they are; what it begins goes on
where they end. One thing runs have in common is the limit of their number: keys that have many runs, or many
events at once, are looked at.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from cep.batch.arrivals import Arrivals
from cep.operators.patterns.compile.interests import MANY
from cep.operators.patterns.compile.space_tables import SpaceTables
from cep.state.segments import FEW, MOST_SEGMENTS

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
_MOST_EVENTS = MANY - MOST_SEGMENTS * FEW


def may_matter(tables: SpaceTables, plan: str, events: Arrivals, numbers: Ints, keys: int) -> Bools:
    """True for each of so many keys that has an event which may matter to runs that wait.

    `numbers` are those of the events' keys. `plan` is the one that runs: bits of another one say nothing.
    """
    found: Bools = np.bincount(numbers, minlength=keys) > _MOST_EVENTS
    for number, part in enumerate(events.parts):
        where, rows = events.rows_of(number)
        of_part = numbers if len(events.parts) == 1 else numbers.take(where)
        if part.layout.plan == plan:
            of_part = of_part.compress(part.predicates.any_of(tables.awaited[part.stream], rows))
        found[of_part] = True
    return found
