"""The text fields of a stream as the percolator sees them: one schema for the front end and for engines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from rules.types import ListOf, Record, Scalar, Type

if TYPE_CHECKING:
    from percolator.schema import Schema
    from rules.typed import Path


def text_schema(fields: Iterable[tuple[str, Type | None, str]], asked: Path) -> Schema:
    """The schema of a condition `field matches "query"`; a query without field names means that field.

    `fields` are a stream's: name, type, analyser (empty: plain). One whose type is not known may be a text.
    A text inside a record goes by its path, with dots. Raises SchemaError where `asked` is no text.
    """
    from percolator.schema import FieldType, Kind, Schema  # only where a pack searches texts

    texts = {
        name: FieldType(Kind.TEXT, analyser or "plain")
        for field, type_, analyser in fields
        for name in _texts(field, type_)
    }
    return Schema(texts, (".".join(asked),))


def document_schema(fields: Iterable[tuple[str, Type | None, str]]) -> Schema:
    """The schema of a stream's events as documents of standing queries.

    Without a field a query looks into all texts; strings are keywords, numbers, times and booleans what they
    are. Fields inside a record go by their path, with dots; decimals, durations and what is inside a list of
    records no query can ask for.
    """
    from percolator.schema import FieldType, Kind, Schema

    kinds = {
        Scalar.TEXT: Kind.TEXT,
        Scalar.STRING: Kind.KEYWORD,
        Scalar.LONG: Kind.NUMBER,
        Scalar.DOUBLE: Kind.NUMBER,
        Scalar.TIMESTAMP: Kind.DATE,
        Scalar.BOOLEAN: Kind.BOOLEAN,
    }
    found = {
        name: FieldType(kind, (analyser or "plain") if kind is Kind.TEXT else "plain")
        for field, type_, analyser in fields
        for name, of in leaves(field, type_)
        if isinstance(of, Scalar) and (kind := kinds.get(of)) is not None
    }
    return Schema(found, tuple(name for name, type_ in found.items() if type_.kind is Kind.TEXT))


def leaves(name: str, type_: Type | None) -> Iterator[tuple[str, Type | None]]:
    """The values of a field by path, with dots, and their types: those of a list for the list."""
    match type_:
        case Record(fields):
            for part, inner in fields:
                yield from leaves(f"{name}.{part}", inner)
        case ListOf(element):
            yield name, element
        case _:
            yield name, type_


def _texts(name: str, type_: Type | None) -> Iterator[str]:
    if isinstance(type_, Record):
        for part, inner in type_.fields:
            yield from _texts(f"{name}.{part}", inner)
    elif type_ in (Scalar.TEXT, None):
        yield name
