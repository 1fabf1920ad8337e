"""Columns of which rows of decisions name a value each: keys, and fields of the events that matches took."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from alerts.arrow_columns import Texts
from rules.types import Type

Ints = npt.NDArray[np.int64]


@dataclass(slots=True)
class SharedColumn:
    """A column; `often`: as many rows name one of its values as it has, or more, so that texts of all of them
    are made once, and not for each row."""

    values: pa.Array
    often: bool
    _texts: dict[Type, Texts | None] = field(default_factory=dict)

    def texts(self, type_: Type, write: Callable[[pa.Array, Type], Texts | None]) -> Texts | None:
        """The texts of the values as those of a type, which `write` gives the first time."""
        if type_ not in self._texts:
            self._texts[type_] = write(self.values, type_)
        return self._texts[type_]


@dataclass(frozen=True, slots=True)
class Chosen:
    """Values of a column, a row each."""

    column: SharedColumn
    rows: Ints

    def taken(self, which: Ints | slice) -> Chosen:
        """Some of them."""
        return Chosen(self.column, self.rows[which])

    def array(self) -> pa.Array:
        """The values, row by row."""
        return self.column.values.take(pa.array(self.rows))
