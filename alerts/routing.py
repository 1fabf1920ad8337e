"""Routing: which receiver gets which alert."""

from __future__ import annotations

from dataclasses import dataclass

from alerts.alert import SEVERITIES


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
