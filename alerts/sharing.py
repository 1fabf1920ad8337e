"""The share of one of several dispatchers on an outbox: each receiver is served by one of them at a time.

So a receiver's order, groups and rate are what they are with one dispatcher. Its lease is renewed while its
dispatcher lives; another takes over after it ends, from what is written.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from alerts.outbox import Outbox

PREFIX = "receiver "
"""Before the receiver's name, in the names of leases."""


@dataclass(frozen=True, slots=True)
class Holder:
    """The name under which a dispatcher takes leases, and the seconds that they last.

    A name is of one process at a time: a process that begins takes over at once what one of its name had.
    """

    name: str
    seconds: float = 15.0


class Share:
    """The receivers that a dispatcher serves now. `tick` is seconds that no one sets back."""

    def __init__(
        self,
        outbox: Outbox,
        holder: Holder,
        receivers: Sequence[str],
        tick: Callable[[], float] = time.monotonic,
    ) -> None:
        self._outbox = outbox
        self._holder = holder
        self._receivers = receivers
        self._tick = tick
        self._epochs: dict[str, int] = {}
        self._until = 0.0
        self._next = 0.0

    def has(self, receiver: str) -> bool:
        """True if this dispatcher may send to a receiver now."""
        return receiver in self._epochs and self._tick() < self._until

    def fence(self, receivers: Iterable[str]) -> Mapping[str, int]:
        """Epochs that a transaction about these receivers has to check, by name of lease."""
        return {PREFIX + name: self._epochs.get(name, 0) for name in receivers}

    def doubt(self) -> None:
        """Look at the leases anew: one was found to be lost."""
        self._next = 0.0

    def renew(self) -> tuple[dict[str, str | None], set[str]]:
        """Take and keep what there is, once it is time to; receivers gained, each with who had it before, and
        receivers lost. Raises OutboxError."""
        begun = self._tick()
        if begun < self._next:
            return {}, set()
        names = [PREFIX + one for one in self._receivers]
        known = {PREFIX + name: epoch for name, epoch in self._epochs.items()}
        taken = self._outbox.take_leases(names, self._holder.name, known, self._holder.seconds)
        self._until, self._next = begun + self._holder.seconds, begun + self._holder.seconds / 3
        found = {name.removeprefix(PREFIX): one for name, one in taken.items()}
        before, self._epochs = self._epochs, {name: one.epoch for name, one in found.items()}
        changed = {name: one.before for name, one in found.items() if before.get(name) != one.epoch}
        return changed, before.keys() - found.keys()

    def end(self) -> None:
        """Give back what is held. Raises OutboxError."""
        self._outbox.give_leases_back(self.fence(self._epochs))
        self._epochs = {}
