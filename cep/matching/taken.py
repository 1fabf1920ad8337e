"""The events that runs took, by number: those kept from earlier batches first, then those of this one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cep.automata.plan import Space
from cep.expressions.held import python
from cep.matching.arrivals import Arrivals
from cep.matching.render import Taken
from cep.matching.state import SpaceState
from cep.routing.payload import ID
from rules.typed import Path

Ints = npt.NDArray[np.int64]


@dataclass(slots=True)
class EventBook:
    """Looks events up by number, and copies those that live on."""

    old: SpaceState | None
    events: Arrivals
    _values: dict[int, tuple[str, dict[Path, Sequence[Any]], int]] = field(default_factory=dict)

    @property
    def stored(self) -> int:
        """How many were kept from earlier batches."""
        return 0 if self.old is None else len(self.old.events)

    @property
    def count(self) -> int:
        """How many there are."""
        return self.stored + len(self.events.time)

    def sources(self, numbers: Ints) -> list[tuple[str, pa.Table, Ints, Ints]]:
        """The events by where they are: stream, table, places in `numbers`, rows of the table."""
        found = []
        earlier = numbers < self.stored
        if self.old is not None and earlier.any():
            where = np.flatnonzero(earlier)
            of_stream, rows = self.old.events[numbers[where]].T
            for number, (stream, table) in enumerate(self.old.stored.items()):
                mine = of_stream == number
                if mine.any():
                    found.append((stream, table, where[mine], rows[mine]))
        where = np.flatnonzero(~earlier)
        places = numbers[where] - self.stored
        for number, part in enumerate(self.events.parts):
            mine = self.events.part[places] == number
            if mine.any():
                found.append((part.stream, part.table, where[mine], self.events.row[places[mine]]))
        return found

    def read(self, numbers: Ints) -> None:
        """Make `taken` know these events."""
        wanted = np.unique(numbers)
        for _, table, where, rows in self.sources(wanted):
            names = [name for name in table.column_names if name.startswith("f:")]
            part = table.select([ID, *names]).take(pa.array(rows))
            ids = part.column(ID).to_pylist()
            values: dict[Path, Sequence[Any]] = {
                tuple(name[2:].split(".")): python(part.column(name)) for name in names
            }
            for row, number in enumerate(wanted[where].tolist()):
                self._values[number] = (ids[row], values, row)

    def taken(self, number: int, sequence: int) -> Taken:
        """An event that was read."""
        id_, values, row = self._values[number]
        return Taken(id_, values, row, sequence)

    def kept(self, space: Space, numbers: Ints) -> tuple[dict[str, pa.Table], Ints]:
        """The events with these numbers (rising), by stream, and where each is: (stream, row)."""
        pieces: dict[str, list[tuple[pa.Table, Ints]]] = {}
        for stream, table, where, rows in self.sources(numbers):
            needs = space.of(stream)
            names = [] if needs is None else ["f:" + ".".join(path) for path in needs.fields]
            part = table.select([ID, *(n for n in names if n in table.column_names)]).take(pa.array(rows))
            for name in names:
                if name not in part.column_names:
                    part = part.append_column(name, pa.nulls(len(part)))
            pieces.setdefault(stream, []).append((part.select([ID, *names]), where))
        stored: dict[str, pa.Table] = {}
        places = np.zeros((len(numbers), 2), np.int64)
        for number, (stream, parts) in enumerate(pieces.items()):
            tables = [part for part, _ in parts]
            stored[stream] = pa.concat_tables(tables, promote_options="permissive").combine_chunks()
            at = np.concatenate([where for _, where in parts])
            places[at, 0] = number
            places[at, 1] = np.arange(len(at))
        return stored, places
