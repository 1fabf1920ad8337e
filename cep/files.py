"""Small files that must be whole or absent: written aside, flushed to disk, renamed in.

Files of JSON are objects that carry the checksum of what they say, so that one that was changed on disk is
not taken for what was written. A file may be an object of a bucket (cep.buckets), which a store writes whole
or not at all.

DamagedFileError    what is there is not what was written; its text is said of the file: "is empty"
"""

from __future__ import annotations

import hashlib
import json
import os
import socket
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from upath import UPath

    AnyPath = Path | UPath
    """A path of this machine's file system, or of a bucket."""

_CHECKSUM = "checksum"
_MACHINE = socket.gethostname()
"""On a file system of several machines a process's number alone is no name."""

Earlier = Callable[[Mapping[str, Any]], bool]
"""Tells of an object without a checksum that it is of a version which wrote none."""


class DamagedFileError(ValueError):
    """A file, or a value, that is not what was written."""


def write_whole(path: AnyPath, data: bytes, mode: int | None = None, *, new: bool = False) -> None:
    """Writes a file so that readers, and a machine that loses power, see all of it or none of it.

    `mode` is the file's permissions; None: as a new file has them here. Raises FileExistsError where the file
    is to be a `new` one and is there, also if another machine writes it at the same moment. An object with
    this very content is no other: a request whose answer was lost is sent again.
    """
    if not isinstance(path, Path):
        try:
            path.fs.pipe_file(path.path, data, mode="create" if new else "overwrite")
        except FileExistsError:
            if content(path) != data:
                raise
        return
    aside = path.with_name(f".{path.name}.{_MACHINE}.{os.getpid()}")
    try:
        with aside.open("wb") as file:
            if mode is not None:
                os.fchmod(file.fileno(), mode)
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if new:
            os.link(aside, path)
            aside.unlink()
        else:
            aside.replace(path)
    except OSError:
        aside.unlink(missing_ok=True)
        raise
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def content(path: AnyPath) -> bytes:
    """The bytes of a file. Raises OSError."""
    if isinstance(path, Path):
        return path.read_bytes()
    # asks once: one that may be read in parts, or is opened, is asked for its size before
    found: bytes = path.fs.cat_file(path.path, max_concurrency=1)
    return found


def remove_old(folder: AnyPath, number: int, suffix: str) -> None:
    """Removes the file that a number names, if there was such a batch and the file is there."""
    path = folder / f"{number}{suffix}"
    if number < 0:
        return
    if isinstance(path, Path):
        path.unlink(missing_ok=True)
    else:
        path.fs.rm_file(path.path)


def by_name(folder: AnyPath, suffix: str) -> list[AnyPath]:
    """The files of a folder whose names end so and begin with no dot, sorted; none where it is missing."""
    try:
        found = {path.name: path for path in folder.iterdir() if path.suffix == suffix}
    except (FileNotFoundError, NotADirectoryError):
        return []
    return [found[name] for name in sorted(found) if not name.startswith(".")]


def write_json(path: AnyPath, value: Mapping[str, object], *, new: bool = False) -> None:
    """Writes a JSON object with its checksum, as `write_whole` does; equal objects give equal files."""
    write_whole(path, to_json(sealed(value)), new=new)


def read_json(path: AnyPath, *, earlier: Earlier = lambda _: False) -> dict[str, Any]:
    """The object that `write_json` wrote. Raises DamagedFileError, and OSError where there is no file."""
    data = content(path)
    if not data.strip(b"\0"):
        raise DamagedFileError("is empty")
    try:
        value = json.loads(data)
    except ValueError as error:
        raise DamagedFileError("is no whole JSON") from error
    return unsealed(value, earlier=earlier)


def sealed(value: Mapping[str, object]) -> dict[str, object]:
    """The object with its checksum."""
    return {**value, _CHECKSUM: checksum_of(value)}


def unsealed(value: object, *, earlier: Earlier = lambda _: False) -> dict[str, Any]:
    """The object that `sealed` was given. Raises DamagedFileError."""
    if not isinstance(value, dict):
        raise DamagedFileError("is no JSON object")
    content = {name: of for name, of in value.items() if name != _CHECKSUM}
    if _CHECKSUM not in value:
        if not earlier(content):
            raise DamagedFileError("has no checksum")
    elif value[_CHECKSUM] != checksum_of(content):
        raise DamagedFileError("is not what was written: its checksum differs")
    return content


def checksum_of(value: Mapping[str, object]) -> str:
    """The SHA-256 of an object's canonical JSON, in hexadecimal digits."""
    return hashlib.sha256(to_json(value)).hexdigest()


def to_json(value: object) -> bytes:
    """The canonical JSON of files and digests: names sorted, no space, UTF-8, no NaN."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":"))
    return text.encode()
