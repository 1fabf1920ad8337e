"""The file for what libraries would print on the user's terminal: warnings, logs, tracebacks of threads.

py4j, for one, logs every command that a Java process which is gone did not answer, with its traceback, and
Python prints what is logged where nobody has said where to. Servers of Python's own library print theirs.
"""

from __future__ import annotations

import io
import logging
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from logging.handlers import RotatingFileHandler
from pathlib import Path

from cep.job.batches.outage import StoppedError

_NOWHERE = logging.NullHandler()
_MOST = 10_000_000
"""Bytes of the file; then it is set aside in place of what was set aside before."""


@contextmanager
def kept(path: Path, told: Callable[[str], None]) -> Iterator[None]:
    """Keeps in the file, within the block, what is logged, and what is printed on stderr.

    The file is made when something comes. `told` gets a sentence when a thread has failed. Whoever has a word
    for the user needs stderr as it was before. What is logged later, when little is left of a process but
    threads of libraries that miss a Java process, is not shown either.
    """
    handler = _Quiet(
        path, maxBytes=_MOST, backupCount=1, encoding="utf-8", errors="backslashreplace", delay=True
    )
    handler.addFilter(_is_news)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logger = logging.getLogger("cep")

    def failed(hooked: threading.ExceptHookArgs) -> None:
        if hooked.exc_type is SystemExit or hooked.exc_value is None:
            return
        name = hooked.thread.name if hooked.thread else "a thread"
        logger.error("thread %s failed", name, exc_info=hooked.exc_value)
        told(
            f"a part of the job, {name}, failed ({hooked.exc_type.__name__}: {hooked.exc_value}); "
            f"its traceback is in {path}"
        )

    def ignored(hooked: sys.UnraisableHookArgs) -> None:
        if hooked.exc_value is not None:
            logger.warning("%s", hooked.err_msg or "ignored", exc_info=hooked.exc_value)

    root = logging.getLogger()
    root.addHandler(handler)
    logging.captureWarnings(True)
    threads, unraisable, stderr = threading.excepthook, sys.unraisablehook, sys.stderr
    threading.excepthook, sys.unraisablehook, sys.stderr = failed, ignored, _Printed()
    try:
        yield
    finally:
        threading.excepthook, sys.unraisablehook, sys.stderr = threads, unraisable, stderr
        logging.captureWarnings(False)
        root.removeHandler(handler)
        root.addHandler(_NOWHERE)  # without any, Python makes one that prints
        handler.close()


def _is_news(record: logging.LogRecord) -> bool:
    """False for the end that the job itself puts to its query, which py4j logs as an exception of a batch."""
    return not (record.exc_info and isinstance(record.exc_info[1], StoppedError))


class _Printed(io.TextIOBase):
    """Stands for stderr: every line is logged."""

    def __init__(self) -> None:
        self._begun = ""

    def write(self, text: str) -> int:
        """Logs the lines that are whole."""
        *lines, self._begun = (self._begun + text).split("\n")
        for line in lines:
            logging.getLogger("stderr").warning("%s", line)
        return len(text)


class _Quiet(RotatingFileHandler):
    """Says nothing where the file cannot be opened or written."""

    def emit(self, record: logging.LogRecord) -> None:
        """Writes the record."""
        with suppress(OSError):
            super().emit(record)

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802
        """Leaves the record out: a full disk is told of by what needs it."""
