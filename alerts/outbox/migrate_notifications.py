"""From version 4 to 5: the tables of notifications and groups, and what deliveries say of them."""

from __future__ import annotations

from sqlalchemy import Connection, text

from alerts.outbox.notifications import groups, notifications
from alerts.outbox.schema import deliveries


def add_notifications(connection: Connection) -> None:
    """Make the tables, and the columns and indexes that deliveries lack. What waits goes out by itself, or
    with a group, as job.toml says when it does."""
    for table in (notifications, groups):
        table.create(connection)
    for column in (deliveries.c.grouped, deliveries.c.notification):
        kind = column.type.compile(connection.dialect)
        connection.execute(text(f"ALTER TABLE {deliveries.name} ADD COLUMN {column.name} {kind}"))
    for index in deliveries.indexes:
        if index.name in ("outbox_deliveries_grouped", "outbox_deliveries_made"):
            index.create(connection)
