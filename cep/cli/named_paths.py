"""Paths that a user names and that cannot be meant: what is there instead."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from cep.cli.failure import UsageError

_DATA = (".jsonl", ".ndjson", ".json", ".csv", ".parquet", ".gz", ".zst")
_LOOKED_AT = 1_000
"""Names of a folder among which a similar one is looked for."""


def check_rule_paths(paths: Sequence[Path]) -> None:
    """Raise UsageError for the first path where there is nothing, or a file that never holds rules."""
    for path in paths:
        if not path.exists():
            raise absent(path, "file or folder")
        if path.is_file() and path.suffix in (".toml", *_DATA):
            kind = "job file: it stands behind `--job`" if path.suffix == ".toml" else "file of data"
            raise UsageError(
                f"`{path}` is no rule file", f"name a *.rules file, or a folder of them; this is a {kind}"
            )


def absent(path: Path, what: str = "file") -> UsageError:
    """The error for a path where there is nothing, with a similar name that is there."""
    return UsageError(f"there is no {what} `{path}`", _cure(path))


def _cure(path: Path) -> str:
    place = re.fullmatch(r"(.+?)(?::\d+)+:?", str(path))
    if place is not None and Path(place[1]).exists():
        return f"a path stands alone, without the line: `{place[1]}`"
    folder = path.parent
    while not folder.is_dir():
        path, folder = folder, folder.parent
    return _similar(path.name, folder) or "correct the path"


def _similar(name: str, folder: Path) -> str:
    from itertools import islice

    from rules.suggest import closest

    try:
        beside = sorted(one.name for one in islice(folder.iterdir(), _LOOKED_AT))
    except OSError:
        return ""
    near = closest(name, beside)
    return f"did you mean `{folder / near}`?" if near is not None else ""
