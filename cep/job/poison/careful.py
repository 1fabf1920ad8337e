"""Records that a mapper goes without: poison by the manifest, and in a careful run what it finds.

In a careful run every extent, piece and block is first tried in a child process (cep.job.poison.trial).
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from cep.decode.blocks import Records
from cep.decode.letters import DeadLetter, Decoded
from cep.job.poison.events import NO_SHARD, UNREAD, Poison
from cep.job.poison.search import blamed
from cep.job.poison.trial import CannotTellError, Death, tried
from cep.sources.source import BLOCK, END, Extent, Feed, Part


@dataclass(slots=True)
class KnownPoison:
    """Keeps events aside that are poison by the manifest; `poison` are those of the mappers."""

    poison: Sequence[Poison]

    def __call__(self, records: Records) -> Mapping[int, DeadLetter]:
        """The dead letters of those among the records."""
        letters: dict[int, DeadLetter] = {}
        for one in self.poison:
            if one.unread or (one.stream, one.path) != (records.stream, records.file):
                continue
            first, end = np.searchsorted(records.offsets, [one.first, one.end]).tolist()
            letters |= _letters(one, records, range(first, end))
        return letters


@dataclass(slots=True)
class Searching:
    """Looks for poison among records that are not kept aside already; `found` is what there was.

    `work` does with decoded events what a mapper does with them.
    """

    kept: KnownPoison
    work: Callable[[Decoded], None]
    found: list[Poison] = field(default_factory=list)

    def __call__(self, records: Records) -> Mapping[int, DeadLetter]:
        """The dead letters of those that are poison, also by what was found now."""
        aside = dict(self.kept(records))
        rest = np.delete(np.arange(len(records.offsets)), list(aside))
        for one in blamed(len(rest), lambda few: self._death(records, rest[few]), independent=True) or ():
            numbers = rest[one.events].tolist()
            first, last = (int(records.offsets[number]) for number in (numbers[0], numbers[-1]))
            poison = Poison(records.stream, records.file, first, last + 1, NO_SHARD, one.death.how)
            self.found.append(poison)
            aside |= _letters(poison, records, numbers)
        return aside

    def _death(self, records: Records, chosen: np.ndarray[tuple[int], np.dtype[np.int64]]) -> Death | None:
        return death(lambda: self.work(records.decode(chosen)))


def death(work: Callable[[], object]) -> Death | None:
    """The end of a child that does the work; None where the work is done, or cannot be blamed."""

    def done() -> bytes:
        work()
        return b""

    try:
        ended = tried(done)
    except CannotTellError:
        return None
    return ended if isinstance(ended, Death) else None


def unopened(came: Iterable[Extent], feeds: Mapping[str, Feed]) -> list[Poison]:
    """Extents whose parts cannot be told without that the process ends."""
    found = []
    for one in came:
        feed = feeds[one.stream]
        if ended := _twice(lambda one=one, feed=feed: feed.source.parts(one, feed.format, BLOCK)):  # type: ignore[misc]
            found.append(Poison(one.stream, one.path, 0, END, NO_SHARD, ended.how, what=UNREAD))
    return found


def unreadable(feed: Feed, part: Part) -> list[Poison]:
    """The pieces of a part that cannot be read, whatever they say, without that the process ends."""
    pieces = feed.source.pieces(part, feed.format)
    if not pieces or (ended := _probed(feed, part)) is None:
        return []
    if len(pieces) > 1:
        ends = [(piece, _probed(feed, piece.part)) for piece in pieces]
    else:
        ends = [(pieces[0], ended)]
    return [
        Poison(feed.name, part.path, piece.first, piece.end, NO_SHARD, ended.how, what=UNREAD)
        for piece, ended in ends
        if ended is not None
    ]


def without(
    feed: Feed, part: Part, unread: Sequence[Poison]
) -> tuple[tuple[DeadLetter, ...], tuple[Part, ...]]:
    """The dead letters of what a part has of those that are not to be read, and what is left of it."""
    pieces = feed.source.pieces(part, feed.format)
    begun = {piece.first for piece in pieces}
    gone = {(one.first, one.end) for one in unread}
    return (
        tuple(one.letter() for one in unread if one.first in begun),
        tuple(piece.part for piece in pieces if (piece.first, piece.end) not in gone),
    )


def _probed(feed: Feed, part: Part) -> Death | None:
    return _twice(lambda: feed.source.probe(part, feed.format))


def _letters(one: Poison, records: Records, numbers: Sequence[int]) -> dict[int, DeadLetter]:
    """The dead letters of records, with their bytes if these can be told."""

    def octets() -> bytes:
        return pickle.dumps([records.octets(number) for number in numbers])

    try:
        kept = tried(octets)
    except CannotTellError:
        kept = Death("")
    data = [b""] * len(numbers) if isinstance(kept, Death) else pickle.loads(kept)
    return {
        number: one.letter(octets_, int(records.offsets[number]))
        for number, octets_ in zip(numbers, data, strict=True)
    }


def _twice(work: Callable[[], object]) -> Death | None:
    """The end of a child that does the work, if it comes each time."""
    return death(work) and death(work)
