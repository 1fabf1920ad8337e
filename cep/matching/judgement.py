"""What the kernel sees of a shard's events for one rule: truths by place, values by column, in key order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cep.automata.plan import RulePlan
from cep.matching.arrivals import Arrivals, Part
from cep.matching.texts import Texts
from cep.routing.payload import bit

Ints = npt.NDArray[np.int64]
Bytes = npt.NDArray[np.uint8]


@dataclass(slots=True)
class Judgement:
    """Reads verdicts and columns of events in the order given, every column encoded once."""

    events: Arrivals
    texts: Texts
    _bits: dict[int, Bytes] = field(default_factory=dict)
    _columns: dict[tuple[int, int], tuple[Ints, Bytes]] = field(default_factory=dict)

    def encode(self) -> None:
        """Encode every computed column, so that the dictionary is complete before ranks are taken."""
        for number, part in enumerate(self.events.parts):
            for name in part.table.column_names:
                if name[0] == "c":
                    self._column(number, int(name[1:]))

    def places(self, rule: RulePlan) -> Bytes:
        """A row of 0 and 1 per place of the rule. Events judged by a plan without the rule fit none."""
        size = len(self.events.time)
        found = np.zeros((len(rule.places), size), np.uint8)
        for number, part in enumerate(self.events.parts):
            places = self._judged(part, rule, 0)
            if places is None:
                continue
            where, rows = self.events.rows_of(number)
            if number not in self._bits:
                self._bits[number] = np.ascontiguousarray(part.bits[rows].T)
            for place, bits in enumerate(places):
                if part.stream in bits:
                    found[place, where] = bit(self._bits[number], bits[part.stream])
        return found

    def columns(self, rule: RulePlan) -> tuple[Ints, Bytes]:
        """A row per column of the rule, and where it is null; null for events of other streams."""
        size = len(self.events.time)
        values = np.zeros((len(rule.columns), size), np.int64)
        nulls = np.ones((len(rule.columns), size), np.uint8)
        for number, part in enumerate(self.events.parts):
            columns = self._judged(part, rule, 1)
            if columns is None:
                continue
            where, rows = self.events.rows_of(number)
            for place, of in enumerate(columns):
                if part.stream in of:
                    known, null = self._column(number, of[part.stream])
                    values[place, where] = known[rows]
                    nulls[place, where] = null[rows]
        return values, nulls

    def _judged(self, part: Part, rule: RulePlan, which: int) -> tuple[Mapping[str, int], ...] | None:
        judged = part.judged.get(rule.identity)
        expected = (rule.places, rule.columns)
        if judged is None or len(judged[which]) != len(expected[which]):
            return None
        return judged[which]

    def _column(self, part: int, number: int) -> tuple[Ints, Bytes]:
        if (part, number) not in self._columns:
            self._columns[part, number] = as_numbers(self.events.parts[part].column(f"c{number}"), self.texts)
        return self._columns[part, number]


def as_numbers(column: pa.Array, texts: Texts) -> tuple[Ints, Bytes]:
    """A column as 64 bits a value, and where it is null."""
    nulls = column.is_null().to_numpy(zero_copy_only=False).astype(np.uint8)
    if pa.types.is_null(column.type):
        return np.zeros(len(column), np.int64), nulls
    if not pa.types.is_primitive(column.type) or pa.types.is_decimal(column.type):
        return texts.numbers(column), nulls
    if column.null_count:
        column = column.fill_null(False if pa.types.is_boolean(column.type) else 0)
    values = column.to_numpy(zero_copy_only=False)
    if values.dtype == np.float64:
        # One zero, so that equal values have equal bits.
        return (values + 0.0).view(np.int64), nulls
    return values.astype(np.int64), nulls
