"""The position of a receiver's transactions: the last one's number, and which deliveries went out in it.

The position travels in the transaction itself, so that the receiver has either both or neither. Whoever opens
the receiver again compares it with the outbox, and knows what had arrived and was not written down.
"""

from __future__ import annotations

import binascii
import zlib
from base64 import b64decode, b64encode
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import accumulate, pairwise
from typing import Protocol, TypeVar

LONGEST = 4_000
"""Characters of a note; brokers take 4,096 with an offset (`offset.metadata.max.bytes`)."""
_VERSION = "1"


class Placed(Protocol):
    """A delivery that goes out in a transaction."""

    @property
    def place(self) -> int:
        """A number that no other of its receiver has."""

    @property
    def sign(self) -> str:
        """The id under which receivers get it."""


Item = TypeVar("Item", bound=Placed)


@dataclass(frozen=True, slots=True)
class Position:
    """The transaction of this number took deliveries of these places, in order; `digest` is of their ids."""

    number: int
    places: tuple[int, ...] = ()
    digest: str = ""

    @classmethod
    def of(cls, number: int, items: Iterable[Placed]) -> Position:
        """The position of a transaction with these deliveries."""
        found = sorted((one.place, one.sign) for one in items)
        return cls(number, tuple(place for place, _ in found), digest(id_ for _, id_ in found))

    @property
    def note(self) -> str:
        """All but the number, as a text; `read` takes it."""
        steps = (self.places[0], *(b - a for a, b in pairwise(self.places))) if self.places else ()
        packed = zlib.compress(" ".join(map(str, steps)).encode(), 6)
        return f"{_VERSION}.{self.digest}.{b64encode(packed).decode()}"

    @classmethod
    def read(cls, number: int, note: str) -> Position:
        """The position of a number and a note. Raises ValueError for a note that is none."""
        version, _, rest = note.partition(".")
        found, _, packed = rest.partition(".")
        if version != _VERSION:
            raise ValueError(f"a note of version {version[:20]!r}")
        try:
            steps = zlib.decompress(b64decode(packed, validate=True)).decode().split()
            return cls(number, tuple(accumulate(map(int, steps))), found)
        except (binascii.Error, zlib.error) as error:
            raise ValueError(f"a note that cannot be read: {error}") from None


def digest(ids: Iterable[str]) -> str:
    """A digest of ids, in the order of their places."""
    return sha256("\n".join(ids).encode()).hexdigest()[:16]


def fitting(number: int, items: Sequence[Item]) -> Sequence[Item]:
    """As many of the first deliveries as a note has room for, one at least."""
    while len(items) > 1 and (length := len(Position.of(number, items).note)) > LONGEST:
        items = items[: max(1, len(items) * LONGEST // (length + LONGEST // 8))]
    return items
