"""The events that runs took, by number: those kept from earlier batches first, then those of this one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cep.batch.arrivals import Arrivals
from cep.batch.payload import ID
from cep.plan.plan import Space
from cep.state.numbered import Numbered, in_order

Ints = npt.NDArray[np.int64]


@dataclass(slots=True)
class EventBook:
    """Looks events up by number, and copies those that live on.

    `kept` are those of earlier batches, by stream; from number `first` on they are those of this batch.
    """

    kept: Sequence[tuple[str, Numbered]]
    first: int
    events: Arrivals

    def sources(self, numbers: Ints) -> list[tuple[str, pa.Table, Ints, Ints]]:
        """The events (rising) by where they are: stream, table, places in `numbers`, rows of the table."""
        found = []
        earlier = int(np.searchsorted(numbers, self.first))
        for stream, kept in self.kept if earlier else ():
            places, rows = kept.find(numbers[:earlier])
            if len(places):
                found.append((stream, kept.table, places, rows))
        came = numbers[earlier:] - self.first
        for part, places, rows in self.events.where(came):
            found.append((part.stream, part.table, earlier + places, rows))
        return found

    def place(self, number: int) -> tuple[pa.Table, int]:
        """Where an event is: its table and its row there."""
        ((_, table, _, rows),) = self.sources(np.array([number], np.int64))
        return table, int(rows[0])

    def copied(self, space: Space, numbers: Ints) -> dict[str, Numbered]:
        """The events with these numbers (rising) by stream, with the fields that a space needs of them."""
        pieces: dict[str, list[Numbered]] = {}
        for stream, table, where, rows in self.sources(numbers):
            needs = space.of(stream)
            names = [] if needs is None else ["f:" + ".".join(path) for path in needs.fields]
            part = table.select([ID, *(n for n in names if n in table.column_names)]).take(pa.array(rows))
            for name in names:
                if name not in part.column_names:
                    part = part.append_column(name, pa.nulls(len(part)))
            pieces.setdefault(stream, []).append(Numbered(numbers[where], part.select([ID, *names])))
        return {stream: in_order(parts) for stream, parts in pieces.items()}
