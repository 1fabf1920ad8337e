"""An alert that was raised before is not raised again, and above all: it withholds no other."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

from alerts.raised import Raised
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

    def __call__(self, coming: Sequence[Raised], memory: RaisedBefore, _now: int, /) -> Passing[Raised]:
        """Those that are new go on."""
        asked = [one.id for one in coming if one.withholding is not None]
        if not asked:
            return Passing(coming)
        known = set(memory.raised(asked))
        on: list[Raised] = []
        held: list[Raised] = []
        for one in coming:
            if one.withholding is None:
                on.append(one)
            elif one.id in known:
                held.append(one)
            else:
                known.add(one.id)
                on.append(one)
        return Passing(on, held)
