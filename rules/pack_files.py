"""Files that a pack may make us read: regular ones, inside its folder, of a bounded size.

A pack may come from somebody whom this machine's other files do not concern, and what is wrong with a file
is reported with its text.

RefusedError    the file is there, and is not read
"""

from __future__ import annotations

import io
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn


class RefusedError(Exception):
    """The text says why, after "`FILE` "; `help` is the fix."""

    def __init__(self, why: str, help: str) -> None:  # noqa: A002  as diagnostics call it
        super().__init__(why)
        self.help = help


def rule_files(folder: Path, suffix: str) -> list[Path]:
    """The files of `walked`, in order of name. Raises OSError."""
    return sorted(walked(folder, suffix))


def walked(folder: Path, suffix: str) -> Iterator[Path]:
    """The files of a folder and of those in it whose names end so, as they are found.

    Hidden folders (`.git`, `.venv`) hold no packs, and links to folders are not followed. Raises OSError
    where a folder cannot be listed: a pack is never less than what is there.
    """

    def refuse(problem: OSError) -> NoReturn:
        raise problem

    for parent, folders, names in os.walk(folder, onerror=refuse):
        folders[:] = [name for name in folders if not name.startswith(".")]
        yield from (
            file for name in names if name.endswith(suffix) and (file := Path(parent, name)).is_file()
        )


def opened(path: Path, folder: Path, most: int) -> io.BufferedReader:
    """The file, open for reading, if it lies in the folder, links followed, and has at most so many bytes.

    Raises RefusedError and OSError.
    """
    inside = folder.resolve()
    target = path.resolve(strict=True)
    if not target.is_relative_to(inside):
        raise RefusedError(
            f"is not inside the pack's folder `{folder}`", "put a copy of the file beside the rules"
        )
    # What is opened is what was looked at: no last link is followed, and no writer of a pipe waited for.
    descriptor = os.open(target, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    file = os.fdopen(descriptor, "rb")
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise RefusedError("is no regular file", "name a file, not a device or a pipe")
        if status.st_size > most:
            raise RefusedError(
                f"has {status.st_size:,} bytes, at most {most:,} are read", "split the file, or compress it"
            )
        if path.resolve(strict=True) != target:
            raise RefusedError("was changed while it was opened", "run the command again")
    except BaseException:
        file.close()
        raise
    return file
