"""Wrong tokens by client: after some of them the client has to wait, whatever it shows then."""

from __future__ import annotations

import math
import threading
import time
from collections import OrderedDict
from collections.abc import Callable

_FREE = 10
"""Wrong tokens that a client has at once."""
_EVERY = 6.0
"""Seconds after which it has one more."""
_CLIENTS = 10_000
"""Clients that are remembered; of more the one that failed longest ago is forgotten."""


class Attempts:
    """Counts failures by client. May be called from any thread; `clock` gives seconds that nobody sets."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._full_at: OrderedDict[str, float] = OrderedDict()
        self._lock = threading.Lock()

    def wait(self, client: str) -> int | None:
        """Whole seconds that the client has to wait; None: it may try."""
        with self._lock:
            over = self._over(client)
        return None if over <= 0 else max(1, math.ceil(over))

    def failed(self, client: str) -> None:
        """The client showed a wrong token."""
        with self._lock:
            full = max(self._full_at.pop(client, 0.0), self._clock()) + _EVERY
            self._full_at[client] = full
            while len(self._full_at) > _CLIENTS:
                self._full_at.popitem(last=False)

    def _over(self, client: str) -> float:
        """Seconds by which the client has used up what it has: tokens come back one by one."""
        return self._full_at.get(client, 0.0) - self._clock() - (_FREE - 1) * _EVERY
