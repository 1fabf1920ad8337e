"""The memory of stages as tables: only the slots and ids that a batch touches are read and written."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from sqlalchemy import Connection, bindparam, delete, select
from sqlalchemy.dialects import postgresql, sqlite

from alerts.outbox.heads import places
from alerts.outbox.schema import alerts, suppression, withheld
from alerts.stages.decided import Memory
from alerts.stages.suppress import Slot, Suppression

_CHUNK = 2_000


def memory_in(connection: Connection) -> Memory:
    """The memory of the stages of a decision, read and written in the transaction that `connection` is in.

    `outbox_withheld` has what earlier programs wrote of alerts that forks could decide again: their shards
    did not know what they had raised.
    """
    has_withheld = connection.scalar(select(withheld.c.id).limit(1)) is not None

    def raised(ids: Collection[str]) -> set[str]:
        found: set[str] = set()
        for some in _chunks(ids):
            of_heads = alerts.c.head.in_([head for id_ in some for head in places(id_)])
            found.update(connection.scalars(select(alerts.c.id).where(of_heads)))
            if has_withheld:
                found.update(connection.scalars(select(withheld.c.id).where(withheld.c.id.in_(some))))
        return found.intersection(ids)

    return Memory(raised, _Suppressions(connection))


def _chunks(keys: Collection[str]) -> Iterator[list[str]]:
    listed = sorted(keys)
    return (listed[start : start + _CHUNK] for start in range(0, len(listed), _CHUNK))


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
        names = [column.name for column in suppression.columns]
        keys = [column.name for column in suppression.primary_key]
        there = [
            (*slot, one.since, one.until, one.pending) for slot, one in changes.items() if one is not None
        ]
        if there:
            of_dialect = postgresql if self.connection.dialect.name == "postgresql" else sqlite
            putting = of_dialect.insert(suppression)
            values = {name: putting.excluded[name] for name in names if name not in keys}
            statement = putting.on_conflict_do_update(index_elements=keys, set_=values)
            self.connection.execute(statement, [dict(zip(names, row, strict=True)) for row in there])
        gone = [dict(zip("prk", slot, strict=True)) for slot, one in changes.items() if one is None]
        if gone:
            table = suppression.c
            this = table.pack == bindparam("p"), table.rule == bindparam("r"), table.key == bindparam("k")
            self.connection.execute(delete(suppression).where(*this), gone)

    def forget(self, now: int) -> None:
        table = suppression.c
        self.connection.execute(delete(suppression).where(table.pending == 0, table.until <= now))
        self.connection.execute(delete(withheld).where(withheld.c.again < now))
