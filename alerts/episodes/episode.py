"""An episode: its states and verdicts, and what people do with it.

EpisodeError    what was asked for does not fit the state: one sentence, and in `help` what to do
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Literal

State = Literal["open", "acknowledged", "closed"]
STATES: tuple[State, ...] = ("open", "acknowledged", "closed")
Verdict = Literal["true_positive", "false_positive", "benign", "duplicate"]
VERDICTS: tuple[Verdict, ...] = ("true_positive", "false_positive", "benign", "duplicate")

BY_JOB = "[alerts] close_quiet"
"""Who closed an episode that was quiet, where no person did."""
LONGEST_NOTE = 10_000
"""Characters."""


class EpisodeError(Exception):
    """An action that an episode's state does not allow."""

    def __init__(self, message: str, help: str) -> None:  # noqa: A002  as diagnostics call it
        super().__init__(message)
        self.help = help


@dataclass(frozen=True, slots=True)
class Standing:
    """The words of people on an episode: `verdict` and `note` of a closed one, `at` wall clock in ns."""

    state: State = "open"
    verdict: Verdict | None = None
    note: str = ""
    by: str = ""
    at: int | None = None

    def acknowledged(self, by: str, at: int, note: str = "") -> Standing:
        """The standing once somebody works on it. Raises EpisodeError."""
        if self.state == "closed":
            raise EpisodeError("it is closed", "reopen it first")
        return Standing("acknowledged", None, note or self.note, by, at)

    def closed(self, verdict: Verdict, by: str, at: int, note: str = "") -> Standing:
        """The standing after a verdict; that of one which is closed is replaced."""
        return Standing("closed", verdict, note or self.note, by, at)

    def reopened(self, by: str, at: int, note: str = "") -> Standing:
        """The standing of one that is open again. Raises EpisodeError."""
        if self.state == "open":
            raise EpisodeError("it is open", "there is nothing to reopen")
        return Standing("open", None, note or self.note, by, at)


@dataclass(frozen=True, slots=True)
class Episode:
    """Alerts of one rule and key, by the numbers of the first and the last: all between them belong to it.

    `began` and `ended` are the event times of these two, `length` the rule's `episode`, in nanoseconds;
    `worst` is the place in SEVERITIES of the worst alert.
    """

    first: int
    pack: str
    rule: str
    key: str
    last: int
    alerts: int
    began: int
    ended: int
    length: int
    worst: int
    standing: Standing = Standing()

    def quiet(self, now: int) -> bool:
        """True if nothing that comes from event time `now` on can belong to it."""
        return self.standing.state != "closed" and self.ended + self.length <= now


def slot(pack: str, rule: str, key: str) -> int:
    """A number of 64 bits for a rule and a key, by which their episodes are found."""
    said = f"{pack}\0{rule}\0{key}".encode()  # names and JSON have no NUL
    return int.from_bytes(hashlib.blake2b(said, digest_size=8).digest(), "big", signed=True)


@dataclass(frozen=True, slots=True)
class Precision:
    """The verdicts over the closed episodes of a rule."""

    pack: str
    rule: str
    true_positive: int = 0
    false_positive: int = 0
    benign: int = 0
    duplicate: int = 0

    @property
    def share(self) -> float | None:
        """The share of true positives; duplicates count for nothing. None: there is nothing to count."""
        judged = self.true_positive + self.false_positive + self.benign
        return self.true_positive / judged if judged else None
