"""The declarations of the files, by name: later passes look names up here.

A declaration that could not be read still counts as one, so that what uses it is not reported too:
`None` stands for a type or a value that has its diagnostic already.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from rules import typed
from rules.resolve.findings import Findings
from rules.types import Type


@dataclass(frozen=True, slots=True)
class StreamInfo:
    """A stream as its users see it. `known` False: its fields could not be read, any may exist."""

    name: str
    fields: Mapping[str, Type | None]
    known: bool
    stream: typed.Stream | None
    written: str = ""

    @property
    def called(self) -> str:
        """The name of it in `by` and in steps without a name: for hits that of the documents' stream."""
        return self.written or self.name


@dataclass(frozen=True, slots=True)
class TableInfo:
    """A table as lookups see it. `known` False: it could not be read, any field may exist.

    `key` is the type of its key field, None where that is not known.
    """

    name: str
    fields: Mapping[str, Type | None]
    key: Type | None
    known: bool
    table: typed.Table | None


@dataclass(slots=True)
class Declared:
    """All names of a pack, in order of declaration. A constant that could not be read is None.

    `outputs`, `keys` and `steps` are the names that a rule's alerts carry, by rule; `steps` is filled when
    some test asks.
    """

    findings: Findings
    streams: dict[str, StreamInfo] = field(default_factory=dict)
    constants: dict[str, typed.Literal | None] = field(default_factory=dict)
    rules: dict[str, typed.Rule | None] = field(default_factory=dict)
    outputs: dict[str, Mapping[str, Type | None]] = field(default_factory=dict)
    keys: dict[str, Mapping[str, Type | None]] = field(default_factory=dict)
    steps: dict[str, frozenset[str]] = field(default_factory=dict)
    tables: dict[str, TableInfo] = field(default_factory=dict)
    queries: dict[str, typed.Queries | None] = field(default_factory=dict)
    used_constants: set[str] = field(default_factory=set)
