"""Silences: what people do not want to be told of for a while."""

from __future__ import annotations

import json
from dataclasses import dataclass

from alerts.matchers import Labels, Matchers


@dataclass(frozen=True, slots=True)
class Silence:
    """Who does not want to be told of which alerts, why, from when and until when; wall clock in ns."""

    id: str
    who: str
    why: str
    starts_at: int
    ends_at: int
    matchers: Matchers

    def active(self, now: int) -> bool:
        """True if it holds back what is to be sent at `now`."""
        return self.starts_at <= now < self.ends_at

    def silences(self, labels: Labels, now: int) -> bool:
        """True if it holds back an alert of these values at `now`."""
        return self.active(now) and self.matchers.matches(labels)


def reason_of(silence: str) -> str:
    """The reason of what the silence of this id holds back."""
    return f"silence {silence}"


def written(matchers: Matchers) -> str:
    """Matchers as a text that `read` reads: a JSON list."""
    return json.dumps([str(one) for one in matchers.all], ensure_ascii=False)


def read(text: str) -> Matchers:
    """The matchers of a text."""
    return Matchers.of(json.loads(text))
