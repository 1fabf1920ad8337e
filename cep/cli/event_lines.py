"""The events of an alert, as the API tells them, as lines for people."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from alerts.shown import shown


def event_lines(told: Mapping[str, Any]) -> Iterator[str]:
    """A line for each event, in the order in which the alert lists them, then why some are missing."""
    yield "events:" if told["events"] else "it lists no events"
    for one in told["events"]:
        yield shown(f"  {_line(one)}")
    if told["missing"] is not None:
        yield shown(told["missing"])


def _line(one: Mapping[str, Any]) -> str:
    if not one["recorded"]:
        return f"{one['step']} {one['id']}: not in the record"
    fields = json.dumps(one["fields"], ensure_ascii=False, separators=(", ", ": "))
    return f"{one['time']} {one['step']} {one['id']} {fields}"
