"""The trace of a delivery: a line for each time that a stage had something to say of it."""

from __future__ import annotations

from sqlalchemy import ColumnElement, case, func, literal

from alerts.outbox.schema import deliveries

LONGEST_TRACE = 8_000
"""Characters of a delivery's trace; what stages say beyond is left out."""


def traced(line: ColumnElement[str] | str) -> ColumnElement[str]:
    """The trace with one more line."""
    before = func.coalesce(deliveries.c.trace, "")
    more = literal(line) if isinstance(line, str) else line
    return case((func.length(before) > LONGEST_TRACE, before), else_=before.concat(more))
