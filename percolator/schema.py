"""Which fields a document has, and how each is looked at.

SchemaError    a declaration that names no type or analyser, or a default field that is no text field
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from percolator.analysis import ANALYSERS


class SchemaError(ValueError):
    """Its text is one sentence for the author of the schema."""


class Kind(StrEnum):
    """How a field's values are compared with a query."""

    TEXT = "text"
    KEYWORD = "keyword"
    NUMBER = "number"
    DATE = "date"
    IP = "ip"
    BOOLEAN = "boolean"


@dataclass(frozen=True, slots=True)
class FieldType:
    """`analyser` is one of percolator.analysis.ANALYSERS; of text fields only."""

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
    kind, _, analyser = declared.strip().partition(" ")
    if kind not in tuple(Kind):
        raise SchemaError(f"field {name}: {kind!r} is none of {', '.join(Kind)}")
    analyser = analyser.strip()
    if analyser and kind != Kind.TEXT:
        raise SchemaError(f"field {name}: only text has an analyser")
    if analyser and analyser not in ANALYSERS:
        raise SchemaError(f"field {name}: {analyser!r} is none of {', '.join(ANALYSERS)}")
    return FieldType(Kind(kind), analyser or "plain")
