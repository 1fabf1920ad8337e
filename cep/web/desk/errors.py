"""Errors of what was asked of a desk, in the words of who asked.

DeskError           a code, a sentence without a full stop, and in `help` the fix
├── MistakenError     a filter, an id or a value that cannot be meant
├── MissingError      nothing of that name or id
├── GoneError         an alert of that id was there, and was erased
├── UnfitError        an action that how things stand does not allow
└── NotYetError       the job has nothing to answer with yet
"""

from __future__ import annotations

from typing import ClassVar


class DeskError(Exception):
    """The base of these errors."""

    code: ClassVar[str]

    def __init__(self, message: str, help: str) -> None:  # noqa: A002  as diagnostics call it
        super().__init__(message)
        self.message = message
        self.help = help


class MistakenError(DeskError):
    """What was given cannot be meant."""

    code = "CEP0964"


class MissingError(DeskError):
    """There is nothing of that name or id."""

    code = "CEP0966"


class GoneError(DeskError):
    """The alert was erased: its id is all that is left of it."""

    code = "CEP0969"


class UnfitError(DeskError):
    """What was asked for does not fit how it stands."""

    code = "CEP0967"


class NotYetError(DeskError):
    """The job starts, or ends."""

    code = "CEP0968"
