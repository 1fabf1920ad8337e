"""Conditions over earlier steps as bytecode: what the kernel evaluates over registers and columns.

A program is a list of instructions `(operation, a, b, dst)` over numbered slots; every slot holds 64 bits
and a null flag. Values are int64 (long, boolean, timestamp, duration), doubles bit by bit, or numbers of a
shard's dictionary (strings; decimals, lists and records as texts, cep.batch.texts). Sub-expressions over
the candidate alone, and strict ones over one event of one step, are computed by column before the shuffle and
stand here as columns and registers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from cep.expressions.conditions import (
    Identity,
    conjuncts,
    identity,
    looks_into_list,
    names_earlier,
    null_in_null_out,
    references,
    rewritten,
)
from cep.operators.patterns.kernel import bytecode as op
from rules.source import Span
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
    Literal,
    Logical,
    Negate,
    Not,
    Pack,
    Path,
    PrevRef,
    StepRef,
    Stream,
    TextMatch,
    walk,
)
from rules.types import ListOf, Record, Scalar, Type

INTEGER, FLOAT, TEXT = 0, 1, 2
"""How a slot's 64 bits are read."""


_INTEGER_OPERATIONS = {"+": op.ADD_I, "-": op.SUBTRACT_I, "*": op.MULTIPLY_I, "%": op.REMAINDER_I}
_FLOAT_OPERATIONS = {
    "+": op.ADD_F, "-": op.SUBTRACT_F, "*": op.MULTIPLY_F, "/": op.DIVIDE_F, "%": op.REMAINDER_F,
}  # fmt: skip
_COMPARISONS = (
    {"==": op.EQUAL_I, "!=": op.UNEQUAL_I, "<": op.LESS_I, "<=": op.AT_MOST_I},
    {"==": op.EQUAL_F, "!=": op.UNEQUAL_F, "<": op.LESS_F, "<=": op.AT_MOST_F},
    {"==": op.EQUAL_I, "!=": op.UNEQUAL_I, "<": op.LESS_T, "<=": op.AT_MOST_T},
)
"""By how values are held; the order of dictionary numbers is that of their ranks."""


class NotExecutedError(Exception):
    """A condition that no program expresses; `span` is its place."""

    def __init__(self, what: str, span: Span) -> None:
        super().__init__(what)
        self.what = what
        self.span = span


def kind_of(type_: Type) -> int:
    """The kind of number that holds values of a type."""
    match type_:
        case Scalar.DOUBLE:
            return FLOAT
        case Scalar.STRING | Scalar.TEXT | Scalar.DECIMAL | ListOf() | Record():
            return TEXT
        case Scalar():
            return INTEGER


@dataclass(frozen=True, slots=True)
class Column:
    """An expression over one event alone, computed before the shuffle.

    `stream` None: of every stream that the pattern names (for `prev`); `back` > 0: the value of the
    event so many places before.
    """

    stream: str | None
    expression: Expression
    back: int = 0

    @property
    def key(self) -> tuple[str | None, Identity, int]:
        """Equal for columns that hold the same."""
        return (self.stream, identity(self.expression), self.back)


@dataclass(frozen=True, slots=True)
class Register:
    """A value that a run keeps about one step.

    `what` is one of count, known, value, sum, min, max; for `value`, `from_end` distinguishes last from first
    and `offset` how far back or on. `column` indexes the rule's columns, -1 where there is none. `only`: of
    the present round of a group alone.
    """

    step: int
    what: str
    column: int = -1
    from_end: bool = True
    offset: int = 0
    kind: int = INTEGER
    only: bool = False


@dataclass(frozen=True, slots=True)
class Outside:
    """A condition that no program expresses: it is evaluated over whole events (runtime.outside_conditions).

    `stream` is the candidate's, None in `having`. `columns` hold what `prev` and text conditions give,
    `registers` the single steps of a round.
    """

    expression: Expression
    stream: str | None
    columns: tuple[tuple[PrevRef | TextMatch, int], ...]
    registers: tuple[tuple[StepRef, int], ...]


@dataclass(slots=True)
class Layout:
    """The columns, registers and constants that the programs of one rule share, in order of first use.

    `steps` numbers the steps by name, `streams` gives theirs by number; `rounds` are the names of steps
    inside groups that repeat.
    """

    pack: Pack
    steps: Mapping[str, int]
    streams: tuple[str, ...]
    rounds: frozenset[str]
    columns: list[Column] = field(default_factory=list)
    registers: list[Register] = field(default_factory=list)
    numbers: dict[Register, int] = field(default_factory=dict)
    constants: list[tuple[int, object]] = field(default_factory=list)
    outside: list[Outside] = field(default_factory=list)

    def column(self, column: Column) -> int:
        """The place of a column, added if it is new."""
        for place, known in enumerate(self.columns):
            if known.key == column.key:
                return place
        self.columns.append(column)
        return len(self.columns) - 1

    def register(self, register: Register) -> int:
        """The number of a register, added if it is new."""
        number = self.numbers.setdefault(register, len(self.registers))
        if number == len(self.registers):
            self.registers.append(register)
        return number

    def constant(self, kind: int, value: object) -> int:
        """The number of a constant, added if it is new."""
        entry = (kind, value)
        for number, (known, other) in enumerate(self.constants):
            if known == kind and type(other) is type(value) and other == value:
                return number
        self.constants.append(entry)
        return len(self.constants) - 1


Instruction = tuple[int, int, int, int]


@dataclass(slots=True)
class Compiler:
    """Compiles conditions of one rule. `stream` is the candidate's; slots are never reused in a program.

    `fresh` are names of a group whose new round has begun: its single steps are null.
    """

    layout: Layout
    stream: str | None
    fresh: frozenset[str] = frozenset()
    code: list[Instruction] = field(default_factory=list)
    slots: int = 0

    def emit(self, operation: int, a: int = 0, b: int = 0) -> int:
        """Add an instruction; its result's slot."""
        self.code.append((operation, a, b, self.slots))
        self.slots += 1
        return self.slots - 1

    def condition(self, expression: Expression) -> None:
        """Code for a condition; what no program expresses is evaluated outside, operand by operand."""
        result = -1
        for part in conjuncts(expression):
            slot = self._asked(rewritten(part, self._forgotten))
            result = slot if result < 0 else self.emit(op.AND, result, slot)

    def _forgotten(self, node: Expression) -> Expression | None:
        if (
            isinstance(node, StepRef)
            and node.which == "only"
            and node.step in self.fresh & self.layout.rounds
        ):
            return Literal(None, node.type, node.span)
        return None

    def _asked(self, part: Expression) -> int:
        layout = self.layout
        before = (
            len(self.code),
            self.slots,
            len(layout.columns),
            len(layout.registers),
            len(layout.constants),
        )
        try:
            return self.value(part)
        except NotExecutedError:
            del self.code[before[0] :]
            self.slots = before[1]
            del layout.columns[before[2] :]
            del layout.registers[before[3] :]
            del layout.constants[before[4] :]
        columns: list[tuple[PrevRef | TextMatch, int]] = []
        registers: list[tuple[StepRef, int]] = []
        for node in walk(part):
            if isinstance(node, PrevRef):
                alone = FieldRef(node.path, node.type, node.span)
                columns.append((node, layout.column(Column(None, alone, node.offset))))
            elif isinstance(node, TextMatch):
                columns.append((node, layout.column(Column(self.stream, node))))
            elif isinstance(node, StepRef) and node.which == "only" and node.step in layout.rounds:
                self._reference(node, FieldRef(node.path, node.type, node.span))
                registers.append((node, self.code.pop()[1]))
                self.slots -= 1
        layout.outside.append(Outside(part, self.stream, tuple(columns), tuple(registers)))
        return self.emit(op.OUTSIDE, len(layout.outside) - 1)

    def value(self, expression: Expression) -> int:
        """Code for an expression; the slot of its value. Raises NotExecutedError."""
        if isinstance(expression, Literal):
            return self._constant(expression)
        if self.stream is not None and not names_earlier(expression):
            return self.emit(op.COLUMN, self.layout.column(Column(self.stream, expression)))
        hoisted = self._hoisted(expression)
        if hoisted is not None:
            return hoisted
        match expression:
            case StepRef() | PrevRef():
                return self._reference(
                    expression, FieldRef(expression.path, expression.type, expression.span)
                )
            case Aggregate():
                return self._aggregate(expression)
            case Convert(operand, type_):
                slot = self.value(operand)
                if type_ is Scalar.DOUBLE and kind_of(operand.type) == INTEGER:
                    return self.emit(op.TO_FLOAT, slot)
                if type_ is Scalar.DECIMAL or operand.type is Scalar.DECIMAL:
                    raise NotExecutedError("arithmetic with decimals of several events", expression.span)
                return slot
            case Negate(operand, type_):
                if type_ is Scalar.DECIMAL:
                    raise NotExecutedError("arithmetic with decimals of several events", expression.span)
                slot = self.value(operand)
                return self.emit(op.NEGATE_F if self._is_float(operand) else op.NEGATE_I, slot)
            case Arithmetic():
                return self._arithmetic(expression)
            case Compare(operator, left, right):
                return self._compare(operator, left, right)
            case Logical(operator, operands):
                together = op.AND if operator == "and" else op.OR
                result = self.value(operands[0])
                for operand in operands[1:]:
                    result = self.emit(together, result, self.value(operand))
                return result
            case Not(operand):
                return self.emit(op.NOT, self.value(operand))
            case IsNull(operand, negated):
                return self.emit(op.IS_KNOWN if negated else op.IS_NULL, self.value(operand))
            case In():
                return self._membership(expression)
            case Choose(test, yes, no):
                chosen, first, second = self.value(test), self.value(yes), self.value(no)
                pair = self.emit(op.COPY, first)
                self.emit(op.COPY, second)
                return self.emit(op.CHOOSE, chosen, pair)
            case Call():
                return self._call(expression)
            case _:
                raise NotExecutedError("this test of a value that comes from several events", expression.span)

    def _constant(self, literal: Literal) -> int:
        if literal.value is None:
            return self.emit(op.NULL)
        return self.emit(op.CONSTANT, self.layout.constant(kind_of(literal.type), literal.value))

    def _hoisted(self, expression: Expression) -> int | None:
        """A strict expression over one event of one step, or one event before, as one register or column.

        Only what has no operation of its own: then no constant of the rule is frozen into registers
        without need, and numbers stay raw.
        """
        if isinstance(expression, StepRef | PrevRef | Aggregate) or _has_operation(expression):
            return None
        refs = references(expression)
        places = {_place(ref) for ref in refs}
        if len(places) != 1 or None in places or not null_in_null_out(expression):
            return None
        if any(isinstance(n, FieldRef) for n in walk(expression)):
            return None
        alone = rewritten(
            expression,
            lambda n: FieldRef(n.path, n.type, n.span) if isinstance(n, StepRef | PrevRef) else None,
        )
        return self._reference(refs[0], alone)

    def _reference(self, ref: StepRef | PrevRef | Aggregate, alone: Expression) -> int:
        kind = kind_of(alone.type)
        if isinstance(ref, PrevRef):
            return self.emit(op.COLUMN, self.layout.column(Column(None, alone, ref.offset)))
        assert isinstance(ref, StepRef)
        step = self.layout.steps[ref.step]
        column = self.layout.column(Column(self.layout.streams[step], alone))
        from_end = ref.which != "first"
        if from_end:
            # The last but n moves through the registers of the last but 0 to n - 1.
            for offset in range(ref.offset):
                self.layout.register(Register(step, "value", column, True, offset, kind))
        else:
            self.layout.register(Register(step, "count"))
        only = ref.which == "only" and ref.step in self.layout.rounds
        register = Register(step, "value", column, from_end, ref.offset, kind, only)
        return self.emit(op.REGISTER, self.layout.register(register))

    def _aggregate(self, ref: Aggregate) -> int:
        step = self.layout.steps[ref.step]
        if ref.function == "count" and not ref.path:
            return self.emit(op.REGISTER, self.layout.register(Register(step, "count")))
        if ref.function not in {"count", "sum", "avg", "min", "max"}:
            raise NotExecutedError(f"`{ref.function}` in a condition over earlier steps", ref.span)
        # What the aggregate is over has the aggregate's own type, but for avg and count.
        type_ = self._path_type(ref)
        kind = kind_of(type_)
        column = self.layout.column(Column(self.layout.streams[step], FieldRef(ref.path, type_, ref.span)))
        known = self.layout.register(Register(step, "known", column))
        if ref.function == "count":
            return self.emit(op.REGISTER, known)
        if ref.function in {"min", "max"}:
            return self.emit(
                op.REGISTER, self.layout.register(Register(step, ref.function, column, kind=kind))
            )
        if kind == TEXT:
            raise NotExecutedError(f"`{ref.function}` of decimals in a condition", ref.span)
        total = self.emit(op.REGISTER, self.layout.register(Register(step, "sum", column, kind=kind)))
        if ref.function == "sum":
            return total
        if kind == INTEGER:
            total = self.emit(op.TO_FLOAT, total)
        number = self.emit(op.TO_FLOAT, self.emit(op.REGISTER, known))
        mean = self.emit(op.DIVIDE_F, total, number)
        return mean if ref.type is Scalar.DOUBLE else self.emit(op.TO_WHOLE, mean)

    def _path_type(self, ref: Aggregate) -> Type:
        stream = self.layout.streams[self.layout.steps[ref.step]]
        return field_type(self.layout.pack.stream(stream), ref.path)

    def _is_float(self, expression: Expression) -> bool:
        return kind_of(expression.type) == FLOAT

    def _floating(self, expression: Expression) -> int:
        slot = self.value(expression)
        return slot if self._is_float(expression) else self.emit(op.TO_FLOAT, slot)

    def _arithmetic(self, expression: Arithmetic) -> int:
        left, right, operator = expression.left, expression.right, expression.operator
        if TEXT in (kind_of(left.type), kind_of(right.type)):
            raise NotExecutedError("arithmetic with decimals of several events", expression.span)
        floating = operator == "/" or self._is_float(left) or self._is_float(right)
        if not floating:
            return self.emit(_INTEGER_OPERATIONS[operator], self.value(left), self.value(right))
        a, b = self._floating(left), self._floating(right)
        result = self.emit(_FLOAT_OPERATIONS[operator], a, b)
        return result if expression.type is Scalar.DOUBLE else self.emit(op.TO_WHOLE, result)

    def _compare(self, operator: str, left: Expression, right: Expression) -> int:
        kinds = {kind_of(left.type), kind_of(right.type)}
        if operator in (">", ">="):
            operator, left, right = {">": "<", ">=": "<="}[operator], right, left
        if kinds == {INTEGER, FLOAT}:
            return self.emit(_COMPARISONS[FLOAT][operator], self._floating(left), self._floating(right))
        if len(kinds) > 1:
            raise NotExecutedError("a comparison of values of several types", left.span)
        a, b = self.value(left), self.value(right)
        return self.emit(_COMPARISONS[kinds.pop()][operator], a, b)

    def _membership(self, expression: In) -> int:
        if looks_into_list(expression):
            raise NotExecutedError("`in` a list of another event", expression.span)
        if not expression.items:
            return self.emit(op.CONSTANT, self.layout.constant(INTEGER, int(expression.negated)))
        result = self._compare("==", expression.operand, expression.items[0])
        for item in expression.items[1:]:
            result = self.emit(op.OR, result, self._compare("==", expression.operand, item))
        return self.emit(op.NOT, result) if expression.negated else result

    def _call(self, expression: Call) -> int:
        arguments = expression.arguments
        match expression.function:
            case "coalesce":
                result = self.value(arguments[-1])
                for argument in reversed(arguments[:-1]):
                    result = self.emit(op.COALESCE, self.value(argument), result)
                return result
            case "abs" if expression.type is not Scalar.DECIMAL:
                slot = self.value(arguments[0])
                return self.emit(op.ABS_F if self._is_float(arguments[0]) else op.ABS_I, slot)
            case "round" if expression.type in (Scalar.DOUBLE, Scalar.LONG) and len(arguments) == 1:
                slot = self._floating(arguments[0]) if self._is_float(arguments[0]) else -1
                if slot < 0:
                    return self.value(arguments[0])
                rounded = self.emit(op.ROUND, slot)
                return rounded if expression.type is Scalar.DOUBLE else self.emit(op.TO_WHOLE, rounded)
            case "distance_km":
                slots = [self._floating(argument) for argument in arguments]
                first = self.emit(op.COPY, slots[0])
                for slot in slots[1:]:
                    self.emit(op.COPY, slot)
                return self.emit(op.DISTANCE, first)
            case name:
                raise NotExecutedError(f"`{name}` of values of several events", expression.span)


def _has_operation(expression: Expression) -> bool:
    """True if the kernel computes it itself from its parts."""
    match expression:
        case Negate(operand):
            return operand.type is not Scalar.DECIMAL
        case Arithmetic(_, left, right):
            return Scalar.DECIMAL not in (expression.type, left.type, right.type)
        case Convert(operand, type_):
            return type_ is not Scalar.DECIMAL and operand.type is not Scalar.DECIMAL
        case Call(function, arguments):
            if function == "round":
                return len(arguments) == 1 and expression.type is not Scalar.DECIMAL
            return function in {"coalesce", "distance_km"} or (
                function == "abs" and expression.type is not Scalar.DECIMAL
            )
        case Compare() | Logical() | Not() | IsNull() | Choose():
            return True
        case In():
            return not looks_into_list(expression)
        case _:
            return False


def _place(ref: StepRef | PrevRef | Aggregate) -> tuple[object, ...] | None:
    match ref:
        case StepRef(step, _, which, offset):
            return ("step", step, which == "first", offset)
        case PrevRef(_, offset):
            return ("prev", offset)
        case Aggregate():
            return None


def field_type(stream: Stream, path: Path) -> Type:
    """The type of a stream's field, by its path. Raises KeyError."""
    return _part(stream.field(path[0]).type, path[1:])


def _part(type_: Type, path: Path) -> Type:
    match type_:
        case _ if not path:
            return type_
        case ListOf(element):
            return ListOf(_part(element, path))
        case Record(fields):
            return _part(dict(fields)[path[0]], path[1:])
        case Scalar():
            raise KeyError(path[0])
