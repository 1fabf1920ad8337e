"""Where texts stand in what is remembered: in registers of ways and in values that `prev` may still see."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cep.automata.space_tables import SpaceTables
from cep.matching import kernel
from cep.matching.history import HISTORIES, VALUES
from cep.matching.numbered import Numbered
from cep.matching.runs import RUNS, RunRows, Runs, ranges
from cep.state.keyed_rows import RULE, FlatRows, Kept, of_kind

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class TextPlaces:
    """For rules by number: rows (column of a way, its null word, its bit) `registers[first_registers[n]:]` up
    to the next rule's, and which of the values that look back are texts."""

    first_registers: Ints
    registers: Ints
    histories: Mapping[int, tuple[int, ...]]

    def of(self, kept: Kept) -> Iterator[tuple[Ints, Ints, Ints]]:
        """Arrays with rows and columns of the numbers of texts that are in them."""
        if len(self.registers):
            for runs in of_kind(kept, RUNS, RunRows, RunRows()).by_width.values():
                yield (runs.threads, *self._in_ways(runs))
        histories = of_kind(kept, HISTORIES, FlatRows, FlatRows.none()).rows
        rules = histories[:, RULE]
        for rule in np.unique(rules).tolist() if self.histories and len(rules) else ():
            rows = np.flatnonzero(rules == rule)
            for value in self.histories.get(rule, ()):
                column = VALUES + 2 * value
                known = rows[histories[rows, column + 1] == 0]
                yield histories, known, np.full(len(known), column)

    def _in_ways(self, runs: Runs) -> tuple[Ints, Ints]:
        rules = runs.lists[:, kernel.KEPT_RULE]
        counts = self.first_registers[rules + 1] - self.first_registers[rules]
        lists = np.repeat(np.arange(len(rules)), counts)
        ways = runs.lists[lists, kernel.KEPT_THREADS]
        of_register = np.repeat(self.registers[ranges(self.first_registers[rules], counts)], ways, axis=0)
        column, word, bit = of_register.T
        rows = ranges(runs.firsts()[lists, 1], ways)
        known = (runs.threads[rows, word] >> bit) & 1 == 0
        return rows[known], column[known]


def text_places(tables: SpaceTables) -> TextPlaces:
    """Those of the rules of a plan."""
    return TextPlaces(tables.first_registers, tables.registers, tables.past_texts)


def named(places: TextPlaces, kept: Kept) -> Ints:
    """The numbers of the texts that rows name, rising."""
    found = [array[rows, columns] for array, rows, columns in places.of(kept)]
    return np.unique(np.concatenate(found)) if found else np.zeros(0, np.int64)


def renamed(places: TextPlaces, kept: Kept, used: Ints, numbers: Ints) -> None:
    """Let rows name each text of `used` (rising) by another number; the arrays are changed in place."""
    for array, rows, columns in places.of(kept):
        array[rows, columns] = numbers[np.searchsorted(used, array[rows, columns])]


def texts_of(parts: list[Numbered], used: Ints) -> tuple[pa.StringArray, Ints, Ints]:
    """Each text under any of the numbers once; for every number its place there, and for every place the
    first of its numbers."""
    found, places = [pa.array([], pa.string())], [np.zeros(0, np.int64)]
    for part in parts if len(used) else ():
        mine, rows = part.find(used)
        if len(mine):
            found.append(part.table.column("t").take(pa.array(rows)).combine_chunks())
            places.append(mine)
    order = np.argsort(np.concatenate(places))
    encoded = pa.concat_arrays(found).take(pa.array(order)).dictionary_encode()
    of_number = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    first = np.unique(of_number, return_index=True)[1]
    return encoded.dictionary, of_number, used[first]
