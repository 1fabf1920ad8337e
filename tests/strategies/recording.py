"""A record made without a job: batches of events, written as mappers do, and the alerts that they raise."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from alerts.masking import Mask
from alerts.notation import timestamp
from alerts.outbox import StoredAlert
from alerts.raised import Raised
from cep.buckets import Bucket
from cep.counters import Counts
from cep.decode.blocks import decoder
from cep.events import TIME, Events
from cep.inprocess.session import Session
from cep.job.shipping import packs
from cep.job.state_folder.folder import StateFolder
from cep.packs.compile import compile_plan
from cep.record.writing import LaneRecord, RecordedBatch
from cep.shard.advance import MatchOptions
from cep.sources.files.reading import read
from cep.sources.files.splits import splits
from rules.packs import load
from rules.typed import Stream

SECOND = 1_000_000_000
BEGIN = 1_767_600_000 * SECOND
DAY = 86_400 * SECOND


def at(seconds: float) -> str:
    """A time of an event, in seconds since the beginning."""
    return timestamp(BEGIN + round(seconds * SECOND))


@dataclass
class Recording:
    """A state folder with a pack and a record. Batches begin `apart` nanoseconds after one another."""

    root: Path
    text: str
    files: Mapping[str, str] = field(default_factory=dict)
    apart: int = SECOND
    mask: Mask | None = None
    bucket: Bucket | None = None
    clock: int = BEGIN
    batch: int = 0
    alerts: list[StoredAlert] = field(default_factory=list)
    raised: list[list[Raised]] = field(default_factory=list)

    def __post_init__(self) -> None:
        folder = self.root / "pack"
        folder.mkdir(parents=True)
        (folder / "p.rules").write_text(self.text, "utf-8")
        for name, text in self.files.items():
            (folder / name).write_text(text, "utf-8")
        self.state.make()
        self.pack = load([folder]).need()
        packs.store(self.state.packs, self.pack)
        self.plan = compile_plan([self.pack])
        self.session = Session(self.plan, options=MatchOptions(mask=self.mask))

    @property
    def state(self) -> StateFolder:
        return StateFolder(self.root / "state", bucket=self.bucket)

    def stream(self, name: str) -> Stream:
        return self.pack.stream(name)

    def events(self, stream: str, events: Iterable[Mapping[str, object]]) -> list[Events]:
        """Events as a feed of JSON lines brings them."""
        path = self.root / f"{stream}-{self.batch}.jsonl"
        path.write_text("".join(json.dumps(one) + "\n" for one in events), "utf-8")
        return list(self.decoded(path, self.stream(stream)))

    def decoded(self, path: Path, stream: Stream) -> Iterator[Events]:
        for split in splits(str(path), path.stat().st_size):
            for decoded in read(split, decoder(stream)):
                assert not decoded.dead, decoded.dead
                yield decoded.events

    def take(self, *came: tuple[str, list[dict[str, object]]], lane: int = 0) -> Counts:
        """A batch: recorded, then matched; what was counted of the record."""
        events = [one for stream, several in came for one in self.events(stream, several)]
        with LaneRecord(self.lane(lane)) as record:
            for one in events:
                record.add(one)
            counts = record.finish()
        newest = max((max(one.table.column(TIME).to_pylist()) for one in events if len(one.table)), default=0)
        self.raised.append(self.session.feed(events, newest))
        for raised in self.raised[-1]:
            alert = json.loads(raised.body)
            number = len(self.alerts) + 1
            self.alerts.append(StoredAlert(number, self.batch, raised.time, self.clock + SECOND, alert))
        self.batch, self.clock = self.batch + 1, self.clock + self.apart
        return counts

    def lane(self, number: int) -> RecordedBatch:
        streams = {name: self.plan.streams[name] for name in self.plan.read}
        return RecordedBatch(self.state.record, self.batch, self.clock, number, streams, 0, self.mask)
