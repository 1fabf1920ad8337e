"""Blocks through the compiled kernel and through the readers behind it alone."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

from cep.decode import Decoded, Decoder
from cep.decode.compiled import load


@contextmanager
def using_kernel(used: bool) -> Iterator[None]:
    """Within the block every block is read with the kernel, or none."""
    kernel = load() if used else None
    with (
        patch("cep.decode.json_lines.kernel_for", lambda _: kernel),
        patch("cep.decode.csv_records.kernel_for", lambda _: kernel),
    ):
        yield


def by_kernel(using: Decoder, data: bytes, file: str = "f.jsonl", offset: int = 0) -> Decoded:
    """A block with the kernel."""
    with using_kernel(True):
        return using.decode_block(data, file, offset, "s")


def by_reader(using: Decoder, data: bytes, file: str = "f.jsonl", offset: int = 0) -> Decoded:
    """A block without the kernel."""
    with using_kernel(False):
        return using.decode_block(data, file, offset, "s")


def assert_same(using: Decoder, data: bytes, file: str = "f.jsonl") -> Decoded:
    """The same of a block both ways: tables, dead letters."""
    found, expected = by_kernel(using, data, file), by_reader(using, data, file)
    found.events.table.validate(full=True)
    assert found.dead == expected.dead
    assert found.events.table.schema.equals(expected.events.table.schema)
    assert found.events.table.combine_chunks().equals(expected.events.table.combine_chunks())
    return found
