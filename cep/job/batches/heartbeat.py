"""When the next batch of an idle job begins: as soon as there is something for it, else every five seconds.

Spark would begin one at every trigger, and each costs a quarter of a second of processor time. So after a
batch in which nothing came, the driver keeps Spark from the next one while

* no source has news: each gives a sign, another one as soon as something may have come (Source.sign);
* nothing was asked of the job, as a deploy, or letters to be read again;
* the clock alone changes nothing (cep.job.clocks.idle.next_change).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cep.sources.checkpoint import Checkpoint
    from cep.sources.source import AnySource

HEARTBEAT = 5.0
"""Seconds from one batch of an idle job to the next, at most."""
_LEAST, _MOST = 0.05, HEARTBEAT / 2
"""Seconds from one look at the sources to the next: half the trigger, but within these bounds."""


class Heartbeat:
    """Keeps an idle job from batches. `asked` tells whether a batch has something to do besides events.

    `trigger` is in seconds, `tick` seconds that no one sets back.
    """

    def __init__(
        self,
        sources: Callable[[], Mapping[str, AnySource]],
        checkpoint: Checkpoint,
        asked: Callable[[], bool],
        trigger: float,
        tick: Callable[[], float] = time.monotonic,
    ) -> None:
        self._sources = sources
        self._checkpoint = checkpoint
        self._asked = asked
        self._every = min(max(trigger / 2, _LEAST), _MOST)
        self._tick = tick
        self._signs: dict[str, object] = {}
        self._all_read: dict[str, object] = {}
        self._unsure: set[str] = set()

    def rest(self, read: Collection[str], until: float, stopping: threading.Event) -> None:
        """Returns when the next batch is to begin, or when `stopping` is set.

        That is `until` (by `tick`) at the latest. `read` are the streams that the batch before read some of.
        """
        seen, self._signs = self._signs, self._now()
        for name, sign in self._signs.items():
            if name not in read:  # nothing was left of what came up to this sign
                self._all_read[name] = seen.get(name)
            elif sign is not None and sign == self._all_read.get(name):
                self._unsure.add(name)  # it came without another sign: only batches can tell
        if read:
            return
        until = min(until, self._tick() + HEARTBEAT)
        while self._known(seen):
            seen = self._signs
            left = until - self._tick()
            if left <= 0 or self._has_been_asked() or stopping.wait(min(self._every, left)):
                return
            self._signs = self._now()

    def _known(self, seen: Mapping[str, object]) -> bool:
        """True if no source has had another sign since, and each has one."""
        return seen == self._signs and None not in seen.values()

    def _now(self) -> dict[str, object]:
        return {name: self._sign(name, source) for name, source in self._sources().items()}

    def _sign(self, name: str, source: AnySource) -> object:
        if name in self._unsure:
            return None
        try:
            return source.sign(self._checkpoint, name)
        except Exception:  # of what is wrong the next batch tells
            return None

    def _has_been_asked(self) -> bool:
        try:
            return self._asked()
        except Exception:
            return True
