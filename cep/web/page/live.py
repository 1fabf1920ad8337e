"""New alerts, sent to browsers as they come: server-sent events, whose id is the number of the alert.

One task asks the outbox for all that look on, and asks nothing while nobody does. Each of them has a queue
of its own, of `QUEUE` rows: whoever takes them more slowly than they come is told how many were missed, and
reads on by loading the page anew. `after` is where one begins: what the page shows already, or what the
browser had when its connection broke (Last-Event-ID), so that nothing is left out and nothing comes twice.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field

from starlette.concurrency import run_in_threadpool

from alerts.outbox import Outbox, OutboxError, StoredAlert, Wanted

QUEUE = 250
"""Rows that wait for a browser to take them."""
AT_ONCE = 50
"""Rows that are sent in one go: four times as many a second."""
READ = 500
"""Alerts that are read in one go."""
BEHIND = 5_000
"""Alerts that are looked through for someone who comes back; who lacks more has missed them."""

Matches = Callable[[StoredAlert], bool]
Draw = Callable[[Sequence[StoredAlert]], list[str]]


@dataclass(frozen=True, slots=True)
class Pace:
    """Seconds between two looks at the outbox, and of silence after which a comment is sent."""

    look: float = 0.25
    comment: float = 15.0


@dataclass(eq=False, slots=True)
class _Watcher:
    """Somebody who looks on: rows that wait, and how many did not fit, which ends the stream."""

    matches: Matches
    after: int
    client: str = ""
    rows: deque[bytes] = field(default_factory=deque)
    missed: int = 0
    ended: bool = False
    ready: asyncio.Event = field(default_factory=asyncio.Event)


class Live:
    """The streams of new alerts of one outbox, all served by one event loop.

    `draw` gives a row of HTML for each of some alerts.
    """

    def __init__(self, outbox: Outbox, draw: Draw, pace: Pace | None = None) -> None:
        self._outbox = outbox
        self._draw = draw
        self._pace = pace or Pace()
        self._watchers: set[_Watcher] = set()
        self._fresh: list[_Watcher] = []
        self._head = 0
        self._looking: asyncio.Task[None] | None = None

    @property
    def watchers(self) -> int:
        """The number of those that look on."""
        return len(self._watchers)

    def watching(self, client: str) -> int:
        """The number of streams that a client has."""
        return sum(one.client == client for one in self._watchers)

    async def stream(self, matches: Matches, after: int, client: str = "") -> AsyncIterator[bytes]:
        """The events for one browser: alerts after that number that match, until it goes away."""
        watcher = _Watcher(matches, after, client)
        self._watchers.add(watcher)
        self._fresh.append(watcher)
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._look())
        try:
            yield b"retry: 1000\n\n"
            while True:
                try:
                    async with asyncio.timeout(self._pace.comment):
                        await watcher.ready.wait()
                except TimeoutError:
                    yield b": nothing new\n\n"
                    continue
                watcher.ready.clear()
                while watcher.rows:
                    some = [watcher.rows.popleft() for _ in range(min(AT_ONCE, len(watcher.rows)))]
                    yield b"".join(some)
                    if watcher.rows:
                        await asyncio.sleep(self._pace.look)
                if watcher.missed:
                    yield event("missed", str(watcher.missed))
                if watcher.missed or watcher.ended:
                    return
        finally:
            self._watchers.discard(watcher)

    async def _look(self) -> None:
        """Asks the outbox while somebody looks on."""
        try:
            self._head = await run_in_threadpool(newest, self._outbox)
            while self._watchers:
                await self._tell_fresh()
                more = await self._tell_new()
                if not more:
                    await asyncio.sleep(self._pace.look)
        except OutboxError:
            pass  # browsers come back, and find it as it then is
        finally:
            self._looking = None
            self._end()

    async def _tell_fresh(self) -> None:
        """Bring those that have just come up to what the others had."""
        fresh, self._fresh = self._fresh, []
        for watcher in fresh:
            if self._head - watcher.after > BEHIND:
                watcher.missed += self._head - watcher.after
                watcher.ready.set()
                continue
            after = watcher.after
            while after < self._head:
                read = await run_in_threadpool(self._read, after, self._head)
                await self._tell([watcher], read)
                after = read[-1].number if read else self._head
            watcher.after = max(watcher.after, self._head)

    async def _tell_new(self) -> bool:
        """Tell everybody of what has come; True if there may be more."""
        read = await run_in_threadpool(self._read, self._head, None)
        if not read:
            return False
        # those that came meanwhile are told from where they begin, by the next look
        known = [one for one in self._watchers if one not in self._fresh]
        self._head = read[-1].number
        await self._tell(known, read)
        return len(read) == READ

    def _read(self, after: int, up_to: int | None) -> list[StoredAlert]:
        before = None if up_to is None else up_to + 1
        return self._outbox.alerts(Wanted(after=after, before=before), limit=READ)

    async def _tell(self, watchers: Sequence[_Watcher], read: Sequence[StoredAlert]) -> None:
        wanted = [
            (one, [alert for alert in read if alert.number > one.after and one.matches(alert)])
            for one in watchers
        ]
        taken: dict[int, StoredAlert] = {}
        for watcher, alerts in wanted:
            free = 0 if watcher.missed else QUEUE - len(watcher.rows)
            watcher.missed += len(alerts[free:])
            taken |= {alert.number: alert for alert in alerts[:free]}
            del alerts[free:]
        rows = await run_in_threadpool(self._draw, list(taken.values()))
        drawn = {number: event("alert", row, number) for number, row in zip(taken, rows, strict=True)}
        for watcher, alerts in wanted:
            watcher.rows.extend(drawn[alert.number] for alert in alerts)
            if alerts or watcher.missed:
                watcher.ready.set()

    def _end(self) -> None:
        for watcher in self._watchers:
            watcher.ended = True
            watcher.ready.set()
        self._fresh.clear()


def event(name: str, data: str, id_: int | None = None) -> bytes:
    """A server-sent event as it is sent (WHATWG HTML, 9.2.5)."""
    head = "" if id_ is None else f"id: {id_}\n"
    lines = "".join(f"data: {line}\n" for line in data.splitlines() or [""])
    return f"{head}event: {name}\n{lines}\n".encode(errors="replace")


def newest(outbox: Outbox) -> int:
    """The number of the last alert; 0 if there is none."""
    found = outbox.alerts(limit=1, newest_first=True)
    return found[0].number if found else 0
