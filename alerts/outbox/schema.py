"""The outbox's tables. Nothing here is of one database only; where a hint is, it names its dialect.

Times of events are nanoseconds since 1970 UTC; so are moments of the wall clock, whose names end in `_at`.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Column,
    Computed,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
    text,
)  # fmt: skip
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import DDLCompiler

VERSION = 5

metadata = MetaData()

_NUMBER = BigInteger().with_variant(Integer, "sqlite")  # SQLite's row id is an INTEGER, of 64 bits too


class _InBody(Computed):
    """A column that is read from another one."""

    inherit_cache = True


@compiles(_InBody, "postgresql")
def _stored(column: _InBody, _compiler: DDLCompiler, **_options: object) -> str:
    """Before version 18 PostgreSQL can only store it."""
    return f"GENERATED ALWAYS AS ({column.sqltext}) STORED"


versions = Table("outbox_version", metadata, Column("version", Integer, primary_key=True))

batches = Table(
    "outbox_batches",
    metadata,
    Column("number", _NUMBER, primary_key=True, autoincrement=False),
    Column("digest", String(128), nullable=False),  # of the batch's manifest
    Column("result", Text, nullable=False),  # JSON
    Column("recorded_at", BigInteger, nullable=False),
)

rules = Table(
    "outbox_rules",  # those that ever raised something; few
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("pack", Text, nullable=False),
    Column("rule", Text, nullable=False),
    Column("severity", String(16), nullable=False),
    UniqueConstraint("pack", "rule", "severity"),
)

alerts = Table(
    "outbox_alerts",
    metadata,
    Column("number", _NUMBER, primary_key=True, autoincrement=False),  # in the order raised
    Column("head", BigInteger, nullable=False, unique=True),  # of the id: alerts.outbox.heads
    Column("batch", BigInteger, nullable=False),
    Column("rule_number", Integer, nullable=False),  # in outbox_rules
    Column("time", BigInteger, nullable=False),
    Column("key", Text, nullable=False),  # JSON, as in the body
    Column("body", Text, nullable=False),  # the alert's JSON, byte for byte what receivers get
    Column("recorded_at", BigInteger, nullable=False),
    Column("id", String(64), _InBody("substr(body, 8, 64)")),  # every body begins with it
)

ERASED = ""
"""The key of an alert that was erased; its body has its id alone."""
ENDED = "erased"
"""The state of its deliveries: nothing makes them pending again."""
KEY_LENGTH = 200
"""Characters of a key that are in the index: PostgreSQL takes no entries of any length."""

by_rule = Table(
    "outbox_by_rule",  # an index, filled by alerts.outbox.trailing
    metadata,
    Column("rule_number", Integer, primary_key=True, autoincrement=False),
    Column("number", _NUMBER, primary_key=True, autoincrement=False),
    sqlite_with_rowid=False,
)

by_key = Table(
    "outbox_by_key",
    metadata,
    Column("key", Text, primary_key=True),
    Column("number", _NUMBER, primary_key=True, autoincrement=False),
    sqlite_with_rowid=False,
)

indexed = Table("outbox_indexed", metadata, Column("number", _NUMBER, nullable=False))  # one row

FAILED = text("state = 'failed'")
"""As a text, so that databases see that the partial index of failed deliveries answers it."""

HELD = text("held IS NOT NULL")
FOR_GOOD = "alert "
"""How the reason begins that alone holds back for good: another alert does."""
GROUPED = text("grouped IS NOT NULL")
MADE = text("notification IS NOT NULL")

deliveries = Table(
    "outbox_deliveries",
    metadata,
    Column("receiver", String(200), primary_key=True),
    Column("alert", _NUMBER, primary_key=True, autoincrement=False),  # its number
    Column("state", String(16), nullable=False),  # pending, delivered, failed, inhibited, erased
    Column("attempts", Integer, nullable=False),
    Column("due_at", BigInteger),  # of the next attempt; null unless pending
    Column("settled_at", BigInteger),  # of the last attempt
    Column("outcome", Text, nullable=False),  # of the last attempt, in words
    Column("way", Integer),  # in outbox_ways; null: the receiver's own rules and severity led there
    Column("held", Text),  # why a stage holds it back until due_at; null: none does
    Column("trace", Text),  # what stages said: lines of a moment and words
    Column("grouped", Text),  # where it waits for others; null: it does not
    Column("notification", BigInteger),  # that it is part of; 0: a person asked for it alone; null: none yet
    Index(
        "outbox_deliveries_due",
        "receiver",
        "due_at",
        "alert",
        sqlite_where=text("due_at IS NOT NULL"),
        postgresql_where=text("due_at IS NOT NULL"),
    ),
    Index("outbox_deliveries_held", "held", "receiver", sqlite_where=HELD, postgresql_where=HELD),
    Index("outbox_deliveries_grouped", "receiver", "grouped", sqlite_where=GROUPED, postgresql_where=GROUPED),
    Index("outbox_deliveries_made", "notification", sqlite_where=MADE, postgresql_where=MADE),
    Index("outbox_deliveries_failed", "receiver", "state", sqlite_where=FAILED, postgresql_where=FAILED),
    sqlite_with_rowid=False,
)

ways = Table(
    "outbox_ways",  # the routes that ever led an alert somewhere; few
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("said", Text, nullable=False),
)

silences = Table(
    "outbox_silences",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("who", Text, nullable=False),
    Column("why", Text, nullable=False),
    Column("starts_at", BigInteger, nullable=False),
    Column("ends_at", BigInteger, nullable=False, index=True),
    Column("matchers", Text, nullable=False),  # JSON
    Column("expired_by", Text, nullable=False),  # who took it back; empty: nobody
)

episodes = Table(
    "outbox_episodes",
    metadata,
    Column("first", _NUMBER, primary_key=True, autoincrement=False),  # the number of its first alert
    Column("slot", BigInteger, nullable=False),  # a digest of pack, rule and key: alerts.episodes.episode
    Column("pack", Text, nullable=False),
    Column("rule", Text, nullable=False),
    Column("key", Text, nullable=False),
    Column("last", _NUMBER, nullable=False),  # the number of its last alert
    Column("alerts", BigInteger, nullable=False),  # how many
    Column("began", BigInteger, nullable=False),  # event times of the first and the last alert
    Column("ended", BigInteger, nullable=False),
    Column("length", BigInteger, nullable=False),  # the rule's `episode`, in ns
    Column("severity", Integer, nullable=False),  # the worst, 0 is critical
    Column("state", String(16), nullable=False),  # open, acknowledged, closed
    Column("verdict", String(16)),
    Column("note", Text, nullable=False),
    Column("changed_by", Text, nullable=False),
    Column("changed_at", BigInteger),  # of the state
    Index("outbox_episodes_slot", "slot", "first"),
    Index("outbox_episodes_state", "state", "severity", "first"),
)

assigned = Table("outbox_assigned", metadata, Column("number", _NUMBER, nullable=False))  # one row

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
