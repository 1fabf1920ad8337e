"""The values of records, laid one after another for the kernel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cep.decode.by_schema.kernel.layout import SLACK
from cep.decode.salvage import Indices


@dataclass(frozen=True, slots=True)
class Laid:
    """Values one after another, with SLACK bytes behind the last: value n is octets[starts[n] : ends[n]]."""

    values: Sequence[bytes]
    octets: NDArray[np.uint8]
    starts: Indices
    ends: Indices

    @classmethod
    def of(cls, values: Sequence[bytes], lengths: Indices) -> Laid:
        """Values of so many bytes each, laid."""
        octets = np.frombuffer(b"".join((*values, bytes(SLACK))), np.uint8)
        ends = np.cumsum(lengths)
        return cls(values, octets, ends - lengths, ends)
