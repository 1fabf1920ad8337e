"""The alerts whose ids begin with some digits, as people write them."""

from __future__ import annotations

import re

from sqlalchemy import Connection, select

from alerts.outbox.schema import ERASED, alerts

_DIGITS = re.compile("[0-9a-f]{6,64}")


def beginning_with(connection: Connection, digits: str, most: int = 2) -> list[tuple[int, str]]:
    """The numbers and ids of alerts whose id begins so, `most` at most; none for less than six digits."""
    if not _DIGITS.fullmatch(digits):
        return []
    a = alerts.c
    least, greatest = (_head(digits, filling) for filling in "0f")
    query = select(a.number, a.id).where(a.head.between(least, greatest + 3), a.id.startswith(digits))
    return [(number, id_) for number, id_ in connection.execute(query.order_by(a.head).limit(most))]


def is_erased(connection: Connection, number: int) -> bool:
    """True if the alert of that number was erased."""
    return connection.scalar(select(alerts.c.key).where(alerts.c.number == number)) == ERASED


def _head(digits: str, filling: str) -> int:
    """The number of the first 60 bits, those that are not given filled up."""
    return int(digits[:15].ljust(15, filling), 16) << 2
