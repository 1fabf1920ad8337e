"""A message of Protobuf as the kernel reads it: tables of fields, and the columns that they fill."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import pyarrow as pa
from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor

from cep.decode.by_schema.columns import Columns, Grouped, Listed, Single, Tree, UnusualError, within
from cep.decode.by_schema.kernel import layout
from cep.decode.by_schema.program import KernelProgram
from cep.decode.by_schema.protobuf_schema import DURATION, TIMESTAMP, WRAPPERS, single_type
from rules.types import ListOf, Record, Type

_VARINT, _EIGHT, _LENGTH, _FOUR = 0, 1, 2, 5
_HOW: dict[int, tuple[int, int]] = {
    getattr(FieldDescriptor, f"TYPE_{name}"): found
    for name, found in {
        "INT64": (layout.P_INT64, _VARINT), "INT32": (layout.P_INT32, _VARINT),
        "BOOL": (layout.P_BOOL, _VARINT), "ENUM": (layout.P_ENUM, _VARINT),
        "UINT64": (layout.P_UINT64, _VARINT), "UINT32": (layout.P_UINT32, _VARINT),
        "SINT64": (layout.P_SINT64, _VARINT), "SINT32": (layout.P_SINT32, _VARINT),
        "FIXED64": (layout.P_FIXED64, _EIGHT), "SFIXED64": (layout.P_SFIXED64, _EIGHT),
        "FIXED32": (layout.P_FIXED32, _FOUR), "SFIXED32": (layout.P_SFIXED32, _FOUR),
        "DOUBLE": (layout.P_DOUBLE, _EIGHT), "FLOAT": (layout.P_FLOAT, _FOUR),
        "STRING": (layout.P_TEXT, _LENGTH), "BYTES": (layout.P_TEXT, _LENGTH),
        "MESSAGE": (layout.P_MESSAGE, _LENGTH),
    }.items()
}  # fmt: skip
"""How a value of a type is written, and its wire type."""
_DEEPEST = 40
_SYMBOL = pa.dictionary(pa.int32(), pa.string())


def protobuf_program(
    message: Descriptor, wanted: Mapping[str, Type], required: frozenset[str]
) -> KernelProgram | None:
    """The program of a message of which all fields are read; None where the kernel does not read all of it.

    `required` names the fields without which a message is no event.
    """
    tables = _Tables()
    try:
        trees = tables.message(message, wanted, required, _Where(0, 0, nullable=False))
    except UnusualError:
        return None
    messages = [number for one in tables.messages for number in one]
    return KernelProgram(
        "protobuf", tables.columns, dict(trees), tables.entries, messages, tables.listed, tables.groups
    )


@dataclass(frozen=True, slots=True)
class _Where:
    """Where a message stands: the level of its rows, how deep, and whether it may be null."""

    level: int
    depth: int
    nullable: bool


@dataclass(slots=True)
class _Tables:
    """Tables that are written so far. Entries of a message stand together, behind those of messages in it."""

    columns: Columns = field(default_factory=Columns)
    entries: list[int] = field(default_factory=list)
    messages: list[list[int]] = field(default_factory=list)
    listed: list[int] = field(default_factory=list)
    groups: int = 0

    def message(
        self, message: Descriptor, wanted: Mapping[str, Type], required: frozenset[str], where: _Where
    ) -> tuple[tuple[str, Tree], ...]:
        """Write the tables of a message; the trees of its fields. Raises UnusualError."""
        if where.depth > _DEEPEST:
            raise UnusualError
        own: list[int] = [0, 0, 0, 0]
        self.messages.append(own)
        entries: list[int] = []
        members: list[int] = []
        trees: list[tuple[str, Tree]] = []
        groups: dict[str, int] = {}
        for one in sorted(message.fields, key=lambda one: one.number):
            if one.type not in _HOW or one.has_default_value:
                raise UnusualError
            group = self._group(one, groups)
            if one.name not in wanted:
                how, wire = _HOW[one.type]
                entries += [one.number << 3 | wire, layout.SINGLE, how, -1, 0, group, 0, 0]
                continue
            entry, tree = self._field(one, wanted[one.name], one.name in required, where, group)
            entries += entry
            trees.append((one.name, tree))
            members += self._member(one, tree)
        own[:] = [len(self.entries) // layout.ENTRY, len(entries) // layout.ENTRY, len(self.listed), 0]
        self.entries += entries
        self.listed += members
        own[3] = len(members) // layout.MEMBER
        return tuple(trees)

    def _group(self, one: FieldDescriptor, known: dict[str, int]) -> int:
        """The number of the oneof that a field shares with others; -1 if there is none."""
        oneof = one.containing_oneof
        if oneof is None or len(oneof.fields) == 1:
            return -1
        if oneof.name not in known:
            known[oneof.name] = self.groups
            self.groups += 1
        return known[oneof.name]

    def _member(self, one: FieldDescriptor, tree: Tree) -> list[int]:
        """The value of a field that a message does not have."""
        column, *under = within(tree)
        missing = layout.NULL if one.has_presence else layout.ZERO
        if one.is_required:
            missing = layout.NEVER
        begin = len(self.listed)
        self.listed += under
        return [column, layout.ITEMS if one.is_repeated else missing, begin, len(under)]

    def _field(
        self, one: FieldDescriptor, type_: Type, required: bool, where: _Where, group: int
    ) -> tuple[list[int], Tree]:
        """The entry of a field that is read, and its tree."""
        if not one.is_repeated:
            nullable = where.nullable or one.has_presence
            own = _Where(where.level, where.depth, nullable)
            how, sub, symbols, wrapped, tree = self._value(one, type_, own, required)
            column = within(tree)[0]
            return [_tag(one), layout.SINGLE, how, column, sub, group, symbols, wrapped], tree
        if not isinstance(type_, ListOf):
            raise UnusualError
        listed, inner = self.columns.listed(where.level, nullable=where.nullable, required=required)
        items = _Where(inner, where.depth, nullable=False)
        how, sub, symbols, wrapped, tree = self._value(one, type_.element, items, True)
        packed = one.number << 3 | _LENGTH if one.type not in _ALONE else layout.EACH_ALONE
        column = -1 if isinstance(tree, Grouped) else within(tree)[0]
        return [_tag(one), packed, how, column, sub, inner, symbols, wrapped], Listed(listed, tree)

    def _value(
        self, one: FieldDescriptor, type_: Type, where: _Where, required: bool
    ) -> tuple[int, int, int, int, Tree]:
        """A value's way of writing, its message, its symbols, its tag in a wrapper, and its tree."""
        message = one.message_type
        if message is None or message.full_name in WRAPPERS:
            inner = one if message is None else message.fields_by_name["value"]
            how, wire = _HOW[inner.type]
            wrapped = 0 if message is None else inner.number << 3 | wire
            symbols, names = (0, ()) if inner.enum_type is None else self._symbols(inner.enum_type)
            return (
                how,
                0,
                symbols,
                wrapped,
                self._single(_SYMBOL if names else single_type(inner, type_), where, required, names),
            )
        if message.full_name in (TIMESTAMP, DURATION):
            how = layout.P_TIMESTAMP if message.full_name == TIMESTAMP else layout.P_DURATION
            return how, 0, 0, 0, self._single(single_type(one, type_), where, required)
        if not isinstance(type_, Record):
            raise UnusualError
        column = self.columns.grouped(where.level, nullable=where.nullable, required=required)
        sub = len(self.messages)
        needed = frozenset(name for name, _ in type_.fields) - type_.nullable
        own = _Where(where.level, where.depth + 1, where.nullable)
        fields = self.message(message, dict(type_.fields), needed, own)
        return layout.P_MESSAGE, sub, 0, 0, Grouped(column, fields, where.level)

    def _single(
        self, type_: pa.DataType, where: _Where, required: bool, symbols: tuple[str, ...] = ()
    ) -> Single:
        column = self.columns.single(type_, where.level, nullable=where.nullable, required=required)
        return Single(column, type_, symbols)

    def _symbols(self, enum: EnumDescriptor) -> tuple[int, tuple[str, ...]]:
        """Where the numbers of an enum are listed, in its own order, and their names."""
        numbers = list(dict.fromkeys(one.number for one in enum.values))
        begin = len(self.listed)
        self.listed += [len(numbers), *numbers]
        return begin, tuple(enum.values_by_number[one].name for one in numbers)


_ALONE = (FieldDescriptor.TYPE_STRING, FieldDescriptor.TYPE_BYTES, FieldDescriptor.TYPE_MESSAGE)
"""Types of which several values cannot stand together."""


def _tag(one: FieldDescriptor) -> int:
    found: int = one.number << 3 | _HOW[one.type][1]
    return found
