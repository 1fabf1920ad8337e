"""The way of one alert, in words: raised, put into an episode, sent to receivers or held back, and why."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from alerts.receivers.console import text_line
from alerts.shown import shown


def lines(told: Mapping[str, Any]) -> Iterator[str]:
    """One alert, as the API tells it, as lines for people."""
    alert = told["alert"]
    yield shown(f"alert {alert['id']}")
    yield text_line(alert)
    of = f"rule {alert['rule']} of pack {alert['pack']}, revision {alert['revision']}"
    yield shown(f"raised by {of}, on {_key(alert)}")
    yield f"recorded at {told['recorded_at']} with batch {told['batch']}"
    if alert["suppressed"]:
        yield f"alerts like it that were withheld before it: {alert['suppressed']}"
    if told["episode"] is None:
        yield "in no episode yet, or of a version without them"
    else:
        yield f"in episode {told['episode'][:12]}, which is {told['episode_state']}"
    if not told["deliveries"]:
        yield "goes to no receiver: when it was recorded, no route took it"
    for one in told["deliveries"]:
        yield from (shown(line) for line in _to(one))


def _key(alert: Mapping[str, Any]) -> str:
    return json.dumps(alert["key"], ensure_ascii=False) if alert["key"] else "no key"


def _to(one: Mapping[str, Any]) -> Iterator[str]:
    yield f"to {one['receiver']}:"
    yield f"  route: {one['route']}"
    for line in one["trace"]:
        yield f"  {line['at']} {line['said']}"
    attempts = f"attempts: {one['attempts']}"
    match one["state"]:
        case "held":
            yield f"  held back by {one['held']}, until {one['due_at']} or until that is taken back"
        case "delivered":
            yield f"  delivered at {one['settled_at']}, {attempts} ({one['outcome']})"
        case "failed":
            yield f"  given up at {one['settled_at']}, {attempts}; the last: {one['outcome']}"
        case _ if one["attempts"]:
            when = f"next in {one['waits']}" if one["waits"] else "next at once"
            yield f"  pending, {attempts}, {when}; the last: {one['outcome']}"
        case _:
            yield "  pending, not attempted yet"
