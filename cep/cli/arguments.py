"""Types of the command line's arguments, and the readers of those that several verbs take."""

from __future__ import annotations

import argparse
import getpass
import time
from pathlib import Path
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


def add_format(parser: argparse.ArgumentParser) -> None:
    """Add `--format` to the parser of a verb's own verb, which otherwise would be the verb's alone."""
    parser.add_argument(
        "--format",
        choices=("text", "json"),
        default=argparse.SUPPRESS,  # what stands before this verb counts, too
        help="how results are printed (default: text)",
    )


def add_who(parser: argparse.ArgumentParser) -> None:
    """Add `--by`, who does something."""
    parser.add_argument("--by", metavar="NAME", help="who does it (default: the user of this command)")


def user() -> str:
    """The user of this command."""
    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError):  # a user without a name, as in some containers
        return "unknown"


def add_job(parser: argparse.ArgumentParser) -> None:
    """Add `--job`, the job file that a verb is about."""
    parser.add_argument("--job", type=Path, required=True, metavar="JOB", help="the job's job.toml")
