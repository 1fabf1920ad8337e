"""What a mapper does not read: poison by the manifest, and in a careful run what it finds of it.

In a careful run every file, row group and block is first tried in a child process (cep.job.trial).
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import BinaryIO, Literal, cast

import numpy as np
import pyarrow as pa

from cep.beginning import Beginning
from cep.decode.blocks import Records
from cep.decode.inflate import inflated
from cep.decode.letters import DeadLetter, Decoded
from cep.decode.parquet_rows import opened
from cep.feeds import Split, splits
from cep.formats import FeedFormat, UnknownFormatError
from cep.job.poison import END, NO_SHARD, UNREAD, Poison
from cep.job.search import blamed
from cep.job.trial import CannotTellError, Death, tried

_TOLD = (OSError, pa.ArrowException, EOFError, UnicodeDecodeError, UnknownFormatError)
"""What a reader makes a dead letter of by itself."""
_CHUNK = 8 << 20


@dataclass(slots=True)
class Kept:
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

    `judge` does with decoded events what a mapper does with them.
    """

    kept: Kept
    judge: Callable[[Decoded], None]
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
        return death(lambda: self.judge(records.decode(chosen)))


def death(work: Callable[[], object]) -> Death | None:
    """How a child ends that does the work; None where the work is done, or cannot be blamed."""

    def done() -> bytes:
        work()
        return b""

    try:
        ended = tried(done)
    except CannotTellError:
        return None
    return ended if isinstance(ended, Death) else None


def unopened(files: Iterable[tuple[str, str, int]], formats: Mapping[str, FeedFormat]) -> list[Poison]:
    """Files (stream, path, length) whose parts cannot be told without that the process ends."""
    found = []
    for stream, path, length in files:
        feed = formats[stream]
        if ended := _twice(lambda path=path, length=length, feed=feed: splits(path, length, feed=feed)):  # type: ignore[misc]
            found.append(Poison(stream, path, 0, END, NO_SHARD, ended.how, what=UNREAD))
    return found


def unreadable(stream: str, split: Split, feed: FeedFormat) -> list[Poison]:
    """What of a split cannot be read, whatever it says, without that the process ends.

    That is row groups of Parquet, or a compressed file; lines are read as they are.
    """
    try:
        written = feed.of(split.file)
    except UnknownFormatError:
        return []
    if written.kind != "parquet":
        if written.compression == "none":
            return []
        compression = written.compression
        ended = _twice(lambda: _decompress(split, compression))
        return [Poison(stream, split.file, 0, END, NO_SHARD, ended.how, what=UNREAD)] if ended else []
    if _twice(lambda: _read_groups(split, None)) is None:
        return []
    try:
        groups = _groups(split)
    except _TOLD:  # who reads it tells that
        return []
    found = []
    for group, first, end in groups:
        if ended := _twice(lambda group=group: _read_groups(split, group)):  # type: ignore[misc]
            found.append(Poison(stream, split.file, first, end, NO_SHARD, ended.how, what=UNREAD))
    return found


def pieces(split: Split, unread: Collection[Poison]) -> Iterator[Split]:
    """What is left of a split without what is not to be read of its file."""
    gone = {(one.first, one.end) for one in unread}
    groups = [group for group, first, end in _groups(split) if (first, end) not in gone]
    for group in groups:
        last = split.end == -1 and group == groups[-1]
        yield replace(split, start=group, end=-1 if last and _is_last(split, group) else group + 1)


def within(split: Split, poison: Iterable[Poison]) -> list[Poison]:
    """The poison whose dead letter is for the reader of the split: that which begins in it."""
    begins = {first for _, first, _ in _groups(split)}
    return [one for one in poison if one.first in begins]


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
    """How it ends, if it does so each time."""
    return death(work) and death(work)


def _groups(split: Split) -> list[tuple[int, int, int]]:
    """The row groups of a split: number, first row, and the row behind the last."""
    with opened(split.file, split.length) as file:
        rows = [file.metadata.row_group(i).num_rows for i in range(file.metadata.num_row_groups)]
    ends = np.cumsum([0, *rows]).tolist()
    end = len(rows) if split.end == -1 else split.end
    return [(group, ends[group], ends[group + 1]) for group in range(split.start, end)]


def _is_last(split: Split, group: int) -> bool:
    return group == _groups(split)[-1][0]


def _read_groups(split: Split, group: int | None) -> None:
    try:
        groups = [one for one, _, _ in _groups(split)] if group is None else [group]
        with opened(split.file, split.length) as file:
            for one in groups:
                for _ in file.iter_batches(row_groups=[one], use_threads=False, batch_size=1 << 18):
                    pass
    except _TOLD:
        pass


def _decompress(split: Split, compression: Literal["gzip", "zstd"]) -> None:
    try:
        with Beginning(split.file, split.length) as file:
            text = inflated(cast(BinaryIO, file), split.file, split.length, compression)
            while text.read(_CHUNK):
                pass
    except _TOLD:
        pass
