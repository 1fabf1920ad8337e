"""The alert: what a receiver gets, and what the outbox stores with it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Literal

Kind = Literal["event", "match", "timeout", "window", "hit", "amend", "retract"]
SEVERITIES = ("critical", "high", "medium", "low", "info")


@dataclass(frozen=True, slots=True)
class Alert:
    """One alert, every field always present; values are JSON values.

    `time` is RFC 3339 UTC; `key` and `emit` map names to values; `events` maps every step that took
    something to the ids taken, in order. `suppressed` counts the alerts withheld since the last one.
    """

    id: str
    pack: str
    revision: str
    rule: str
    kind: Kind
    severity: str
    time: str
    key: dict[str, object]
    summary: str
    emit: dict[str, object]
    events: dict[str, list[str]]
    tags: list[str]
    runbook: str | None
    suppressed: int = 0

    def as_dict(self) -> dict[str, object]:
        """The JSON object, names in the documented order."""
        return {name: getattr(self, name) for name in self.__slots__}

    def to_json(self) -> str:
        """One line of JSON: UTF-8 kept as it is, no NaN, no space after separators."""
        return json.dumps(self.as_dict(), ensure_ascii=False, allow_nan=False, separators=(",", ":"))


@dataclass(frozen=True, slots=True)
class Withholding:
    """A rule's suppression as it concerns one alert: equal `key` and less than `duration` ns apart."""

    key: str
    duration: int


@dataclass(frozen=True, slots=True)
class Raised:
    """An alert as an engine decides it, before suppression.

    `time` is event time in nanoseconds since 1970 UTC. `order` ranks the alerts of one batch that
    have the same time, rule and key: order of decision (engine.md, Delivery).
    """

    alert: Alert
    time: int
    order: tuple[int, ...]
    withholding: Withholding | None = None
