"""Resources: what a batch may look up, each by name at one version, opened when it is first asked for.

A kind of resource is a class that follows `Resource`: its values are what a plan names, and know how to open
themselves. The job's workers, `cep eval`, `cep test`, the Python interface and tests open them by the same
code; they differ in `Places` only. A version comes from the batch's manifest where that pins one, else from
the packs that were loaded.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeVar

if TYPE_CHECKING:
    from upath import UPath

Opened = TypeVar("Opened")
Opened_co = TypeVar("Opened_co", covariant=True)

CANNOT_BE_OPENED = "CEP0746"


@dataclass(frozen=True, slots=True)
class Pin:
    """One version of a resource, as the manifest of a batch names it."""

    kind: str
    name: str
    version: str


@dataclass(frozen=True, slots=True)
class Places:
    """Where resources lie. `queries` is the folder of a job's query sets, all of which may be `kept` in a
    bucket; None: compile the packs' files."""

    queries: Path | None = None
    kept: UPath | None = None


class Resource(Protocol[Opened_co]):
    """A resource as a plan names it. At most `most` of a `kind` stay open in one `Resources`."""

    kind: ClassVar[str]
    most: ClassVar[int]

    @property
    def name(self) -> str:
        """The name under which manifests pin it."""

    @property
    def version(self) -> str:
        """The version that the loaded packs name; "" for one that is part of their texts."""

    def identity(self, version: str) -> Hashable:
        """A value that is equal for resources of this kind which are the same when they are open."""

    def open(self, version: str, places: Places) -> Opened_co:
        """The resource at a version.

        Raises DiagnosticsError where it is a user's file that cannot be opened, and ConfigurationError where
        it is a file of a job's state folder.
        """


@dataclass(frozen=True, slots=True)
class Resources:
    """The resources of one owner: a worker process for its job, or whoever runs an engine in process.

    What was opened stays open until `most` others of its kind were used since, or the owner lets go of this
    value; files are unmapped with the last reference. Not for several threads at once. `pins` are versions
    by kind and name.
    """

    places: Places = Places()
    pins: Mapping[tuple[str, str], str] = field(default_factory=dict)
    _open: dict[str, dict[Hashable, Any]] = field(default_factory=dict, repr=False, compare=False)

    def __reduce__(self) -> tuple[type[Resources], tuple[Places, dict[tuple[str, str], str]]]:
        """A copy, and what is sent to another process, has nothing open."""
        return Resources, (self.places, dict(self.pins))

    def at(self, pins: Iterable[Pin]) -> Resources:
        """The same resources at the versions that a manifest pins; both share what is open."""
        return replace(self, pins={(pin.kind, pin.name): pin.version for pin in pins})

    def open(self, resource: Resource[Opened]) -> Opened:
        """The open resource. Raises as `Resource.open` does."""
        version = self.pins.get((resource.kind, resource.name)) or resource.version
        name = resource.identity(version)
        of_kind = self._open.setdefault(resource.kind, {})
        found: Opened | None = of_kind.pop(name, None)
        if found is None:
            found = resource.open(version, self.places)
        of_kind[name] = found  # the one used last stands last
        while len(of_kind) > resource.most:
            del of_kind[next(iter(of_kind))]
        return found
