"""The text of an Avro schema to its nodes (Apache Avro 1.12, "Schema Declaration").

SchemaError    what is wrong with a schema; its text is a predicate, with the place in it
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

PRIMITIVES = ("null", "boolean", "int", "long", "float", "double", "bytes", "string")
DEEPEST = 64
"""Schemas in one another, at most."""
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_FULL_NAME = re.compile(rf"{_NAME.pattern}(\.{_NAME.pattern})*")
_LARGEST_FIXED = 1 << 20


class SchemaError(Exception):
    """A schema that cannot be used."""


@dataclass(frozen=True, slots=True)
class Logical:
    """The meaning of a node's bytes or numbers; "" for nothing more than they are."""

    name: str = ""
    precision: int = 0
    scale: int = 0


NOTHING_MORE = Logical()


@dataclass(frozen=True, slots=True)
class Primitive:
    """One of PRIMITIVES."""

    kind: str
    logical: Logical = NOTHING_MORE


@dataclass(frozen=True, slots=True)
class Fixed:
    """So many bytes."""

    name: str
    aliases: tuple[str, ...]
    size: int
    logical: Logical = NOTHING_MORE


@dataclass(frozen=True, slots=True)
class Symbols:
    """An enum. `default` stands for a symbol that a reader does not know; "" if there is none."""

    name: str
    aliases: tuple[str, ...]
    symbols: tuple[str, ...]
    default: str


@dataclass(frozen=True, slots=True)
class Items:
    """An array."""

    element: Node


@dataclass(frozen=True, slots=True)
class Pairs:
    """A map; its keys are texts."""

    value: Node


@dataclass(frozen=True, slots=True)
class Union:
    """One of some schemas, no two of a kind that is not named."""

    branches: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a record. `default` is a value of JSON, if there is `has_default`."""

    name: str
    aliases: tuple[str, ...]
    node: Node
    has_default: bool
    default: Any = None


@dataclass(eq=False, slots=True)
class Fields:
    """A record; it may hold itself. Equal is only the very same."""

    name: str
    aliases: tuple[str, ...]
    fields: tuple[Field, ...] = ()


Node = Primitive | Fixed | Symbols | Items | Pairs | Union | Fields


def parsed(text: str | bytes, before: Sequence[str] = ()) -> Fields:
    """The record of a schema's text, which may name types of the texts before. Raises SchemaError."""
    parser = _Parser()
    for one in before:
        parser.node(_json(one), "", "", 0)
    found = parser.node(_json(text), "", "", 0)
    if not isinstance(found, Fields):
        raise SchemaError(f"is of {described(found)}: an event is a record")
    return found


def _json(text: str | bytes) -> Any:
    try:
        return json.loads(text)
    except UnicodeDecodeError:
        raise SchemaError("is not UTF-8") from None
    except json.JSONDecodeError as error:
        raise SchemaError(f"is not JSON: {error.msg} (line {error.lineno}, column {error.colno})") from None
    except (RecursionError, ValueError):
        raise SchemaError("is not JSON that can be read") from None


def described(node: Node) -> str:
    """A node in a sentence."""
    match node:
        case Primitive(kind, logical):
            return logical.name or kind
        case Fixed(name, _, _, logical):
            return logical.name or f"the fixed {name}"
        case Symbols(name):
            return f"the enum {name}"
        case Items():
            return "an array"
        case Pairs():
            return "a map"
        case Union(branches):
            return f"a union of {', '.join(map(described, branches))}"
        case Fields(name):
            return f"the record {name}"


@dataclass(slots=True)
class _Parser:
    """Names that are known so far."""

    named: dict[str, Node] = field(default_factory=dict)

    def node(self, given: Any, space: str, at: str, depth: int) -> Node:
        """The node of a schema in a namespace; `at` is its place."""
        if depth > DEEPEST:
            raise SchemaError(f"has more than {DEEPEST} schemas in one another{_in(at)}")
        match given:
            case str():
                return Primitive(given) if given in PRIMITIVES else self._known(given, space, at)
            case list():
                return self._union(given, space, at, depth)
            case {"type": "record" | "error"}:
                return self._record(given, space, at, depth)
            case {"type": "enum"}:
                return self._enum(given, space, at)
            case {"type": "fixed"}:
                return self._fixed(given, space, at)
            case {"type": "array", "items": items}:
                return Items(self.node(items, space, f"{at}[]", depth + 1))
            case {"type": "map", "values": values}:
                return Pairs(self.node(values, space, f"{at}{{}}", depth + 1))
            case {"type": str(name)} if name in PRIMITIVES:
                return Primitive(name, _logical(given, _WIDEST))
            case {"type": str() | dict() | list() as inner} if inner not in ("array", "map"):
                return self.node(inner, space, at, depth + 1)
        raise SchemaError(f"has no type that there is{_in(at)}: {_short(given)}")

    def _known(self, name: str, space: str, at: str) -> Node:
        for one in (name, f"{space}.{name}") if "." in name or not space else (f"{space}.{name}", name):
            if one in self.named:
                return self.named[one]
        raise SchemaError(f"names a type that it does not define{_in(at)}: {name}")

    def _union(self, given: list[Any], space: str, at: str, depth: int) -> Union:
        branches = tuple(self.node(one, space, at, depth + 1) for one in given)
        kinds = [_kind(one) for one in branches]
        if any(isinstance(one, Union) for one in branches) or not branches or len(set(kinds)) < len(kinds):
            raise SchemaError(f"has a union that none can be{_in(at)}: {_short(given)}")
        return Union(branches)

    def _name(self, given: dict[str, Any], space: str, at: str) -> tuple[str, str, tuple[str, ...]]:
        """The full name of a type, its namespace and its other names."""
        name, own = given.get("name"), given.get("namespace", space)
        if not isinstance(name, str) or not isinstance(own, str) or not _FULL_NAME.fullmatch(name):
            raise SchemaError(f"has a type without a name{_in(at)}: {_short(given)}")
        full = name if "." in name or not own else f"{own}.{name}"
        space = full.rpartition(".")[0]
        aliases = _texts(given.get("aliases", []), at)
        if full in self.named or full in PRIMITIVES:
            raise SchemaError(f"defines {full} twice{_in(at)}")
        return full, space, tuple(one if "." in one or not space else f"{space}.{one}" for one in aliases)

    def _record(self, given: dict[str, Any], space: str, at: str, depth: int) -> Fields:
        name, space, aliases = self._name(given, space, at)
        found = Fields(name, aliases)
        self.named[name] = found
        fields = given.get("fields")
        if not isinstance(fields, list):
            raise SchemaError(f"has no fields in record {name}")
        found.fields = tuple(self._field(one, space, name, depth) for one in fields)
        names = [one.name for one in found.fields]
        if len(set(names)) < len(names):
            twice = next(one for one in names if names.count(one) > 1)
            raise SchemaError(f"has a field twice: {name}.{twice}")
        return found

    def _field(self, given: Any, space: str, of: str, depth: int) -> Field:
        name = given.get("name") if isinstance(given, dict) else None
        if not isinstance(name, str) or not _NAME.fullmatch(name) or "type" not in given:
            raise SchemaError(f"has a field without name or type in record {of}: {_short(given)}")
        at = f"{of}.{name}"
        aliases = _texts(given.get("aliases", []), at)
        node = self.node(given["type"], space, at, depth + 1)
        if "default" in given and not fits(given["default"], node):
            raise SchemaError(f"has a default that does not fit in {at}: {_short(given['default'])}")
        return Field(name, aliases, node, "default" in given, given.get("default"))

    def _enum(self, given: dict[str, Any], space: str, at: str) -> Symbols:
        name, _, aliases = self._name(given, space, at)
        symbols, default = _texts(given.get("symbols"), at), given.get("default", "")
        if len(set(symbols)) < len(symbols) or not symbols or (default and default not in symbols):
            raise SchemaError(f"has symbols that cannot be in enum {name}: {_short(given)}")
        self.named[name] = found = Symbols(name, aliases, symbols, default)
        return found

    def _fixed(self, given: dict[str, Any], space: str, at: str) -> Fixed:
        name, _, aliases = self._name(given, space, at)
        size = given.get("size")
        if not isinstance(size, int) or isinstance(size, bool) or not 0 <= size <= _LARGEST_FIXED:
            raise SchemaError(f"has a size that cannot be in fixed {name}: {_short(size)}")
        digits = len(str(256**size // 2)) - 1
        self.named[name] = found = Fixed(name, aliases, size, _logical(given, digits))
        return found


_WIDEST = 1 << 16
"""Digits of a decimal in bytes."""


def _logical(given: dict[str, Any], digits: int) -> Logical:
    """The logical type of a node; one that is not right is none, as the specification wants it."""
    name = given.get("logicalType", "")
    if not isinstance(name, str):
        return NOTHING_MORE
    if name != "decimal":
        return Logical(name)
    precision, scale = given.get("precision"), given.get("scale", 0)
    if not isinstance(precision, int) or not isinstance(scale, int):
        return NOTHING_MORE
    if not 0 <= scale <= precision or not 0 < precision <= digits:
        return NOTHING_MORE
    return Logical(name, precision, scale)


def _kind(node: Node) -> str:
    """The key that no two branches of a union share."""
    match node:
        case Primitive(kind):
            return kind
        case Fixed(name) | Symbols(name) | Fields(name):
            return f"the type {name}"
        case _:
            return type(node).__name__


def fits(value: Any, node: Node, depth: int = 0) -> bool:
    """True if a value of JSON can be the default of a node."""
    if depth > DEEPEST:
        return False
    number = isinstance(value, int | float) and not isinstance(value, bool)
    match node:
        case Primitive("null"):
            return value is None
        case Primitive("boolean"):
            return isinstance(value, bool)
        case Primitive("int" | "long" as kind):
            most = 1 << (31 if kind == "int" else 63)
            return number and isinstance(value, int) and -most <= value < most
        case Primitive("float" | "double"):
            return number
        case Primitive("string"):
            return isinstance(value, str)
        case Primitive():
            return isinstance(value, str) and all(ord(one) < 256 for one in value)
        case Fixed(size=size):
            return isinstance(value, str) and len(value) == size and all(ord(one) < 256 for one in value)
        case Symbols(symbols=symbols):
            return value in symbols
        case Items(element):
            return isinstance(value, list) and all(fits(one, element, depth + 1) for one in value)
        case Pairs(element):
            return isinstance(value, dict) and all(fits(one, element, depth + 1) for one in value.values())
        case Union(branches):
            return any(fits(value, one, depth + 1) for one in branches)
        case Fields(fields=fields):
            return isinstance(value, dict) and all(
                fits(value[one.name], one.node, depth + 1) if one.name in value else one.has_default
                for one in fields
            )


def _texts(given: Any, at: str) -> tuple[str, ...]:
    if not isinstance(given, list) or not all(isinstance(one, str) for one in given):
        raise SchemaError(f"has no list of names{_in(at)}: {_short(given)}")
    return tuple(given)


def _in(at: str) -> str:
    return f" in {at}" if at else ""


def _short(given: Any) -> str:
    text = json.dumps(given)
    return text if len(text) <= 60 else f"{text[:57]}..."
