"""The types of the rule language."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Scalar(Enum):
    """A type without parts. The value is the name that the language uses.

    Values at run time: STRING and TEXT are str; LONG int (64 bits); DOUBLE float, never NaN;
    DECIMAL decimal.Decimal; BOOLEAN bool; TIMESTAMP int, nanoseconds since 1970-01-01T00:00Z;
    DURATION int, nanoseconds. Null is None in every type; NULL is the type of the literal `null`.
    """

    STRING = "string"
    TEXT = "text"
    LONG = "long"
    DOUBLE = "double"
    DECIMAL = "decimal"
    BOOLEAN = "boolean"
    TIMESTAMP = "timestamp"
    DURATION = "duration"
    NULL = "null"

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True, slots=True)
class ListOf:
    """A list of values of one type."""

    element: Type

    def __str__(self) -> str:
        return f"list<{self.element}>"


@dataclass(frozen=True, slots=True)
class Record:
    """Named fields, in the order of their declaration."""

    fields: tuple[tuple[str, Type], ...]

    def __str__(self) -> str:
        return "{" + ", ".join(f"{name}: {type_}" for name, type_ in self.fields) + "}"


Type = Scalar | ListOf | Record

NUMERIC = frozenset({Scalar.LONG, Scalar.DOUBLE, Scalar.DECIMAL})
STRINGS = frozenset({Scalar.STRING, Scalar.TEXT})
