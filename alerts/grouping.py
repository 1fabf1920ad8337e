"""Settings of how one receiver is told: alerts by groups, so many a minute, those of a key in order."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256

from alerts.matchers import Labels

_DIGITS = 32


@dataclass(frozen=True, slots=True)
class Grouping:
    """Alerts with equal values of the names `by` go out together: the first ones `wait` ns after the first of
    them, later ones `interval` ns after those at the soonest."""

    by: tuple[str, ...]
    wait: int = 30_000_000_000
    interval: int = 300_000_000_000

    def values(self, labels: Labels) -> tuple[tuple[str, ...], ...]:
        """The values that an alert shares with its group."""
        return tuple(labels[name] for name in self.by)

    def said(self, labels: Labels) -> str:
        """The group in words: `rule = card_testing, card_id = c1`."""
        return ", ".join(f"{name} = {' '.join(labels[name])[:80]}" for name in self.by) or "every alert"


@dataclass(frozen=True, slots=True)
class Rate:
    """At most `most` notifications in any `period` of ns."""

    most: int
    period: int
    said: str

    def __str__(self) -> str:
        return self.said


@dataclass(frozen=True, slots=True)
class Manner:
    """The manner in which a receiver is told; without any of these each alert goes at once, by itself.

    With `by_key` alerts of one key go one after another, and no notification is about several keys.
    """

    grouping: Grouping | None = None
    rate: Rate | None = None
    by_key: bool = False


def digest(*values: object) -> str:
    """A short name of values, equal for equal ones."""
    return sha256(repr(values).encode("utf-8", "backslashreplace")).hexdigest()[:_DIGITS]
