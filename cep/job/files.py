"""Small files that must be whole or absent: written aside, flushed to disk, renamed in."""

from __future__ import annotations

import json
import os
from pathlib import Path


def write_whole(path: Path, data: bytes, mode: int | None = None) -> None:
    """Writes a file so that readers, and a machine that loses power, see all of it or none of it.

    `mode` is the file's permissions; None: as a new file has them here.
    """
    aside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with aside.open("wb") as file:
            if mode is not None:
                os.fchmod(file.fileno(), mode)
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        aside.replace(path)
    except OSError:
        aside.unlink(missing_ok=True)
        raise
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def write_json(path: Path, value: object) -> None:
    """Writes a JSON value as `write_whole` does, names sorted, so that equal values give equal files."""
    write_whole(path, to_json(value))


def to_json(value: object) -> bytes:
    """The canonical JSON of files and digests: names sorted, no space, UTF-8, no NaN."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":"))
    return text.encode()
