"""Alerts into their table: rules by number, ids by `heads`; of several with one id the first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import repeat

import numpy as np
from sqlalchemy import Connection, Insert, func, insert, select
from sqlalchemy.dialects import postgresql, sqlite

from alerts.arrow_columns import Ints
from alerts.outbox.copy_rows import WORTHWHILE, copy_rows
from alerts.outbox.heads import PLACES, heads
from alerts.outbox.schema import alerts, indexed, rules
from alerts.outbox.write_rows import write_rows
from alerts.raised_columns import BODY, KEY, RaisedColumns

Row = tuple[object, ...]
"""A value for each of `COLUMNS`."""
COLUMNS = ("number", "head", "batch", "rule_number", "time", "key", "body", "recorded_at")
"""The columns of the alerts that are written; the id is in the body."""
AT_ONCE = 10_000
"""Alerts whose rows are made at a time: the texts of the next take the place of theirs in the memory."""
Named = tuple[str, str, str]
"""Pack, rule and severity."""


def insert_alerts(
    connection: Connection, batch: int, raised: RaisedColumns, now: int
) -> tuple[Ints, RaisedColumns]:
    """Insert the alerts that the outbox does not have; their numbers, and these alerts."""
    if not len(raised):
        return np.zeros(0, np.int64), raised
    first = _next_number(connection)
    numbers = np.arange(first, first + len(raised))
    own = rule_numbers(connection, [(one.pack, one.rule, one.severity) for one in raised.rules])

    def rows_of(some: slice) -> list[Row]:
        texts = raised.texts.take(some)
        columns = (
            numbers[some].tolist(), heads(raised.ids[some]).tolist(), repeat(batch),
            np.array(own)[raised.rule[some]].tolist(), raised.time[some].tolist(), texts.texts(KEY),
            texts.texts(BODY), repeat(now),
        )  # fmt: skip
        return list(zip(*columns, strict=False))

    for begin in range(0, len(raised), AT_ONCE):
        insert_rows(connection, rows_of(slice(begin, begin + AT_ONCE)))
    a = alerts.c
    count = connection.scalar(select(func.count()).where(a.number >= first))
    if count == len(raised):
        return numbers, raised
    there = connection.scalars(select(a.number).where(a.number >= first).order_by(a.number)).all()
    left_out = np.setdiff1d(numbers, np.array(there, np.int64)).tolist()
    beside = [
        number
        for number in left_out
        if _put_beside(connection, *rows_of(slice(number - first, number - first + 1)))
    ]
    taken = np.sort(np.array([*there, *beside], np.int64))
    return taken, raised.take(taken - first)


def _next_number(connection: Connection) -> int:
    """One more than any alert ever had that the indexes know: what was deleted gives no number free."""
    last = connection.scalar(select(func.max(alerts.c.number))) or 0
    return max(last, connection.scalar(select(indexed.c.number)) or 0) + 1


def insert_rows(connection: Connection, rows: Sequence[Row]) -> None:
    """Insert alerts but those whose head is taken."""
    if connection.dialect.name == "postgresql" and len(rows) >= WORTHWHILE:
        copy_rows(connection, alerts, COLUMNS, rows, "head")
    else:
        write_rows(connection, _but_known(connection), COLUMNS, rows)


def _but_known(connection: Connection) -> Insert:
    of_dialect = postgresql.insert if connection.dialect.name == "postgresql" else sqlite.insert
    statement: Insert = of_dialect(alerts).on_conflict_do_nothing(index_elements=[alerts.c.head])
    return statement


def _put_beside(connection: Connection, row: Row) -> bool:
    """Insert an alert whose head is taken in a place beside it, unless it is there; whether it was."""
    number, head, *rest = row
    assert isinstance(head, int)
    a = alerts.c
    near = a.head.between(head, head + PLACES - 1)
    there = dict(connection.execute(select(a.head, a.id).where(near)).all())
    if str(rest[-2])[7:71] in there.values():
        return False
    free = next(place for place in range(head, head + PLACES) if place not in there)
    insert_rows(connection, [(number, free, *rest)])
    return True


def rule_numbers(connection: Connection, named: Iterable[Named]) -> list[int]:
    """The number of each rule; one that the outbox has not met gets the next."""
    r = rules.c
    there = connection.execute(select(rules))
    known = {(pack, rule, severity): number for number, pack, rule, severity in there}
    wanted = list(named)
    for one in wanted:
        if one not in known:
            known[one] = max(known.values(), default=0) + 1
            values = {r.number: known[one], r.pack: one[0], r.rule: one[1], r.severity: one[2]}
            connection.execute(insert(rules).values(values))
    return [known[one] for one in wanted]
