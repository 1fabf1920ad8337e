"""The episodes of a running job's alerts, by the packs that run and by job.toml."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from typing import TYPE_CHECKING

from alerts.episodes.assigner import Assigner

if TYPE_CHECKING:
    from alerts.outbox import Outbox
    from cep.config.job import Desk
    from rules.typed import Pack


class EpisodeKeeper:
    """Keeps the episodes; `packs` gives those that run, whose rules may say how long theirs are.

    `done` is called when all that was recorded is assigned."""

    def __init__(
        self,
        desk: Desk,
        packs: Callable[[], Mapping[str, Pack]],
        tell: Callable[[str], None],
        done: Callable[[], None],
    ) -> None:
        self._desk = desk
        self._done = done
        self._packs = packs
        self._tell = tell
        self._read: tuple[Mapping[str, Pack], dict[tuple[str, str], int]] = {}, {}
        self._assigner: Assigner | None = None

    def start(self, outbox: Outbox, stack: ExitStack) -> None:
        """Assign alerts from now on, until `stack` ends it."""
        self._assigner = Assigner(
            outbox, self.length, closes=self._desk.close_quiet, clock=time.time_ns, report=self._tell,
            done=self._done,
        )  # fmt: skip
        self._assigner.start()
        stack.callback(self._assigner.stop)

    def wake(self, watermark: int) -> None:
        """There is something new in the outbox."""
        if self._assigner is not None:
            self._assigner.wake(watermark)

    def length(self, pack: str, rule: str) -> int:
        """The length in ns of a rule's episodes."""
        packs = self._packs()
        if packs is not self._read[0]:
            said = {(p.name, r.name): r.episode for p in packs.values() for r in p.rules}
            self._read = packs, {name: length for name, length in said.items() if length is not None}
        return self._read[1].get((pack, rule), self._desk.episode)
