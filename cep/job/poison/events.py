"""Poison: events that end every process that works on them, or make it fail, and that a batch goes without.

What a careful run found (cep.job.poison.search) goes into the batch's manifest, so that however often the
batch is run again, it goes without the same events, and each is a dead letter of stage "poison".
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass
from typing import Any

from cep.decode.letters import DeadLetter
from cep.errors import PoisonError
from cep.sources.source import END, Feed

NO_SHARD = -1
EVENTS, UNREAD, HELD = "events", "unread", "held"


@dataclass(frozen=True, slots=True, order=True)
class Poison:
    """The events of a stream from a file whose @offset is `first` up to, not including, `end`.

    `shard`: they were decoded, and it is this shard that goes without them; NO_SHARD: they are not decoded.
    `reason` is a predicate like "was ended by SIGSEGV", its subject the process that worked on them.

    `what`: EVENTS; UNREAD: the file is not even opened there; HELD: what the shard remembers of the keys of a
    space, which `path` names, that have a hash from `first` to `end`; then `stream` is that of an event.
    """

    stream: str
    path: str
    first: int
    end: int
    shard: int
    reason: str
    what: str = EVENTS

    @property
    def unread(self) -> bool:
        """True if the file is not even opened there."""
        return self.what == UNREAD

    @property
    def whole(self) -> bool:
        """True if nothing of the file is read."""
        return self.unread and self.first == 0 and self.end == END

    @property
    def why(self) -> str:
        """The reason of a dead letter."""
        work = "read" if self.unread else "decoded and classified" if self.shard == NO_SHARD else "matched"
        it = "what was remembered of this key" if self.what == HELD else "it"
        return f"poison: the process that {work} {it} {self.reason}, each time"

    def letter(self, data: bytes = b"", offset: int | None = None) -> DeadLetter:
        """The dead letter of one of the events, or of all of them."""
        return DeadLetter(
            self.stream, self.path, self.first if offset is None else offset, "poison", self.why, data
        )


def listed(poison: Iterable[Poison]) -> list[list[object]]:
    """As JSON."""
    return [list(astuple(one)) for one in poison]


def from_json(value: Iterable[Sequence[Any]]) -> tuple[Poison, ...]:
    """The poison that `listed` wrote. Raises TypeError."""
    found = tuple(Poison(*one) for one in value)
    for one in found:
        if not all(isinstance(number, int) for number in (one.first, one.end, one.shard)):
            raise TypeError("whole numbers are expected")
    return found


def poison_error(poison: Iterable[Poison]) -> PoisonError:
    """The error by which a worker tells the driver what it found."""
    return PoisonError(base64.b64encode(json.dumps(listed(poison)).encode()).decode())


def found_in(error: PoisonError) -> tuple[Poison, ...]:
    """The poison that such an error carries."""
    return from_json(json.loads(base64.b64decode(error.message)))


def place(poison: Poison, feed: Feed | None) -> str:
    """Where the events are, as a user looks them up; `feed` is theirs, None where there is none any more."""
    if poison.what == HELD:
        return f"what is remembered of a key ({poison.path}; shard {poison.shard})"
    if poison.whole or feed is None:
        return poison.path
    return feed.source.place(poison.path, poison.first, poison.end, feed.format)
