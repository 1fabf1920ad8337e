"""The fields of a document, and the analysis of each.

SchemaError    a declaration that names no type or analyser, or a default field that is no text field
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from percolator.analysis import ANALYSERS, AnalyserError, analyser


class SchemaError(ValueError):
    """Its text is one sentence for the author of the schema."""


class Kind(StrEnum):
    """The kind of a field: how its values are compared with a query."""

    TEXT = "text"
    KEYWORD = "keyword"
    NUMBER = "number"
    DATE = "date"
    IP = "ip"
    BOOLEAN = "boolean"


@dataclass(frozen=True, slots=True)
class FieldType:
    """`analyser` is a name that percolator.analysis knows; of text fields only."""

    kind: Kind
    analyser: str = "plain"


@dataclass(frozen=True, slots=True)
class Schema:
    """The fields by name, and those that a term without a field is looked for in."""

    fields: Mapping[str, FieldType]
    default: tuple[str, ...]

    def __post_init__(self) -> None:
        for name in self.default:
            if name not in self.fields:
                raise SchemaError(f"the default field {name} is not declared")
            if self.fields[name].kind is not Kind.TEXT:
                raise SchemaError(f"the default field {name} is not of type text")

    @property
    def text(self) -> str:
        """The declarations on one line: schemas whose documents look the same have the same."""
        return "; ".join(f"{name}: {type_.kind} {type_.analyser}" for name, type_ in self.fields.items())

    @classmethod
    def of(cls, declarations: Mapping[str, str], default: Sequence[str] | None = None) -> Schema:
        """From `{"title": "text", "body": "text english", "lang": "keyword"}`.

        Without `default`, all text fields in order of declaration. Raises SchemaError.
        """
        fields = {name: _field_type(name, declared) for name, declared in declarations.items()}
        if default is None:
            default = [name for name, type_ in fields.items() if type_.kind is Kind.TEXT]
        return cls(fields, tuple(default))


def _field_type(name: str, declared: str) -> FieldType:
    kind, _, analysed_by = declared.strip().partition(" ")
    if kind not in tuple(Kind):
        raise SchemaError(f"field {name}: {kind!r} is none of {', '.join(Kind)}")
    analysed_by = analysed_by.strip()
    if analysed_by and kind != Kind.TEXT:
        raise SchemaError(f"field {name}: only text has an analyser")
    if analysed_by and analysed_by not in ANALYSERS:
        try:
            analyser(analysed_by)
        except AnalyserError as problem:
            raise SchemaError(f"field {name}: {problem}") from problem
    return FieldType(Kind(kind), analysed_by or "plain")
