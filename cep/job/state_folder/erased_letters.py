"""Dead letters and late events that hold what somebody asks to have erased: their bytes and fields go.

Their rows stay with place and stage, so that a replay does not write them again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, inspect, select, update

from alerts.outbox.blanking import Found, Pass
from alerts.sought import Fields, Sought
from cep.job.state_folder.dead_letters import dead_letters, late_events

ROWS = 200
"""Rows that one look reads."""
_OF_FILES = ("read", "lost")
"""Stages of letters about a whole file: they have no bytes, and are asked for by the file's name."""
_GONE = "erased"


def in_dead_letters(connection: Connection, sought: Sought, after: Any) -> Found:
    """Letters whose bytes or reasons hold the values, wherever in them: they became no event, so that nobody
    knows what is a field."""
    if not inspect(connection).has_table(dead_letters.name):
        return Found(None)
    c = dead_letters.c
    query = select(c.number, c.stage, c.reason, c.data).order_by(c.number).limit(ROWS)
    rows = connection.execute(query if after is None else query.where(c.number > after)).all()
    found = Found(rows[-1].number if len(rows) == ROWS else None)
    for number, stage, reason, data in rows:
        if stage not in _OF_FILES and sought.stands_in(f"{reason}\n{bytes(data).decode('utf-8', 'replace')}"):
            gone = update(dead_letters).where(c.number == number).values(reason=_GONE, data=b"")
            found.note("dead_letters", lambda to, gone=gone: to.execute(gone))  # type: ignore[misc]
    return found


def in_late_events(fields: Mapping[str, Fields]) -> Pass:
    """Late events that have the values under their names; `fields` says by stream which fields these are."""

    def look(connection: Connection, sought: Sought, after: Any) -> Found:
        if not inspect(connection).has_table(late_events.name):
            return Found(None)
        c = late_events.c
        query = select(c.number, c.stream, c.data).order_by(c.number).limit(ROWS)
        rows = connection.execute(query if after is None else query.where(c.number > after)).all()
        found = Found(rows[-1].number if len(rows) == ROWS else None)
        for number, stream, data in rows:
            if sought.is_of_event(json.loads(data), fields.get(stream, {})):
                gone = update(late_events).where(c.number == number).values(id=_GONE, data="{}")
                found.note("late_events", lambda to, gone=gone: to.execute(gone))  # type: ignore[misc]
        return found

    return look
