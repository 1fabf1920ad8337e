"""Whole lines of a segment to events and dead letters, some megabytes at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from cep.ahead import ahead
from cep.buckets import AT_ONCE, SMALL, StoreError, store_errors
from cep.decode.blocks import Decoder
from cep.decode.bounds import LetterBudget
from cep.decode.letters import DeadLetter, Decoded
from cep.events import Events, event_schema
from cep.files import content
from cep.sources.http.extents import HttpPart, unreadable
from cep.sources.http.segments import chunks
from cep.sources.source import GoneError

if TYPE_CHECKING:
    from cep.files import AnyPath

_AT_ONCE = 8 << 20
"""Bytes that are decoded together, about."""


def fetched(parts: Iterable[HttpPart], opened: Callable[[str], AnyPath]) -> Iterator[HttpPart]:
    """Parts of objects in their order; small ones come with what they hold, fetched while others are read."""

    def fetch(part: HttpPart) -> HttpPart:
        if part.until > SMALL:
            return part
        path = opened(part.path)
        try:
            with store_errors(path):
                data = content(path)
        except OSError as error:
            return replace(part, held=partial(_raise, error))
        return replace(part, held=lambda: data)

    with closing(ahead(fetch, parts, AT_ONCE)) as found:
        for _, part in found:
            yield part


def _raise(error: OSError) -> bytes:
    raise error


def read(
    part: HttpPart, path: AnyPath, using: Decoder, passed: Callable[[int], None], *, strict: bool
) -> Iterator[Decoded]:
    """The events and dead letters of a part, which is at `path`.

    Raises StoreError; with `strict` GoneError where it cannot be read, too.
    """
    kept, stream = LetterBudget(), using.stream
    at = part.start
    try:
        for lines in _blocks(part, path):
            yield kept.within(using.decode_block(lines, part.path, at, stream.name))
            at += len(lines)
            passed(len(lines))
    except StoreError:
        raise
    except (OSError, GoneError) as error:
        why = unreadable(error) if isinstance(error, OSError) else str(error)
        if strict:
            raise GoneError(why) from error
        letter = DeadLetter(stream.name, part.path, at, "read", why, b"")
        yield Decoded(Events(stream.name, stream.name, event_schema(stream).empty_table()), (letter,))


def _blocks(part: HttpPart, path: AnyPath) -> Iterator[bytes]:
    """Whole lines of a part in order. Raises OSError and GoneError."""
    rest, at = b"", part.start
    for chunk in chunks(path, part.start, part.until, _AT_ONCE, part.held):
        at += len(chunk)
        data = rest + chunk
        end = len(data) if at >= part.until else data.rfind(b"\n") + 1
        if end:
            yield data[:end]
        rest = data[end:]
    if at < part.until:
        raise GoneError(f"ends at byte {at:,}; it went up to {part.until:,}")
