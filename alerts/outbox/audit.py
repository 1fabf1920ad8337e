"""Who did what, and when: a line for each change by a person or a program, in the transaction of the change.

The table is made when the first line is written.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import BigInteger, Column, Connection, Integer, MetaData, Table, Text, insert, inspect, select
from sqlalchemy.schema import CreateTable

_NUMBER = BigInteger().with_variant(Integer, "sqlite")

audit = Table(
    "outbox_audit",
    MetaData(),
    Column("number", _NUMBER, primary_key=True, autoincrement=True),
    Column("at", BigInteger, nullable=False),  # wall clock in ns
    Column("who", Text, nullable=False),
    Column("what", Text, nullable=False),  # such as `episode close`
    Column("details", Text, nullable=False),  # JSON
)


@dataclass(frozen=True, slots=True)
class Audited:
    """One line: `who` did `what` at a moment of the wall clock in ns; `details` is a JSON object."""

    number: int
    at: int
    who: str
    what: str
    details: Mapping[str, object]


def note(connection: Connection, who: str, what: str, details: Mapping[str, object], at: int) -> None:
    """Write a line within the transaction that `connection` is in."""
    connection.execute(CreateTable(audit, if_not_exists=True))
    values = {"at": at, "who": who, "what": what, "details": json.dumps(details)}
    connection.execute(insert(audit), values)


def read_audit(connection: Connection, before: int | None = None, limit: int = 100) -> list[Audited]:
    """The lines with numbers less than `before`, the newest first."""
    if not inspect(connection).has_table(audit.name):
        return []
    query = select(audit).order_by(audit.c.number.desc()).limit(limit)
    if before is not None:
        query = query.where(audit.c.number < before)
    return [
        Audited(number, at, who, what, json.loads(details))
        for number, at, who, what, details in connection.execute(query)
    ]
