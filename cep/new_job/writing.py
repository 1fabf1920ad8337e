"""A new job's folder, written beside its place and renamed there whole."""

from __future__ import annotations

import errno
import os
import re
import shutil
import tempfile
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

from alerts.signing import new_secret

SECRET = "desk.secret"
_TEMPLATE = "template"
_RENAMED = {"gitignore": ".gitignore"}
"""Files that would mean something where the template lies."""
_LONGEST = 100
"""Characters of a job's name."""


def job_name(folder: Path) -> str:
    """The name of a job in a folder: the folder's own, with a hyphen for what needs quotes somewhere."""
    return re.sub(r"[^\w.-]+", "-", folder.name).strip("-.")[:_LONGEST] or "job"


def write_job(folder: Path) -> list[str]:
    """The files of a new job by their paths below the folder, sorted; all of them are there, or none.

    Folders above it are made. Raises FileExistsError, with a name, where something is in the way that is no
    empty folder, and other OSErrors.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise FileExistsError(errno.EEXIST, "not empty", str(folder))
    folder.parent.mkdir(parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        written = _copied(resources.files(__package__) / _TEMPLATE, made, job_name(folder))
        secret = made / SECRET
        secret.touch(0o600)
        secret.write_text(new_secret() + "\n", "utf-8")
        made.chmod(0o777 & ~_umask())
        made.rename(folder)  # an empty folder gives way
    except BaseException:
        shutil.rmtree(made, ignore_errors=True)
        raise
    return sorted([*written, SECRET])


def _copied(source: Traversable, to: Path, name: str) -> list[str]:
    """Copies a folder of the template; the files' paths below it."""
    found = []
    for entry in source.iterdir():
        target = to / _RENAMED.get(entry.name, entry.name)
        if entry.is_dir():
            target.mkdir()
            found += [f"{target.name}/{below}" for below in _copied(entry, target, name)]
        else:
            target.write_text(entry.read_text("utf-8").replace("@NAME@", name), "utf-8")
            found.append(target.name)
    return found


def _umask() -> int:
    """The process's mask, which can only be read by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
