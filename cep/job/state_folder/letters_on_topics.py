"""Dead letters and late events as they are written to topics: what is next, and what a position meant."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, Table, inspect, select

from alerts.notation import timestamp
from alerts.position import digest
from cep.job.state_folder.dead_letters import dead_letters

LONGEST = 900_000
"""Bytes of a value; brokers take a million with its headers. Of what is longer the beginning is written."""
_CHUNK = 500


@dataclass(frozen=True, slots=True)
class Letter:
    """A record to be: `place` is the number of its row, `sign` what tells it from others."""

    place: int
    sign: str
    value: bytes
    headers: tuple[tuple[str, bytes], ...]


def letters_after(connection: Connection, table: Table, number: int, most: int) -> list[Letter]:
    """The next letters of a table, dead_letters or late_events, in the order written."""
    if not inspect(connection).has_table(table.name):
        return []
    query = select(table).where(table.c.number > number).order_by(table.c.number).limit(most)
    return [_letter(table, row) for row in connection.execute(query)]


def digest_of(connection: Connection, table: Table, places: Sequence[int]) -> str:
    """The digest of what a table has at these places, as a position has it."""
    found: dict[int, str] = {}
    for start in range(0, len(places), _CHUNK):
        query = select(table).where(table.c.number.in_(places[start : start + _CHUNK]))
        found |= {row.number: _sign(table, row) for row in connection.execute(query)}
    return digest(found.get(place, "") for place in places)


def _sign(table: Table, row: Row[Any]) -> str:
    if table is dead_letters:
        return f"{row.feed} {row.file}:{row.offset} {row.stage}"
    return f"{row.stream} {row.file}:{row.offset} {row.id}"


def _letter(table: Table, row: Row[Any]) -> Letter:
    if table is dead_letters:
        value = bytes(row.data)
        own = {"feed": row.feed, "stage": row.stage, "reason": row.reason}
    else:
        value = row.data.encode("utf-8", "replace")
        own = {"feed": row.stream, "stage": "late", "reason": "it came after the watermark had passed it"}
        own |= {"id": row.id, "time": timestamp(row.time)}
    own |= {"place": row.file, "offset": str(row.offset), "batch": str(row.batch)}
    if len(value) > LONGEST:
        own["bytes"] = str(len(value))
    headers = tuple((name, text.encode("utf-8", "replace")) for name, text in own.items())
    return Letter(row.number, _sign(table, row), value[:LONGEST], headers)
