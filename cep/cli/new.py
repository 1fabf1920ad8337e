"""`cep new`: a folder with a job that runs: job.toml, a pack with its tests, events, a receiver's secret."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from cep.cli.failure import OK, UsageError

if TYPE_CHECKING:
    from cep.cli.arguments import Subparsers

_NEXT = (
    ("cep test packs/", "the rules' own tests"),
    ("cep eval --job job.toml --output - --drain", "what the rules raise over inbox/"),
    ("cep receive --secret-file desk.secret", "in another terminal: verifies alerts and prints them"),
    ("cep run job.toml", "the whole job, which needs Java; see `cep doctor`"),
)
"""What to try then, and what it does."""


def register(subparsers: Subparsers) -> None:
    """Add the verb's parser."""
    parser = subparsers.add_parser(
        "new",
        help="make a folder with a job that runs",
        description="Make a folder with a job that runs as it stands: job.toml, a pack of three rules with "
        "their tests, events that the rules find something in, and a receiver with its secret.",
    )
    parser.add_argument("folder", type=Path, metavar="DIR", help="a folder that is not there yet, or empty")
    parser.set_defaults(usual="cep new DIR", stray="one folder at a time: `cep new {}`")


def run(arguments: argparse.Namespace) -> int:
    """Write the folder. Raises UsageError where something is in its place already."""
    from cep.new_job.writing import write_job

    folder: Path = arguments.folder
    try:
        files = write_job(folder.absolute())
    except FileExistsError as error:
        there = "is a file" if Path(error.filename).is_file() else "is not empty"
        raise UsageError(f"{error.filename} {there}", "name a folder that is not there yet") from error
    if arguments.format == "json":
        _tell_json(folder, files)
    else:
        _tell(folder, files)
    return OK


def _tell(folder: Path, files: Sequence[str]) -> None:
    print(f"made {folder}: {', '.join(files)}\n")
    width = max(len(line) for line, _ in _NEXT)
    print(f"  cd {shlex.quote(str(folder))}")
    for line, meaning in _NEXT:
        print(f"  {line:{width}}   # {meaning}")


def _tell_json(folder: Path, files: Sequence[str]) -> None:
    import json

    print(json.dumps({"folder": str(folder), "files": files, "next": [line for line, _ in _NEXT]}))
