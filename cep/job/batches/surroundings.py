"""The outside world of a running job, handed to its parts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cep.job.state_folder.folder import StateFolder

if TYPE_CHECKING:
    from alerts.outbox import Outbox


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The state folder and the outbox, the environment, the wall clock (ns since 1970 UTC), and the user.

    `tell` is called with sentences.
    """

    folder: StateFolder
    outbox: Outbox
    environ: Mapping[str, str]
    clock: Callable[[], int]
    tell: Callable[[str], None]
