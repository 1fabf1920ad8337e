"""A job file as a start would find it: its mistakes, its packs, state folder, outbox, port and receivers."""

from __future__ import annotations

import socket
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from alerts.outbox import Outbox, OutboxError
from cep.config import Job, Listen, Receiver, load_job
from cep.config.targets import address_of
from cep.doctor.disk import check_disk
from cep.doctor.finding import Finding, Level
from cep.errors import ConfigurationError, OutsideError
from cep.job.running.port import bound
from cep.job.start.beforehand import differences, of_machine
from cep.job.state_folder import lock
from cep.job.state_folder.folder import StateFolder
from rules.diagnostics import Diagnostic, has_errors

_PATIENCE = 3.0
"""Seconds for a receiver's address to take a connection."""


def check_job(path: Path, environ: Mapping[str, str]) -> Iterator[Finding]:
    """The findings of a job file on this machine; nothing is made, and nothing sent to a receiver."""
    loaded = load_job(path, environ)
    yield from _diagnosed(loaded.diagnostics)
    if loaded.job is None:
        return
    job, folder = loaded.job, StateFolder.of(loaded.job, environ)
    found = of_machine(job, folder, environ)
    yield from _diagnosed(found)
    if not has_errors([*loaded.diagnostics, *found]):
        yield Finding("job file", "ok", f"{path}: {len(job.feeds)} feeds, {len(job.receivers)} receivers")
        yield from _check_state(job, folder)
        yield from _check_outbox(job, folder, environ)
    yield from check_disk(job.state, "disk of state")
    if job.http is not None:
        yield from _check_port(job.http, lock.owner(folder))
    for receiver in job.receivers:
        yield from _check_receiver(receiver, environ)


def _diagnosed(diagnostics: Sequence[Diagnostic]) -> Iterator[Finding]:
    for one in diagnostics:
        where = "" if one.span is None else f"{one.span.file.name}:{one.span.line}: "
        level: Level = "error" if one.level == "error" else "warning"
        yield Finding("job file", level, where + one.message, one.help or "", one.code, configured=True)


def _check_state(job: Job, folder: StateFolder) -> Iterator[Finding]:
    """Who uses the state folder, and whether the job file still is the one that it was made with."""
    try:
        layout = folder.layout()
    except ConfigurationError as error:
        yield Finding("state folder", "error", error.message, error.help, error.code)
        return
    if layout is None:
        yield Finding("state folder", "ok", f"{folder} is made at the first start")
        return
    if found := differences(job, layout):
        yield from _diagnosed(found)
        return
    process = lock.owner(folder)
    if folder.closed_file.exists():
        help_ = "name a new [job] state; what was raised stays in the outbox"
        yield Finding("state folder", "warning", f"{folder} was drained and takes no more events", help_)
    else:
        who = "no job runs on it" if process is None else f"process {process} runs a job on it"
        yield Finding("state folder", "ok", f"{folder}: {who}")


def _check_outbox(job: Job, folder: StateFolder, environ: Mapping[str, str]) -> Iterator[Finding]:
    """The outbox, opened to be read; one in the state folder is made with it."""
    url = job.outbox_url(environ)
    if ("outbox", "url") not in job.places.values and not (folder.root / "outbox.db").exists():
        yield Finding("outbox", "ok", "made at the first start")
        return
    try:
        outbox = Outbox.open(url, create=False)
        try:
            waiting = sum(status.pending for status in outbox.status().values())
            yield Finding("outbox", "ok", f"{outbox.place}: {waiting:,} deliveries wait")
        finally:
            outbox.close()
    except OutboxError as error:
        yield Finding("outbox", "error", error.message, error.help, error.code)


def _check_port(listen: Listen, process: int | None) -> Iterator[Finding]:
    """The port of the job, free or with the job itself."""
    if process is not None:
        yield Finding("port", "ok", f"{listen.host}:{listen.port}, where process {process} runs this job")
        return
    try:
        bound(listen.host, listen.port).close()
    except OutsideError as error:
        yield Finding("port", "error", error.message, error.help, error.code)
    else:
        yield Finding("port", "ok", f"{listen.host}:{listen.port} is free")


def _check_receiver(receiver: Receiver, environ: Mapping[str, str]) -> Iterator[Finding]:
    """A receiver's address, by a connection that is closed again at once."""
    name = f"receiver {receiver.name}"
    address = address_of(receiver.target, environ)
    if address is None:
        yield Finding(name, "ok", f"a {receiver.target.kind}")
        return
    host, port = address
    try:
        socket.create_connection((host, port), _PATIENCE).close()
    except OSError as error:
        said = f"{host}:{port} takes no connection: {error.strerror or error}"
        yield Finding(name, "warning", said, "alerts wait in the outbox until it does")
    else:
        yield Finding(name, "ok", f"{host}:{port} takes connections")
