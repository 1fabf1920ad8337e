"""The state that the stages of a decision keep between batches; all of them in order, over one batch."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic

from alerts.raised import Raised
from alerts.raised_columns import RaisedColumns
from alerts.stages.already_raised import AlreadyRaised
from alerts.stages.order import Order
from alerts.stages.stage import Key, Passed, Stage, Store, Value, through
from alerts.stages.suppress import Slot, Suppress, Suppression


@dataclass(frozen=True, slots=True)
class Memory:
    """Each value belongs to one stage: `raised` to AlreadyRaised, `suppressions` to Suppress. The outbox has
    them in its tables (alerts.outbox.memory)."""

    raised: Callable[[Collection[str]], Collection[str]]
    suppressions: Store[Slot, Suppression]


DECIDED: tuple[Stage[RaisedColumns, Memory], ...] = (Order(), AlreadyRaised(), Suppress())


def decide(raised: RaisedColumns, memory: Memory) -> Passed[RaisedColumns]:
    """Pass what a batch raised, in any order, through the stages of a decision."""
    if not len(raised):
        return Passed(raised, {})
    now = int(raised.time.max())
    passed = through(DECIDED, raised, memory, now)
    memory.suppressions.forget(now)
    return passed


@dataclass(frozen=True, slots=True)
class Values(Generic[Key, Value]):
    """A store in this process; `over(value, instant)`: the value can change nothing from then on."""

    over: Callable[[Value, int], bool]
    of_key: dict[Key, Value] = field(default_factory=dict)

    def read(self, keys: Collection[Key]) -> Mapping[Key, Value]:
        """The values that there are of these keys."""
        return {key: self.of_key[key] for key in keys if key in self.of_key}

    def write(self, changes: Mapping[Key, Value | None]) -> None:
        """Put values in the place of what there is of their keys; None: nothing."""
        for key, value in changes.items():
            if value is None:
                self.of_key.pop(key, None)
            else:
                self.of_key[key] = value

    def forget(self, now: int) -> None:
        """Drop what can change nothing from `now` on."""
        for key in [key for key, value in self.of_key.items() if self.over(value, now)]:
            del self.of_key[key]


class InProcess:
    """The stages of a decision for alerts that no outbox keeps: of files, cases and tests.

    Like the outbox it knows the ids of raised alerts for good, but only of rules with `suppress`: the stages
    ask for no others.
    """

    def __init__(self) -> None:
        self._raised: set[str] = set()
        self.memory = Memory(self._raised.intersection, Values(Suppression.over))

    def decide(self, raised: Sequence[Raised]) -> Passed[RaisedColumns]:
        """Pass what a batch raised through the stages; no alert is earlier than those of batches before."""
        passed = decide(RaisedColumns.together([raised]), self.memory)
        self._raised.update(passed.on.hex_ids(passed.on.suppressible()))
        return passed
