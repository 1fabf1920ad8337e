"""The notification: what one receiver gets at one time, an alert or several."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

from alerts.alert import Alert
from alerts.due import Made
from alerts.envelope import subject
from alerts.notation import timestamp

MOST = 100
"""Alerts that one notification carries; of more, the newest."""

TEST_PACK, TEST_RULE = "cep", "test"
_LONGEST_KEY = 255  # characters of a dedup_key: PagerDuty's Events API v2


@dataclass(frozen=True, slots=True)
class Notification:
    """The alerts for a receiver, oldest first and at least one; `count` says how many there are in all."""

    receiver: str
    alerts: tuple[Mapping[str, Any], ...]
    count: int

    @classmethod
    def of(cls, receiver: str, bodies: Sequence[str]) -> Notification:
        """The notification of alerts that are given as their JSON texts, in the order raised."""
        return cls(receiver, tuple(map(json.loads, bodies[-MOST:])), len(bodies))

    @classmethod
    def of_group(cls, receiver: str, group: Made) -> Notification:
        """The notification of alerts that go out together."""
        return cls(receiver, tuple(map(json.loads, group.bodies)), group.count)

    @property
    def alert(self) -> Mapping[str, Any]:
        """The newest alert."""
        return self.alerts[-1]

    @property
    def more(self) -> int:
        """The number of alerts that it counts and does not carry."""
        return self.count - len(self.alerts)

    @property
    def test(self) -> bool:
        """True if somebody only tries the receiver."""
        return (self.alert["pack"], self.alert["rule"]) == (TEST_PACK, TEST_RULE)

    def newest(self, number: int) -> Notification:
        """The same with fewer alerts."""
        return replace(self, alerts=self.alerts[-number:])


def dedup_key(alert: Mapping[str, Any]) -> str:
    """The text that is equal for alerts about the same thing: one incident, one thread of mails.

    Those of one rule and key. One that would be too long ends in a digest of the whole.
    """
    whole = f"{alert['pack']}/{alert['rule']}/{subject(alert['key'])}"
    if len(whole) <= _LONGEST_KEY:
        return whole
    digest = sha256(whole.encode("utf-8", "replace")).hexdigest()
    return f"{whole[: _LONGEST_KEY - 65]}/{digest}"


def thread(notification: Notification, episode: str | None = None) -> str:
    """The text that is equal for notifications of one thread: of one episode, where that of the newest alert
    is known, about one thing, or else to one receiver."""
    about = {dedup_key(one) for one in notification.alerts}
    return episode or about.pop() if len(about) == 1 else f"{notification.receiver}/several"


def trial(receiver: str, now: int) -> Alert:
    """The alert by which somebody tries a receiver at `now`, wall clock in ns. No rule raised it."""
    return Alert(
        id=sha256(f"{TEST_PACK}/{TEST_RULE}/{receiver}/{now}".encode()).hexdigest(),
        pack=TEST_PACK,
        revision=TEST_RULE,
        rule=TEST_RULE,
        kind="event",
        severity="info",
        time=timestamp(now // 1_000_000_000 * 1_000_000_000),
        key={"receiver": receiver},
        summary=f"This is a test of the receiver {receiver}: nothing happened",
        emit={},
        events={},
        tags=["test"],
        runbook=None,
    )
