"""Where a start goes on from: the outbox, and the packs of the last batch or, the first time, of job.toml."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from alerts.outbox import Outbox
from alerts.outbox.connect import place_of
from cep.config import Job
from cep.errors import ConfigurationError
from cep.files import write_json
from cep.job.shipping.packs import load
from cep.job.state_folder.folder import StateFolder
from cep.job.state_folder.manifest import result_of
from rules.typed import Pack


def open_outbox(job: Job, folder: StateFolder, environ: Mapping[str, str]) -> Outbox:
    """The outbox, made anew only where no batch has begun yet; one of a version before is brought up to date.

    Raises OutboxError. Raises ConfigurationError where batches have begun and it is missing.
    """
    begun = (folder.checkpoint / "offsets").exists()
    url = job.outbox_url(environ)
    if begun and url.startswith("sqlite:") and not Path(place_of(url)).exists():
        raise folder.damaged(f"its outbox {place_of(url)} is missing")
    return Outbox.open(url, create=not begun, upgrade=True)


def packs(
    folder: StateFolder,
    outbox: Outbox,
    first: Callable[[], Sequence[Pack]],
    tell: Callable[[str], None],
) -> Sequence[Pack]:
    """The packs of the last batch; those of `first` at the first start.

    Raises ConfigurationError for what cannot be read, and where the last batch ended time.
    """
    last = outbox.last_batch()
    if last is None:
        found = first()
        tell(f"first start on {folder}: {_named(found)}")
        return found
    try:
        result = result_of(last.result)
    except ValueError as error:
        raise folder.damaged("the outbox's last batch cannot be read") from error
    if result.drained:  # it ended right after the drain, before it could say so
        write_json(folder.closed_file, {"batch": last.number})
        raise closed(folder)
    found = [load(folder.packs, revision) for _, revision in sorted(result.revisions.items())]
    tell(
        f"going on after batch {last.number}: {_named(found)}; the folder of [job] packs counts only at the "
        "first start"
    )
    return found


def packs_of_drained(folder: StateFolder, outbox: Outbox) -> Sequence[Pack]:
    """The packs of the last batch of a folder that is closed."""
    last = outbox.last_batch()
    try:
        result = None if last is None else result_of(last.result)
    except ValueError as error:
        raise folder.damaged("the outbox's last batch cannot be read") from error
    return [] if result is None else [load(folder.packs, one) for _, one in sorted(result.revisions.items())]


def closed(folder: StateFolder) -> ConfigurationError:
    """The error for a folder that was drained."""
    return ConfigurationError(
        f"the state folder {folder} was closed by --drain: time has ended for it",
        "name a new [job] state",
    )


def _named(packs: Sequence[Pack]) -> str:
    return ", ".join(f"pack {pack.name} {pack.version} in revision {pack.revision}" for pack in packs)
