"""The results of decoding: events, and dead letters for what could not become one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from cep.events import Events

Stage = Literal["read", "decode", "lost", "poison"]


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """Bytes that are no event, with their place and what is wrong with them.

    `offset` counts as Events' @offset does. A stage "read" letter concerns the file from `offset` on;
    its bytes are what there is of a record that the file does not hold to its end. A "lost" one concerns the
    whole file, which a job went without; a "poison" one what ended every process that worked on it
    (cep.job.poison.events). Of a Parquet row, `data` is the row as JSON.
    """

    feed: str
    file: str
    offset: int
    stage: Stage
    reason: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Decoded:
    """The events of a block and its dead letters, each in order of offset."""

    events: Events
    dead: tuple[DeadLetter, ...]
