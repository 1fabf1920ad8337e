"""The extents that a batch reads, fixed before it runs, so that a replay reads the same or stops.

The driver writes N.files before the manifest of batch N, which has its checksum. Mappers read the extents
that N.files names, each as its source fixed it (cep.sources). Spark's own list would not do: of files, it
leaves out without a word those that are gone.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING, Any, TypeVar

from cep.ahead import ahead
from cep.buckets import SMALL
from cep.decode.letters import DeadLetter
from cep.errors import RESTORE, ConfigurationError
from cep.files import DamagedFileError, checksum_of, read_json, remove_old, write_json
from cep.job.state_folder.folder import StateFolder
from cep.job.state_folder.manifest import Lost, Manifest
from cep.sources.checkpoint import Checkpoint, DamagedError
from cep.sources.source import AnySource, Extent, GoneError

if TYPE_CHECKING:
    from cep.files import AnyPath

Sources = Mapping[str, AnySource]
"""The sources of a job's feeds by stream."""
_A = TypeVar("_A")
Accepts = Callable[[str], bool]
"""True for the path of a file whose loss the user accepts."""


def accepting(accepted: Collection[str]) -> Accepts:
    """A function that accepts the loss of the files at these resolved paths, and of no other."""
    return lambda path: os.path.realpath(path) in accepted


_KEPT = 100  # batches: so far back Spark can go


def gone(source: AnySource, batch: int, path: str, why: str) -> ConfigurationError:
    """The error that stops a batch of which something is not there as it was."""
    return ConfigurationError(
        f"the {source.noun} {path} of batch {batch} {why}",
        f"{source.cure}, or let the batch go without it: "
        f"cep run JOB --accept-loss {shlex.quote(source.lost_as(path)[-1])}",
    )


def _accepted(source: AnySource, path: str, accepts: Accepts) -> bool:
    return any(map(accepts, source.lost_as(path)))


def fixed(folder: StateFolder, sources: Sources, manifest: Manifest, accepts: Accepts) -> Manifest:
    """The manifest of a batch that never ran, with its extents fixed as they are now, and written.

    Raises ConfigurationError for one that cannot be read, where its loss is not accepted.
    """
    known = manifest.identities
    found, lost = look(folder, sources, manifest.batch, accepts, known)
    now = {(one.stream, one.path): sources[one.stream].identity(one) for one in found}
    return replace(
        manifest,
        files=store(folder.manifests, manifest.batch, found),
        lost=tuple(lost),
        identities={**known, **{place: identity for place, identity in now.items() if identity}},
    )


def look(
    folder: StateFolder,
    sources: Sources,
    batch: int,
    accepts: Accepts,
    known: Mapping[tuple[str, str], str],
) -> tuple[list[Extent], list[Lost]]:
    """The extents of a batch as they are now, and those that cannot be read.

    `known` are the identities of places that batches before it read. Raises ConfigurationError for an extent
    that cannot be read and whose loss is not accepted.
    """
    found: list[Extent] = []
    lost: list[Lost] = []

    def pin(one: Extent) -> Extent | GoneError:
        try:
            now: Extent = sources[one.stream].pin(one, known.get((one.stream, one.path), ""))
        except GoneError as error:
            return error
        return now

    for one, pinned in _answers(sources, planned(folder, sources, batch), pin):
        if not isinstance(pinned, GoneError):
            found.append(pinned)
            continue
        source = sources[one.stream]
        if not _accepted(source, one.path, accepts):
            raise gone(source, batch, one.path, str(pinned)) from pinned
        lost.append(Lost(one.stream, one.path, str(pinned), left=pinned.left is not None))
        found += [] if pinned.left is None else [pinned.left]
    return found, lost


def _answers(
    sources: Sources, extents: Iterable[Extent], ask: Callable[[Extent], _A]
) -> Iterator[tuple[Extent, _A]]:
    """Each extent with its answer, in order; small ones are asked together, as many as the source allows."""
    for (stream, small), some in groupby(extents, key=lambda one: (one.stream, one.length <= SMALL)):
        with closing(ahead(ask, some, sources[stream].asked_at_once if small else 1)) as found:
            yield from found


def lost_since(folder: StateFolder, sources: Sources, manifest: Manifest, accepts: Accepts) -> list[Lost]:
    """The extents that a batch has lost since its manifest was written and whose loss is accepted.

    Raises ConfigurationError for one that is not there as it was and whose loss is not accepted, and where
    Spark's record of the batch names others.
    """
    batch = manifest.batch
    lost = []
    extents = without(agreed(folder, sources, manifest), manifest.lost)
    for one, why in _answers(sources, extents, lambda one: sources[one.stream].difference(one)):
        if why:
            if not _accepted(sources[one.stream], one.path, accepts):
                raise gone(sources[one.stream], batch, one.path, why)
            lost.append(Lost(one.stream, one.path, why))
    return lost


def agreed(folder: StateFolder, sources: Sources, manifest: Manifest) -> tuple[Extent, ...]:
    """The extents of a batch that ran. Raises ConfigurationError where Spark's record of it names others."""
    batch, lost = manifest.batch, {(one.stream, one.path) for one in manifest.lost}
    extents = load(folder.manifests, sources, batch, manifest.files)
    recorded = planned(folder, sources, batch)
    read = {one.planned for one in without(extents, manifest.lost)}
    same = read == {one.planned for one in without(recorded, manifest.lost)}
    if not same or not lost <= {(one.stream, one.path) for one in recorded}:
        raise folder.damaged(
            f"batch {batch} reads other files by Spark's record in {folder.checkpoint} than by its manifest"
        )
    return extents


def planned(folder: StateFolder, sources: Sources, batch: int) -> list[Extent]:
    """The extents of a batch as Spark recorded them, by stream and place. Raises ConfigurationError."""
    checkpoint = Checkpoint(folder.checkpoint)
    try:
        streams = sorted(checkpoint.offsets(batch))
        return [one for name in streams for one in sources[name].planned(checkpoint, name, batch)]
    except DamagedError as error:
        raise folder.damaged(str(error)) from error


def store(manifests: AnyPath, batch: int, extents: Sequence[Extent]) -> str:
    """Writes the extents of a batch; returns their checksum, "" where there are none. Old ones go."""
    remove_old(manifests, batch - _KEPT, ".files")
    if not extents:
        return ""
    value = _value(batch, extents)
    write_json(_file(manifests, batch), value)
    return checksum_of(value)


def load(manifests: AnyPath, sources: Sources, batch: int, checksum: str) -> tuple[Extent, ...]:
    """The extents of a batch whose manifest has this checksum of them. Raises ConfigurationError."""
    if not checksum:
        return ()
    path = _file(manifests, batch)
    try:
        value = read_json(path)
        if checksum_of(value) != checksum:
            raise DamagedFileError("is of another batch than its manifest")
        return of_rows(sources, value["files"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        why = str(error) if isinstance(error, DamagedFileError) else "is missing or cannot be read"
        raise ConfigurationError(f"the list of files {path} {why}", RESTORE) from error


def of_rows(sources: Sources, rows: Iterable[Sequence[Any]]) -> tuple[Extent, ...]:
    """The extents of rows. Raises KeyError, TypeError and ValueError."""
    return tuple(sources[row[0]].extent(row) for row in rows)


def without(extents: Iterable[Extent], lost: Collection[Lost]) -> list[Extent]:
    """The extents that are read: not those that are lost as a whole."""
    names = {(one.stream, one.path) for one in lost if not one.left}
    return [one for one in extents if (one.stream, one.path) not in names]


def letters(sources: Sources, lost: Iterable[Lost]) -> list[DeadLetter]:
    """The dead letters of what a batch goes without."""
    return [
        DeadLetter(
            one.stream,
            one.path,
            0,
            "lost",
            f"the {sources[one.stream].noun} {one.reason}; its loss was accepted",
            b"",
        )
        for one in lost
    ]


def _value(batch: int, extents: Sequence[Extent]) -> dict[str, object]:
    return {"batch": batch, "files": [list(one.row()) for one in extents]}


def _file(manifests: AnyPath, batch: int) -> AnyPath:
    return manifests / f"{batch}.files"
