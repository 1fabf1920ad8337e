"""The places of texts in the state: registers of alternatives, and values that `prev` may still see."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cep.operators.patterns.compile.space_tables import SpaceTables
from cep.operators.patterns.kernel import layout
from cep.operators.patterns.runtime.history import VALUES
from cep.operators.patterns.runtime.kinds import HISTORIES, PACKED, RUNS
from cep.operators.patterns.runtime.packed_runs import PackedRuns
from cep.operators.patterns.runtime.runs import RunRows, Runs, ranges
from cep.state.keyed_rows import RULE, FlatRows, Kept, of_kind

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class TextPlaces:
    """For rules by number: rows (column of an alternative, its null word, its bit)
    `registers[first_registers[n]:]` up to the next rule's, and which of the values that look back are
    texts."""

    first_registers: Ints
    registers: Ints
    histories: Mapping[int, tuple[int, ...]]

    def of(self, kept: Kept) -> Iterator[tuple[Ints, Ints, Ints]]:
        """Arrays with rows and columns of the numbers of texts that are in them."""
        if len(self.registers):
            for runs in of_kind(kept, RUNS, RunRows).by_width.values():
                yield (runs.alternatives, *self._of_alternatives(runs))
            yield from of_kind(kept, PACKED, PackedRuns).texts()
        histories = of_kind(kept, HISTORIES, FlatRows).rows
        rules = histories[:, RULE]
        for rule in np.unique(rules).tolist() if self.histories and len(rules) else ():
            rows = np.flatnonzero(rules == rule)
            for value in self.histories.get(rule, ()):
                column = VALUES + 2 * value
                known = rows[histories[rows, column + 1] == 0]
                yield histories, known, np.full(len(known), column)

    def _of_alternatives(self, runs: Runs) -> tuple[Ints, Ints]:
        rules = runs.lists[:, layout.KEPT_RULE]
        counts = self.first_registers[rules + 1] - self.first_registers[rules]
        lists = np.repeat(np.arange(len(rules)), counts)
        alternatives = runs.lists[lists, layout.KEPT_ALTS]
        of_register = np.repeat(
            self.registers[ranges(self.first_registers[rules], counts)], alternatives, axis=0
        )
        column, word, bit = of_register.T
        rows = ranges(runs.firsts()[lists, 1], alternatives)
        known = (runs.alternatives[rows, word] >> bit) & 1 == 0
        return rows[known], column[known]


def text_places(tables: SpaceTables, registers: bool = True) -> TextPlaces:
    """Those of the rules of a plan; without `registers` only of values that look back."""
    if registers:
        return TextPlaces(tables.first_registers, tables.registers, tables.past_texts)
    return TextPlaces(np.zeros(1, np.int64), np.zeros((0, 3), np.int64), tables.past_texts)
