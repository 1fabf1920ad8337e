"""Errors of an outbox, in its user's terms.

OutboxError     carries a code, one sentence and the fix; no error of a database library leaves this package
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import exc

from alerts.codes import AWAY, CANNOT_OPEN, CORRUPT, DATABASE, FULL, LOCKED, READ_ONLY

_SENTENCES = {
    LOCKED: (
        "the outbox {place} is locked by another process",
        "stop the other job or tool that writes to it; two jobs cannot share an outbox",
    ),
    FULL: (
        "there is no room left for the outbox {place}",
        "free space on its disk, then start the job again",
    ),
    READ_ONLY: (
        "the outbox {place} cannot be written",
        "give this user the right to write the file and its folder",
    ),
    CORRUPT: (
        "the file {place} is damaged or is no database",
        "restore it from a backup, or move it away together with the state folder and start anew",
    ),
    CANNOT_OPEN: (
        "the outbox {place} cannot be opened: {cause}",
        "check the path or address in [outbox] url and its rights",
    ),
    AWAY: (
        "the database of the outbox {place} does not answer: {cause}",
        "look whether its server runs and can be reached; nothing is lost meanwhile",
    ),
    DATABASE: ("the database of the outbox {place} failed: {cause}", "see the database's own log"),
}

_SQLITE = {
    sqlite3.SQLITE_BUSY: LOCKED,
    sqlite3.SQLITE_LOCKED: LOCKED,
    sqlite3.SQLITE_PROTOCOL: LOCKED,
    sqlite3.SQLITE_FULL: FULL,
    sqlite3.SQLITE_READONLY: READ_ONLY,
    sqlite3.SQLITE_PERM: READ_ONLY,
    sqlite3.SQLITE_CORRUPT: CORRUPT,
    sqlite3.SQLITE_NOTADB: CORRUPT,
    sqlite3.SQLITE_CANTOPEN: CANNOT_OPEN,
}

# classes and codes of PostgreSQL, appendix A of its manual
_POSTGRES = {
    "53": FULL,
    "25006": READ_ONLY,
    "42501": READ_ONLY,
    "55P03": LOCKED,
    "XX001": CORRUPT,
    "57P01": AWAY,
    "57P02": AWAY,
    "57P03": AWAY,
    "25P03": AWAY,  # within a transaction nothing was heard of this process for too long
    "08": AWAY,
    "28": CANNOT_OPEN,
    "3D": CANNOT_OPEN,
}


class OutboxError(Exception):
    """The outbox cannot do what was asked: a stable code, one sentence, and in `help` the fix."""

    def __init__(self, code: str, message: str, help_: str) -> None:
        super().__init__(f"{message}; {help_}")
        self.code = code
        self.message = message
        self.help = help_

    @property
    def passing(self) -> bool:
        """True if the database is away, and the same may be asked of it again when it is back."""
        return self.code == AWAY


def failure(code: str, place: str, cause: str = "") -> OutboxError:
    """The error of a database that failed in one of the known ways."""
    sentence, help_ = _SENTENCES[code]
    return OutboxError(code, sentence.format(place=place, cause=cause), help_)


@contextmanager
def translated(place: str, opened: bool = True) -> Iterator[None]:
    """Turns what a database raises into an OutboxError about the outbox at `place`.

    A database that does not answer before it was `opened` may have a wrong address.
    A statement that is wrong in itself is our mistake and no trouble of the user's: it passes.
    """
    try:
        yield
    except exc.DBAPIError as error:
        raise failure(_code(error.orig, opened), place, _cause(error.orig)) from error
    except (exc.TimeoutError, sqlite3.Error) as error:
        raise failure(_code(error, opened), place, _cause(error)) from error


def _code(error: BaseException | None, opened: bool) -> str:
    if isinstance(error, sqlite3.Error):
        if "Could not decode to UTF-8" in str(error):
            return CORRUPT  # of a text that was whole when it was written
        return _SQLITE.get((getattr(error, "sqlite_errorcode", None) or 0) & 0xFF, DATABASE)
    state = str(getattr(error, "sqlstate", None) or "")
    found = _POSTGRES.get(state) or _POSTGRES.get(state[:2]) or DATABASE
    if not state and type(error).__name__ in ("OperationalError", "ConnectionTimeout"):
        found = AWAY  # a connection that is lost, or is not made, has no state
    return CANNOT_OPEN if found == AWAY and not opened else found


def _cause(error: BaseException | None) -> str:
    text = " ".join(str(error).split())
    return text if len(text) <= 200 else text[:199] + "…"
