"""Alerts that may hold back others: those of rules that an inhibition is by."""

from __future__ import annotations

from sqlalchemy import Connection, func, select

from alerts.outbox.pages import Wanted, stretch_of
from alerts.outbox.schema import ERASED, alerts, rules
from alerts.stages.inhibit import Inhibitors, Source


def read_sources(
    connection: Connection, inhibitors: Inhibitors, after: int | None
) -> tuple[int, list[Source]]:
    """Those raised after an alert of a number, and the number of the last alert. After None: as far back as
    the longest inhibition reaches; the stage is told how far that is."""
    a = alerts.c
    last = connection.scalar(select(func.max(a.number))) or 0
    if after is None:
        newest = connection.scalar(select(a.time).where(a.number == last)) or 0
        since = newest - inhibitors.longest
        inhibitors.knows_from(since)
        after = stretch_of(connection, Wanted(since=since)).first - 1 if last else 0
    return last, _of_rules(connection, inhibitors, after + 1, last)


def read_sources_between(
    connection: Connection, inhibitors: Inhibitors, since: int, until: int
) -> list[Source]:
    """Those of event times from one to before another."""
    numbers = stretch_of(connection, Wanted(since=since, until=until))
    return _of_rules(connection, inhibitors, numbers.first, numbers.last)


def _of_rules(connection: Connection, inhibitors: Inhibitors, first: int, last: int) -> list[Source]:
    if last < first:
        return []
    a = alerts.c
    wanted = [
        number
        for number, pack, rule, severity in connection.execute(select(rules))
        if inhibitors.may(pack, rule, severity)
    ]
    if not wanted:
        return []
    mine = a.number.between(first, last), a.rule_number.in_(wanted), a.key != ERASED
    query = select(a.time, a.body).where(*mine)
    return [Source(*row) for row in connection.execute(query.order_by(a.number))]
