"""Events of the record by their ids: files are looked through from a batch backwards, so many and no more.

What an id stands for is mostly in the batch that raised the alert or in the few before it. Of files whose
events are all older than what is looked for, or younger, only the foot is read.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from alerts.notation import json_value
from cep.ahead import ahead
from cep.buckets import AT_ONCE
from cep.events import FILE, OFFSET, language_type
from cep.expressions.held import as_held, python
from cep.record.layout import RecordFile, days_in, files_in
from cep.record.places import parquet
from cep.record.writing import ARRIVAL, ID_COLUMN, PARTITION, STREAM_NAME, TIME_COLUMN

if TYPE_CHECKING:
    from cep.files import AnyPath

_Seen = tuple[list["RecordedEvent"], int] | None
"""The events sought of a file, and how many it has; None where it cannot be read."""
_UNREADABLE = (OSError, pa.ArrowException, ValueError, KeyError)


@dataclass(frozen=True, slots=True)
class RecordedEvent:
    """An accepted event. `fields` are its JSON values, as an alert writes them.

    `time` and `arrival` (when its batch began, by the clock) are in nanoseconds since 1970 UTC; `partition`,
    `file` and `offset` are its place.
    """

    stream: str
    id: str
    time: int
    partition: str
    file: str
    offset: int
    batch: int
    arrival: int
    fields: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Limits:
    """The most files and events that one look goes through; either is about a second's work.

    `at_once` files are read at a time.
    """

    files: int = 4_000
    events: int = 20_000_000
    at_once: int = 1

    def shared(self, number: int) -> Limits:
        """The part of one of several looks."""
        return replace(self, files=max(1, self.files // number), events=max(1, self.events // number))


@dataclass(frozen=True, slots=True)
class Sought:
    """Ids of a stream's events. They came with `batch` on `day` or before; their times are from `earliest`
    (None: whenever) to `latest`, in nanoseconds since 1970 UTC."""

    ids: Collection[str]
    batch: int
    day: str
    earliest: int | None
    latest: int


@dataclass(slots=True)
class Look:
    """The result of a look: `found` by id, those of each in order of arrival. `limited`: it ended at its
    limits; `unreadable` counts files; `oldest` is the first day that is there, if any is."""

    found: dict[str, list[RecordedEvent]] = field(default_factory=dict)
    limited: bool = False
    unreadable: int = 0
    oldest: str | None = None


IN_BUCKET = Limits(files=1_000, at_once=AT_ONCE)
"""A store answers in some ten milliseconds."""


def look_for(stream: AnyPath, sought: Sought, limits: Limits) -> Look:
    """The events sought in the folder of a stream. Raises OSError where it cannot be listed."""
    look, files, events = Look(), 0, 0
    days = days_in(stream)
    look.oldest = days[-1][0] if days else None
    left = set(sought.ids)
    values = pa.array(sorted(left), pa.string())
    batch = None
    inside = partial(_in_file, sought=sought, values=values)
    with closing(ahead(inside, _backwards(days, sought), limits.at_once)) as results:
        for one, result in results:
            # all lanes of a batch: one that is run again on fewer cores leaves files of the lanes before
            if one.batch != batch and (not left or files >= limits.files or events >= limits.events):
                look.limited = bool(left)
                break
            batch, files = one.batch, files + 1
            if result is None:
                look.unreadable += 1
                continue
            came, seen = result
            events += seen
            for event in came:
                look.found.setdefault(event.id, []).append(event)
                left.discard(event.id)
    for id_, several in look.found.items():
        look.found[id_] = _in_order_of_arrival(several)
    return look


def _backwards(days: list[tuple[str, AnyPath]], sought: Sought) -> Iterator[RecordFile]:
    for day, path in days:
        if day <= sought.day:
            yield from (one for one in files_in(path) if one.batch <= sought.batch)


def _in_file(of: RecordFile, *, sought: Sought, values: pa.Array) -> _Seen:
    """The events sought of a file, and how many were looked through; None where it cannot be read."""
    found: list[RecordedEvent] = []
    seen = 0
    try:
        with parquet(of.path, of.size) as file:
            said = file.schema_arrow.metadata or {}
            id_, time = said[ID_COLUMN].decode(), said[TIME_COLUMN].decode()
            for group in range(file.num_row_groups):
                if not _may_hold(file.metadata.row_group(group), time, sought):
                    continue
                ids = file.read_row_group(group, columns=[id_]).column(id_)
                seen += len(ids)
                mask = pc.is_in(ids, values)
                if pc.any(mask).as_py():
                    rows = file.read_row_group(group).filter(mask)
                    found += _events(rows, said[STREAM_NAME].decode(), (id_, time), of.batch)
    except _UNREADABLE:
        return None
    return [one for one in found if _in_time(one.time, sought)], seen


def _may_hold(group: Any, time: str, sought: Sought) -> bool:
    """False if the times of a group of rows tell that it holds none."""
    for number in range(group.num_columns):
        column = group.column(number)
        if column.path_in_schema == time and column.statistics is not None:
            least, greatest = column.statistics.min_raw, column.statistics.max_raw
            return least <= sought.latest and (sought.earliest is None or greatest >= sought.earliest)
    return True


def _in_time(time: int, sought: Sought) -> bool:
    return time <= sought.latest and (sought.earliest is None or time >= sought.earliest)


def _events(rows: pa.Table, stream: str, own: tuple[str, str], batch: int) -> Iterator[RecordedEvent]:
    declared = [one for one in rows.schema if not one.name.startswith("@")]
    types = [language_type(one.type) for one in declared]
    columns = [python(as_held(rows.column(one.name))) for one in declared]
    id_, time = own
    ours = [python(as_held(rows.column(name))) for name in (id_, time, PARTITION, FILE, OFFSET, ARRIVAL)]
    for (event, at, partition, file, offset, arrival), values in zip(
        zip(*ours, strict=True), zip(*columns, strict=True), strict=True
    ):
        fields = {
            one.name: json_value(value, type_)
            for one, value, type_ in zip(declared, values, types, strict=True)
        }
        yield RecordedEvent(stream, event, at, partition, file, offset, batch, arrival, fields)


def _in_order_of_arrival(events: list[RecordedEvent]) -> list[RecordedEvent]:
    """Each once, whatever lanes have it."""
    places = {(one.batch, one.partition, one.file, one.offset): one for one in events}
    return [places[place] for place in sorted(places)]
