"""Checks that a machine has the folder, or the one file, that the path of a feed names."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from cep.sources.files.names import matching
from cep.sources.files.path_as_regex import from_regular_expression
from cep.sources.source import Options
from rules.diagnostics import Diagnostic
from rules.suggest import did_you_mean


def check(path: str, options: Options) -> Iterator[Diagnostic]:
    """The errors of a path, and the warning that its one file is not there."""
    place = options.span("path")
    folder, below = (Path(part) for part in matching(path))
    if not os.path.lexists(folder):
        said, help_ = missing(folder, "folder", "make it, or correct path")
        yield Diagnostic("CEP0952", "error", said, place, help=_as_wildcards(path, options) or help_)
    elif os.access(folder, os.R_OK) and not folder.is_dir():
        said = f"{folder} is no folder"
        yield Diagnostic("CEP0726", "error", said, place, help="name the folder, and the files in it")
    elif not os.access(folder, os.R_OK | os.X_OK):
        said = f"the folder {folder} cannot be read"
        yield Diagnostic("CEP0726", "error", said, place, help="let the job's user read it")
    elif not re.search(r"[*?\[{]", str(below)):
        yield from _one_file(path, options, folder / below)


def _one_file(path: str, options: Options, file: Path) -> Iterator[Diagnostic]:
    """A path without wildcards."""
    place = options.span("path")
    if not os.path.lexists(file):
        said, help_ = missing(file, "file", "nothing is read until it is there; `*` stands for any name")
        yield Diagnostic("CEP0953", "warning", said, place, help=_as_wildcards(path, options) or help_)
    elif not os.access(file, os.R_OK):
        said = f"{file} cannot be read"
        yield Diagnostic("CEP0726", "error", said, place, help="let the job's user read it")
    elif file.is_dir():
        written = place.text.strip("\"'")
        said = f"{file} is a folder"
        yield Diagnostic("CEP0726", "error", said, place, help=f"write `{written}/` for all files in it")


def _as_wildcards(path: str, options: Options) -> str:
    """The help for a path that is written as a regular expression; empty for any other."""
    glob = from_regular_expression(path)
    shown = glob and glob.removeprefix(f"{options.folder}/")
    return f"wildcards are no regular expression: write `{shown}`" if shown else ""


def there(path: Path) -> Path:
    """The path, or the closest folder above that there is."""
    while not os.path.lexists(path):
        path = path.parent
    return path


def missing(path: Path, what: str, fix: str) -> tuple[str, str]:
    """Message and help for a path that is not there; the help is a similar name in its folder, or `fix`."""
    near = there(path)
    if near.is_dir() and not os.access(near, os.R_OK | os.X_OK):
        return f"the folder {near} cannot be read", "let the job's user read it"
    name = path.parts[len(near.parts)]
    beside = sorted(other.name for other in near.iterdir()) if near.is_dir() else []
    return f"there is no {what} {path}", did_you_mean(name, beside) or fix
