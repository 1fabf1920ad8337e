"""Whole lines of a segment to events and dead letters, some megabytes at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from cep.decode.blocks import Decoder
from cep.decode.bounds import LetterBudget
from cep.decode.letters import DeadLetter, Decoded
from cep.events import Events, event_schema
from cep.sources.http.extents import HttpPart, unreadable
from cep.sources.source import GoneError

_AT_ONCE = 8 << 20
"""Bytes that are decoded together, about."""


def read(part: HttpPart, using: Decoder, passed: Callable[[int], None], *, strict: bool) -> Iterator[Decoded]:
    """The events and dead letters of a part. With `strict`, GoneError is raised where it cannot be read."""
    kept, stream = LetterBudget(), using.stream
    at = part.start
    try:
        for lines in _blocks(part):
            yield kept.within(using.decode_block(lines, part.path, at, stream.name))
            at += len(lines)
            passed(len(lines))
    except (OSError, GoneError) as error:
        why = unreadable(error) if isinstance(error, OSError) else str(error)
        if strict:
            raise GoneError(why) from error
        letter = DeadLetter(stream.name, part.path, at, "read", why, b"")
        yield Decoded(Events(stream.name, stream.name, event_schema(stream).empty_table()), (letter,))


def _blocks(part: HttpPart) -> Iterator[bytes]:
    """Whole lines of a part in order. Raises OSError and GoneError."""
    rest, at = b"", part.start
    with Path(part.path).open("rb", buffering=0) as file:
        file.seek(at)
        while at < part.until:
            chunk = file.read(min(_AT_ONCE, part.until - at))
            if not chunk:
                raise GoneError(f"ends at byte {at:,}; it went up to {part.until:,}")
            at += len(chunk)
            data = rest + chunk
            end = len(data) if at >= part.until else data.rfind(b"\n") + 1
            if end:
                yield data[:end]
            rest = data[end:]
