"""Mistakes of a query: a code, one sentence, and the place.

QueryError    the text is no query, or a query that the schema or the engine cannot answer
"""

from __future__ import annotations

from enum import StrEnum


class Code(StrEnum):
    """Stable names of the ways in which a query can be wrong."""

    EMPTY = "PQ01"  # no query at all
    NO_WORD = "PQ02"  # a term in which nothing can be searched for
    UNCLOSED = "PQ03"  # a quote, bracket, range or regular expression without its end
    UNOPENED = "PQ04"  # a closing bracket too many
    MISSING_OPERAND = "PQ05"
    BAD_NUMBER = "PQ06"  # a distance, slop or count that is none
    BAD_OPERAND = "PQ07"  # an operand that its operator cannot take
    TOO_DEEP = "PQ08"
    TOO_LARGE = "PQ09"
    UNKNOWN_FIELD = "PQ10"
    BAD_VALUE = "PQ11"  # a range or value that the field's type does not have
    BAD_PATTERN = "PQ12"  # a regular expression or wildcard that cannot be used
    MISPLACED = "PQ13"  # a sign that is understood, but not here


class QueryError(Exception):
    """`position` is the offset in code points of the place, or None where the whole query is meant."""

    def __init__(self, code: Code, message: str, position: int | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.position = position

    def __str__(self) -> str:
        place = "" if self.position is None else f" (at {self.position})"
        return f"{self.code}: {self.message}{place}"
