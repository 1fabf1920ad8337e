"""Types of the command line's arguments, and the readers of those that several verbs take."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    Subparsers: TypeAlias = argparse._SubParsersAction[argparse.ArgumentParser]
    """What `register` of a verb gets."""

FORMATS = ("text", "json", "sarif", "github", "junit")
"""How findings can be printed."""


def instant(text: str) -> int:
    """A point in time in nanoseconds since 1970. Raises ArgumentTypeError, which argparse shows."""
    from rules.instants import parse_instant

    try:
        return parse_instant(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(
            f"{text!r} is no point in time such as 2026-01-05T09:00:00Z"
        ) from error
