"""What a shard remembers between batches, as versioned bytes.

    StateError    bytes that are no state, are damaged, or were written by a later version

Layout: magic, version, CRC-32 of the rest, length of the head, the head (JSON), the blobs it counts. Blobs
are int64 arrays or Arrow IPC streams. A space with nothing to remember is left out; a shard with nothing
has no bytes at all.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cep.matching.runs import Runs, counted
from cep.routing.payload import from_ipc, to_ipc

MAGIC = b"CEPs"
VERSION = 3
_HEAD = struct.Struct("<4sHII")
Ints = npt.NDArray[np.int64]
RuleId = tuple[str, str, str]
"""Pack, rule and structure hash."""
Judged = Mapping[RuleId, tuple[tuple[Mapping[str, int], ...], tuple[Mapping[str, int], ...]]]
"""For each rule, by place, the bit and the column of each stream: how verdicts of a plan are read."""


class StateError(Exception):
    """The state cannot be used; the text says why, for an operator."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """Events above the watermark, with the verdicts of the plan that judged them (decision 0001)."""

    stream: str
    plan: str
    judged: Judged
    table: pa.Table


@dataclass(frozen=True, slots=True)
class SpaceState:
    """One key space in one shard. `plan` is the plan whose registers and dictionary these are.

    `keys` are the values of the keys by number, `texts` the shard's dictionary, `stored` by stream the
    events that live runs took (`@id`, fields), which `events` numbers as (stream, row), streams in the
    order of `stored`. `rules` are those with live runs, in order; `runs` has these by the width at which a
    rule's ways are kept, and names keys, rules, events and texts by number. `histories` hold what `prev` may
    still see, `sightings` what an `absent` that comes first may look back at; `remembered` by stream the ids
    of events at the watermark.
    """

    plan: str
    sequence: int
    keys: pa.Table
    texts: pa.StringArray
    stored: Mapping[str, pa.Table]
    events: Ints
    rules: tuple[RuleId, ...]
    runs: Mapping[int, Runs]
    histories: Mapping[RuleId, pa.Table] = field(default_factory=dict)
    sightings: Mapping[RuleId, pa.Table] = field(default_factory=dict)
    waiting: tuple[Waiting, ...] = ()
    remembered: Mapping[str, pa.Table] = field(default_factory=dict)

    @property
    def empty(self) -> bool:
        """Whether there is nothing to remember."""
        return not (self.rules or self.histories or self.sightings or self.waiting or self.remembered)

    def live(self) -> dict[RuleId, int]:
        """How many live runs each rule has."""
        return dict(zip(self.rules, counted(self.runs, len(self.rules)).tolist(), strict=True))


State = Mapping[str, SpaceState]
"""By key space."""


def write(state: State) -> bytes | None:
    """The state as bytes; None where there is nothing to remember. Equal states give equal bytes."""
    blobs: list[bytes] = []

    def ints(array: Ints) -> list[int]:
        blobs.append(np.ascontiguousarray(array, np.int64).tobytes())
        return [len(blobs) - 1, *array.shape]

    def table(value: pa.Table) -> int:
        blobs.append(to_ipc(value))
        return len(blobs) - 1

    spaces = {}
    for name in sorted(name for name, space in state.items() if not space.empty):
        space = state[name]
        spaces[name] = {
            "plan": space.plan,
            "sequence": space.sequence,
            "keys": table(space.keys) if space.keys.num_columns else space.keys.num_rows,
            "single": space.keys.num_columns == 0,
            "texts": table(pa.table({"t": space.texts})),
            "stored": [[stream, table(t)] for stream, t in space.stored.items()],
            "events": ints(space.events),
            "rules": [list(rule) for rule in space.rules],
            "runs": [
                [width, [ints(a) for a in (runs.lists, runs.runs, runs.threads, runs.nodes)]]
                for width, runs in sorted(space.runs.items())
            ],
            "histories": [[list(rule), table(t)] for rule, t in sorted(space.histories.items())],
            "sightings": [[list(rule), table(t)] for rule, t in sorted(space.sightings.items())],
            "waiting": [[w.stream, w.plan, _readable(w.judged), table(w.table)] for w in space.waiting],
            "remembered": [[stream, table(t)] for stream, t in sorted(space.remembered.items())],
        }  # fmt: skip
    if not spaces:
        return None
    head = json.dumps({"blobs": [len(b) for b in blobs], "spaces": spaces}, ensure_ascii=False).encode()
    rest = b"".join((head, *blobs))
    return _HEAD.pack(MAGIC, VERSION, zlib.crc32(rest), len(head)) + rest


def _readable(judged: Judged) -> list[list[object]]:
    return [[list(rule), *map(list, of)] for rule, of in sorted(judged.items())]


def read(data: bytes | None) -> dict[str, SpaceState]:
    """The state of the bytes. Raises StateError."""
    if not data:
        return {}
    if len(data) < _HEAD.size or data[:4] != MAGIC:
        raise StateError("the state of a shard is not in the format that this program writes")
    _, version, checksum, length = _HEAD.unpack_from(data)
    if version > VERSION:
        raise StateError(
            f"the state of a shard has version {version}; this program reads up to version {VERSION}: "
            "run the program that wrote it, or a later one"
        )
    rest = memoryview(data)[_HEAD.size :]
    if version < VERSION:
        raise StateError(
            f"the state of a shard has version {version}, which this program cannot read: drain the job with "
            "the program that wrote it, or name a new [job] state"
        )
    if zlib.crc32(rest) != checksum:
        raise StateError("the state of a shard is damaged: its checksum is wrong")
    try:
        head = json.loads(bytes(rest[:length]))
        return {
            name: _space(space, _blobs(head["blobs"], rest[length:]))
            for name, space in head["spaces"].items()
        }
    except (KeyError, ValueError, TypeError, IndexError, pa.ArrowException) as error:
        raise StateError(f"the state of a shard cannot be read: {error}") from error


def _blobs(lengths: list[int], data: memoryview) -> list[memoryview]:
    found, at = [], 0
    for length in lengths:
        found.append(data[at : at + length])
        at += length
    return found


def _space(space: Mapping[str, Any], blobs: list[memoryview]) -> SpaceState:
    def ints(entry: list[int]) -> Ints:
        return np.frombuffer(blobs[entry[0]], np.int64).reshape(entry[1:])

    def rule(name: list[str]) -> RuleId:
        return (name[0], name[1], name[2])

    keys = pa.table({}) if space["single"] else from_ipc(blobs[space["keys"]])
    texts = from_ipc(blobs[space["texts"]]).column("t").combine_chunks()
    return SpaceState(
        plan=space["plan"],
        sequence=space["sequence"],
        keys=keys,
        texts=texts if isinstance(texts, pa.Array) else pa.concat_arrays(texts.chunks),
        stored={stream: from_ipc(blobs[at]) for stream, at in space["stored"]},
        events=ints(space["events"]),
        rules=tuple(map(rule, space["rules"])),
        runs={width: Runs(*map(ints, arrays)) for width, arrays in space["runs"]},
        histories={rule(name): from_ipc(blobs[at]) for name, at in space["histories"]},
        sightings={rule(name): from_ipc(blobs[at]) for name, at in space["sightings"]},
        waiting=tuple(
            Waiting(stream, plan, {rule(n): (tuple(p), tuple(c)) for n, p, c in judged}, from_ipc(blobs[at]))
            for stream, plan, judged, at in space["waiting"]
        ),
        remembered={stream: from_ipc(blobs[at]) for stream, at in space["remembered"]},
    )
