"""Sets and files of queries in a bucket, whose maps are files of a machine: sent there, fetched from there.

CONTENT.jsonl     a file of queries
NAME/...          the files of a compiled set
NAME.list         which those are, and their sizes: written last, so that a set without it is not there
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from cep.buckets import store_errors
from cep.files import DamagedFileError, read_json, write_json
from cep.folders import entries, remove_files

if TYPE_CHECKING:
    from upath import UPath

_LIST = ".list"


def send(place: Path, kept: UPath) -> None:
    """Puts a set or a file of queries into the bucket, where it is not there whole. Raises OSError."""
    if not place.is_dir():
        if not (kept / place.name).exists():
            _put(place, kept / place.name)
        return
    if (kept / f"{place.name}{_LIST}").exists():
        return
    sizes = {}
    for path in sorted(path for path in place.rglob("*") if path.is_file()):
        name = path.relative_to(place).as_posix()
        _put(path, kept / place.name / name)
        sizes[name] = path.stat().st_size
    write_json(kept / f"{place.name}{_LIST}", {"files": sizes})


def fetch(name: str, kept: UPath, aside: Path) -> bool:
    """Gets the set or file of that name out of the bucket; False if it is not there whole. Raises OSError."""
    if "." in name:
        if not (kept / name).exists():
            return False
        _get(kept / name, aside)
        return True
    try:
        sizes = read_json(kept / f"{name}{_LIST}")["files"]
        for file, size in sizes.items():
            path = aside / file
            path.parent.mkdir(parents=True, exist_ok=True)
            _get(kept / name / file, path)
            if path.stat().st_size != size:
                return False
    except (FileNotFoundError, DamagedFileError):
        return False
    return True


def forget(kept: UPath, here: Path, before: float) -> int:
    """Removes from the bucket what was sent before a time, in seconds since 1970 UTC, and is not `here`.

    What a machine uses it has here. Returns how many sets and files went; half a set, left by a process that
    was killed while it sent or removed it, is one. Raises OSError.
    """
    removed, there = 0, {one.name: one for one in entries(kept)}
    for name, entry in there.items():
        if (here / name.removesuffix(_LIST)).exists() or (entry.is_folder and f"{name}{_LIST}" in there):
            continue
        gone = _objects_of(kept / name) if entry.is_folder else [kept / name]
        if not gone or max(path.stat().st_mtime for path in gone) >= before:
            continue
        if name.endswith(_LIST):
            remove_files(gone)  # before its files: half a set must not stand under the name of a whole one
            gone = _objects_of(kept / name.removesuffix(_LIST))
        remove_files(gone)
        removed += 1
    return removed


def _objects_of(folder: UPath) -> list[UPath]:
    with store_errors(folder):
        return [path for path in folder.rglob("*") if path.is_file()]


def _put(path: Path, kept: UPath) -> None:
    kept.fs.put_file(str(path), kept.path)


def _get(kept: UPath, path: Path) -> None:
    kept.fs.get_file(kept.path, str(path))
