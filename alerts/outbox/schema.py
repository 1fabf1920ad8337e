"""The outbox's tables. Nothing here is of one database only; where a hint is, it names its dialect.

Times of events are nanoseconds since 1970 UTC; so are moments of the wall clock, whose names end in `_at`.
"""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, ForeignKey, Index, Integer, MetaData, String, Table, Text, text

VERSION = 2

metadata = MetaData()

_NUMBER = BigInteger().with_variant(Integer, "sqlite")  # SQLite's row id is an INTEGER, of 64 bits too

versions = Table("outbox_version", metadata, Column("version", Integer, primary_key=True))

batches = Table(
    "outbox_batches",
    metadata,
    Column("number", _NUMBER, primary_key=True, autoincrement=False),
    Column("digest", String(128), nullable=False),  # of the batch's manifest
    Column("result", Text, nullable=False),  # JSON
    Column("recorded_at", BigInteger, nullable=False),
)

alerts = Table(
    "outbox_alerts",
    metadata,
    Column("number", _NUMBER, primary_key=True, autoincrement=False),  # in the order raised
    Column("id", String(64), nullable=False, unique=True),
    Column("batch", BigInteger, nullable=False, index=True),
    Column("pack", Text, nullable=False),
    Column("rule", Text, nullable=False),
    Column("severity", String(16), nullable=False),
    Column("time", BigInteger, nullable=False, index=True),
    Column("body", Text, nullable=False),  # the alert's JSON, byte for byte what receivers get
    Column("recorded_at", BigInteger, nullable=False),
)

FAILED = text("state = 'failed'")
"""As a text, so that databases see that the partial index of failed deliveries answers it."""

deliveries = Table(
    "outbox_deliveries",
    metadata,
    Column("receiver", String(200), primary_key=True),
    Column("alert", _NUMBER, ForeignKey(alerts.c.number), primary_key=True),
    Column("state", String(16), nullable=False),  # pending, delivered, failed
    Column("attempts", Integer, nullable=False),
    Column("due_at", BigInteger),  # of the next attempt; null unless pending
    Column("settled_at", BigInteger),  # of the last attempt
    Column("outcome", Text, nullable=False),  # of the last attempt, in words
    Index(
        "outbox_deliveries_due",
        "receiver",
        "due_at",
        "alert",
        sqlite_where=text("due_at IS NOT NULL"),
        postgresql_where=text("due_at IS NOT NULL"),
    ),
    Index("outbox_deliveries_failed", "receiver", "state", sqlite_where=FAILED, postgresql_where=FAILED),
    sqlite_with_rowid=False,
)

suppression = Table(
    "outbox_suppression",
    metadata,
    Column("pack", Text, primary_key=True),
    Column("rule", Text, primary_key=True),
    Column("key", Text, primary_key=True),
    Column("since", BigInteger, nullable=False),
    Column("until", BigInteger, nullable=False),
    Column("pending", Integer, nullable=False),
    Index("outbox_suppression_over", "pending", "until"),
    sqlite_with_rowid=False,
)

withheld = Table(
    "outbox_withheld",  # written by earlier programs: ids of what was withheld and may be decided again
    metadata,
    Column("id", String(64), primary_key=True),
    Column("again", BigInteger, nullable=False, index=True),  # until when, in event time
    sqlite_with_rowid=False,
)
