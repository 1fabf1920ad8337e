"""Why a query is not taken in.

RefusedError    carries the `Refusal`: of the query language (percolator.query.errors), or one of `LifeCode`
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from percolator.query.errors import QueryError


class LifeCode(StrEnum):
    """Mistakes of a query beside its text; the codes go on from those of the language."""

    NO_QUERY = "PQ21"  # not JSON, or a key that is missing, unknown or of another type
    OLD_VERSION = "PQ22"  # the id is there with this version or a later one
    TOO_COSTLY = "PQ23"  # the estimate is above the budget
    TOO_MANY = "PQ24"  # no more queries are taken


@dataclass(frozen=True, slots=True)
class Refusal:
    """`position` is the offset in the query's text in code points, None where the whole is meant."""

    code: str
    message: str
    position: int | None = None

    @classmethod
    def of(cls, error: QueryError) -> Refusal:
        """The refusal for an error of the query language."""
        return cls(error.code, error.message, error.position)

    def as_json(self) -> dict[str, object]:
        """Its attributes."""
        return {"code": self.code, "message": self.message, "position": self.position}


class RefusedError(Exception):
    """A query that is not taken in; nothing has changed."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.message)
        self.refusal = refusal

    def __str__(self) -> str:
        place = "" if self.refusal.position is None else f" (at {self.refusal.position})"
        return f"{self.refusal.code}: {self.refusal.message}{place}"
