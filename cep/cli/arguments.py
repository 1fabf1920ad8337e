"""Types of the command line's arguments, and the readers of those that several verbs take."""

from __future__ import annotations

import argparse
import time
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    Subparsers: TypeAlias = argparse._SubParsersAction[argparse.ArgumentParser]
    """What `register` of a verb gets."""

NOW = "now"
FORMATS = ("text", "json", "sarif", "github", "junit")
"""How findings can be printed."""


def clock(text: str) -> int:
    """A point in time, or that of this moment for `now`, as `instant` gives it. Raises ArgumentTypeError."""
    if text == NOW:
        return time.time_ns()
    try:
        return instant(text)
    except argparse.ArgumentTypeError as error:
        raise argparse.ArgumentTypeError(f"{error}, or {NOW}") from None


def instant(text: str) -> int:
    """A point in time in nanoseconds since 1970. Raises ArgumentTypeError, which argparse shows."""
    from rules.instants import parse_instant

    try:
        return parse_instant(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(
            f"{text!r} is no point in time such as 2026-01-05T09:00:00Z"
        ) from error
