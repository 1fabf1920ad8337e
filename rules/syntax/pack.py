"""Streams, lets, headers and the file that holds the blocks, as they were written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal as Choice

from rules.source import SourceFile, Span
from rules.syntax.expression import Dotted, Duration, Expression, Name, String
from rules.syntax.rule import Clause
from rules.syntax.test import TestBlock


@dataclass(frozen=True, slots=True)
class ScalarType:
    """A type's name, with the word after it (`text english`)."""

    name: Name
    analyser: Name | None
    span: Span


@dataclass(frozen=True, slots=True)
class ListType:
    """`list<T>`."""

    element: FieldType
    span: Span


@dataclass(frozen=True, slots=True)
class RecordType:
    """`{ a: T  b: T? }`: at least one field, in the order written."""

    fields: tuple[Field, ...]
    span: Span


FieldType = ScalarType | ListType | RecordType


@dataclass(frozen=True, slots=True)
class Field:
    """`name: type?`."""

    name: Name
    type: FieldType
    nullable: bool
    span: Span


@dataclass(frozen=True, slots=True)
class PathSetting:
    """`id f`, `time f`; `corrected` is the place of `corrected by` after it."""

    kind: Choice["id", "time"]
    path: Dotted
    corrected: Span | None
    span: Span


@dataclass(frozen=True, slots=True)
class DurationSetting:
    """`lateness d`, `idle d`."""

    kind: Choice["lateness", "idle"]
    duration: Duration
    span: Span


@dataclass(frozen=True, slots=True)
class Header:
    """`pack NAME version "V"`."""

    name: Name
    version: String
    span: Span


@dataclass(frozen=True, slots=True)
class Stream:
    """`stream NAME { ... }`: fields and settings in the order written."""

    name: Name
    parts: tuple[Field | PathSetting | DurationSetting, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Let:
    """`let NAME = expr`."""

    name: Name
    value: Expression
    span: Span


@dataclass(frozen=True, slots=True)
class Rule:
    """`rule NAME { ... }`: clauses in the order written."""

    name: Name
    clauses: tuple[Clause, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Unsupported:
    """A block of the language that this version does not read: `table`, `queries`."""

    keyword: Name
    name: Name
    span: Span


@dataclass(frozen=True, slots=True)
class Broken:
    """A block with a syntax error; its name, if it has one, still counts as declared."""

    keyword: str
    name: Name | None
    span: Span


Block = Header | Stream | Let | Rule | TestBlock | Unsupported | Broken


@dataclass(frozen=True, slots=True)
class Comment:
    """`# ...` up to the end of its line."""

    span: Span


@dataclass(frozen=True, slots=True)
class File:
    """A parsed file: its blocks in order, its comments, in order."""

    source: SourceFile
    blocks: tuple[Block, ...]
    comments: tuple[Comment, ...]
