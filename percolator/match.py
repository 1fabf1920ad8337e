"""A chunk of documents x compiled queries -> hits: the innermost part, exact and a function of its input.

Documents come as the words of each field; what they make true becomes one row of booleans a leaf, a
column a document. A query is answered for all documents of the chunk at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import assert_never

import numpy as np
import numpy.typing as npt

from percolator import compile as compiled
from percolator.compile import Expression
from percolator.positions import stand_together
from percolator.vocabulary import Vocabulary
from percolator.words import pattern_for

Bits = npt.NDArray[np.bool_]
Longs = npt.NDArray[np.int64]

VALUE_GAP = 100
"""Positions that lie between two values of a field."""

_DOCUMENT = 32  # a place is document << 32 | position in the field


@dataclass(frozen=True, slots=True)
class FieldValues:
    """One field of a chunk: for every document its values in order, and whether it has any."""

    values: Sequence[Sequence[str]]
    present: Bits


@dataclass(slots=True)
class Found:
    """What the words of a chunk make true.

    `rows[row_of[leaf]]` has a bit a document; leaves that occur nowhere share the last row, which is
    false. `places` are ordered by leaf, then document, then position; those of a row begin at
    `starts[row]`.
    """

    size: int
    rows: Bits
    row_of: npt.NDArray[np.int64]
    places: Longs
    starts: Longs
    present: Mapping[str, Bits]
    sequences: dict[compiled.Sequence, Bits] = field(default_factory=dict)

    def present_leaves(self) -> Bits:
        """For every leaf whether some document has it."""
        return self.row_of < len(self.rows) - 1


def find_words(
    size: int, fields: Mapping[str, FieldValues], vocabularies: Mapping[str, Vocabulary], leaf_count: int
) -> Found:
    """Looks every word of the chunk up, once."""
    leaf_parts: list[Longs] = []
    place_parts: list[Longs] = []
    for name, vocabulary in vocabularies.items():
        leaves, places = _field_places(fields[name], vocabulary)
        leaf_parts.append(leaves)
        place_parts.append(places)
    leaves = np.concatenate(leaf_parts) if leaf_parts else np.empty(0, np.int64)
    places = np.concatenate(place_parts) if place_parts else np.empty(0, np.int64)
    order = np.argsort(leaves, kind="stable")
    leaves, places = leaves[order], places[order]
    numbers, starts = np.unique(leaves, return_index=True)
    rows = np.zeros((len(numbers) + 1, size), np.bool_)
    row_of = np.full(leaf_count, len(numbers), np.int64)
    row_of[numbers] = np.arange(len(numbers))
    rows[row_of[leaves], places >> _DOCUMENT] = True
    present = {name: values.present for name, values in fields.items()}
    return Found(size, rows, row_of, places, np.append(starts, len(places)), present)


def _field_places(field_values: FieldValues, vocabulary: Vocabulary) -> tuple[Longs, Longs]:
    """The leaves that words of one field make true, and where: in order of place."""
    looked_up: list[int] = []
    counts: list[int] = []
    documents: list[int] = []
    gaps: list[int] = []
    for document, values in enumerate(field_values.values):
        for index, text in enumerate(values):
            found = pattern_for(text).findall(text)
            # Text by text, while its words are in the processor's cache.
            looked_up += map(vocabulary.__getitem__, found)
            counts.append(len(found))
            documents.append(document)
            gaps.append(VALUE_GAP if index else 0)
    classes = np.array(looked_up, np.int64)
    starts, leaves = vocabulary.arrays()
    hits = np.flatnonzero(classes)
    # The place of each value's first word: positions go on from value to value of a document.
    lengths, owners = np.array(counts, np.int64), np.array(documents, np.int64)
    ends = np.cumsum(lengths)
    advance = np.cumsum(lengths + np.array(gaps, np.int64))
    base = advance - lengths
    first_of = np.searchsorted(owners, owners, side="left")
    base = base - base[first_of]
    value = np.searchsorted(ends, hits, side="right")
    places = (owners[value] << _DOCUMENT) | (base[value] + hits - (ends - lengths)[value])
    classes = classes[hits]
    repeated = starts[classes + 1] - starts[classes]
    within = np.arange(repeated.sum()) - np.repeat(np.cumsum(repeated) - repeated, repeated)
    return leaves[np.repeat(starts[classes], repeated) + within], np.repeat(places, repeated)


def evaluate(expression: Expression, found: Found) -> Bits:
    """One bit a document: whether the expression is true on it. Not to be written to."""
    match expression:
        case compiled.Leaf():
            row: Bits = found.rows[found.row_of[expression.number]]
            return row
        case compiled.Sequence():
            known = found.sequences.get(expression)
            if known is None:
                known = found.sequences[expression] = _sequence(expression, found)
            return known
        case compiled.All():
            both = evaluate(expression.operands[0], found)
            for operand in expression.operands[1:]:
                if not both.any():
                    break
                both = both & evaluate(operand, found)
            return both
        case compiled.Any():
            # Words come first in an Any; gathered, five hundred of them cost little more than two.
            numbers = [
                operand.number for operand in expression.operands if isinstance(operand, compiled.Leaf)
            ]
            result: Bits = np.logical_or.reduce(found.rows[found.row_of[numbers]], axis=0)
            for operand in expression.operands:
                if not isinstance(operand, compiled.Leaf):
                    result = result | evaluate(operand, found)
            return result
        case compiled.Some():
            total = np.zeros(found.size, np.int64)
            for operand in expression.operands:
                total += evaluate(operand, found)
            enough: Bits = total >= expression.count
            return enough
        case compiled.No():
            return ~evaluate(expression.operand, found)
        case compiled.Has():
            return found.present[expression.field]
        case compiled.Constant():
            return np.full(found.size, expression.value)
        case _:
            assert_never(expression)


def _sequence(sequence: compiled.Sequence, found: Found) -> Bits:
    """The documents in which the words stand together."""
    rows = found.row_of[list(sequence.leaves)]
    candidates: Bits = np.logical_and.reduce(found.rows[rows], axis=0)
    if not candidates.any():
        return candidates
    places = [found.places[found.starts[row] : found.starts[row + 1]] for row in rows.tolist()]
    result = np.zeros(found.size, np.bool_)
    if sequence.slop == 0:
        result[_in_a_row(places) >> _DOCUMENT] = True
        return result
    for document in np.flatnonzero(candidates).tolist():
        low, high = document << _DOCUMENT, (document + 1) << _DOCUMENT
        parts = [part[np.searchsorted(part, low) : np.searchsorted(part, high)].tolist() for part in places]
        result[document] = stand_together(parts, sequence.slop)
    return result


def _in_a_row(places: Sequence[Longs]) -> Longs:
    """The places of the first word where each next word stands one further."""
    shortest_first = sorted(range(len(places)), key=lambda index: len(places[index]))
    # A shift cannot reach into the document before: no position is anywhere near 2 ** 32.
    starts = places[shortest_first[0]] - shortest_first[0]
    for index in shortest_first[1:]:
        others = places[index] - index
        at = np.minimum(np.searchsorted(others, starts), len(others) - 1)
        starts = starts[others[at] == starts]
    return starts
