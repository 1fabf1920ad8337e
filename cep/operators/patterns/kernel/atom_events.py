"""The events that each condition is true of, out of the bits that came with them."""

from __future__ import annotations

import numpy as np

from cep.operators.patterns.kernel.layout import Ints, ReadOnlyBytes


def number_at(data: ReadOnlyBytes, at: int) -> int:
    """A number of four bytes, the least significant first."""
    low = np.int64(data[at]) + np.int64(data[at + 1]) * 256
    return int(low + np.int64(data[at + 2]) * 65_536 + np.int64(data[at + 3]) * 16_777_216)


def count_hits(data: ReadOnlyBytes, ends: Ints, bits: bool, rows: Ints, base: int, counts: Ints) -> None:
    """Count the events of some rows that each atom is true of.

    A row has the bytes from `ends[row]` to `ends[row + 1]`: bits, the most significant first, or numbers of
    atoms (cep.batch.predicates); `bits`: always bits. `counts[base + a + 1]` grows for atom a, so that their
    running sum is where each atom's events begin.
    """
    for row in rows:
        at = ends[row]
        end = ends[row + 1]
        if bits or (end - at) % 2 == 1:
            atom = base
            for k in range(at, end):
                byte = data[k]
                if byte != 0:
                    for n in range(8):
                        if byte & (128 >> n):
                            counts[atom + n + 1] += 1
                atom += 8
        else:
            for k in range(at, end, 4):
                counts[base + number_at(data, k) + 1] += 1


def list_hits(
    data: ReadOnlyBytes, ends: Ints, bits: bool, rows: Ints, base: int, events: Ints, heads: Ints, hits: Ints
) -> None:
    """List the events of which each atom is true, atom by atom; `heads` say where the next one is written.

    `events` are the numbers of the events in `rows`.
    """
    for number in range(len(rows)):
        row = rows[number]
        at = ends[row]
        end = ends[row + 1]
        if bits or (end - at) % 2 == 1:
            atom = base
            for k in range(at, end):
                byte = data[k]
                if byte != 0:
                    for n in range(8):
                        if byte & (128 >> n):
                            hits[heads[atom + n]] = events[number]
                            heads[atom + n] += 1
                atom += 8
        else:
            for k in range(at, end, 4):
                atom = base + number_at(data, k)
                hits[heads[atom]] = events[number]
                heads[atom] += 1
