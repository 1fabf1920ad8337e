"""The state folder as the job's user finds it, who must be able to read and write all of it.

Some of it is often not: one start by another user, as with sudo, leaves files that belong to that one.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from cep.job.state_folder.folder import NAMES, StateFolder

_FOLDER = os.R_OK | os.W_OK | os.X_OK
_OUTBOX = ("outbox.db", "outbox.db-wal", "outbox.db-shm")
_APPENDED = (*_OUTBOX, "logs/spark.log", "lock")
"""Files that are written where they are; others are written beside, and renamed."""


def denied(folder: StateFolder) -> tuple[str, str] | None:
    """The first file or folder that may not be read or written, as message and help; None for none."""
    written = {folder.root / name for name in _APPENDED}
    for path, is_folder in _ours(folder.root):
        needed = _FOLDER if is_folder else os.R_OK | (os.W_OK if path in written else 0)
        if not os.access(path, needed) and os.path.lexists(path):
            may = "read" if not os.access(path, os.R_OK) else "written" if needed & os.W_OK else "entered"
            root = shlex.quote(str(folder.root))
            fix = f"chown -R {os.getuid()} {root} && chmod -R u+rwX {root}"
            said = f"{path} may not be {may} by the user of this job"
            return said, f"let this user read and write all of it: {fix}"
    return None


def _ours(root: Path) -> Iterator[tuple[Path, bool]]:
    """The folder and what a job keeps in it: beside that a volume has folders of its own."""
    if not root.is_dir():
        return
    yield root, True
    for name in (*NAMES, *_OUTBOX) if os.access(root, os.R_OK | os.X_OK) else ():
        if (root / name).is_dir():
            yield from _within(root / name)
        elif os.path.lexists(root / name):
            yield root / name, False


def _within(root: Path) -> Iterator[tuple[Path, bool]]:
    """The folder and all in it, folders before what they hold; links are not followed."""
    yield root, True
    if os.access(root, os.R_OK | os.X_OK):
        found: list[os.DirEntry[str]] = []
        with suppress(FileNotFoundError), os.scandir(root) as entries:  # a job that runs may remove it
            found = sorted(entries, key=lambda entry: entry.name)
        for entry in found:
            if entry.is_dir(follow_symlinks=False):
                yield from _within(Path(entry.path))
            else:
                yield Path(entry.path), False
