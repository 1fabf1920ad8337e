"""Numbers of alerts by rule since a moment, from the trailing index and from what it does not know yet."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, func, select

from alerts.outbox.pages import first_recorded
from alerts.outbox.schema import alerts, by_rule, rules
from alerts.outbox.trailing import last_indexed


@dataclass(frozen=True, slots=True)
class RuleCount:
    """The alerts of a rule and severity since a moment, and the number of its last one ever."""

    pack: str
    rule: str
    severity: str
    alerts: int
    last: int | None


def counted_since(connection: Connection, at: int | None) -> list[RuleCount]:
    """The alerts recorded from `at` on, wall clock in ns, of each rule that ever raised one, by name; None:
    none is counted."""
    r, b, a = rules.c, by_rule.c, alerts.c
    if at is None:
        first = (connection.scalar(select(func.max(a.number))) or 0) + 1
    else:
        first = first_recorded(connection, at)
    mine = b.rule_number == r.number
    since = select(func.count()).where(mine, b.number >= first).scalar_subquery()
    last = select(func.max(b.number)).where(mine).scalar_subquery()
    indexed = connection.execute(select(r.number, r.pack, r.rule, r.severity, since, last)).all()
    new = a.number > max(last_indexed(connection), first - 1)
    more = {
        number: (count, greatest)
        for number, count, greatest in connection.execute(
            select(a.rule_number, func.count(), func.max(a.number)).where(new).group_by(a.rule_number)
        )
    }
    found = []
    for number, pack, rule, severity, count, greatest in indexed:
        of_new, newest = more.get(number, (0, None))
        found.append(RuleCount(pack, rule, severity, count + of_new, newest or greatest))
    return sorted(found, key=lambda one: (one.pack, one.rule, one.severity))
