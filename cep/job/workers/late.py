"""Events that came too late, as they are kept: one row each, the event as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable

from alerts.masking import Mask
from alerts.notation import json_value
from cep.events import FILE, ID, OFFSET, TIME, Events
from cep.expressions.held import as_held, python
from rules.typed import Stream

LateRow = tuple[str, str, int, str, int, str]
"""Stream, file, offset, id, time, JSON: the fields of `dead_letters.LateEvent`, which would load a database
library."""


def late_rows(stream: Stream, events: Events, mask: Mask | None = None) -> list[LateRow]:
    """The events of one stream, in order, in the notation of alerts; secret values as hashes where there is a
    mask."""
    table = events.table
    columns = [python(as_held(table.column(f.name))) for f in stream.fields]
    if mask is not None:
        columns = [
            list(map(mask.value, values)) if field.secret else values
            for field, values in zip(stream.fields, columns, strict=True)
        ]
    own = [table.column(name).to_pylist() for name in (FILE, OFFSET, ID, TIME)]
    return [
        (stream.name, file, offset, id_, time, _json(stream, values))
        for file, offset, id_, time, *values in zip(*own, *columns, strict=True)
    ]


def _json(stream: Stream, values: Iterable[object]) -> str:
    event = {f.name: json_value(value, f.type) for f, value in zip(stream.fields, values, strict=True)}
    return json.dumps(event, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
