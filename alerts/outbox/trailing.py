"""The indexes that pages of alerts are read by. They trail the alerts: a large batch does not wait for them.

Written for many alerts at once, in the order of the index, they cost half of what an index of the database
does. `outbox_indexed` has the number up to which they know the alerts; those after it are looked through.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, and_, bindparam, delete, func, insert, select, update

from alerts.outbox.schema import ERASED, KEY_LENGTH, alerts, by_key, by_rule, indexed

STEP = 20_000
"""Alerts that a transaction takes in, so that a batch does not wait for longer than that takes."""


def last_indexed(connection: Connection) -> int:
    """The number of the last alert that the indexes know."""
    return connection.scalar(select(indexed.c.number)) or 0


def index_some(connection: Connection, most: int = STEP) -> bool:
    """Take in the next alerts; whether there are more of them."""
    a = alerts.c
    before, newest = last_indexed(connection), connection.scalar(select(func.max(a.number))) or 0
    if newest <= before:
        return False
    last = min(newest, before + most)
    new = and_(a.number.between(before + 1, last), a.key != ERASED)
    of_rule = select(a.rule_number, a.number).where(new).order_by(a.rule_number, a.number)
    key = func.substr(a.key, 1, KEY_LENGTH)
    of_key = select(key, a.number).where(new).order_by(key, a.number)
    connection.execute(insert(by_rule).from_select(["rule_number", "number"], of_rule))
    connection.execute(insert(by_key).from_select(["key", "number"], of_key))
    connection.execute(update(indexed).values(number=last))
    return last < newest


def unindex(connection: Connection, numbers: Sequence[int]) -> None:
    """Take alerts out of the indexes that pages are read by, row by row: SQLite would look for a set of pairs
    among all rows of their first parts."""
    a, rule, key = alerts.c, by_rule.c, by_key.c
    query = select(a.number, a.rule_number, func.substr(a.key, 1, KEY_LENGTH)).where(a.number.in_(numbers))
    rows = [dict(zip("nrk", row, strict=True)) for row in connection.execute(query)]
    of_rule = rule.rule_number == bindparam("r"), rule.number == bindparam("n")
    of_key = key.key == bindparam("k"), key.number == bindparam("n")
    connection.execute(delete(by_rule).where(*of_rule), rows)
    connection.execute(delete(by_key).where(*of_key), rows)
