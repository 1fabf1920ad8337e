"""A schema as the kernel reads it, and what it makes of records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cep.decode.by_schema.columns import Columns, Tree, room_for
from cep.decode.by_schema.kernel import layout
from cep.decode.kernel.layout import Block
from cep.decode.salvage import Indices

if TYPE_CHECKING:
    from cep.decode.by_schema.compiled import Kernel

POOL = 256 << 20
"""Bytes of address space for texts and lists; most is not touched."""
_FRAMES = 128
"""Lists and messages in one another."""


@dataclass(frozen=True, slots=True, eq=False)
class KernelProgram:
    """Operations, or entries and messages, with the columns that they fill; `groups`: how many oneofs."""

    format: Literal["avro", "protobuf"]
    columns: Columns
    trees: Mapping[str, Tree]
    operations: Sequence[int]
    messages: Sequence[int]
    listed: Sequence[int]
    groups: int

    def read(
        self, kernel: Kernel, data: NDArray[np.uint8], starts: Indices, ends: Indices
    ) -> Iterator[tuple[dict[str, pa.Array], Indices]]:
        """Columns of those of some records, which follow one another in the data, that are taken, and which
        they are, in parts. Behind the last there are SLACK bytes of data."""
        lists = sum(one.kind in (layout.TEXT, layout.LIST) for one in self.columns.made) + self.columns.levels
        most = POOL // lists
        first = 0
        while first < len(starts):
            last = max(first + 1, int(np.searchsorted(ends, starts[first] + most, "right")))
            yield self._part(kernel, data, starts[first:last], ends[first:last], first)
            first = last

    def _part(
        self, kernel: Kernel, data: NDArray[np.uint8], starts: Indices, ends: Indices, first: int
    ) -> tuple[dict[str, pa.Array], Indices]:
        made, levels = self.columns.made, self.columns.levels
        filled = room_for(made, levels, self.groups, len(starts), int(ends[-1] - starts[0]))
        program = layout.Program(
            filled.numbers,
            *(np.array([*some, 0], np.int64) for some in (self.operations, self.messages, self.listed)),
        )
        for one in (*program, starts, ends):
            one.flags.writeable = False
        read = np.zeros(len(starts), np.uint8)
        frames = np.zeros(_FRAMES * layout.FRAME, np.int64)
        run = kernel.read_avro if self.format == "avro" else kernel.read_protobuf
        run(Block(data, starts, ends), program, filled.room, frames, read)
        return filled.arrays(self.trees), np.flatnonzero(read) + first
