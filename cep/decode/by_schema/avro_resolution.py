"""Resolution (Avro 1.12, "Schema Resolution") of what one schema wrote, as another one and the types of a
stream read it: a plan for what goes through the bytes.

A plan says of every value how it was written, and of those that are read, as which Arrow type. What can never
be read has a reason in its place, so that other branches of a union can.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa

from cep.decode.by_schema.avro_leaves import Leaf, converted, type_of_fixed, type_of_primitive
from cep.decode.by_schema.avro_schema import (
    Field,
    Fields,
    Fixed,
    Items,
    Logical,
    Node,
    Pairs,
    Primitive,
    SchemaError,
    Symbols,
    Union,
    described,
    fits,
)
from cep.decode.malformed import Malformed
from rules.types import ListOf, Record, Scalar, Type

_MAP = pa.map_(pa.string(), pa.null())
_PROMOTED = {
    "int": ("int", "long", "float", "double"),
    "long": ("long", "float", "double"),
    "float": ("float", "double"),
    "string": ("string", "bytes"),
    "bytes": ("bytes", "string"),
}
"""As what a reader may read what was written."""
Fits = Callable[[pa.DataType, Type], bool]
"""True if a column of an Arrow type can be a field of a type."""


@dataclass(frozen=True, slots=True)
class ItemsPlan:
    """An array."""

    element: Plan
    type: pa.DataType


@dataclass(frozen=True, slots=True)
class PairsPlan:
    """A map, which no type of the language is."""

    value: Plan
    type: pa.DataType = _MAP


@dataclass(frozen=True, slots=True)
class ChoicePlan:
    """A union as it was written."""

    branches: tuple[Plan, ...]
    type: pa.DataType


@dataclass(eq=False, slots=True)
class FieldsPlan:
    """A record: what was written in order, with the names of what is read ("": nobody does), and what the
    reader has by default."""

    entries: tuple[tuple[str, Plan], ...] = ()
    defaults: Mapping[str, Any] = field(default_factory=dict)
    type: pa.DataType = field(default_factory=lambda: pa.struct([]))


@dataclass(frozen=True, slots=True)
class Unread:
    """A value that cannot be read: `why` is a sentence about the value."""

    why: str
    type: pa.DataType = field(default_factory=pa.null)


Plan = Leaf | ItemsPlan | PairsPlan | ChoicePlan | FieldsPlan | Unread


def resolved(writer: Fields, reader: Fields, wanted: Mapping[str, Type], fitting: Fits) -> FieldsPlan:
    """The plan by which records of a writer are read as a reader's, of which some fields are wanted, by name.

    Raises SchemaError.
    """
    return _Resolver(fitting).fields(writer, reader, wanted.get)


@dataclass(slots=True)
class _Resolver:
    """Records that nobody reads are one plan each, since they may hold themselves."""

    fitting: Fits
    passed: dict[int, FieldsPlan] = field(default_factory=dict)

    def node(self, writer: Node, reader: Node, wanted: Type) -> Plan:
        """The plan by which values of one node are read as those of another."""
        if isinstance(writer, Union):
            return self._choice([self.node(one, reader, wanted) for one in writer.branches], wanted)
        if isinstance(reader, Union):
            return self._branch(writer, reader, wanted)
        match writer, reader:
            case Primitive(kind), Primitive(other, logical) if other in _PROMOTED.get(kind, (kind,)):
                if isinstance(writer, Primitive) and _differ(writer.logical, logical):
                    return _unread(writer, reader)
                return Leaf(kind, type_of_primitive(other, logical))
            case Fixed(size=size), Fixed(size=same) if size == same and not _differ(
                writer.logical, reader.logical
            ):
                return Leaf("fixed", type_of_fixed(reader), size)
            case Symbols(symbols=symbols), Symbols():
                known = {*reader.symbols}
                names = (one if one in known else reader.default or None for one in symbols)
                return Leaf("enum", pa.string(), symbols=tuple(names))
            case Items(element), Items(other_element):
                if not isinstance(wanted, ListOf):
                    return ItemsPlan(self.skipped(element), pa.list_(pa.null()))
                plan = self.node(element, other_element, wanted.element)
                return ItemsPlan(plan, pa.list_(plan.type))
            case Pairs(value), Pairs():
                return PairsPlan(self.skipped(value))
            case Fields(), Fields():
                return self.fields(
                    writer, reader, wanted.field if isinstance(wanted, Record) else lambda _: None
                )
            case _:
                return _unread(writer, reader)

    def fields(self, writer: Fields, reader: Fields, wanted: Callable[[str], Type | None]) -> FieldsPlan:
        """The plan by which a record is read as another."""
        entries: list[tuple[str, Plan]] = []
        types: dict[str, pa.DataType] = {}
        for one in writer.fields:
            other = _read_as(one, reader)
            type_ = None if other is None else wanted(other.name)
            if other is None or type_ is None:
                entries.append(("", self.skipped(one.node)))
                continue
            plan = self.node(one.node, other.node, type_)
            entries.append((other.name, plan))
            types[other.name] = plan.type
        defaults = {}
        for one in reader.fields:
            type_ = wanted(one.name)
            if one.name in types or type_ is None:
                continue
            if not one.has_default:
                why = f"the writer's schema has no field {one.name}, and the reader's has no default for it"
                entries.append((one.name, Unread(why)))
                continue
            plan = self.node(one.node, one.node, type_)
            defaults[one.name] = _default(one.node, plan, one.default)
            types[one.name] = plan.type
        return FieldsPlan(tuple(entries), defaults, pa.struct(list(types.items())))

    def skipped(self, writer: Node) -> Plan:
        """The plan by which values that nobody reads are passed over."""
        match writer:
            case Primitive(kind):
                return Leaf(kind, type_of_primitive(kind, Logical()))
            case Fixed(size=size):
                return Leaf("fixed", pa.binary(), size)
            case Symbols(symbols=symbols):
                return Leaf("enum", pa.string(), symbols=symbols)
            case Items(element):
                return ItemsPlan(self.skipped(element), pa.list_(pa.null()))
            case Pairs(value):
                return PairsPlan(self.skipped(value))
            case Union(branches):
                return ChoicePlan(tuple(map(self.skipped, branches)), pa.null())
            case Fields():
                if id(writer) not in self.passed:
                    found = self.passed[id(writer)] = FieldsPlan()
                    found.entries = tuple(("", self.skipped(one.node)) for one in writer.fields)
                return self.passed[id(writer)]

    def _branch(self, writer: Node, reader: Union, wanted: Type) -> Plan:
        """As the first branch of a reader that is the same, else the first that can be read."""
        same = [one for one in reader.branches if _same(writer, one)]
        plans = (self.node(writer, one, wanted) for one in (*same, *reader.branches))
        return next((one for one in plans if not isinstance(one, Unread)), _unread(writer, reader))

    def _choice(self, branches: list[Plan], wanted: Type) -> ChoicePlan:
        """A union as the one type of all that it may hold, or as that which fits what is wanted: values of
        other branches are no events."""
        types: list[pa.DataType] = []
        for one in branches:
            if not isinstance(one, Unread) and not pa.types.is_null(one.type) and one.type not in types:
                types.append(one.type)
        if not types:
            return ChoicePlan(tuple(branches), pa.null())
        chosen = next((one for one in types if self.fitting(one, wanted)), types[0])
        if wanted is Scalar.DOUBLE and pa.float64() in types:
            chosen = pa.float64()
        return ChoicePlan(tuple(_as(one, chosen, wanted) for one in branches), chosen)


def _as(plan: Plan, type_: pa.DataType, wanted: Type) -> Plan:
    """A branch in a column of a type."""
    if isinstance(plan, Unread) or plan.type == type_ or pa.types.is_null(plan.type):
        return plan
    if isinstance(plan, Leaf) and plan.type == pa.int64() and type_ == pa.float64():
        return replace(plan, type=type_)
    return Unread(f"wrong type: it is a {wanted}, the event has {plan.type}")


def _read_as(written: Field, reader: Fields) -> Field | None:
    """The reader's field of a written one: that of its name, or that which has it as an alias."""
    for one in reader.fields:
        if one.name == written.name:
            return one
    return next((one for one in reader.fields if written.name in one.aliases), None)


def _differ(one: Logical, other: Logical) -> bool:
    """True if two are decimals that do not mean the same."""
    return one.name == other.name == "decimal" and one != other


def _same(writer: Node, reader: Node) -> bool:
    """True if a branch of a reader is the writer's own type."""
    match writer, reader:
        case Primitive(kind), Primitive(other):
            return kind == other
        case ((Fixed() | Symbols() | Fields()), (Fixed() | Symbols() | Fields())):
            return type(writer) is type(reader) and (
                writer.name == reader.name or writer.name in reader.aliases
            )
        case _:
            return type(writer) is type(reader)


def _unread(writer: Node, reader: Node) -> Unread:
    return Unread(f"the writer's schema has {described(writer)}, the reader's {described(reader)}")


def _default(node: Node, plan: Plan, value: Any) -> Any:
    """A default of a reader's schema as a value of its column. Raises SchemaError."""
    match node, plan:
        case Union(branches), ChoicePlan(plans):
            pairs = zip(branches, plans, strict=True)
            return next(_default(one, of, value) for one, of in pairs if fits(value, one))
        case Items(element), ItemsPlan(inner):
            return [_default(element, inner, one) for one in value]
        case Fields(fields=fields), FieldsPlan(entries=entries):
            of_name = {one.name: one for one in fields}
            return {
                name: _default(of_name[name].node, inner, value.get(name, of_name[name].default))
                for name, inner in entries
                if name
            }
        case _, Leaf(written):
            raw = value
            if written in ("bytes", "fixed"):
                raw = value.encode("latin-1")
            elif written == "string":
                raw = value.encode("utf-8", "surrogatepass")
            elif written == "enum":
                return value
            try:
                return converted(plan, raw)
            except Malformed as error:
                raise SchemaError(f"has a default that cannot be read: {error.reason}") from None
        case _:
            return None
