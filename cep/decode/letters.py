"""The results of decoding: events, and dead letters for what could not become one."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Literal

from alerts.masking import Mask
from cep.events import Events
from rules.typed import Stream

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


def without_secrets(letter: DeadLetter, stream: Stream, mask: Mask) -> DeadLetter:
    """The letter as it is kept of a stream with secret fields: without bytes, of which nobody knows what is
    secret, and with no more of the reason than a field's name. Other streams' letters stay as they are."""
    if not stream.secrets or letter.stage == "lost":
        return letter
    names = {one.name for one in stream.fields}
    about = next((one for one in re.findall("`([^`]+)`", letter.reason) if one in names), "")
    said = f"a mistake in `{about}`" if about else "it cannot be read"
    kept = f"; of stream `{stream.name}`, which has secret fields, no bytes are kept, but their hash "
    reason = f"{said}{kept}{mask(letter.data.decode('latin-1'))}"
    return replace(letter, reason=reason, data=b"")
