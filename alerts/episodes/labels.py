"""The verdicts on episodes as labels of their alerts, for those who train models and measure rules."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterator
from typing import NamedTuple

from sqlalchemy import Connection, select

from alerts.alert import SEVERITIES
from alerts.episodes.assigning import Slot
from alerts.episodes.episode import Episode
from alerts.notation import timestamp
from alerts.outbox.episodes import ids_of, judged
from alerts.outbox.schema import alerts, rules

_AT_ONCE = 2_000


class Label(NamedTuple):
    """An alert with the verdict on its episode, times as RFC 3339, `key` as JSON.

    `label` is 1 for a true positive, 0 for a false or benign one, null for a duplicate.
    """

    alert: str
    episode: str
    pack: str
    revision: str
    rule: str
    kind: str
    severity: str
    time: str
    key: str
    label: int | None
    verdict: str
    note: str
    by: str
    closed_at: str


def labels(connection: Connection) -> Iterator[list[Label]]:
    """The alerts of closed episodes that have a verdict, in the order raised, some at a time."""
    of_slot: dict[Slot, list[Episode]] = {}
    for one in judged(connection):
        of_slot.setdefault((one.pack, one.rule, one.key), []).append(one)
    if not of_slot:
        return
    for some in of_slot.values():
        some.sort(key=lambda one: one.first)
    every = [one for some in of_slot.values() for one in some]
    ids = ids_of(connection, every)
    a, r = alerts.c, rules.c
    after, last = min(one.first for one in every) - 1, max(one.last for one in every)
    while True:
        query = (
            select(a.number, a.body, a.key, r.pack, r.rule)
            .join_from(alerts, rules, a.rule_number == r.number)
            .where(a.number > after, a.number <= last)
            .order_by(a.number)
            .limit(_AT_ONCE)
        )
        rows = connection.execute(query).all()
        if not rows:
            return
        after = rows[-1].number
        yield [
            _label(json.loads(row.body), row.key, episode, ids[episode.first])
            for row in rows
            if (episode := _of(of_slot.get((row.pack, row.rule, row.key), ()), row.number)) is not None
        ]


def _of(some: list[Episode] | tuple[()], number: int) -> Episode | None:
    """The episode, of those of a slot by their first alerts, that an alert of a number belongs to."""
    place = bisect_right(some, number, key=lambda one: one.first) - 1
    return some[place] if place >= 0 and number <= some[place].last else None


def _label(alert: dict[str, str], key: str, episode: Episode, id_: str) -> Label:
    said = episode.standing
    assert said.verdict is not None
    assert said.at is not None
    assert alert["severity"] in SEVERITIES
    return Label(
        *(
            alert["id"],
            id_,
            alert["pack"],
            alert["revision"],
            alert["rule"],
            alert["kind"],
            alert["severity"],
        ),
        time=alert["time"],
        key=key,
        label={"true_positive": 1, "duplicate": None}.get(said.verdict, 0),
        verdict=said.verdict,
        note=said.note,
        by=said.by,
        closed_at=timestamp(said.at),
    )
