"""The text fields of a stream as the percolator sees them: one schema for the front end and for engines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from rules.types import Record, Scalar, Type

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


def _texts(name: str, type_: Type | None) -> Iterator[str]:
    if isinstance(type_, Record):
        for part, inner in type_.fields:
            yield from _texts(f"{name}.{part}", inner)
    elif type_ in (Scalar.TEXT, None):
        yield name
