"""Dead letters and late events that hold what somebody asks to have erased: their bytes and fields go.

Their rows stay with place and stage, so that a replay does not write them again.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, inspect, select, update

from alerts.outbox.blanking import Found, Pass
from alerts.sought import Fields, Sought
from cep.files import read_json
from cep.job.state_folder import letter_replays
from cep.job.state_folder.dead_letters import dead_letters, late_events

if TYPE_CHECKING:
    from cep.files import AnyPath

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
    mended = letter_replays.mended(connection, [row.number for row in rows])
    for number, stage, reason, data in rows:
        texts = (one.decode("utf-8", "replace") for one in (bytes(data), mended.get(number, b"")))
        if stage not in _OF_FILES and sought.stands_in("\n".join((reason, *texts))):
            found.note("dead_letters", partial(_erase_letter, number=number))
    return found


def _erase_letter(connection: Connection, number: int) -> None:
    gone = update(dead_letters).where(dead_letters.c.number == number)
    connection.execute(gone.values(reason=_GONE, data=b""))
    letter_replays.erase(connection, number)


def batches_with(manifests: AnyPath, sought: Sought) -> list[int]:
    """The batches that read letters again which hold the values: what they read is beside their manifests."""
    found = []
    for path in manifests.glob("*.letters"):
        try:
            letters = read_json(path)["letters"]
        except (OSError, ValueError, KeyError):
            continue  # who runs the batch again is told
        texts = (base64.b64decode(one[-1]).decode("utf-8", "replace") for one in letters)
        if any(map(sought.stands_in, texts)):
            found.append(int(path.stem))
    return sorted(found)


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
