"""Typed expressions over a whole Arrow table at once: the values that `scalar` gives row by row.

Conditions over the candidate alone become bits here, before the shuffle; other sub-expressions over one
event become columns. Logic is three-valued (Kleene), nulls are Arrow's, values as `held` says. What has no
operation over columns (division of decimals, choices between lists) goes through `scalar`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import reduce
from typing import Any, Protocol, assert_never

import pyarrow as pa
import pyarrow.compute as pc

from cep.expressions import column_arithmetic, column_decimals, column_lists, scalar
from cep.expressions.column_functions import call
from cep.expressions.conditions import Identity, identity, looks_into_list
from cep.expressions.held import as_held, held, inside, python
from rules.typed import (
    Aggregate,
    Arithmetic,
    Call,
    Choose,
    Compare,
    Convert,
    Expression,
    FieldRef,
    In,
    IsNull,
    KeyRef,
    Like,
    Literal,
    Logical,
    Lookup,
    Negate,
    Not,
    Path,
    PrevRef,
    Search,
    StepRef,
    TextMatch,
    WindowAggregate,
    walk,
)
from rules.types import ListOf, Scalar, Type

TextTruths = Mapping[Identity, pa.BooleanArray]
"""By the identity of a `TextMatch` its truth of each row, null where its field is."""


class Searches(Protocol):
    """The text conditions of a stream, open to be asked (cep.resources.searches)."""

    def answers(self, rows: int, field: Callable[[Path], pa.Array]) -> TextTruths:
        """Their truths of the rows of a table, of which `field` reads a column."""


@dataclass(slots=True)
class Columns:
    """The fields of one table, and what was computed from them. `overflows` counts results without room.

    `searches` answers text conditions, all at once when the first is asked; None: there are none.
    """

    table: pa.Table
    searches: Searches | None = None
    overflows: int = 0
    _known: dict[Identity, pa.Array] = field(default_factory=dict)
    _texts: TextTruths | None = None

    def evaluate(self, expression: Expression) -> pa.Array:
        """The expression's values, one a row, of the type that `held` gives for its type."""
        name = identity(expression)
        if name not in self._known:
            value = self._value(expression)
            self._known[name] = self._spread(value, expression.type)
        return self._known[name]

    def truth(self, condition: Expression | None) -> pa.BooleanArray:
        """True if the condition is true, never null: unknown is not."""
        if condition is None:
            return pa.repeat(pa.scalar(True), len(self.table))
        truth = self._spread(self._value(condition), condition.type)
        if truth.type != pa.bool_():
            truth = truth.cast(pa.bool_())
        return pc.fill_null(truth, False) if truth.null_count else truth

    def field(self, path: Path) -> pa.Array:
        """A field's values, as `inside` gives them."""
        column = self.table.column(path[0])
        array = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
        if isinstance(array, pa.ChunkedArray):
            array = pa.concat_arrays(array.chunks) if array.num_chunks else pa.array([], array.type)
        return as_held(inside(array, path[1:]))

    def text(self, condition: TextMatch) -> pa.BooleanArray:
        """A text condition's truth of each row, null where its field is."""
        if self._texts is None:
            assert self.searches is not None, "a text condition of a stream without searches"
            self._texts = self.searches.answers(len(self.table), self.field)
        return self._texts[identity(condition)]

    def _spread(self, value: Any, type_: Type) -> pa.Array:
        if isinstance(value, pa.Scalar):
            return pa.repeat(value, len(self.table)) if len(self.table) else pa.array([], value.type)
        if isinstance(value, pa.ChunkedArray):
            return value.combine_chunks()
        return value.cast(held(type_)) if pa.types.is_null(value.type) else value

    def _value(self, expression: Expression) -> Any:
        """An array, or a scalar where the expression is constant."""
        match expression:
            case Literal(value, type_):
                return pa.scalar(value, held(type_))
            case FieldRef(path):
                return self.field(path)
            case TextMatch():
                return self.text(expression)
            case Negate(operand, type_):
                if type_ is Scalar.DECIMAL:
                    return self._rows(expression)
                return self._counted(column_arithmetic.negate(self._value(operand), type_))
            case Arithmetic(operator, left, right, type_):
                a, b = self.evaluate(left), self.evaluate(right)
                if Scalar.DECIMAL in (type_, left.type, right.type):
                    exact = column_decimals.arithmetic(operator, a, b) if type_ is Scalar.DECIMAL else None
                    return self._rows(expression) if exact is None else exact
                return self._counted(column_arithmetic.arithmetic(operator, a, b, type_))
            case Compare(operator, left, right):
                if isinstance(left.type, ListOf):
                    equal = column_lists.equal(self.evaluate(left), self.evaluate(right))
                    return equal if operator == "==" else pc.invert(equal)
                return _COMPARISONS[operator](self._value(left), self._value(right))
            case Logical(operator, operands):
                connective = pc.and_kleene if operator == "and" else pc.or_kleene
                return reduce(connective, (_boolean(self._value(operand)) for operand in operands))
            case Not(operand):
                return pc.invert(_boolean(self._value(operand)))
            case IsNull(operand, negated):
                return (pc.is_valid if negated else pc.is_null)(self._value(operand))
            case In():
                return self._membership(expression)
            case Like(operand, pattern, negated):
                if "\\" in pattern:
                    return self._rows(expression)
                like = pc.match_like(self._value(operand), pattern)
                return pc.invert(like) if negated else like
            case Search(operand, pattern):
                return pc.match_substring_regex(self._value(operand), pattern)
            case Choose(test, yes, no, type_):
                if not _is_plain(type_):
                    return self._rows(expression)
                chosen = pc.fill_null(_boolean(self._value(test)), False)
                return pc.if_else(chosen, _typed(self._value(yes), type_), _typed(self._value(no), type_))
            case Call():
                return self._call(expression)
            case Convert(operand, type_):
                if Scalar.DECIMAL in (type_, operand.type) and operand.type is not Scalar.LONG:
                    return self._rows(expression)
                return self._value(operand).cast(held(type_), safe=False)
            case Lookup():
                raise AssertionError("Lookup is not executed yet")
            case KeyRef() | StepRef() | PrevRef() | Aggregate() | WindowAggregate():
                raise AssertionError(f"{type(expression).__name__} is not of the candidate")
            case _:
                assert_never(expression)

    def _counted(self, result: tuple[pa.Array, int]) -> pa.Array:
        array, overflows = result
        self.overflows += overflows
        return array

    def _membership(self, expression: In) -> Any:
        items = expression.items
        if looks_into_list(expression):
            lists = self.evaluate(items[0])
            return column_lists.within(self.evaluate(expression.operand), lists, expression.negated)
        constant = all(isinstance(item, Literal) and _is_plain(item.type) for item in items)
        if not constant or not items or not _is_plain(expression.operand.type):
            return self._rows(expression)
        operand = self.evaluate(expression.operand)
        values = [item.value for item in items if isinstance(item, Literal)]
        known = pa.array([value for value in values if value is not None], operand.type)
        member = pc.is_in(operand, value_set=known)
        if operand.null_count:
            member = pc.if_else(pc.is_valid(operand), member, pa.scalar(None, pa.bool_()))
        if None in values:
            member = pc.if_else(member, member, pa.scalar(None, pa.bool_()))
        return pc.invert(member) if expression.negated else member

    def _call(self, expression: Call) -> Any:
        if expression.function == "coalesce":
            if not _is_plain(expression.type):
                return self._rows(expression)
            return pc.coalesce(*(_typed(self._value(a), expression.type) for a in expression.arguments))
        arguments = [self.evaluate(argument) for argument in expression.arguments]
        constants = [a.value if isinstance(a, Literal) else None for a in expression.arguments]
        result = call(expression.function, arguments, constants, expression.type)
        return self._rows(expression) if result is None else self._counted(result)

    def _rows(self, expression: Expression) -> pa.Array:
        """The expression row by row."""
        paths = {n.path for n in walk(expression) if isinstance(n, FieldRef)}
        values = {path: python(self.field(path)) for path in paths}
        texts = {identity(n): self.text(n) for n in walk(expression) if isinstance(n, TextMatch)}
        row = _Row(values, texts)
        function = scalar.compiled(expression)
        result = []
        for row.number in range(len(self.table)):
            result.append(function(row))
        return pa.array(result, held(expression.type))


@dataclass(slots=True)
class _Row:
    """One row of a table as a scope; only the candidate has values."""

    values: Mapping[Path, list[Any]]
    texts: TextTruths
    number: int = 0

    def field(self, path: Path) -> object:
        return self.values[path][self.number]

    def text_match(self, ref: TextMatch) -> bool | None:
        truth: bool | None = self.texts[identity(ref)][self.number].as_py()
        return truth

    def key(self, name: str) -> object:
        raise AssertionError(f"the key field {name} is not of the candidate")

    def step(self, ref: StepRef) -> object:
        raise AssertionError(f"the step {ref.step} is not of the candidate")

    def previous(self, ref: PrevRef) -> object:
        raise AssertionError(f"prev({'.'.join(ref.path)}) is not of the candidate")

    def aggregate(self, ref: Aggregate) -> object:
        raise AssertionError(f"{ref.function} of {ref.step} is not of the candidate")

    def window(self, ref: WindowAggregate) -> object:
        raise AssertionError(f"{ref.function} of a window is not of the candidate")


def _is_plain(type_: Type) -> bool:
    return isinstance(type_, Scalar)


def _typed(value: Any, type_: Type) -> Any:
    return value.cast(held(type_)) if value.type != held(type_) else value


def _boolean(value: Any) -> Any:
    """The literal `null` as an unknown truth."""
    return value if value.type == pa.bool_() else value.cast(pa.bool_())


def _comparison(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def compare(left: Any, right: Any) -> Any:
        if pa.types.is_null(left.type):
            left = left.cast(right.type)
        if pa.types.is_null(right.type):
            right = right.cast(left.type)
        if pa.types.is_null(left.type):
            left, right = left.cast(pa.bool_()), right.cast(pa.bool_())
        return function(left, right)

    return compare


_COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "==": _comparison(pc.equal),
    "!=": _comparison(pc.not_equal),
    "<": _comparison(pc.less),
    "<=": _comparison(pc.less_equal),
    ">": _comparison(pc.greater),
    ">=": _comparison(pc.greater_equal),
}
