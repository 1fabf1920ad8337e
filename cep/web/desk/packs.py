"""The packs that run, or that ran last; and a pack at a revision, as it is kept in the state folder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from cep.errors import JobError
from cep.job.shipping.packs import load
from cep.job.state_folder.folder import StateFolder
from cep.job.state_folder.manifest import result_of
from cep.web.desk.desk import JobDesk
from cep.web.desk.errors import MissingError
from cep.web.desk.filters import told

if TYPE_CHECKING:
    from cep.files import AnyPath
    from rules.typed import Pack


@dataclass(frozen=True, slots=True)
class PackView:
    """A pack: `rules` counts its rules, `streams` are those that it reads from feeds."""

    pack: str
    version: str
    revision: str
    rules: int
    streams: tuple[str, ...]
    files: tuple[str, ...]


def packs_now(desk: JobDesk) -> tuple[PackView, ...]:
    """The packs that run, by name; of a job that does not run, those of its last batch.

    Raises OutboxError.
    """
    return tuple(
        PackView(
            pack.name,
            pack.version,
            pack.revision,
            len(pack.rules),
            tuple(stream.name for stream in pack.fed),
            tuple(name for name, _ in pack.files),
        )
        for _, pack in sorted(running(desk).items())
    )


def running(desk: JobDesk) -> Mapping[str, Pack]:
    """The packs by name. Raises OutboxError."""
    if desk.driver is not None:
        return desk.driver.running.packs
    record = desk.outbox.last_batch()
    if record is None:
        return {}
    try:
        revisions = result_of(record.result).revisions
    except ValueError:
        return {}
    found = ((name, _kept(desk, revision)) for name, revision in revisions.items())
    return {name: pack for name, pack in found if pack is not None}


def pack_at(desk: JobDesk, name: str, revision: str | None) -> Pack:
    """The pack of that name at a revision; None: the one that runs. Raises MissingError and OutboxError."""
    now = running(desk)
    if revision is None or (name in now and now[name].revision == revision):
        if name not in now:
            known = ", ".join(sorted(now)) or "none"
            raise MissingError(f"there is no pack `{told(name)}`", f"packs that run: {known}")
        return now[name]
    pack = _kept(desk, revision) if revision.isalnum() else None
    if pack is None or pack.name != name:
        fix = "an alert says in `revision` which one raised it"
        raise MissingError(f"there is no revision `{told(revision)}` of pack `{told(name)}`", fix)
    return pack


def _kept(desk: JobDesk, revision: str) -> Pack | None:
    return _loaded(StateFolder.of(desk.job, desk.environ).packs, revision)


@lru_cache(16)
def _loaded(folder: AnyPath, revision: str) -> Pack | None:
    """The pack of a revision; None where its texts are gone, or are no longer accepted."""
    try:
        return load(folder, revision)
    except JobError:
        return None
