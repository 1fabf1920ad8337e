"""Events that are given one by one, in a case or a test block, as Events of one source partition.

Their place is their number in the list, counted over all streams: of one instant, they are matched in
that order (docs/language.md, Time: a list of cases and a test block are one partition).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from cep.decode import DeadLetter, decode_typed, decoder
from cep.decode.json_lines import JsonReader
from cep.events import Events
from rules.testing import Arrival
from rules.typed import Pack

LIST = "events"
"""The name of the one partition, and of the file that places name."""


def line_events(
    pack: Pack, rows: Iterable[tuple[int, str, bytes]], clock: int | None = None
) -> tuple[list[Events], list[tuple[int, str]]]:
    """Events of (number, stream, one line of JSON), and number and reason of those that are none.

    Numbers rise; so do those of the refused. `clock` is that of `decoder`.
    """
    streams = {stream.name: stream for stream in pack.fed}
    lines: dict[str, list[tuple[int, bytes]]] = {}
    refused: list[tuple[int, str]] = []
    for number, name, line in rows:
        if name in streams:
            lines.setdefault(name, []).append((number, line))
        else:
            refused.append((number, f"the pack has no stream `{name}`"))
    found = []
    for name, given in lines.items():
        using = decoder(streams[name], clock=clock)
        text = memoryview(b"\n".join(line for _, line in given))
        reader = JsonReader(text, using.stream, using.feed, using.constants)
        decoded = using.decoded(reader, np.array([number for number, _ in given], np.int64), LIST, LIST)
        found.append(decoded.events)
        refused.extend((letter.offset, letter.reason) for letter in decoded.dead)
    return found, sorted(refused)


def typed_events(
    pack: Pack, arrivals: Sequence[Arrival], first: int
) -> tuple[list[Events], tuple[DeadLetter, ...]]:
    """Events of complete typed values, numbered from `first` on in this order, and what cannot be one.

    The clock stands at the time at which an event is given; only those ahead of it are held against it.
    """
    by_stream: dict[tuple[str, int | None], list[tuple[int, Arrival]]] = {}
    for number, arrival in enumerate(arrivals, first):
        clock = arrival.given.at if arrival.time > arrival.given.at else None
        by_stream.setdefault((arrival.stream, clock), []).append((number, arrival))
    decoded = [
        decode_typed(
            pack.stream(name),
            [arrival.values for _, arrival in given],
            offsets=[number for number, _ in given],
            file=LIST,
            partition=LIST,
            clock=clock,
        )
        for (name, clock), given in by_stream.items()
    ]
    return [part.events for part in decoded], tuple(letter for part in decoded for letter in part.dead)
