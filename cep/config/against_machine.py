"""A job file against the machine that it is to run on: folders, files, addresses. Nothing is made here."""

from __future__ import annotations

import errno
import ipaddress
import os
import re
import socket
import ssl
from collections.abc import Iterator, Mapping
from itertools import combinations
from pathlib import Path

from cep.config.job import Job, Listen
from cep.config.machines import masters
from cep.config.registries import check_registry
from cep.sources.files import globs
from cep.sources.files.checks import missing, there
from cep.sources.files.files import paths
from cep.sources.files.names import matching
from rules.diagnostics import Diagnostic, Label, in_order
from rules.pack_files import walked
from rules.packs import SUFFIX

NO_STATE_FOLDER = "CEP0721"
NO_MASTER = "CEP0890"
_ANSWER = 5.0
"""Seconds for a master to answer."""


def check_machine(job: Job, environ: Mapping[str, str] | None) -> list[Diagnostic]:
    """Everything that the machine does not have as the job file says, in order of place.

    Without `environ`, where secrets are not asked for, an outbox is not looked at.
    """
    if odd := _odd_folder(job):
        return odd
    return in_order(
        [
            *check_folders(job),
            *_same_files(job),
            *_state(job),
            *_master(job),
            *([] if environ is None else _outbox(job, environ)),
            *([] if job.http is None else _listen(job, job.http)),
            *([] if job.http is None else _certificate(job, job.http)),
        ]
    )


def check_packs(job: Job) -> list[Diagnostic]:
    """The error that keeps a first start from reading its packs; empty if there is none."""
    path = job.packs
    help_ = "name a rule file, or a folder of packs"
    if not os.path.lexists(path):
        said, help_ = missing(path, "file or folder", help_)
    elif not os.access(path, os.R_OK | (os.X_OK if path.is_dir() else 0)):
        said, help_ = f"{path} cannot be read", "let the job's user read it"
    elif path.is_dir() and not _holds_rules(path):
        said = f"there is no *{SUFFIX} file in {path}"
    else:
        return []
    return [Diagnostic("CEP0720", "error", said, job.places.value(("job", "packs")), help=help_)]


def _holds_rules(folder: Path) -> bool:
    try:
        return next(walked(folder, SUFFIX), None) is not None
    except OSError:
        return True  # reading them will say which folder cannot be listed


def check_folders(job: Job) -> list[Diagnostic]:
    """Feeds that cannot be read here: Spark would not start, or find nothing for ever."""
    found = [one for feed in job.feeds for one in feed.source.check(job.options(feed.name))]
    return [*found, *(one for feed in job.feeds for one in check_registry(feed, job.options(feed.name)))]


def _odd_folder(job: Job) -> list[Diagnostic]:
    """A relative path of a feed begins with the folder of the job file, and Spark reads it as one pattern."""
    here = str(job.file.parent)
    wild = re.search(r"[*?\[{\\]", here)
    inside = [name for name, path in paths(job.feeds).items() if path.startswith(f"{here}/")]
    if wild is None or not inside:
        return []
    said = f"the folder {here} has `{wild[0]}` in its name, which a feed takes for a wildcard"
    place = job.places.value(("feeds", inside[0], "path"))
    return [Diagnostic("CEP0726", "error", said, place, help="give the folder another name")]


def _same_files(job: Job) -> Iterator[Diagnostic]:
    for (one, first), (other, second) in combinations(_patterns(job).items(), 2):
        if globs.meet(first, second):
            yield Diagnostic(
                "CEP0725",
                "warning",
                f"`{one}` and `{other}` read the same files: a record becomes an event of both",
                job.places.value(("feeds", other, "path")),
                labels=(Label(job.places.value(("feeds", one, "path")), f"`{one}` reads these"),),
                help="give each feed a folder of its own, unless a record does hold both events",
            )


def _state(job: Job) -> Iterator[Diagnostic]:
    state = os.path.realpath(job.state)
    near = there(Path(state))
    if not near.is_dir():
        said, help_ = f"{near} is a file where the state folder needs a folder", "name a folder of its own"
    elif _within(os.path.realpath(job.file), state):
        said, help_ = f"{job.file.name} lies in the state folder", "name a folder below: `state/`"
    elif _within(os.path.realpath(job.packs), state):
        said, help_ = "the packs lie in the state folder", "name a folder of its own"
    elif readers := [name for name, one in _patterns(job).items() if globs.reaches(one, state)]:
        said = f"feed `{readers[0]}` reads the files of the state folder"
        help_ = "name a folder that no feed reads"
    elif not os.access(near, os.W_OK | os.X_OK):
        said, help_ = f"the folder {near} cannot be written", "let the job's user write it, or name another"
    else:
        return
    yield Diagnostic(NO_STATE_FOLDER, "error", said, job.places.value(("job", "state")), help=help_)


def _master(job: Job) -> Iterator[Diagnostic]:
    """A cluster of which no master answers."""
    if job.machines.master is None:
        return
    said = ""
    for host, port in masters(job.machines.master):
        try:
            with socket.create_connection((host, port), _ANSWER):
                return
        except OSError as error:
            why = (error.strerror or str(error)).lower()
            said = said or f"no master answers at {host}:{port}: {why}"
    help_ = "see whether it runs, and whether its address is right"
    yield Diagnostic(NO_MASTER, "error", said, job.places.value(("spark", "master")), help=help_)


def _outbox(job: Job, environ: Mapping[str, str]) -> Iterator[Diagnostic]:
    """An outbox in a file that the job file names; a database elsewhere answers for itself."""
    scheme, _, rest = job.outbox_url(environ).partition(":///")
    if not scheme.startswith("sqlite") or ("outbox", "url") not in job.places.values:
        return
    file = Path(os.path.realpath(rest.split("?")[0]))
    near = there(file.parent)
    if not near.is_dir():
        said, help_ = f"{near} is no folder", "correct url"
    elif not os.access(near, os.W_OK | os.X_OK) or (file.exists() and not os.access(file, os.W_OK)):
        said, help_ = f"the outbox {file} cannot be written", "let the job's user write it and its folder"
    elif near != file.parent and str(file.parent) != os.path.realpath(job.state):
        said, help_ = missing(file.parent, "folder", "make it, or correct url")
    elif file.is_dir():
        said, help_ = f"{file} is a folder", f"name a file in it: {file.name}/outbox.db"
    elif readers := [name for name, one in _patterns(job).items() if globs.fits(one, str(file))]:
        said, help_ = f"feed `{readers[0]}` reads the outbox", "keep it in a folder that no feed reads"
    else:
        return
    yield Diagnostic("CEP0723", "error", said, job.places.value(("outbox", "url")), help=help_)


def _listen(job: Job, listen: Listen) -> Iterator[Diagnostic]:
    """An address that no program could listen on here, or that other machines reach.

    A port that is taken is told when the job takes it.
    """
    place = job.places.value(("http", "listen"))
    try:
        with socket.socket(socket.AF_INET6 if ":" in listen.host else socket.AF_INET) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((listen.host, listen.port))
            bound = ipaddress.ip_address(probe.getsockname()[0])
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            return
        here = "`127.0.0.1` is this machine alone, `0.0.0.0` all its addresses"
        if isinstance(error, socket.gaierror):
            said, help_ = f"there is no host `{listen.host}`", here
        elif error.errno == errno.EACCES:
            said, help_ = f"this user may not listen on port {listen.port}", "write a port above 1023"
        else:
            said, help_ = f"`{listen.host}` is no address of this machine", here
        yield Diagnostic("CEP0724", "error", said, place, help=help_)
        return
    if not bound.is_loopback:
        whose = "every address of this machine" if bound.is_unspecified else f"`{listen.host}`"
        yield from _open(job, listen, whose)


def _open(job: Job, listen: Listen, whose: str) -> Iterator[Diagnostic]:
    """An address that other machines reach, without tokens to ask for, or where these are overheard."""
    place, alone = job.places.value(("http", "listen")), f"write `127.0.0.1:{listen.port}`"
    if not job.tokens:
        said = f"whoever reaches {whose} reaches the job's port, and there is no token to ask for"
        yield Diagnostic(
            "CEP0737", "error", said, place, help=f"write [tokens.NAME], or listen here alone: {alone[6:]}"
        )
    elif not listen.tls:
        said = f"what is sent to {whose}, tokens too, can be read on its way"
        help_ = f"give [http] `certificate` and `key`, or {alone} and let a proxy encrypt"
        yield Diagnostic("CEP0727", "warning", said, place, help=help_)


def _certificate(job: Job, listen: Listen) -> Iterator[Diagnostic]:
    """A certificate and key that TLS cannot be had from."""
    if listen.certificate is None or listen.key is None:
        return
    for key, path in (("certificate", listen.certificate), ("key", listen.key)):
        if not path.is_file() or not os.access(path, os.R_OK):
            said = f"{path} cannot be read" if path.is_file() else f"there is no file {path}"
            help_ = "name a file of PEM that the job's user may read"
            yield Diagnostic("CEP0739", "error", said, job.places.value(("http", key)), help=help_)
            return
    try:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(listen.certificate, listen.key, password=lambda: b"")
    except (ssl.SSLError, ValueError, OSError) as error:
        reason = getattr(error, "reason", None) or type(error).__name__
        said = f"the certificate and its key cannot be used: {str(reason).lower().replace('_', ' ')}"
        help_ = "give both as PEM, the key without a password and of this certificate"
        place = job.places.value(("http", "certificate"))
        yield Diagnostic("CEP0739", "error", said, place, help=help_)


def _patterns(job: Job) -> dict[str, str]:
    """The paths of feeds of files with links in their folders followed, where no folder is a wildcard."""
    split = {name: matching(path) for name, path in paths(job.feeds).items()}
    return {
        name: f"{globs.escaped(os.path.realpath(folder))}/{below}" for name, (folder, below) in split.items()
    }


def _within(path: str, folder: str) -> bool:
    return os.path.commonpath([path, folder]) == folder
