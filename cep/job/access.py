"""The state folder as the job's user finds it, who must be able to read and write all of it.

Some of it is often not: one start by another user, as with sudo, leaves files that belong to that one.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from pathlib import Path

from cep.job.folder import StateFolder

_FOLDER = os.R_OK | os.W_OK | os.X_OK
_APPENDED = ("outbox.db", "outbox.db-wal", "outbox.db-shm", "logs/spark.log", "lock")
"""Files that are written where they are; others are written beside, and renamed."""


def denied(folder: StateFolder) -> tuple[str, str] | None:
    """The first file or folder that may not be read or written, as message and help; None for none."""
    written = {folder.root / name for name in _APPENDED}
    for path, is_folder in _within(folder.root):
        needed = _FOLDER if is_folder else os.R_OK | (os.W_OK if path in written else 0)
        if not os.access(path, needed) and os.path.lexists(path):
            may = "read" if not os.access(path, os.R_OK) else "written" if needed & os.W_OK else "entered"
            root = shlex.quote(str(folder.root))
            fix = f"chown -R {os.getuid()} {root} && chmod -R u+rwX {root}"
            said = f"{path} may not be {may} by the user of this job"
            return said, f"let this user read and write all of it: {fix}"
    return None


def _within(root: Path) -> Iterator[tuple[Path, bool]]:
    """The folder and all in it, folders before what they hold; links are not followed."""
    if not root.is_dir():
        return
    yield root, True
    if os.access(root, os.R_OK | os.X_OK):
        with os.scandir(root) as entries:
            found = sorted(entries, key=lambda entry: entry.name)
        for entry in found:
            if entry.is_dir(follow_symlinks=False):
                yield from _within(Path(entry.path))
            else:
                yield Path(entry.path), False
