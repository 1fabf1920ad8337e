"""The instants at which time alone matters to a key: a run's deadline, the end of what is looked back at."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from cep.operators.patterns.compile.space_tables import SpaceTables
from cep.operators.patterns.kernel import layout, strict_layout
from cep.operators.patterns.runtime import history, last_seen
from cep.operators.patterns.runtime.kinds import HISTORIES, LAST_SEEN, PACKED, RUNS
from cep.operators.patterns.runtime.packed_runs import PackedRuns
from cep.operators.patterns.runtime.runs import RunRows
from cep.state.keyed_rows import KEY, RULE, FlatRows, Kept, of_kind

Ints = npt.NDArray[np.int64]


def due(tables: SpaceTables, kept: Kept, keys: int) -> Ints:
    """For each of so many keys the first instant at which time changes anything about it."""
    found = np.full(keys, layout.END_OF_TIME, np.int64)
    for runs in of_kind(kept, RUNS, RunRows).by_width.values():
        np.minimum.at(found, runs.lists[:, layout.KEPT_KEY], runs.lists[:, layout.KEPT_DUE])
    for of_group in of_kind(kept, PACKED, PackedRuns).groups.values():
        rows = of_group.rows
        np.minimum.at(found, rows[:, strict_layout.P_KEY], rows[:, strict_layout.P_DUE])
    histories = of_kind(kept, HISTORIES, FlatRows).rows
    for number in np.unique(histories[:, RULE]).tolist():
        within = tables.rules[number].body.within
        mine = histories[histories[:, RULE] == number]
        if within is not None:
            _gone(found, mine[:, KEY], mine[:, history.TIME], within)
    seen = of_kind(kept, LAST_SEEN, FlatRows).rows
    for number in np.unique(seen[:, RULE]).tolist():
        for place, look in enumerate(tables.tables(number).look_backs):
            mine = seen[(seen[:, RULE] == number) & (seen[:, last_seen.LOOK] == place)]
            _gone(found, mine[:, KEY], mine[:, last_seen.TIME], look.duration)
    return found


def _gone(due: Ints, keys: Ints, times: Ints, duration: int) -> None:
    """The instant after the last at which something that is seen for so long is there."""
    ends = np.where(times < layout.END_OF_TIME - duration, times + duration + 1, layout.END_OF_TIME)
    np.minimum.at(due, keys, ends)
