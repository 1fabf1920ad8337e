"""A stage: takes alerts, gives those that go on and those that it holds back. Nothing is dropped.

The shape is that of Alertmanager's notification stages. A stage is a value: its fields are configuration. Its
state between batches is in a memory that is passed in, and so is the time.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Generic, Protocol, TypeVar

One = TypeVar("One")
Of = TypeVar("Of", contravariant=True)
Key = TypeVar("Key")
Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Passing(Generic[One]):
    """The result of one stage: the alerts that go on, in order, and those it holds back."""

    on: Sequence[One]
    held: Sequence[One] = ()


@dataclass(frozen=True, slots=True)
class Passed(Generic[One]):
    """The result of several stages: the alerts that went through all, and by stage's name those held back."""

    on: Sequence[One]
    held: Mapping[str, Sequence[One]]


class Stage(Protocol[One, Of]):
    """One stage; `Of` is the memory that it needs. `name` says which stage held an alert back."""

    name: ClassVar[str]

    def __call__(self, coming: Sequence[One], memory: Of, now: int, /) -> Passing[One]:
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


def through(stages: Sequence[Stage[One, Of]], coming: Sequence[One], memory: Of, now: int, /) -> Passed[One]:
    """Pass alerts through stages, in their order."""
    held: dict[str, Sequence[One]] = {}
    for stage in stages:
        passing = stage(coming, memory, now)
        coming, held[stage.name] = passing.on, passing.held
    return Passed(coming, held)
