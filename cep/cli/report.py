"""What nobody foresaw: the traceback goes to a file, the user gets one sentence."""

from __future__ import annotations

import tempfile
import traceback
from collections.abc import Sequence


def sentence(error: OSError) -> str:
    """An operating system error in one clause, with the file that it is about."""
    reason = (error.strerror or str(error) or type(error).__name__).lower()
    return f"{error.filename}: {reason}" if error.filename is not None else reason


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
