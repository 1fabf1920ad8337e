"""From version 3 to 4: the tables of silences, episodes and ways, and what deliveries say more."""

from __future__ import annotations

from sqlalchemy import Connection, func, select, text

from alerts.outbox.schema import alerts, assigned, deliveries, episodes, silences, ways


def add_stages(connection: Connection) -> None:
    """Make the tables, and the columns that deliveries lack. Alerts of before belong to no episode: a desk
    would find all of them open."""
    for table in (ways, silences, episodes, assigned):
        table.create(connection)
    last = connection.scalar(select(func.max(alerts.c.number))) or 0
    connection.execute(assigned.insert(), {"number": last})
    for column in (deliveries.c.way, deliveries.c.held, deliveries.c.trace):
        kind = column.type.compile(connection.dialect)
        connection.execute(text(f"ALTER TABLE {deliveries.name} ADD COLUMN {column.name} {kind}"))
    next(index for index in deliveries.indexes if index.name == "outbox_deliveries_held").create(connection)
