"""The memory of stages as tables: only the slots and ids that a batch touches are read and written."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, Table, and_, bindparam, delete, select
from sqlalchemy.dialects import postgresql, sqlite

from alerts.outbox.schema import alerts, suppression, withheld
from alerts.stages.decided import Memory
from alerts.stages.suppress import Slot, Suppression

_CHUNK = 2_000


def memory_in(connection: Connection) -> Memory:
    """What the stages of a decision know, read and written in the transaction that `connection` is in."""

    def raised(ids: Collection[str]) -> set[str]:
        return {
            id_
            for some in _chunks(ids)
            for id_ in connection.scalars(select(alerts.c.id).where(alerts.c.id.in_(some)))
        }

    return Memory(raised, _Withheld(connection), _Suppressions(connection))


def _chunks(keys: Collection[str]) -> Iterator[list[str]]:
    listed = sorted(keys)
    return (listed[start : start + _CHUNK] for start in range(0, len(listed), _CHUNK))


def _put(connection: Connection, table: Table, rows: Sequence[tuple[object, ...]]) -> None:
    """Rows, in the order of the table's columns, in the place of those with their keys."""
    if not rows:
        return
    insert = postgresql.insert if connection.dialect.name == "postgresql" else sqlite.insert
    putting, keys = insert(table), [column.name for column in table.primary_key]
    names = [column.name for column in table.columns]
    others = {name: putting.excluded[name] for name in names if name not in keys}
    statement = putting.on_conflict_do_update(index_elements=keys, set_=others)
    connection.execute(statement, [dict(zip(names, row, strict=True)) for row in rows])


def _drop(connection: Connection, table: Table, keys: Sequence[tuple[object, ...]]) -> None:
    """No rows with these keys."""
    if keys:
        columns = list(table.primary_key)
        these = and_(*(column == bindparam(f"k{n}") for n, column in enumerate(columns)))
        gone = [{f"k{n}": value for n, value in enumerate(key)} for key in keys]
        connection.execute(delete(table).where(these), gone)


@dataclass(frozen=True, slots=True)
class _Withheld:
    """Until when alerts that were withheld may be decided again, by id."""

    connection: Connection

    def read(self, keys: Collection[str]) -> Mapping[str, int]:
        found: dict[str, int] = {}
        for some in _chunks(keys):
            query = select(withheld.c.id, withheld.c.again).where(withheld.c.id.in_(some))
            found.update((id_, again) for id_, again in self.connection.execute(query))
        return found

    def write(self, changes: Mapping[str, int | None]) -> None:
        _put(self.connection, withheld, [(id_, again) for id_, again in changes.items() if again is not None])
        _drop(self.connection, withheld, [(id_,) for id_, again in changes.items() if again is None])

    def forget(self, now: int) -> None:
        self.connection.execute(delete(withheld).where(withheld.c.again < now))


@dataclass(frozen=True, slots=True)
class _Suppressions:
    """The last raised alert by slot."""

    connection: Connection

    def read(self, keys: Collection[Slot]) -> Mapping[Slot, Suppression]:
        table = suppression.c
        of_rule: dict[tuple[str, str], set[str]] = defaultdict(set)
        for pack, rule, key in keys:
            of_rule[pack, rule].add(key)
        found: dict[Slot, Suppression] = {}
        for (pack, rule), wanted in of_rule.items():
            for some in _chunks(wanted):
                query = select(table.key, table.since, table.until, table.pending).where(
                    table.pack == pack, table.rule == rule, table.key.in_(some)
                )
                for key, *values in self.connection.execute(query):
                    found[pack, rule, key] = Suppression(*values)
        return found

    def write(self, changes: Mapping[Slot, Suppression | None]) -> None:
        there = [(*place, s.since, s.until, s.pending) for place, s in changes.items() if s is not None]
        _put(self.connection, suppression, there)
        _drop(self.connection, suppression, [place for place, s in changes.items() if s is None])

    def forget(self, now: int) -> None:
        table = suppression.c
        self.connection.execute(delete(suppression).where(table.pending == 0, table.until <= now))
