"""Leases: who of several processes may do something now, such as send to a receiver.

A lease has a holder, an end, and an epoch that rises with every holder: whoever has lost one finds another
epoch in the transaction in which it would write, and writes nothing. Time is the database's, where it has a
clock. The table is made when the first lease is taken.

P. Burrows, "The Chubby lock service for loosely-coupled distributed systems", OSDI 2006, 2.4: sequencers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    MetaData,
    String,
    Table,
    Text,
    insert,
    inspect,
    select,
    text,
    update,
)
from sqlalchemy.schema import CreateTable

from alerts.codes import FENCED, TAKEN_OVER
from alerts.outbox.errors import OutboxError

leases = Table(
    "outbox_leases",
    MetaData(),
    Column("name", String(200), primary_key=True),  # of a receiver: what it is about
    Column("holder", Text, nullable=False),
    Column("epoch", BigInteger, nullable=False),
    Column("until_at", BigInteger, nullable=False),
)


JOB = "job"
"""The name of the lease of the job that writes batches to the outbox."""


@dataclass(frozen=True, slots=True)
class Held:
    """The lease of the job as somebody has it; `left` are the seconds until it ends, by the database."""

    holder: str
    epoch: int
    until: int
    left: float

    def renewed_since(self, before: Held) -> bool:
        """True if it is the lease that was seen before, and lasts longer."""
        return self.epoch == before.epoch and self.until > before.until


@dataclass(frozen=True, slots=True)
class Taken:
    """A lease that is held: its epoch, and who had it before, if that was somebody else."""

    epoch: int
    before: str | None = None


def database_clock(connection: Connection, own: int) -> int:
    """The wall clock in ns: the database's, or, where it is a file, our `own`."""
    if connection.dialect.name == "sqlite":
        return own
    now = text("SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint")
    return int(connection.scalar(now) or 0) * 1_000


def take(
    connection: Connection, names: Iterable[str], holder: str, known: Mapping[str, int], now: int, length: int
) -> dict[str, Taken]:
    """Take or keep the leases of these names for `length` ns from now, as far as nobody else has them.

    `known` are the epochs of those that the holder has. One of another process under the same name, which
    has ended, is taken where `known` is empty: at a start.
    """
    wanted = list(names)
    connection.execute(CreateTable(leases, if_not_exists=True))
    t = leases.c
    rows = {row.name: row for row in connection.execute(select(leases).where(t.name.in_(wanted)))}
    found: dict[str, Taken] = {}
    for name in wanted:
        row = rows.get(name)
        values = {"holder": holder, "until_at": now + length}
        if row is None:
            found[name] = Taken(1)
            connection.execute(insert(leases).values(name=name, epoch=1, **values))
            continue
        mine = row.holder == holder and known.get(name) == row.epoch
        if not mine and row.until_at > now and not (row.holder == holder and not known):
            continue
        epoch = row.epoch if mine else row.epoch + 1
        found[name] = Taken(epoch, None if row.holder == holder else row.holder)
        connection.execute(update(leases).where(t.name == name).values(epoch=epoch, **values))
    return found


def fence(connection: Connection, held: Mapping[str, int]) -> None:
    """Check that leases are still held at these epochs. Raises OutboxError where another has taken one: then
    the transaction must not write."""
    if not held:
        return
    t = leases.c
    found = {
        row.name: row.epoch for row in connection.execute(select(t.name, t.epoch).where(t.name.in_(held)))
    }
    lost = sorted(name for name, epoch in held.items() if found.get(name) != epoch)
    if JOB in lost:
        raise taken_over(connection)
    if lost:
        raise OutboxError(
            FENCED,
            f"another process has taken over {', '.join(lost)}",
            "nothing is to be done: it goes on there",
        )


def give_back(connection: Connection, held: Mapping[str, int]) -> None:
    """End leases, as far as they are still held at these epochs."""
    t = leases.c
    for name, epoch in held.items():
        connection.execute(update(leases).where(t.name == name, t.epoch == epoch).values(until_at=0))


def job_lease(connection: Connection, own: int) -> Held | None:
    """The lease of the job; None: nobody ever had it."""
    if not inspect(connection).has_table(leases.name):
        return None
    row = connection.execute(select(leases).where(leases.c.name == JOB)).first()
    if row is None:
        return None
    left = (row.until_at - database_clock(connection, own)) / 1e9
    return Held(row.holder, row.epoch, row.until_at, left)


def take_job(connection: Connection, holder: str, seen: Held | None, now: int, length: int) -> int | None:
    """The epoch of the job's lease, taken as it was `seen`; None: another has taken or renewed it since."""
    connection.execute(CreateTable(leases, if_not_exists=True))
    values = {"holder": holder, "until_at": now + length}
    t = leases.c
    if seen is None:
        there = connection.scalar(select(t.epoch).where(t.name == JOB))
        if there is None:
            connection.execute(insert(leases).values(name=JOB, epoch=1, **values))
        return 1 if there is None else None
    as_seen = (t.name == JOB, t.epoch == seen.epoch, t.until_at == seen.until)
    done = connection.execute(update(leases).where(*as_seen).values(epoch=seen.epoch + 1, **values))
    return seen.epoch + 1 if done.rowcount else None


def renew_job(connection: Connection, holder: str, epoch: int, now: int, length: int) -> None:
    """Have the job's lease end later. Raises OutboxError where another has taken it."""
    t = leases.c
    own = (t.name == JOB, t.epoch == epoch, t.holder == holder)
    if not connection.execute(update(leases).where(*own).values(until_at=now + length)).rowcount:
        raise taken_over(connection)


def taken_over(connection: Connection) -> OutboxError:
    """The error of a process that ran the job until another took it over."""
    by = connection.scalar(select(leases.c.holder).where(leases.c.name == JOB)) or "another process"
    return OutboxError(
        TAKEN_OVER,
        f"{by} has taken over the job: this one wrote nothing since, and ends",
        "nothing is to be done: it goes on there; start this one with --standby to have it take over in turn",
    )
