"""Alerts for the tests of this folder."""

from __future__ import annotations

from alerts.alert import Alert
from alerts.identity import alert_id
from alerts.notation import timestamp
from alerts.raised import Raised, Withholding

SECOND = 1_000_000_000


def raised(
    number: int,
    *,
    rule: str = "card_testing",
    key: str | None = None,
    time: int | None = None,
    severity: str = "high",
    suppress: int | None = None,
    summary: str = "3 probes, then 900 in NG",
    pack: str = "fraud",
) -> Raised:
    """An alert of its own for every number; its event time is `time` or the number, in seconds."""
    card = key or f"c{number}"
    moment = (number if time is None else time) * SECOND
    alert = Alert(
        id=alert_id(pack, rule, "s1", "match", [card], [("probe", [f"p{number}"])]),
        pack=pack,
        revision="r1",
        rule=rule,
        kind="match",
        severity=severity,
        time=timestamp(moment),
        key={"card_id": card},
        summary=summary,
        emit={"n": number},
        events={"probe": [f"p{number}"]},
        tags=["t"],
        runbook=None,
    )
    withholding = None if suppress is None else Withholding(card, suppress * SECOND)
    return Raised.of(alert, moment, (number,), withholding)
