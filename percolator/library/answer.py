"""The answer of standing queries to one document."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from percolator.hit import Range
from percolator.library.standing import StandingQuery


class QueryHit(NamedTuple):
    """A query that is true on a document; a tuple, since many are made.

    `names` are its named parts that were true; `highlights` are ranges by field (percolator.hit), None where
    they were not asked for. `complete` is false where names and highlights have too many places to be listed.
    """

    query: StandingQuery
    names: tuple[str, ...] = ()
    highlights: Mapping[str, list[Range]] | None = None
    complete: bool = True


@dataclass(frozen=True, slots=True)
class Answer:
    """The hits of one document in order of the queries' ids.

    `undecided` are queries whose positions came to the budget: whether they hit is not known.
    """

    hits: tuple[QueryHit, ...]
    undecided: tuple[StandingQuery, ...] = ()
