"""An alert that was raised before is not raised again, and above all: it withholds no other."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from alerts.raised_columns import RaisedColumns
from alerts.stages.stage import Passing


class RaisedBefore(Protocol):
    """The stage's memory: `raised` gives those of some ids under which an alert was raised in an earlier
    batch. Who keeps the alerts knows them."""

    @property
    def raised(self) -> Callable[[Collection[str]], Collection[str]]: ...


@dataclass(frozen=True, slots=True)
class AlreadyRaised:
    """Holds back alerts of rules with `suppress` whose ids are known, or come twice in the batch.

    Of other rules the ids are not asked for: a repeated alert of theirs changes nothing, and who keeps the
    alerts takes in the first of each id.
    """

    name: ClassVar[str] = "already raised"

    def __call__(self, coming: RaisedColumns, memory: RaisedBefore, _now: int, /) -> Passing[RaisedColumns]:
        """Those that are new go on."""
        asked = coming.suppressible()
        if not len(asked):
            return Passing(coming)
        ids = coming.hex_ids(asked)
        known = set(memory.raised(ids))
        on = np.ones(len(coming), bool)
        for row, id_ in zip(asked.tolist(), ids, strict=True):
            if id_ in known:
                on[row] = False
            known.add(id_)
        return Passing(coming) if on.all() else Passing(coming.where(on), coming.where(~on))
