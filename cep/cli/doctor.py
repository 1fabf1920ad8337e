"""`cep doctor`: what this machine lacks to run a job, and how to get it."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from cep.cli.failure import OK, OUTSIDE, USAGE

if TYPE_CHECKING:
    from cep.cli.arguments import Subparsers
    from cep.doctor.finding import Finding

_COLOURS = {"ok": "green", "warning": "yellow", "error": "red"}


def register(subparsers: Subparsers) -> None:
    """Add the verb's parser."""
    parser = subparsers.add_parser(
        "doctor",
        help="what this machine lacks to run a job, and how to get it",
        description="Look at Python, packages, compiled kernels, memory, clock, disks, Java and Spark, which "
        "is started for a moment; with --job also at a job file: paths, secrets, state folder, outbox, port "
        "and receivers. Nothing is changed, and nothing sent to a receiver.",
    )
    parser.add_argument("--job", type=Path, metavar="JOB", help="a job file, job.toml")
    parser.add_argument("--quick", action="store_true", help="do not start Spark, which takes some seconds")
    parser.set_defaults(stray="a job file stands behind its option: --job {}")


def run(arguments: argparse.Namespace) -> int:
    """Print what was found: exit code 0, 2 for a wrong job file, 3 for what the machine lacks."""
    from cep.doctor.checks import examined

    found = []
    for one in examined(arguments.job, os.environ, start=not arguments.quick):
        found.append(one)
        if arguments.format == "text":
            _tell(one)
    if arguments.format == "json":
        _tell_json(found)
    errors = [one for one in found if one.level == "error"]
    if any(not one.configured for one in errors):
        return OUTSIDE
    return USAGE if errors else OK


def _tell(one: Finding) -> None:
    import sys

    from alerts.shown import shown_lines
    from cep.cli.output import paint

    level = paint(f"{one.level:8}", _COLOURS[one.level], sys.stdout)
    code = f" ({one.code})" if one.code else ""
    print(f"{level} {one.check}: {shown_lines(one.said)}{code}", flush=True)
    if one.help:
        print(f"         = help: {shown_lines(one.help)}", flush=True)


def _tell_json(found: Iterable[Finding]) -> None:
    import json

    checks = [
        {"check": one.check, "level": one.level, "message": one.said, "help": one.help, "code": one.code}
        for one in found
    ]
    print(json.dumps({"checks": checks}, ensure_ascii=False))
