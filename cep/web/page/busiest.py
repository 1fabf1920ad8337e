"""The keys with most of the last alerts, counted as they come: a request reads what came since the last.

Keys are kept as their hashes, whatever their length. Those that are shown are read from their newest alert:
where that was erased meanwhile, all are counted anew.
"""

from __future__ import annotations

import threading
from collections import Counter, deque
from dataclasses import dataclass, field

from sqlalchemy import Connection, func, select

from alerts.outbox.schema import ERASED, alerts

KEYS_OF = 10_000
"""Alerts among which keys are counted."""


@dataclass(slots=True)
class Busiest:
    """The counts of one outbox; may be asked by any thread."""

    _last: int = 0
    _kept: deque[tuple[int, int]] = field(default_factory=deque)
    _counts: Counter[int] = field(default_factory=Counter)
    _newest: dict[int, int] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def most(self, connection: Connection, limit: int) -> list[tuple[str, int]]:
        """The keys with most alerts, as JSON, with how many they have; those with most come first."""
        with self._lock:
            self._read_on(connection)
            found = self._shown(connection, limit)
            if found is None:
                self._forget()
                self._read_on(connection)
                found = self._shown(connection, limit)
            return found or []

    def _read_on(self, connection: Connection) -> None:
        a = alerts.c
        newest = connection.scalar(select(func.max(a.number))) or 0
        if newest < self._last:  # another outbox lies there now
            self._forget()
        after = max(self._last, newest - KEYS_OF)
        query = select(a.number, a.key).where(a.number > after, a.number <= newest, a.key != ERASED)
        for number, key in connection.execute(query.order_by(a.number)):
            name = hash(key)
            self._kept.append((number, name))
            self._counts[name] += 1
            self._newest[name] = number
        self._last = newest
        while self._kept and self._kept[0][0] <= newest - KEYS_OF:
            _, name = self._kept.popleft()
            self._counts[name] -= 1
            if not self._counts[name]:
                del self._counts[name], self._newest[name]

    def _shown(self, connection: Connection, limit: int) -> list[tuple[str, int]] | None:
        """None where one of the keys was erased."""
        most = {self._newest[name]: count for name, count in self._counts.most_common(limit)}
        a = alerts.c
        query = select(a.number, a.key).where(a.number.in_(list(most)), a.key != ERASED)
        keys = {row.number: row.key for row in connection.execute(query)}
        return [(keys[number], most[number]) for number in most] if len(keys) == len(most) else None

    def _forget(self) -> None:
        self._last = 0
        self._kept.clear()
        self._counts.clear()
        self._newest.clear()
