"""Checks of a start that need no Spark and write nothing: the job file, the machine, the packs."""

from __future__ import annotations

import resource
from collections.abc import Callable, Mapping, Sequence
from itertools import chain

from alerts.web_server import share
from cep.buckets import NO_STORE
from cep.config import Job
from cep.config.against_machine import NO_STATE_FOLDER, check_machine
from cep.config.no_file_fits import no_file_fits
from cep.job.batches.deployed_packs import Running
from cep.job.state_folder.access import denied
from cep.job.state_folder.folder import FolderLayout, StateFolder
from cep.sources.checkpoint import Checkpoint
from rules.diagnostics import Diagnostic, DiagnosticsError, has_errors, in_order
from rules.suggest import closest
from rules.typed import Pack


def check(
    job: Job, folder: StateFolder, environ: Mapping[str, str], packs: Callable[[], Sequence[Pack]]
) -> list[Diagnostic]:
    """Warnings about the job file on this machine, in order of place.

    `packs` gives those of a first start, which is one where the folder has no layout. Nothing is written.
    Raises DiagnosticsError with all errors, and ConfigurationError for a damaged folder.
    """
    found = of_machine(job, folder, environ)
    codes = {d.code for d in found}
    usable = not codes & {NO_STATE_FOLDER, _DENIED, NO_STORE}
    more = _first_start(job, packs) if usable and folder.layout() is None else []
    if has_errors(chain(found, more)):
        raise DiagnosticsError(in_order([*found, *more]))
    return found


def of_machine(job: Job, folder: StateFolder | None, environ: Mapping[str, str] | None) -> list[Diagnostic]:
    """Findings about a job file on this machine, with the state folder as it is, in order of place.

    Secrets are not asked for where `environ` is None, and where a key to the state is missing, `folder` is.
    """
    found = [*check_machine(job, environ), *_handles(job)]
    if folder is None or NO_STATE_FOLDER in [d.code for d in found]:
        return in_order(found)
    place = job.places.value(("job", "state"))
    if refused := denied(folder):
        said, help_ = refused
        return in_order([*found, Diagnostic(_DENIED, "error", said, place, help=help_)])
    if folder.bucket is not None and (trouble := folder.bucket.trouble()):
        help_ = "see [s3], the keys, and whether the store runs"
        return in_order([*found, Diagnostic(NO_STORE, "error", trouble, place, help=help_)])
    read = [feed.name for feed in job.feeds if Checkpoint(folder.checkpoint).knows(feed.name)]
    return in_order([*found, *no_file_fits(job, read)])


_DENIED = "CEP0881"


def _handles(job: Job) -> list[Diagnostic]:
    """A warning where the job's port gets few of the file handles that the process may have."""
    handles = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    if job.http is None or share(handles) == share(-1):
        return []
    most = share(handles)
    said = f"this process may have {handles} file handles, so that the job's port holds {most} connections"
    help_ = "allow more: `ulimit -n 1024`, LimitNOFILE=1024 of systemd"
    return [Diagnostic("CEP0957", "warning", said, job.places.value(("http", "listen")), help=help_)]


def differences(job: Job, layout: FolderLayout) -> list[Diagnostic]:
    """Errors where a job file contradicts what its state folder fixes: the shards, the feeds' names."""
    found = []
    if job.shards not in (None, layout.shards):
        found.append(
            Diagnostic(
                "CEP0722",
                "error",
                f"the state folder {_state(job)} was made with shards = {layout.shards}, "
                f"job.toml says {job.shards}",
                job.places.value(("job", "shards")),
                help=f"write shards = {layout.shards}, or leave it out: it is fixed with a state folder",
            )
        )
    fed = {feed.name for feed in job.feeds}
    for gone in sorted(set(layout.feeds) - fed):
        guess = closest(gone, sorted(fed - set(layout.feeds)))
        found.append(
            Diagnostic(
                "CEP0722",
                "error",
                f"the state folder {_state(job)} was fed by `{gone}`, which is not among the feeds any more",
                job.places.key(("feeds",) if guess is None else ("feeds", guess)),
                help=f"write [feeds.{gone}] again, or name a new [job] state",
            )
        )
    return found


def _state(job: Job) -> str:
    return str(job.state) if job.bucket is None else job.bucket.url


def _first_start(job: Job, packs: Callable[[], Sequence[Pack]]) -> Sequence[Diagnostic]:
    """Errors of a first start's packs, and of the job file with these packs."""
    try:
        findings = Running({pack.name: pack for pack in packs()}, job).findings()
    except DiagnosticsError as error:
        return error.diagnostics
    return [d for d in findings if d.level == "error"]  # warnings are told when the job begins
