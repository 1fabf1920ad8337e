"""From the outbox of a version before: what this one has more is added, alerts move some at a time.

Versions 3 and 4 lack what `ADDED` makes. Version 2 also kept pack, rule and severity with every alert, and
the id as a text of its own with an index. The first step adds, puts the table of version 2 aside and notes
the new version, so that no program of before opens what is half moved; each further step moves some alerts,
and is committed. Whoever opens the outbox to write goes on where another ended.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    MetaData,
    Table,
    Text,
    delete,
    func,
    inspect,
    select,
    text,
    update,
)

from alerts.outbox.heads import places
from alerts.outbox.insert import insert_rows, rule_numbers
from alerts.outbox.migrate_notifications import add_notifications
from alerts.outbox.migrate_stages import add_stages
from alerts.outbox.schema import VERSION, alerts, assigned, by_key, by_rule, indexed, rules, versions
from alerts.outbox.standings import add_receivers
from alerts.outbox.trailing import index_some
from alerts.raised_columns import key_of

MOVED = 2
"""The version whose alerts move."""
BEFORE = (MOVED, 3, 4)
"""The versions that are brought up to date."""
ADDED: tuple[tuple[int, Callable[[Connection], None]], ...] = (
    (4, add_receivers), (4, add_stages), (5, add_notifications),
)  # fmt: skip
"""The steps that bring what versions before do not have, each with the first version that has it."""
STEP = 5_000
"""Alerts that a transaction moves: some tenths of a second."""

aside = Table(
    "outbox_alerts_2",
    MetaData(),
    *(Column(name, BigInteger) for name in ("number", "batch", "time", "recorded_at")),
    *(Column(name, Text) for name in ("id", "pack", "rule", "severity", "body")),
)


def unfinished(connection: Connection) -> bool:
    """True if alerts of the version before are still to be moved."""
    return aside.name in inspect(connection).get_table_names()


def begin(connection: Connection, found: int) -> None:
    """Add what the version found does not have; alerts of version 2 are put aside."""
    if found == MOVED:
        _put_aside(connection)
    for version, add in ADDED:
        if found < version:
            add(connection)
    if unfinished(connection):  # what is still to be moved belongs to no episode either
        last = select(func.max(aside.c.number)).scalar_subquery()
        connection.execute(update(assigned).values(number=last))
    connection.execute(update(versions).values(version=VERSION))


def _put_aside(connection: Connection) -> None:
    if connection.dialect.name == "sqlite":
        # deliveries go on to mean the table of alerts by its name
        connection.execute(text("PRAGMA legacy_alter_table=ON"))
    else:
        connection.execute(
            text("ALTER TABLE outbox_deliveries DROP CONSTRAINT IF EXISTS outbox_deliveries_alert_fkey")
        )
    connection.execute(text(f"ALTER TABLE {alerts.name} RENAME TO {aside.name}"))
    if connection.dialect.name == "sqlite":
        connection.execute(text("PRAGMA legacy_alter_table=OFF"))
    for table in (rules, alerts, by_rule, by_key, indexed):
        table.create(connection)
    connection.execute(indexed.insert(), {"number": 0})


def move_some(connection: Connection, most: int = STEP) -> bool:
    """Move the next alerts; whether some are left. At last the table that was put aside is dropped."""
    columns = aside.c
    query = select(
        columns.number, columns.id, columns.batch, columns.pack, columns.rule, columns.severity, columns.time,
        columns.body, columns.recorded_at,
    ).order_by(columns.number).limit(most)  # fmt: skip
    moved = connection.execute(query).all()
    if not moved:
        if index_some(connection):
            return True
        connection.execute(text(f"DROP TABLE {aside.name}"))
        return False
    own = rule_numbers(connection, [(pack, rule, severity) for _, _, _, pack, rule, severity, *_ in moved])
    taken = _heads(connection, [id_ for _, id_, *_ in moved])
    insert_rows(
        connection,
        [
            (number, head, batch, rule, time, key_of(body), body, recorded_at)
            for (number, _, batch, _, _, _, time, body, recorded_at), rule, head in zip(
                moved, own, taken, strict=True
            )
        ],
    )
    connection.execute(delete(aside).where(columns.number <= moved[-1][0]))
    return True


def _heads(connection: Connection, ids: list[str]) -> list[int]:
    """A free head for each id: ids of the version before are all different."""
    wanted = [places(id_) for id_ in ids]
    a = alerts.c.head
    taken = {
        head
        for start in range(0, len(wanted), 1_000)
        for head in connection.scalars(
            select(a).where(a.in_([h for some in wanted[start : start + 1_000] for h in some]))
        )
    }
    found = []
    for some in wanted:
        free = next(head for head in some if head not in taken)
        taken.add(free)
        found.append(free)
    return found
