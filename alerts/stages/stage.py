"""A stage: takes alerts, gives those that go on and those that it holds back. Nothing is dropped.

The shape is that of Alertmanager's notification stages. A stage is a value: its fields are configuration. Its
state between batches is in a memory that is passed in, and so is the time.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence, Sized
from dataclasses import dataclass
from typing import ClassVar, Generic, Protocol, TypeVar

Batch = TypeVar("Batch", bound=Sized)
Of = TypeVar("Of", contravariant=True)
Key = TypeVar("Key")
Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Passing(Generic[Batch]):
    """The result of one stage: the alerts that go on, in order, and those it holds back (None: none)."""

    on: Batch
    held: Batch | None = None


@dataclass(frozen=True, slots=True)
class Passed(Generic[Batch]):
    """The result of several stages: the alerts that went through all, and by stage's name those held back, of
    stages that held some back."""

    on: Batch
    held: Mapping[str, Batch]

    def count(self, name: str) -> int:
        """The number of alerts that the stage of this name held back."""
        return len(self.held[name]) if name in self.held else 0


class Stage(Protocol[Batch, Of]):
    """One stage; `Of` is the memory that it needs. `name` says which stage held an alert back.

    Alerts pass by column, all of a batch together: a stage looks at single ones only where it must.
    """

    name: ClassVar[str]

    def __call__(self, coming: Batch, memory: Of, now: int, /) -> Passing[Batch]:
        """Decide about `coming` at `now`, ns since 1970 UTC: of events or of the wall clock, as the stages of
        one tuple agree."""


class Store(Protocol[Key, Value]):
    """Values that a stage keeps between batches. All calls for a batch belong to its transaction: either the
    batch and what its stages wrote are there, or neither; so a batch that is replayed finds what it found."""

    def read(self, keys: Collection[Key]) -> Mapping[Key, Value]:
        """The values that there are of these keys."""

    def write(self, changes: Mapping[Key, Value | None]) -> None:
        """Put values in the place of what there is of their keys; None: nothing."""

    def forget(self, now: int) -> None:
        """Drop what can change nothing from `now` on."""


def through(stages: Sequence[Stage[Batch, Of]], coming: Batch, memory: Of, now: int, /) -> Passed[Batch]:
    """Pass alerts through stages, in their order."""
    held: dict[str, Batch] = {}
    for stage in stages:
        passing = stage(coming, memory, now)
        coming = passing.on
        if passing.held is not None:
            held[stage.name] = passing.held
    return Passed(coming, held)
