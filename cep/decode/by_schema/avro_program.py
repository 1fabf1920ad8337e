"""A plan of Avro as the kernel reads it: operations, and the columns that they fill."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import pyarrow as pa

from cep.decode.by_schema.avro_leaves import LAPSE, Leaf
from cep.decode.by_schema.avro_resolution import (
    ChoicePlan,
    FieldsPlan,
    ItemsPlan,
    PairsPlan,
    Plan,
    Unread,
)
from cep.decode.by_schema.columns import Always, Columns, Grouped, Listed, Single, Tree, UnusualError, within
from cep.decode.by_schema.kernel import layout
from cep.decode.by_schema.program import KernelProgram
from rules.types import ListOf, Record, Type

_WRITTEN = {
    "null": layout.W_NULL, "boolean": layout.W_BOOLEAN, "int": layout.W_INT, "long": layout.W_LONG,
    "float": layout.W_FLOAT, "double": layout.W_DOUBLE, "bytes": layout.W_BYTES, "string": layout.W_BYTES,
    "fixed": layout.W_FIXED, "enum": layout.W_ENUM,
}  # fmt: skip
_NOTHING = Always(None, pa.null())
_DEEPEST = 40
"""Values in one another, at most."""
_LONGEST = 10_000 * layout.OPERATION
"""Numbers of a program, about: records that hold others are written out for each place."""


@dataclass(frozen=True, slots=True)
class _Where:
    """Where a value stands that is read: the level of its rows, whether it may be null, has to be there."""

    level: int
    type: Type
    nullable: bool
    required: bool


def avro_program(
    plan: FieldsPlan, wanted: Mapping[str, Type], required: frozenset[str]
) -> KernelProgram | None:
    """The program of a record; None where the kernel does not read all of it.

    `required` names the fields without which a record is no event.
    """
    writer = _Writer()
    trees: dict[str, Tree] = {
        name: Always(one, plan.type.field(name).type) for name, one in plan.defaults.items()
    }
    try:
        for name, inner in plan.entries:
            if name:
                where = _Where(0, wanted[name], nullable=False, required=name in required)
                trees[name] = writer.read(inner, where, 0)
            else:
                writer.skip(inner, 0)
    except UnusualError:
        return None
    writer.add(layout.STOP)
    return KernelProgram("avro", writer.columns, trees, writer.operations, [], writer.listed, 0)


@dataclass(slots=True)
class _Writer:
    """Operations that are written so far."""

    columns: Columns = field(default_factory=Columns)
    operations: list[int] = field(default_factory=list)
    listed: list[int] = field(default_factory=list)

    def add(
        self, what: int, written: int = 0, to: int = -1, absent: int = 0, size: int = 0, then: int = 0
    ) -> int:
        """Write an operation; where it stands. Raises UnusualError where there are too many."""
        if len(self.operations) > _LONGEST:
            raise UnusualError
        self.operations += [what, written, to, absent, size, then]
        return len(self.operations) - layout.OPERATION

    def read(self, plan: Plan, where: _Where, depth: int, absent: int = 0) -> Tree:
        """Write what reads a value into columns. Raises UnusualError."""
        if depth > _DEEPEST:
            raise UnusualError
        match plan:
            case Leaf():
                return self._leaf(plan, where, absent)
            case ChoicePlan():
                return self._choice(plan, where, depth)
            case ItemsPlan(element) if isinstance(where.type, ListOf) and _has_bytes(element):
                column, inner = self.columns.listed(
                    where.level, nullable=where.nullable, required=where.required
                )
                items = _Where(inner, where.type.element, nullable=False, required=True)
                return Listed(column, self._loop(column, lambda: self.read(element, items, depth + 1)))
            case FieldsPlan(entries) if isinstance(where.type, Record) and not plan.defaults:
                column = self.columns.grouped(where.level, nullable=where.nullable, required=where.required)
                if column >= 0:
                    self.add(layout.PRESENT, to=column)
                fields = []
                for name, part in entries:
                    if not name:
                        self.skip(part, depth + 1)
                        continue
                    type_ = where.type.field(name)
                    assert type_ is not None
                    needed = name not in where.type.nullable  # and null where the record is
                    place = _Where(where.level, type_, nullable=where.nullable, required=needed)
                    fields.append((name, self.read(part, place, depth + 1)))
                return Grouped(column, tuple(fields), where.level)
            case _:
                raise UnusualError

    def skip(self, plan: Plan, depth: int) -> None:
        """Write what passes a value over. Raises UnusualError."""
        if depth > _DEEPEST:
            raise UnusualError
        match plan:
            case Leaf(written, _, size, symbols):
                self.add(layout.READ, _WRITTEN[written], size=size or len(symbols))
            case ChoicePlan(branches):
                self._branches([partial(self.skip, one, depth + 1) for one in branches])
            case ItemsPlan(element) if _has_bytes(element):
                self._loop(-1, lambda: self.skip(element, depth + 1))
            case PairsPlan(value):
                self._loop(-1, lambda: self._pair(value, depth))
            case FieldsPlan(entries):
                for _, inner in entries:
                    self.skip(inner, depth + 1)
            case _:
                raise UnusualError

    def _leaf(self, plan: Leaf, where: _Where, absent: int) -> Tree:
        if plan.written == "null":
            if where.required:
                raise UnusualError
            self.add(layout.READ, layout.W_NULL)
            return _NOTHING
        if plan.type == LAPSE or (plan.written == "fixed" and pa.types.is_string(plan.type)):
            raise UnusualError
        symbols = tuple(one for one in plan.symbols if one is not None)
        if len(symbols) < len(plan.symbols):
            raise UnusualError
        type_ = pa.dictionary(pa.int32(), pa.string()) if symbols else plan.type
        nullable = where.nullable or absent > 0
        column = self.columns.single(type_, where.level, nullable=nullable, required=where.required)
        size = plan.size or len(symbols)
        self.add(layout.READ, _WRITTEN[plan.written], column, absent, size)
        return Single(column, type_, symbols)

    def _choice(self, plan: ChoicePlan, where: _Where, depth: int) -> Tree:
        """A union of which one branch is read, and that may be null."""
        nulls = [n for n, one in enumerate(plan.branches) if isinstance(one, Leaf) and one.written == "null"]
        read = [n for n, one in enumerate(plan.branches) if n not in nulls and not isinstance(one, Unread)]
        if len(read) != 1:
            raise UnusualError
        nullable = where.nullable or bool(nulls)
        inner, own = plan.branches[read[0]], _Where(where.level, where.type, nullable, where.required)
        if isinstance(inner, Leaf) and nulls and len(plan.branches) == 2:
            return self._leaf(inner, own, nulls[0] + 1)
        found: list[Tree] = []

        def branch() -> None:
            found.append(self.read(inner, own, depth + 1))

        def null() -> None:
            for number, column in enumerate(within(found[0])):
                self.add(layout.PUT_NULL, to=column, size=int(number > 0))

        made: list[Callable[[], None] | None] = [None] * len(plan.branches)
        made[read[0]] = branch
        for one in nulls:
            made[one] = null
        self._branches(made, read[0])
        return found[0]

    def _branches(self, made: Sequence[Callable[[], None] | None], first: int = 0) -> None:
        """Write a union: what each branch does, that of a number first; None: the record is handed back."""
        at = self.add(layout.UNION, size=len(made), then=len(self.listed))
        targets = len(self.listed)
        self.listed += [-1] * len(made)
        jumps = []
        for number in sorted(range(len(made)), key=lambda one: one != first):
            write = made[number]
            if write is not None:
                self.listed[targets + number] = len(self.operations)
                write()
                jumps.append(self.add(layout.JUMP))
        for jump in jumps:
            self.operations[jump + layout.NEXT] = len(self.operations)
        assert self.operations[at] == layout.UNION

    def _loop(self, column: int, write: Callable[[], Tree | None]) -> Tree:
        """Write what is done with each item of a list."""
        begin = self.add(layout.BEGIN, to=column)
        found = write()
        self.add(layout.AGAIN)
        self.operations[begin + layout.NEXT] = len(self.operations)
        return found or _NOTHING

    def _pair(self, value: Plan, depth: int) -> None:
        self.add(layout.READ, layout.W_BYTES)
        self.skip(value, depth + 1)


def _has_bytes(plan: Plan, known: frozenset[int] = frozenset()) -> bool:
    """True if every value certainly has a byte, as far as the first fields of records tell."""
    match plan:
        case Leaf("null"):
            return False
        case Leaf("fixed", size=size):
            return size > 0
        case FieldsPlan(entries) if id(plan) not in known and len(known) < _DEEPEST:
            # of those in one another only the first is asked: all of them may be very many
            leaves = any(_has_bytes(inner) for _, inner in entries if not isinstance(inner, FieldsPlan))
            nested = next((inner for _, inner in entries if isinstance(inner, FieldsPlan)), None)
            return leaves or (nested is not None and _has_bytes(nested, known | {id(plan)}))
        case FieldsPlan():
            return False
        case _:
            return True
