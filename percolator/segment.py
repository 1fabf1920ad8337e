"""A segment: immutable arrays that answer a set of queries, one file, mapped into memory by all who use it.

The file: `MAGIC`, the version, the length of a JSON head, the head, then the arrays, each at a multiple of
64 bytes. What the kernel reads is `longs`, `ints` and `text`; the queries' ids stand apart.
"""

from __future__ import annotations

import json
import mmap
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from percolator.disk import Data, Disk

MAGIC = b"PERCSEG\n"
VERSION = 1
_ALIGNED = 64
_FIXED = struct.Struct("<8sII")
_ARRAYS = {"longs": "<i8", "ints": "<i4", "text": "u1", "id_ends": "<i8", "id_text": "u1"}


class SegmentError(ValueError):
    """A file that is no segment, is cut short, or is of another version."""


@dataclass(frozen=True, slots=True)
class Regex:
    """A regular expression on words of some fields (RE2, anchored) and its leaf."""

    fields: tuple[str, ...]
    pattern: str
    leaf: int


@dataclass(frozen=True, slots=True, eq=False)
class QuerySegment:
    """`fields` are the fields that its queries ask for, in the order of their numbers in the arrays."""

    longs: npt.NDArray[np.int64]
    ints: npt.NDArray[np.int32]
    text: npt.NDArray[np.uint8]
    id_ends: npt.NDArray[np.int64]
    id_text: npt.NDArray[np.uint8]
    fields: tuple[str, ...]
    schema: str
    """Which fields it was built over: segments of one matcher agree."""
    regexes: tuple[Regex, ...] = ()
    units: bool = False
    """Whether some query asks for sentences or paragraphs."""

    def __len__(self) -> int:
        """The number of queries in it."""
        return len(self.id_ends)

    @property
    def nbytes(self) -> int:
        """The size of its arrays."""
        return sum(int(getattr(self, name).nbytes) for name in _ARRAYS)

    def id_of(self, query: int) -> str:
        """The id of a query by its place."""
        start = int(self.id_ends[query - 1]) if query else 0
        return self.id_text[start : self.id_ends[query]].tobytes().decode("utf-8", "surrogatepass")

    def ids(self, queries: Iterable[int] | None = None) -> list[str]:
        """The ids of queries by their places, of all in order where none are given."""
        return [self.id_of(query) for query in (range(len(self)) if queries is None else queries)]

    def parts(self) -> Iterator[Data]:
        """The contents of its file, in order."""
        places: dict[str, tuple[int, int]] = {}
        at = 0
        for name in _ARRAYS:
            places[name] = (at, len(getattr(self, name)))
            at += -(-getattr(self, name).nbytes // _ALIGNED) * _ALIGNED
        head = json.dumps(
            {
                "arrays": places,
                "fields": self.fields,
                "schema": self.schema,
                "regexes": [[regex.fields, regex.pattern, regex.leaf] for regex in self.regexes],
                "units": self.units,
            }
        ).encode("ascii")
        yield _padded(_FIXED.pack(MAGIC, VERSION, len(head)) + head)
        for name, type_ in _ARRAYS.items():
            array = np.ascontiguousarray(getattr(self, name), type_)
            yield array.data
            yield bytes(-array.nbytes % _ALIGNED)

    def save(self, path: Path) -> None:
        """Writes the file beside its name, flushes it to disk and puts it there in one step."""
        Disk().write_whole(path, self.parts())

    @classmethod
    def open(cls, path: Path) -> QuerySegment:
        """The segment of a file, mapped and not read. Raises SegmentError, OSError."""
        with path.open("rb") as file:
            fixed = file.read(_FIXED.size)
            if len(fixed) < _FIXED.size or not fixed.startswith(MAGIC):
                raise SegmentError(f"{path}: not a segment of queries")
            _, version, length = _FIXED.unpack(fixed)
            if version != VERSION:
                raise SegmentError(f"{path}: a segment of version {version}; this program reads {VERSION}")
            text = file.read(length)
            if len(text) < length:
                raise SegmentError(f"{path}: the file is cut short")
            head = json.loads(text)
            begin = -(-(_FIXED.size + length) // _ALIGNED) * _ALIGNED
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        arrays = {}
        for name, type_ in _ARRAYS.items():
            at, count = head["arrays"][name]
            if begin + at + count * np.dtype(type_).itemsize > len(mapped):
                raise SegmentError(f"{path}: the file is cut short")
            arrays[name] = np.frombuffer(mapped, type_, count, begin + at)
        return cls(
            **arrays,
            fields=tuple(head["fields"]),
            schema=head["schema"],
            regexes=tuple(Regex(tuple(names), text, leaf) for names, text, leaf in head["regexes"]),
            units=head["units"],
        )


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % _ALIGNED)
