"""The files that the path of a feed stands for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from cep.sources.files.globs import matcher, wild


def matching(pattern: str) -> tuple[str, str]:
    """The folder of a feed's path up to its first wildcard, and the pattern of files below it.

    Without a wildcard: a path that ends in `/` means all files of that folder, any other one file.
    """
    parts = pattern.split("/")
    literal = next((i for i, part in enumerate(parts) if wild(part)), len(parts) - 1)
    folder = "/".join(parts[:literal]) or ("/" if pattern.startswith("/") else ".")
    return folder, "/".join(parts[literal:]) or "*"


def listed(pattern: str) -> list[str]:
    """The files that a feed's path stands for now, oldest change first: what a job lists, in its order.

    The last parts may have the wildcards of Hadoop's glob: `*`, `?`, `[ab]`, `[^a]`, `{a,b}`, and `\\` before
    a character that is meant itself. As Spark does it, names that begin with `_` or `.` are passed over, and
    a folder that fits a path with wildcards above its last part stands for the files in it.
    """
    found = set(fitting(pattern))
    return [str(path) for path in sorted(found, key=lambda path: (path.stat().st_mtime_ns // 10**6, path))]


def fitting(pattern: str) -> Iterator[Path]:
    """The files of `listed`, as they are found; one may come twice."""
    folder, below = matching(pattern)
    parts = below.split("/")
    for path in _below(Path(folder), parts):
        within = path.iterdir() if len(parts) > 1 and path.is_dir() else [path]
        yield from (one for one in within if not one.name.startswith(("_", ".")) and one.is_file())


def folders(pattern: str) -> Iterator[Path]:
    """The folders whose entries may fit a feed's path, as far as they are there."""
    folder, below = matching(pattern)
    parts = below.split("/")
    for depth in range(len(parts)):
        yield from (path for path in _below(Path(folder), parts[:depth]) if path.is_dir())


def _below(folder: Path, parts: Sequence[str]) -> Iterator[Path]:
    """The entries of a folder under names that fit the parts of a pattern, a part a level."""
    if not parts:
        yield folder
        return
    if not wild(parts[0]):
        plain = folder / re.sub(r"\\(.)", r"\1", parts[0])
        if plain.exists():
            yield from _below(plain, parts[1:])
        return
    fits = matcher(parts[0])
    try:
        names = sorted(path.name for path in folder.iterdir())
    except (NotADirectoryError, FileNotFoundError, PermissionError):
        return
    for name in filter(fits, names):
        yield from _below(folder / name, parts[1:])
