"""Logs that events came into, in a folder or in a bucket: appended to, and read batch by batch."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from hypothesis import strategies as st

from cep.sources.http import bounds
from cep.sources.http.intake import Intake
from cep.sources.http.segments import Stretch, chunks, path_of

if TYPE_CHECKING:
    from cep.files import AnyPath

LINE = b'{"id_": "%d", "at": "2026-01-05T09:00:00Z"}\n'


@contextmanager
def appending(folder: AnyPath, most: int = 1 << 30, tell: list[str] | None = None) -> Iterator[Intake]:
    one = Intake(folder, most, (tell if tell is not None else []).append)
    one.start(bounds.read_up_to(folder))
    try:
        yield one
    finally:
        one.stop()


def content(folder: AnyPath, some: list[Stretch]) -> bytes:
    found = (chunks(path_of(folder, segment), first, last) for segment, first, last in some)
    return b"".join(chunk for one in found for chunk in one)


def read_over_restarts(folder: AnyPath, groups: list[list[int]], data: st.DataObject) -> None:
    """Each group comes to a start of its own; batches are planned now and then, and asked for again."""
    given_, read_, number = b"", b"", 0
    found: dict[int, list[Stretch]] = {}
    for group in groups:
        with appending(folder) as one:
            for value in group:
                one.take(LINE % value).result(60)
                given_ += LINE % value
            if data.draw(st.booleans()):
                found[number] = bounds.between(folder, number, going_on=number > 0)
                read_ += content(folder, found[number])
                number += 1
            assert one.waiting == len(given_) - len(read_)
        asked = data.draw(st.integers(0, max(0, number - 1)))
        if number:
            assert bounds.between(folder, asked, going_on=asked > 0) == found[asked]
    while len(read_) < len(given_):
        found[number] = bounds.between(folder, number, going_on=number > 0)
        part = content(folder, found[number])
        assert part.endswith(b"\n")
        read_ += part
        number += 1
    assert read_ == given_
