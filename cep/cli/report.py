"""Texts for errors that are no diagnostics: of the operating system, and of the program itself.

The user gets a sentence and a fix for either. The traceback of an error of the program goes to a file.
"""

from __future__ import annotations

import errno
import tempfile
import traceback
from collections.abc import Sequence


def sentence(error: OSError) -> str:
    """An operating system error in one clause, with the file that it is about."""
    reason = (error.strerror or str(error) or type(error).__name__).lower()
    return f"{error.filename}: {reason}" if error.filename is not None else reason


_REMEDIES = {
    errno.ENOENT: "correct the path, or make what it names",
    errno.EACCES: "let the user of this command read and write there, or name another place",
    errno.EPERM: "let the user of this command read and write there, or name another place",
    errno.EROFS: "name a place that can be written",
    errno.EISDIR: "name a file in that folder",
    errno.ENOTDIR: "correct the path: a part of it is a file",
    errno.EEXIST: "name another place, or remove what is there",
    errno.ENOSPC: "make room on that disk, or name a place on another one",
    errno.EDQUOT: "make room on that disk, or name a place on another one",
    errno.EMFILE: "allow the process more open files: `ulimit -n 4096`",
    errno.ENFILE: "close other programs: the machine has no open file left",
    errno.ELOOP: "correct the links: they lead in a circle",
    errno.ENAMETOOLONG: "give it a shorter name",
    errno.ENOMEM: "close other programs, or give the process more memory",
}


def remedy(error: Exception) -> str:
    """The fix for a file or a folder that cannot be used."""
    known = _REMEDIES.get(error.errno or 0) if isinstance(error, OSError) else None
    if known is not None:
        return known
    if isinstance(error, OSError) and error.errno:
        return "see whether that disk, its network and the machine are well, then try again"
    return "its content is not what the end of its name says: .parquet, .gz and .zst are read as such"


def unforeseen(error: Exception, argv: Sequence[str]) -> tuple[str, str]:
    """Write a report file; what happened, and where the report is, each as a clause."""
    lines = f"{type(error).__name__}: {error}".splitlines()
    try:
        with tempfile.NamedTemporaryFile(
            "w",
            prefix="cep-report-",
            suffix=".txt",
            delete=False,
            encoding="utf-8",
            errors="backslashreplace",
        ) as file:
            file.write(f"cep {' '.join(argv)}\n\n")
            traceback.print_exception(error, file=file)
        where = f"a report is in {file.name}"
    except OSError as failure:
        where = f"a report could not be written: {sentence(failure)}"
    return f"this should not have happened: {lines[0][:300]}", where
