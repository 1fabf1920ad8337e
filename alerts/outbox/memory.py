"""Suppression memory in the database: only the slots and alerts that a batch touches are read and written."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from sqlalchemy import Column, Connection, bindparam, delete, insert, select

from alerts.outbox.schema import alerts, suppression, withheld
from alerts.raised import Raised
from alerts.suppress import Held, Memory, Slot

_CHUNK = 2_000


def read(connection: Connection, slots: Iterable[Slot]) -> Memory:
    """What suppression remembers of these slots."""
    table = suppression.c
    keys: dict[tuple[str, str], set[str]] = defaultdict(set)
    for pack, rule, key in slots:
        keys[pack, rule].add(key)
    held: dict[Slot, Held] = {}
    for (pack, rule), wanted in keys.items():
        listed = sorted(wanted)
        for start in range(0, len(listed), _CHUNK):
            query = select(table.key, table.since, table.until, table.pending).where(
                table.pack == pack, table.rule == rule, table.key.in_(listed[start : start + _CHUNK])
            )
            for key, since, until, pending in connection.execute(query):
                held[pack, rule, key] = Held(since, until, pending)
    return Memory(held)


def write(connection: Connection, before: Memory, after: Memory) -> None:
    """Brings the table from `before` to `after`, both of the same slots."""
    table = suppression.c
    changed = {slot: held for slot, held in after.held.items() if before.held.get(slot) != held}
    gone = [slot for slot in before.held if slot in changed or slot not in after.held]
    if gone:
        this = delete(suppression).where(
            table.pack == bindparam("p"), table.rule == bindparam("r"), table.key == bindparam("k")
        )
        connection.execute(this, [{"p": pack, "r": rule, "k": key} for pack, rule, key in gone])
    if changed:
        rows = [
            {"pack": pack, "rule": rule, "key": key, "since": h.since, "until": h.until, "pending": h.pending}
            for (pack, rule, key), h in changed.items()
        ]
        connection.execute(insert(suppression), rows)


def known(connection: Connection, raised: Sequence[Raised]) -> set[str]:
    """The ids of alerts of suppressed rules that were raised before, or withheld and may be decided again."""
    raised = [one for one in raised if one.withholding is not None]
    again = [one for one in raised if one.withholding is not None and one.withholding.again is not None]
    return {
        *_among(connection, alerts.c.id, [one.id for one in raised]),
        *_among(connection, withheld.c.id, [one.id for one in again]),
    }


def _among(connection: Connection, column: Column[str], ids: Sequence[str]) -> Iterable[str]:
    for start in range(0, len(ids), _CHUNK):
        yield from connection.scalars(select(column).where(column.in_(ids[start : start + _CHUNK])))


def remember(connection: Connection, silent: Iterable[Raised]) -> None:
    """Notes which alerts were withheld, as far as they may be decided again."""
    rows = [
        {"id": one.id, "again": one.withholding.again}
        for one in silent
        if one.withholding is not None and one.withholding.again is not None
    ]
    if rows:
        connection.execute(insert(withheld), rows)


def forget(connection: Connection, now: int) -> None:
    """Drops what matters to no alert from event time `now` on: slots that withhold nothing and have no
    count to tell, alerts that will not be decided again."""
    table = suppression.c
    connection.execute(delete(suppression).where(table.pending == 0, table.until <= now))
    connection.execute(delete(withheld).where(withheld.c.again < now))
