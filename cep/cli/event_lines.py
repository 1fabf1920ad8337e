"""The events of an alert as lines for people."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

from alerts.notation import timestamp
from alerts.shown import shown

if TYPE_CHECKING:
    from cep.record.read import Evidence, TakenEvent


def event_lines(evidence: Evidence) -> Iterator[str]:
    """A line for each event, in the order in which the alert lists them, then why some are missing."""
    yield "events:" if evidence.events else "it lists no events"
    for one in evidence.events:
        yield shown(f"  {_line(one)}")
    if evidence.missing:
        yield shown(evidence.missing)


def _line(one: TakenEvent) -> str:
    if one.event is None:
        return f"{one.step} {one.id}: not in the record"
    fields = json.dumps(one.event.fields, ensure_ascii=False, separators=(", ", ": "))
    return f"{timestamp(one.event.time)} {one.step} {one.id} {fields}"
