"""A wall clock that cannot be right: what is said of it, before and after Python has given it up."""

from __future__ import annotations

from rules.diagnostics import Diagnostic

_SAID = "the clock of this machine shows a time "


def wrong(wall: int) -> Diagnostic | None:
    """The error of a wall clock that shows `wall`, in ns since 1970 UTC; None if it may be right."""
    return _wrong("before 1970") if wall < 0 else None


def too_late(error: Exception) -> Diagnostic | None:
    """The error of such a clock for one that Python raises as it reads a time after 2262, else None."""
    told = isinstance(error, OverflowError) and "timestamp too large" in str(error)
    return _wrong("after 2262") if told else None


def _wrong(when: str) -> Diagnostic:
    return Diagnostic("CEP0880", "error", _SAID + when, help="set the clock, then start the job again")
