"""Inhibition: an alert that says more holds back those that say less about the same thing, in event time."""

from __future__ import annotations

from dataclasses import dataclass

from alerts.matchers import Labels, Matchers

Values = tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Inhibition:
    """Alerts that fit `by` hold back those that fit `of` and have equal values of the names `equal`, from
    their own event time on for `length` ns. `said` is what people know it by.

    As with Alertmanager, an alert that fits both is not held back by another that fits both; so none holds
    back itself.
    """

    by: Matchers
    of: Matchers
    equal: tuple[str, ...]
    length: int
    said: str

    def values(self, labels: Labels) -> Values:
        """The values that both have to share."""
        return tuple(labels[name] for name in self.equal)

    def holds_back(self, source: Labels, labels: Labels, apart: int) -> bool:
        """True if `source` holds back an alert that comes `apart` ns of event time after it."""
        return (
            0 <= apart < self.length
            and self.by.matches(source)
            and self.of.matches(labels)
            and self.values(source) == self.values(labels)
            and not (self.of.matches(source) and self.by.matches(labels))
        )
