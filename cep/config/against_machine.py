"""A job file against the machine that it is to run on: folders, files, addresses. Nothing is made here."""

from __future__ import annotations

import errno
import os
import re
import socket
from collections.abc import Iterator, Mapping
from itertools import combinations
from pathlib import Path

from cep.config import globs
from cep.config.job import Feed, Job, Listen
from cep.feeds import matching
from rules.diagnostics import Diagnostic, Label, in_order
from rules.packs import SUFFIX
from rules.suggest import did_you_mean

NO_STATE_FOLDER = "CEP0721"


def check_machine(job: Job, environ: Mapping[str, str]) -> list[Diagnostic]:
    """Everything that the machine does not have as the job file says, in order of place."""
    return in_order(
        [
            *check_folders(job),
            *_same_files(job),
            *_state(job),
            *_outbox(job, environ),
            *([] if job.http is None else _listen(job, job.http)),
        ]
    )


def check_packs(job: Job) -> list[Diagnostic]:
    """What stands in the way of reading the packs of a first start."""
    path = job.packs
    help_ = "name a rule file, or a folder of packs"
    if not os.path.lexists(path):
        said, help_ = f"there is no file or folder {path}", _near(path) or help_
    elif not os.access(path, os.R_OK | (os.X_OK if path.is_dir() else 0)):
        said, help_ = f"{path} cannot be read", "let the job's user read it"
    elif path.is_dir() and next(path.rglob(f"*{SUFFIX}"), None) is None:
        said = f"there is no *{SUFFIX} file in {path}"
    else:
        return []
    return [Diagnostic("CEP0720", "error", said, job.places.value(("job", "packs")), help=help_)]


def check_folders(job: Job) -> list[Diagnostic]:
    """Feeds whose files cannot be listed: Spark would not start, or find nothing for ever."""
    return [found for feed in job.feeds for found in _feed(job, feed)]


def _feed(job: Job, feed: Feed) -> Iterator[Diagnostic]:
    place = job.places.value(("feeds", feed.name, "path"))
    folder, below = (Path(part) for part in matching(feed.path))
    if wild := re.search(r"[*?\[{\\]", str(job.file.parent)):
        said = f"{job.file.parent} has `{wild[0]}` in its name, which a feed takes for a wildcard"
        yield Diagnostic("CEP0726", "error", said, place, help="give the folder another name")
    elif not os.path.lexists(folder):
        help_ = _near(folder) or "make it, or correct path"
        yield Diagnostic("CEP0952", "error", f"there is no folder {folder}", place, help=help_)
    elif not folder.is_dir():
        said = f"{folder} is no folder"
        yield Diagnostic("CEP0726", "error", said, place, help="name the folder, and the files in it")
    elif not os.access(folder, os.R_OK | os.X_OK):
        said = f"the folder {folder} cannot be read"
        yield Diagnostic("CEP0726", "error", said, place, help="let the job's user read it")
    elif not re.search(r"[*?\[{]", str(below)):
        yield from _one_file(job, feed, folder / below)


def _one_file(job: Job, feed: Feed, file: Path) -> Iterator[Diagnostic]:
    """A path without wildcards."""
    place = job.places.value(("feeds", feed.name, "path"))
    if file.is_dir():
        help_ = f"write `{place.text.strip(chr(34) + chr(39))}/` for all files in it"
        yield Diagnostic("CEP0726", "error", f"{file} is a folder", place, help=help_)
    elif not os.path.lexists(file):
        help_ = _near(file) or "nothing is read until it is there; `*` stands for any name"
        yield Diagnostic("CEP0953", "warning", f"there is no file {file}", place, help=help_)
    elif not os.access(file, os.R_OK):
        said = f"{file} cannot be read"
        yield Diagnostic("CEP0726", "error", said, place, help="let the job's user read it")


def _same_files(job: Job) -> Iterator[Diagnostic]:
    feeds = [(feed, _pattern(feed)) for feed in job.feeds]
    for (one, first), (other, second) in combinations(feeds, 2):
        if _can_be_read(first) and _can_be_read(second) and globs.meet(first, second):
            yield Diagnostic(
                "CEP0725",
                "warning",
                f"`{one.name}` and `{other.name}` read the same files: a record becomes an event of both",
                job.places.value(("feeds", other.name, "path")),
                labels=(Label(job.places.value(("feeds", one.name, "path")), f"`{one.name}` reads these"),),
                help="give each feed a folder of its own, unless a record does hold both events",
            )


def _state(job: Job) -> Iterator[Diagnostic]:
    state = os.path.realpath(job.state)
    there = _there(Path(state))
    if not there.is_dir():
        said, help_ = f"{there} is a file where the state folder needs a folder", "name a folder of its own"
    elif _within(os.path.realpath(job.file), state):
        said, help_ = f"{job.file.name} lies in the state folder", "name a folder below: `state/`"
    elif _within(os.path.realpath(job.packs), state):
        said, help_ = "the packs lie in the state folder", "name a folder of its own"
    elif readers := [
        feed.name for feed in job.feeds if _can_be_read(p := _pattern(feed)) and globs.reaches(p, state)
    ]:
        said = f"feed `{readers[0]}` reads the files of the state folder"
        help_ = "name a folder that no feed reads"
    elif not os.access(there, os.W_OK | os.X_OK):
        said, help_ = f"the folder {there} cannot be written", "let the job's user write it, or name another"
    else:
        return
    yield Diagnostic(NO_STATE_FOLDER, "error", said, job.places.value(("job", "state")), help=help_)


def _outbox(job: Job, environ: Mapping[str, str]) -> Iterator[Diagnostic]:
    """An outbox in a file that the job file names; a database elsewhere answers for itself."""
    scheme, _, rest = job.outbox_url(environ).partition(":///")
    if not scheme.startswith("sqlite") or ("outbox", "url") not in job.places.values:
        return
    file = Path(os.path.realpath(rest.split("?")[0]))
    folder, state = file.parent, os.path.realpath(job.state)
    if file.is_dir():
        said, help_ = f"{file} is a folder", f"name a file in it: {file.name}/outbox.db"
    elif str(folder) != state and not os.path.lexists(folder):
        said, help_ = f"there is no folder {folder}", _near(folder) or "make it, or correct url"
    elif folder.exists() and not folder.is_dir():
        said, help_ = f"{folder} is no folder", "correct url"
    elif not os.access(file if file.exists() else _there(folder), os.W_OK):
        said, help_ = f"the outbox {file} cannot be written", "let the job's user write it and its folder"
    elif readers := [
        f.name for f in job.feeds if _can_be_read(p := _pattern(f)) and globs.fits(p, str(file))
    ]:
        said, help_ = f"feed `{readers[0]}` reads the outbox", "keep it in a folder that no feed reads"
    else:
        return
    yield Diagnostic("CEP0723", "error", said, job.places.value(("outbox", "url")), help=help_)


def _listen(job: Job, listen: Listen) -> Iterator[Diagnostic]:
    """An address that no program could listen on here. A port that is taken is told when the job takes it."""
    try:
        with socket.socket(socket.AF_INET6 if ":" in listen.host else socket.AF_INET) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((listen.host, listen.port))
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
        yield Diagnostic("CEP0724", "error", said, job.places.value(("http", "listen")), help=help_)


def _pattern(feed: Feed) -> str:
    """A feed's path with links in its folder followed."""
    folder, below = matching(feed.path)
    return f"{os.path.realpath(folder)}/{below}"


def _can_be_read(pattern: str) -> bool:
    """Whether a pattern is one, whatever the names of folders above it hold."""
    try:
        globs.parse(pattern)
    except globs.GlobError:
        return False
    return True


def _within(path: str, folder: str) -> bool:
    return os.path.commonpath([path, folder]) == folder


def _there(path: Path) -> Path:
    """The path, or the closest folder above that there is."""
    while not os.path.lexists(path):
        path = path.parent
    return path


def _near(path: Path) -> str:
    """The help for a path that is not there: what is called like its first missing part."""
    there = _there(path)
    if not there.is_dir() or not os.access(there, os.R_OK):
        return ""
    missing = path.parts[len(there.parts)]
    return did_you_mean(missing, sorted(other.name for other in there.iterdir()))
