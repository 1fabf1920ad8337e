"""The standings of receivers, kept: a restart forgets no pause, and another process sees and ends one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from sqlalchemy import BigInteger, Column, Connection, String, Table, Text, delete, insert, select

from alerts.outbox.schema import metadata
from alerts.standing import Standing, State

receivers = Table(
    "outbox_receivers",  # those that ever were not attempted, or failed for a while
    metadata,
    Column("receiver", String(200), primary_key=True),
    Column("state", String(16), nullable=False),  # closed, open, paused
    Column("reason", Text, nullable=False),
    Column("since_at", BigInteger),  # of the state
    Column("probe_at", BigInteger),  # of the attempt that finds out; null: none is made
    Column("failing_since_at", BigInteger),  # nothing but failures since
    sqlite_with_rowid=False,
)


def add_receivers(connection: Connection) -> None:
    """From version 3 to 4: make the table."""
    receivers.create(connection)


def read_standings(connection: Connection) -> dict[str, Standing]:
    """The standings of receivers, of those that there is something to say of."""
    r = receivers.c
    query = select(r.receiver, r.state, r.reason, r.since_at, r.probe_at, r.failing_since_at)
    return {name: Standing(cast(State, state), *rest) for name, state, *rest in connection.execute(query)}


def write_standings(connection: Connection, standings: Mapping[str, Standing]) -> None:
    """Put these in the place of what is there of their receivers."""
    r = receivers.c
    if standings:
        connection.execute(delete(receivers).where(r.receiver.in_(list(standings))))
    rows = [
        {
            "receiver": name,
            "state": one.state,
            "reason": one.reason,
            "since_at": one.since_at,
            "probe_at": one.probe_at,
            "failing_since_at": one.failing_since_at,
        }
        for name, one in standings.items()
        if one != Standing()
    ]
    if rows:
        connection.execute(insert(receivers), rows)
