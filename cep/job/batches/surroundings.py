"""The outside world of a running job, handed to its parts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from cep.job.batches.outage import Outage
from cep.job.state_folder.folder import StateFolder

if TYPE_CHECKING:
    from alerts.outbox import Outbox

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The state folder and the outbox, the environment, the wall clock (ns since 1970 UTC), and the user.

    `tell` is called with sentences. `assure` returns while this process may run batches; else it raises
    OutboxError.
    """

    folder: StateFolder
    outbox: Outbox
    environ: Mapping[str, str]
    clock: Callable[[], int]
    tell: Callable[[str], None]
    outage: Outage = field(default_factory=Outage)
    assure: Callable[[], None] = lambda: None

    def patiently(self, ask: Callable[[Outbox], Answer]) -> Answer:
        """The answer of the outbox, asked until its database is there. Raises as `ask` does, and StoppedError
        where the job is stopped meanwhile."""
        return self.outage.patiently(lambda: ask(self.outbox), self.tell)
