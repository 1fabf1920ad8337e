"""The lines of a file of standing queries, compressed or not by the end of its name."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

_COMPRESSIONS = {".gz": "gzip", ".zst": "zstd"}


def lines_in(data: bytes, name: str) -> list[bytes]:
    """The lines of a file's bytes, without their ends. Raises OSError and ArrowException."""
    compression = _COMPRESSIONS.get(Path(name).suffix.lower())
    if compression is not None:
        with pa.input_stream(pa.py_buffer(data), compression=compression) as stream:
            data = stream.read()
    return data.removeprefix(b"\xef\xbb\xbf").split(b"\n")


def lines_of(name: str) -> Iterator[bytes]:
    """The lines of a file, read a block at a time. Raises OSError and ArrowException."""
    with pa.input_stream(name, compression=_COMPRESSIONS.get(Path(name).suffix.lower())) as file:
        rest = b""
        while block := file.read(1 << 20):
            *whole, rest = (rest + block).split(b"\n")
            yield from whole
        if rest:
            yield rest
