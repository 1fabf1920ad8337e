"""Feeds whose wildcards fit no file: a job waits for the first one, with a mistake in the path for ever."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator
from itertools import islice
from pathlib import Path

from cep.config.job import Job
from cep.decode.formats import UnknownFormatError, format_of
from cep.sources.files import globs
from cep.sources.files.files import paths
from cep.sources.files.names import fitting, matching
from cep.sources.files.path_as_regex import from_regular_expression
from rules.diagnostics import Diagnostic

_LOOKED_AT = 1_000
"""Names of a folder among which a similar one is looked for."""
_ENDINGS = (".jsonl", ".ndjson", ".json", ".csv", ".parquet")


def no_file_fits(job: Job, read: Collection[str] = ()) -> list[Diagnostic]:
    """A warning for every feed whose path has wildcards and fits no file yet, in the order of the feeds.

    `read` are feeds of which files were read before: they may be gone, and the path was right.
    """
    return [
        Diagnostic(
            "CEP0740",
            "warning",
            f"no file fits the path of feed `{name}` yet",
            job.places.value(("feeds", name, "path")),
            help=likely_cure(path, job.file.parent),
        )
        for name, path in paths(job.feeds).items()
        if name not in read and globs.wild(matching(path)[1]) and _lists(path) and not _any(path)
    ]


def likely_cure(path: str, folder: Path) -> str:
    """The likely cure of a feed's path that fits no file; paths are shown from the folder on."""

    def shown(path: str) -> str:
        return path.removeprefix(f"{folder}/")

    glob = from_regular_expression(path)
    if glob is not None:
        return f"wildcards are no regular expression: write `{shown(glob)}`"
    if re.match(r"[_.]", path.rpartition("/")[2]):
        return "files whose names begin with `_` or `.` are passed over: give them other names"
    for other, example in _similar(path):
        return f"there is {shown(example)}: did you mean `{shown(other)}`?"
    return "nothing is read until there is one"


def _lists(path: str) -> bool:
    """True if the folder up to the first wildcard can be listed; if not, that is what there is to say."""
    folder = Path(matching(path)[0])
    return os.access(folder, os.R_OK | os.X_OK) and folder.is_dir()


def _any(path: str) -> bool:
    try:
        return next(fitting(path), None) is not None
    except OSError:
        return True  # a folder that cannot be read is told as such


def _similar(path: str) -> Iterator[tuple[str, str]]:
    """Paths near this one that fit a file, each with the file: another ending or case, a folder below."""
    above, _, name = path.rpartition("/")
    folder = Path(above or "/")
    if globs.wild(above) or not folder.is_dir():
        return
    inside = list(islice(folder.iterdir(), _LOOKED_AT))
    names = sorted(one.name for one in inside if not one.name.startswith(("_", ".")) and one.is_file())
    for other in _other_names(name):
        takes = globs.matcher(other)
        for one in filter(takes, names):
            yield f"{above}/{other}", f"{above}/{one}"
    for below in sorted(one for one in inside if one.is_dir() and not one.name.startswith(("_", "."))):
        takes = globs.matcher(name)
        for file in islice(below.iterdir(), _LOOKED_AT):
            if takes(file.name) and file.is_file():
                yield f"{above}/*/{name}", str(file)


def _other_names(name: str) -> Iterator[str]:
    """The pattern of a name in other cases, and with other endings that say what a file holds."""
    stem = name
    while stem and _says_format(stem):
        stem = stem.rpartition(".")[0]
    if not stem:
        return
    ending = name[len(stem) :]
    stems = dict.fromkeys((stem, stem.lower(), stem.upper()))
    yield from (f"{one}{other}" for one in stems for other in (ending, ending.lower(), ending.upper()))
    yield from (f"{stem}{other}{packed}" for other in (ending, *_ENDINGS) for packed in ("", ".gz", ".zst"))


def _says_format(name: str) -> bool:
    try:
        format_of(name)
    except UnknownFormatError:
        return False
    return True
