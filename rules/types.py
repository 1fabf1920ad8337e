"""The types of the rule language."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import assert_never


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
    """A list of values of one type; a tuple at run time. Its values are never null.

    One exception: a field of the records of a list (`items.sku`) is a list with a null where it has one.
    """

    element: Type

    def __str__(self) -> str:
        return f"list<{self.element}>"


@dataclass(frozen=True, slots=True)
class Record:
    """Named fields, in the order of their declaration; a mapping at run time.

    `nullable` names those that may be null.
    """

    fields: tuple[tuple[str, Type], ...]
    nullable: frozenset[str] = frozenset()

    def field(self, name: str) -> Type | None:
        """The type of the field of that name, or None."""
        return next((type_ for known, type_ in self.fields if known == name), None)

    def __str__(self) -> str:
        shown = (f"{name}: {type_}{'?' if name in self.nullable else ''}" for name, type_ in self.fields)
        return "{" + ", ".join(shown) + "}"


Type = Scalar | ListOf | Record

NUMERIC = frozenset({Scalar.LONG, Scalar.DOUBLE, Scalar.DECIMAL})
STRINGS = frozenset({Scalar.STRING, Scalar.TEXT})


def kind_of(type_: Type) -> str:
    """A type in a sentence: `a string`, `a list of longs`."""
    match type_:
        case ListOf(element):
            return f"a list of {_several(element)}"
        case Record():
            return "a record"
        case Scalar.NULL:
            return "null"
        case Scalar():
            return f"a {type_}"
        case _:
            assert_never(type_)


def _several(type_: Type) -> str:
    match type_:
        case ListOf(element):
            return f"lists of {_several(element)}"
        case Record():
            return "records"
        case Scalar.NULL:
            return "nothing"
        case Scalar():
            return f"{type_}s"
        case _:
            assert_never(type_)
