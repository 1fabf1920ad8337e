"""Alerts that nobody wants to be told of now: decided when one is about to be sent, not when it is raised.

So a silence that is taken back frees what still waits, and one that is made in time holds back what was
raised before it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from alerts.matchers import Labels, Matchers
from alerts.silences import Silence


@dataclass(frozen=True, slots=True)
class Muted:
    """The silence that holds an alert back, and until when; wall clock in ns."""

    silence: Silence
    until: int

    @property
    def reason(self) -> str:
        """The reason as the outbox keeps it."""
        return reason_of(self.silence.id)


def reason_of(silence: str) -> str:
    """The reason of what the silence of this id holds back."""
    return f"silence {silence}"


class Silences:
    """Silences that are asked about one alert after another; what alerts of a rule share is asked once."""

    def __init__(self, all_: Sequence[Silence] = ()) -> None:
        self._all = all_
        self._of_rule: dict[tuple[str, str, str], list[tuple[Silence, Matchers]]] = {}

    def any_active(self, now: int) -> bool:
        """True if there may be something to hold back at `now`."""
        return any(one.active(now) for one in self._all)

    def mute(self, labels: Labels, now: int) -> Muted | None:
        """The silence that holds back an alert of these values at `now`: of several the one that ends last;
        None if it may be sent."""
        (pack,), (rule,), (severity,) = labels["pack"], labels["rule"], labels["severity"]
        some = self._of_rule.get((pack, rule, severity))
        if some is None:
            some = self._of_rule[pack, rule, severity] = list(self._for_rule(labels))
        found = [one for one, rest in some if one.active(now) and rest.matches(labels)]
        if not found:
            return None
        last = max(found, key=lambda one: one.ends_at)
        return Muted(last, last.ends_at)

    def _for_rule(self, labels: Labels) -> Iterator[tuple[Silence, Matchers]]:
        """The silences that may hold back alerts of a rule, with what is to be asked of each alert."""
        for one in self._all:
            shared, rest = one.matchers.parted()
            if shared.matches(labels):
                yield one, rest
