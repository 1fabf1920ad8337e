"""The memory of a shard, as versioned bytes: a short head, and parts that are written once each.

    StateError    bytes that are no state, are damaged, do not belong together, or are of another version

A part is a segment, the layout of a plan, or events or ids that wait for the watermark. The head says which
parts there are, with length and digest; so it is the one name of everything that the shard remembers at a
moment, and nothing that was written later, or given up, can be taken for it. Layout of both: magic, version,
CRC-32 of the rest, length of the JSON that follows, the JSON, the blobs that it counts: narrow numbers
(cep.state.narrow) or Arrow IPC streams.
"""

from __future__ import annotations

import hashlib
import json
import struct
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import xxhash

from cep.batch.arrivals import single
from cep.batch.payload import from_ipc, to_ipc
from cep.batch.waiting import AtWatermark, Pending, PendingPart, PlanLayout, Waiting
from cep.hashing.shards import hashes_of
from cep.operators.known import forms
from cep.operators.patterns.runtime.kinds import PACKED, RAISED
from cep.operators.windows.runtime.window_rows import KIND as WINDOWS
from cep.operators.windows.runtime.window_rows import WindowRows
from cep.plan.plan import RuleId
from cep.shard.memory import NOTHING, ShardMemory, SpaceMemory
from cep.state.keyed_rows import SegmentRows
from cep.state.narrow import narrowed, widened
from cep.state.numbered import Numbered
from cep.state.segments import Content, Segment, indexed

MAGIC, MAGIC_OF_PART = b"CEPs", b"CEPp"
VERSION, OLDEST = 10, 5
"""The newest and the oldest version that can be read: in 5 no chain of events has a splice, before 7 no
match is kept that was raised, before 8 no run is packed, before 9 no windows are bytes, and before 10 all
digests are SHA-256."""
PLAIN = 6
"""The version that is written where there is none of these: earlier programs read it."""
_SINCE = {RAISED: 7, PACKED: 8}
"""The version in which a kind of state came, after that one."""
_COMPACT = 9
"""That of windows as bytes."""
_QUICK = 10
"""That of a part whose digest is XXH3."""
LARGE = 1 << 16
"""Bytes of columns from which a part has such a digest; one of less is read by earlier programs, too."""
_HEAD, _LENGTH = struct.Struct("<4sHI"), struct.Struct("<I")
_DIGEST = 32
Ints = npt.NDArray[np.int64]
StatePart = Segment | PlanLayout | PendingPart | AtWatermark


class StateError(Exception):
    """The state cannot be used; the text says why, for an operator."""


@dataclass(frozen=True, slots=True)
class StoredPart:
    """A part that was written: how long it is, and the digest of its bytes."""

    length: int
    digest: str


NO_PARTS: Mapping[int, tuple[StoredPart, StatePart]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Written:
    """A state to be stored in place of another: its head (None: there is nothing to remember), the parts that
    are new, by number, and the numbers of those that are gone. `stored` are all parts that the head names."""

    head: bytes | None
    parts: Mapping[int, bytes]
    gone: tuple[int, ...]
    stored: Mapping[int, StoredPart]


def write(memory: ShardMemory, before: Mapping[int, StoredPart]) -> Written:
    """The state as bytes, where the parts of `before` are stored already. Equal states give equal bytes."""
    stored: dict[int, StoredPart] = {}
    fresh: dict[int, bytes] = {}

    def kept(part: StatePart) -> int:
        number = part.number
        if number in before:
            stored[number] = before[number]
        elif number not in stored:
            data = _part(part)
            fresh[number] = data
            stored[number] = StoredPart(len(data), _digest(data))
        return number

    spaces = {
        name: {
            "layout": kept(space.layout),
            "sequence": space.sequence,
            "texts": space.texts,
            "segments": [kept(segment) for segment in space.segments],
            "live": [[n, runs] for n, runs in enumerate(space.live.tolist()) if runs],
            "weight": space.weight,
            "until": space.pending.until,
            "delayed": [kept(part) for part in space.pending.parts],
            "known": None if space.pending.known is None else kept(space.pending.known),
            "layouts": sorted({kept(layout) for layout in _layouts(space.pending)}),
        }
        for name, space in sorted(memory.spaces.items())
    }
    gone = tuple(sorted(before.keys() - stored.keys()))
    if not spaces:
        return Written(None, {}, gone, {})
    parts = [[number, part.length, part.digest] for number, part in sorted(stored.items())]
    head = {"parts": parts, "next": memory.next_part, "spaces": spaces}
    return Written(_packed(MAGIC, head, []), fresh, gone, stored)


def parts_of(memory: ShardMemory) -> Iterator[StatePart]:
    """All parts of what a shard remembers; some may come twice."""
    for space in memory.spaces.values():
        yield space.layout
        yield from space.segments
        yield from space.pending.parts
        yield from _layouts(space.pending)
        if space.pending.known is not None:
            yield space.pending.known


def _layouts(pending: Pending) -> Iterator[PlanLayout]:
    return (events.layout for part in pending.parts for events in part.events)


def stored_parts(head: bytes | None) -> dict[int, StoredPart]:
    """The parts that a head names. Raises StateError."""
    return _stored(_unpacked(MAGIC, head)[0]) if head else {}


def read(
    head: bytes | None,
    load: Callable[[int, int], bytes | None],
    known: Mapping[int, tuple[StoredPart, StatePart]] = NO_PARTS,
) -> ShardMemory:
    """The memory of a shard. `load` gives the bytes of a part by number and length, None where there is no
    such part; those that are `known` by number are not asked for. Raises StateError."""
    if not head:
        return NOTHING
    content, _ = _unpacked(MAGIC, head)
    try:
        stored = _stored(content)
        reader = _Reader(stored, load, known)
        spaces = {name: reader.space(space) for name, space in content["spaces"].items()}
        return ShardMemory(spaces, content["next"])
    except (KeyError, ValueError, TypeError, IndexError, pa.ArrowException) as error:
        raise StateError(f"the state of a shard cannot be read: {error}") from error


def _stored(content: Mapping[str, Any]) -> dict[int, StoredPart]:
    return {number: StoredPart(length, digest) for number, length, digest in content["parts"]}


@dataclass(slots=True)
class _Reader:
    stored: Mapping[int, StoredPart]
    load: Callable[[int, int], bytes | None]
    known: Mapping[int, tuple[StoredPart, StatePart]]
    layouts: dict[int, PlanLayout] = field(default_factory=dict)

    def space(self, space: Mapping[str, Any]) -> SpaceMemory:
        layout = self.layout(space["layout"])
        live = np.zeros(len(layout.rules), np.int64)
        for number, runs in space["live"]:
            live[number] = runs
        return SpaceMemory(
            layout=layout,
            sequence=space["sequence"],
            texts=space["texts"],
            segments=tuple(self.segment(number) for number in space["segments"]),
            live=live,
            weight=space["weight"],
            pending=self.pending(space),
        )

    def layout(self, number: int) -> PlanLayout:
        if number not in self.layouts:
            known = self.same(number)
            self.layouts[number] = known if isinstance(known, PlanLayout) else self.fresh_layout(number)
        return self.layouts[number]

    def fresh_layout(self, number: int) -> PlanLayout:
        content, _ = self.part(number)
        slots = {_rule(name): (tuple(places), tuple(columns)) for name, places, columns in content["judged"]}
        return PlanLayout(number, content["plan"], tuple(map(_rule, content["rules"])), slots)

    def segment(self, number: int) -> Segment:
        known = self.same(number)
        return known if isinstance(known, Segment) else indexed(number, _content(*self.part(number)))

    def pending(self, space: Mapping[str, Any]) -> Pending:
        by_plan = {layout.plan: layout for layout in map(self.layout, space["layouts"])}
        return Pending(
            space["until"],
            tuple(self.pending_part(number, by_plan) for number in space["delayed"]),
            None if space["known"] is None else self.at_watermark(space["known"]),
        )

    def pending_part(self, number: int, by_plan: Mapping[str, PlanLayout]) -> PendingPart:
        known = self.same(number)
        if isinstance(known, PendingPart):
            return known
        content, blobs = self.part(number)
        events = (Waiting(s, by_plan[plan], from_ipc(blobs[at])) for s, plan, at in content["events"])
        return PendingPart(number, content["batch"], content["last"], tuple(events))

    def at_watermark(self, number: int) -> AtWatermark:
        known = self.same(number)
        if isinstance(known, AtWatermark):
            return known
        content, blobs = self.part(number)
        return AtWatermark(number, {stream: from_ipc(blobs[at]) for stream, at in content["ids"]})

    def same(self, number: int) -> StatePart | None:
        """The known part of that number, if it is the one that is stored."""
        stored, part = self.known.get(number, (None, None))
        return part if stored == self.stored[number] else None

    def part(self, number: int) -> tuple[Mapping[str, Any], list[memoryview]]:
        expected = self.stored[number]
        data = self.load(number, expected.length)
        if data is None:
            raise StateError(f"part {number} of the state of a shard is missing")
        if len(data) == expected.length and _digest(data) == expected.digest:
            return _unpacked(MAGIC_OF_PART, data)
        # Damage is told from a part of another state.
        _unpacked(MAGIC_OF_PART, data)
        raise StateError(f"part {number} of the state of a shard is of another moment than its head")


def _digest(data: bytes) -> str:
    """The digest of a part, by its version."""
    if _HEAD.unpack_from(data)[1] >= _QUICK:
        return xxhash.xxh3_128_hexdigest(data)
    return hashlib.sha256(data).hexdigest()[:_DIGEST]


def _rule(name: list[str]) -> RuleId:
    return (name[0], name[1], name[2])


def _packed(magic: bytes, head: Mapping[str, object], blobs: list[bytes], version: int = PLAIN) -> bytes:
    text = json.dumps({**head, "blobs": [len(b) for b in blobs]}, ensure_ascii=False).encode()
    rest = (_LENGTH.pack(len(text)), text, *blobs)
    checksum = 0
    for piece in rest:
        checksum = zlib.crc32(piece, checksum)
    return b"".join((_HEAD.pack(magic, version, checksum), *rest))


def _unpacked(magic: bytes, data: bytes) -> tuple[Mapping[str, Any], list[memoryview]]:
    """The head and the blobs of what `_packed` gave. Raises StateError."""
    if len(data) < _HEAD.size + _LENGTH.size or data[:4] != magic:
        raise StateError("the state of a shard is not in the format that this program writes")
    _, version, checksum = _HEAD.unpack_from(data)
    if version > VERSION:
        raise StateError(
            f"the state of a shard has version {version}; this program reads up to version {VERSION}: "
            "run the program that wrote it, or a later one"
        )
    if version < OLDEST:
        raise StateError(
            f"the state of a shard has version {version}, which this program cannot read: drain the job with "
            "the program that wrote it, or name a new [job] state"
        )
    rest = memoryview(data)[_HEAD.size :]
    if zlib.crc32(rest) != checksum:
        raise StateError("the state of a shard is damaged: its checksum is wrong")
    try:
        at = _LENGTH.size + _LENGTH.unpack_from(rest)[0]
        head = json.loads(bytes(rest[_LENGTH.size : at]))
        blobs = []
        for size in head["blobs"]:
            blobs.append(rest[at : at + size])
            at += size
    except (KeyError, ValueError, TypeError) as error:
        raise StateError(f"the state of a shard cannot be read: {error}") from error
    return head, blobs


def _part(part: StatePart) -> bytes:
    blobs: list[bytes] = []

    def ints(array: Ints) -> list[object]:
        kinds, data = narrowed(array)
        blobs.append(data)
        return [len(blobs) - 1, kinds, array.shape]

    def table(value: pa.Table) -> int:
        blobs.append(to_ipc(value))
        return len(blobs) - 1

    head: dict[str, object]
    version = PLAIN
    match part:
        case PlanLayout():
            slots = [[list(rule), *map(list, of)] for rule, of in part.slots.items()]
            head = {"plan": part.plan, "rules": [list(rule) for rule in part.rules], "judged": slots}
        case PendingPart():
            events = [[of.stream, of.layout.plan, table(of.table)] for of in part.events]
            head = {"batch": part.batch, "last": part.last, "events": events}
        case AtWatermark():
            head = {"ids": [[stream, table(ids)] for stream, ids in sorted(part.ids.items())]}
        case Segment():
            content = part.content
            version = max((_version(kind, rows) for kind, rows in content.rows.items()), default=PLAIN)
            head = {
                "keys": table(_columns(content.keys)) if content.keys else None,
                "whole": ints(content.whole.astype(np.int64)),
                "due": ints(content.due),
                **{kind: rows.written(ints) for kind, rows in content.rows.items()},
                "events": [
                    [stream, ints(of.numbers), table(of.table)]
                    for stream, of in sorted(content.events.items())
                ],
                "texts": [ints(content.texts.numbers), table(content.texts.table)],
            }
    if sum(map(len, blobs)) >= LARGE:
        version = _QUICK
    return _packed(MAGIC_OF_PART, head, blobs, version)


def _version(kind: str, rows: SegmentRows) -> int:
    """The first version that can be read of a kind of state in this form."""
    compact = kind == WINDOWS and not isinstance(rows, WindowRows)
    return _COMPACT if compact else _SINCE.get(kind, PLAIN)


_OF_SEGMENTS = ("keys", "whole", "due", "events", "texts", "blobs")
"""What the JSON of a segment has besides the state that operators keep, by kind."""


def _columns(keys: tuple[pa.Array, ...]) -> pa.Table:
    return pa.table({f"k{number}": column for number, column in enumerate(keys)})


def _content(head: Mapping[str, Any], blobs: list[memoryview]) -> Content:
    def ints(entry: list[Any]) -> Ints:
        return widened(entry[1], entry[2], blobs[entry[0]])

    keys = () if head["keys"] is None else tuple(map(single, from_ipc(blobs[head["keys"]]).columns))
    known, kinds = forms(), [name for name in head if name not in _OF_SEGMENTS]
    if strange := [kind for kind in kinds if kind not in known]:
        raise StateError(
            f"the state of a shard has {strange[0]!r}, which this program cannot read: run the program that "
            "wrote it, or a later one"
        )
    numbers, texts = head["texts"]
    due = ints(head["due"])
    hashes = hashes_of(keys, len(due))
    if np.any(hashes[1:] < hashes[:-1]):
        raise ValueError("keys are not in the order of their hashes")
    return Content(
        keys=keys,
        hashes=hashes,
        whole=ints(head["whole"]) != 0,
        due=due,
        rows={kind: known[kind].read(head[kind], ints) for kind in kinds},
        events={stream: Numbered(ints(of), from_ipc(blobs[at])) for stream, of, at in head["events"]},
        texts=Numbered(ints(numbers), from_ipc(blobs[texts])),
    )
