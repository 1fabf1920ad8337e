"""The memory of stages as tables: only the slots and ids that a batch touches are read and written."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256

from sqlalchemy import Connection, bindparam, delete, insert, select
from sqlalchemy.dialects import postgresql, sqlite

from alerts.outbox.heads import places
from alerts.outbox.schema import alerts, suppression, withheld
from alerts.stages.decided import Memory
from alerts.stages.suppress import Slot, Suppression

_CHUNK = 2_000
_MARK = {"pack": "", "rule": "", "key": "#", "since": 0, "until": 2**63 - 1, "pending": 0}
"""A row that is there where the key of another one was erased."""


def digest_of(key: str) -> str:
    """The text that stands for the key of a slot that was erased; no key begins so."""
    return f"#{sha256(key.encode('utf-8', 'surrogatepass')).hexdigest()}"


def mark_erased(connection: Connection) -> None:
    """Say that there are keys that were erased."""
    if not _has_erased(connection):
        connection.execute(insert(suppression), _MARK)


def _has_erased(connection: Connection) -> bool:
    s = suppression.c
    mark = s.pack == _MARK["pack"], s.rule == _MARK["rule"], s.key == _MARK["key"]
    return connection.scalar(select(s.key).where(*mark)) is not None


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
    """The last raised alert by slot. `hidden` are those met whose keys were erased, under their digests."""

    connection: Connection
    hidden: dict[Slot, str] = field(default_factory=dict)

    def read(self, keys: Collection[Slot]) -> Mapping[Slot, Suppression]:
        has_erased = _has_erased(self.connection)
        of_rule: dict[tuple[str, str], set[str]] = defaultdict(set)
        for pack, rule, key in keys:
            of_rule[pack, rule].add(key)
        found: dict[Slot, Suppression] = {}
        for (pack, rule), wanted in of_rule.items():
            under = {digest_of(key): key for key in wanted} if has_erased else {}
            for key, one in self._of_rule(pack, rule, under):
                found[pack, rule, under[key]] = one
                self.hidden[pack, rule, under[key]] = key
            for key, one in self._of_rule(pack, rule, wanted):
                found[pack, rule, key] = one
        return found

    def _of_rule(self, pack: str, rule: str, keys: Collection[str]) -> Iterator[tuple[str, Suppression]]:
        table = suppression.c
        for some in _chunks(keys):
            query = select(table.key, table.since, table.until, table.pending).where(
                table.pack == pack, table.rule == rule, table.key.in_(some)
            )
            for key, *values in self.connection.execute(query):
                yield key, Suppression(*values)

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
        hidden = [(pack, rule, self.hidden.pop((pack, rule, key), "")) for pack, rule, key in changes]
        gone += [dict(zip("prk", slot, strict=True)) for slot in hidden if slot[2]]
        if gone:
            table = suppression.c
            this = table.pack == bindparam("p"), table.rule == bindparam("r"), table.key == bindparam("k")
            self.connection.execute(delete(suppression).where(*this), gone)

    def forget(self, now: int) -> None:
        table = suppression.c
        self.connection.execute(delete(suppression).where(table.pending == 0, table.until <= now))
        self.connection.execute(delete(withheld).where(withheld.c.again < now))
