"""The alert: what a receiver gets."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Literal

Kind = Literal["event", "match", "timeout", "window", "hit", "amend", "retract"]
SEVERITIES = ("critical", "high", "medium", "low", "info")

_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode
_encode_ascii = json.JSONEncoder(allow_nan=False, separators=(",", ":")).encode


@dataclass(frozen=True, slots=True)
class Alert:
    """One alert, every field always present; values are JSON values.

    `time` is RFC 3339 UTC; `key` and `emit` map names to values; `events` maps every step that took
    something to the ids taken, in order. `suppressed` counts the alerts withheld since the last one,
    `approximate` names the emitted values that are estimates.
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
    approximate: list[str] = field(default_factory=list)

    def as_dict(self) -> dict[str, object]:
        """The JSON object, names in the documented order."""
        return dict(zip(self.__slots__, _values(self), strict=True))

    def to_json(self) -> str:
        """One line of JSON: characters kept as they are, no NaN, no space after separators.

        A text with a lone surrogate, which has no UTF-8, is escaped to ASCII, so that every line can be
        written. Raises ValueError for NaN and infinity.
        """
        text = _encode(self.as_dict())
        if not text.isascii():
            try:
                text.encode()
            except UnicodeEncodeError:
                return _encode_ascii(self.as_dict())
        return text


_values = attrgetter(*Alert.__slots__)
