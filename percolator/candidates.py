"""Which queries a chunk of documents can hit at all: those that miss no word they need."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from percolator.compile import Expression, clauses


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """What queries need, as arrays.

    `leaves` holds the clauses one after the other, a clause beginning at each of `clause_starts`;
    `query_starts` are the first clauses of the queries `needing`. The queries `always` need no word.
    """

    leaves: npt.NDArray[np.int64]
    clause_starts: npt.NDArray[np.int64]
    query_starts: npt.NDArray[np.int64]
    needing: npt.NDArray[np.int64]
    always: npt.NDArray[np.int64]

    @classmethod
    def of(cls, expressions: Sequence[Expression]) -> Candidates:
        """The needs of these queries, which are known by their place in the sequence."""
        leaves: list[int] = []
        clause_starts: list[int] = []
        query_starts: list[int] = []
        needing: list[int] = []
        always: list[int] = []
        for number, expression in enumerate(expressions):
            needed = clauses(expression)
            if not needed:
                always.append(number)
                continue
            needing.append(number)
            query_starts.append(len(clause_starts))
            for clause in needed:
                clause_starts.append(len(leaves))
                leaves.extend(sorted(clause))
        parts = (leaves, clause_starts, query_starts, needing, always)
        return cls(*(np.array(part, np.int64) for part in parts))

    def among(self, present: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
        """The queries that these leaves (a bit each) leave possible, in ascending order."""
        if not len(self.needing):
            return self.always
        held = np.logical_or.reduceat(present[self.leaves], self.clause_starts)
        possible = np.logical_and.reduceat(held, self.query_starts)
        return np.sort(np.concatenate((self.needing[possible], self.always)))
