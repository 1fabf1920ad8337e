"""Streams, lets, headers and the file that holds the blocks, as they were written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal as Choice

from rules.source import SourceFile, Span
from rules.syntax.expression import Dotted, Duration, Expression, Name, String
from rules.syntax.lost import Lost
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
    """`name: type? secret`; `secret` is where that word stands, None where it does not."""

    name: Name
    type: FieldType
    nullable: bool
    secret: Span | None
    span: Span


@dataclass(frozen=True, slots=True)
class Corrected:
    """`corrected by sent, received` after `time f`; the span begins at `corrected`."""

    sent: Dotted
    received: Dotted
    span: Span


@dataclass(frozen=True, slots=True)
class PathSetting:
    """`id f`, `time f`, the latter perhaps `corrected by sent, received`."""

    kind: Choice["id", "time"]
    path: Dotted
    corrected: Corrected | None
    span: Span


@dataclass(frozen=True, slots=True)
class DurationSetting:
    """`lateness d`, `idle d`, `future d`."""

    kind: Choice["lateness", "idle", "future"]
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
    broken: tuple[Lost, ...] = ()


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
    broken: tuple[Lost, ...] = ()


@dataclass(frozen=True, slots=True)
class Table:
    """`table NAME key FIELD { ... }`: fields and the setting `time` in the order written."""

    name: Name
    key: Name
    parts: tuple[Field | PathSetting, ...]
    span: Span
    broken: tuple[Lost, ...] = ()


@dataclass(frozen=True, slots=True)
class Queries:
    """`queries NAME { from "FILE" }`."""

    name: Name
    file: String
    span: Span


@dataclass(frozen=True, slots=True)
class Broken:
    """A block with a syntax error; its name, if it has one, still counts as declared."""

    keyword: str
    name: Name | None
    span: Span


Block = Header | Stream | Table | Queries | Let | Rule | TestBlock | Broken


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
