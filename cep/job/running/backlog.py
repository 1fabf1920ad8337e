"""The thread that counts what waits in a running job's topics, and shows others how far it is.

No batch waits for it. Sources that are not `counted`, as files, have nothing to do with it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING

from cep.errors import JobError
from cep.sources.checkpoint import Checkpoint, DamagedError
from cep.sources.waiting import Pace, Waiting

if TYPE_CHECKING:
    from cep.sources.source import Feed

_EVERY = 2.0
"""Seconds from one look to the next, at least."""
_ALONE = 15.0
"""Seconds after which it looks though no batch has ended."""
_LAST = 10.0
"""Seconds that the last look may take when the job ends."""


class BacklogWatch:
    """Looks after batches, every two seconds at most, at the feeds that are counted.

    `show` is called with what waits by stream, without feeds of which that is not known; `tell` with a
    sentence where others cannot be shown how far a feed is, once until that changes. `tick` gives seconds
    that no one sets back.
    """

    def __init__(
        self,
        feeds: Sequence[Feed],
        checkpoint: Checkpoint,
        show: Callable[[Mapping[str, Waiting]], None],
        tell: Callable[[str], None],
        tick: Callable[[], float],
    ) -> None:
        self._feeds = [feed for feed in feeds if feed.source.counted]
        self._checkpoint = checkpoint
        self._show = show
        self._tell = tell
        self._tick = tick
        self._paces = {feed.name: Pace() for feed in self._feeds}
        self._told: dict[str, str] = {}
        self._batch: int | None = None
        self._waiting = threading.Event()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="backlog", daemon=True)

    def start(self, stack: ExitStack) -> None:
        """Begin to look, until `stack` ends it with a last look."""
        if self._feeds:
            self._thread.start()
            stack.callback(self._stop)

    def wake(self, batch: int) -> None:
        """Say that a batch has ended. Returns at once."""
        self._batch = batch
        self._waiting.set()

    def look(self) -> None:
        """Count what waits behind the last batch, and publish how far that was."""
        if (batch := self._batch) is None:
            return
        found = {}
        for feed in self._feeds:
            try:
                reached = self._published(feed, batch)
                if reached is not None:
                    found[feed.name] = self._behind(feed, reached)
            except (JobError, DamagedError):  # of both the batches tell
                continue
        self._show(found)

    def _published(self, feed: Feed, batch: int) -> Mapping[str, int] | None:
        """Up to where a batch reads each place, which others have been shown; None of a feed not yet read."""
        if feed.name not in self._checkpoint.offsets(batch):
            return None
        reached = feed.source.reached(self._checkpoint, feed.name, batch)
        why = feed.source.publish(reached)
        if why is not None and why != self._told.get(feed.name):
            self._tell(f"feed {feed.name}: {why}")
        self._told[feed.name] = why or ""
        return reached

    def _behind(self, feed: Feed, reached: Mapping[str, int]) -> Waiting:
        ends = feed.source.ends(self._checkpoint, feed.name)
        records = sum(max(0, end - reached.get(place, 0)) for place, end in ends.items())
        return self._paces[feed.name].take(self._tick(), records, feed.source.at_once)

    def _stop(self) -> None:
        self._stopping.set()
        self._waiting.set()
        self._thread.join(_LAST)

    def _run(self) -> None:
        while not self._stopping.wait(_EVERY):
            self._waiting.wait(_ALONE)
            self._waiting.clear()
            if not self._stopping.is_set():
                self.look()
        if (batch := self._batch) is not None:
            for feed in self._feeds:
                with suppress(JobError, DamagedError):
                    self._published(feed, batch)
