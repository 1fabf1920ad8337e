"""Routing: which receiver gets which alert."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from alerts.alert import SEVERITIES
from alerts.grouping import Grouping
from alerts.matchers import Labels, Matcher, Matchers


@dataclass(frozen=True, slots=True)
class Route:
    """The alerts that one receiver gets: those of these rules (None: of all) that are at least this severe.

    Raises ValueError for a severity that there is none of.
    """

    receiver: str
    rules: frozenset[str] | None = None
    severity: str = "info"

    def __post_init__(self) -> None:
        if self.severity not in SEVERITIES:
            raise ValueError(f"severity is one of {', '.join(SEVERITIES)}, not {self.severity!r}")

    @property
    def severities(self) -> tuple[str, ...]:
        """The severities that it takes, worst first."""
        return SEVERITIES[: SEVERITIES.index(self.severity) + 1]

    def takes(self, rule: str, severity: str) -> bool:
        """True for an alert of a rule and a severity."""
        return severity in self.severities and (self.rules is None or rule in self.rules)


@dataclass(frozen=True, slots=True)
class Branch:
    """One of several routes that are tried in turn: what fits goes to the receivers, and no further unless
    it is to `go_on`. `grouping` goes before that of the receivers."""

    matchers: Matchers
    receivers: tuple[str, ...]
    go_on: bool = False
    grouping: Grouping | None = None


@dataclass(frozen=True, slots=True)
class Tried:
    """A branch that an alert came to, by its number from 1; `against` is what kept it from being taken."""

    number: int
    branch: Branch
    against: Matcher | None


@dataclass(frozen=True, slots=True)
class Branches:
    """Routes in the order in which they are tried."""

    all: tuple[Branch, ...]

    @property
    def of_a_rule(self) -> bool:
        """True if all alerts of a rule go the same way."""
        return all(one.matchers.of_a_rule for one in self.all)

    def tried(self, labels: Labels) -> Iterator[Tried]:
        """The branches that an alert comes to, in order."""
        for number, branch in enumerate(self.all, 1):
            against = branch.matchers.against(labels)
            yield Tried(number, branch, against)
            if against is None and not branch.go_on:
                return

    def taken(self, labels: Labels) -> tuple[int, ...]:
        """The numbers of the branches that an alert takes, from 1."""
        found = []
        for number, branch in enumerate(self.all, 1):
            if branch.matchers.matches(labels):
                found.append(number)
                if not branch.go_on:
                    break
        return tuple(found)

    def receivers(self, taken: Sequence[int]) -> dict[str, int]:
        """The receivers to which the branches of these numbers lead, each with the first that does."""
        found: dict[str, int] = {}
        for number in taken:
            for receiver in self.all[number - 1].receivers:
                found.setdefault(receiver, number)
        return found


Routes = Sequence[Route] | Branches
"""By what alerts find their receivers: each receiver's own route, or branches."""
