"""Conditions that compare two values: of an event, or of one taken before it, with a constant added at most.

Of `price > a.price + 10` the kernel reads both prices where they lie, in place of running a program over
registers (`kernel.strict_conditions.compare`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cep.operators.patterns.kernel import bytecode as op
from cep.operators.patterns.kernel.strict_layout import COMPARISON, NOW, VALUE

Code = Sequence[int]
Side = tuple[int, ...]
"""VALUE numbers, or the place of a constant alone."""
_WHOLE = {op.EQUAL_I, op.UNEQUAL_I, op.LESS_I, op.AT_MOST_I}
_DOUBLE = {op.EQUAL_F, op.UNEQUAL_F, op.LESS_F, op.AT_MOST_F}
_WITH_CONSTANT = {op.ADD_F, op.SUBTRACT_F, op.MULTIPLY_F}
NO_COMPARISON = (op.NULL,) * COMPARISON


def sources(updates: Sequence[Sequence[Code]]) -> dict[int, tuple[int, int]]:
    """The registers that are one value of one event: its column, and the edge that takes it. `updates` are by
    edge, in order."""
    found: dict[int, tuple[int, int]] = {}
    changed: set[int] = set()
    for edge, codes in enumerate(updates):
        for operation, register, column, _ in codes:
            if operation == op.SET and register not in changed:
                found[register] = column, edge
            else:
                found.pop(register, None)
            changed.add(register)
    return found


def comparison(codes: Sequence[Code], taken: Mapping[int, tuple[int, int]], step: int) -> tuple[int, ...]:
    """A condition of a step over the events of the steps before it, as COMPARISON numbers; `taken` says what
    registers are (`sources`). NO_COMPARISON: it is another condition."""
    if not codes:
        return NO_COMPARISON
    slots: dict[int, Side] = {}
    for operation, a, b, to in codes[:-1]:
        side: Side | None = None
        if operation == op.COLUMN:
            side = (a, NOW, op.NULL, 0)
        elif operation == op.REGISTER and a in taken and taken[a][1] < step:
            column, edge = taken[a]
            side = (column, step - 1 - edge, op.NULL, 0)
        elif operation == op.CONSTANT:
            side = (a,)
        elif operation in _WITH_CONSTANT:
            side = _with_constant(operation, slots[a], slots[b])
        if side is None:
            return NO_COMPARISON
        slots[to] = side
    operation, a, b, _ = codes[-1]
    if operation not in _WHOLE | _DOUBLE:
        return NO_COMPARISON
    sides = slots[a], slots[b]
    if any(len(side) != VALUE or (operation in _WHOLE and side[2] != op.NULL) for side in sides):
        return NO_COMPARISON
    return (operation, *sides[0], *sides[1])


def _with_constant(operation: int, left: Side, right: Side) -> Side | None:
    """A value and a constant together; None: they are others."""
    value, constant = left, right
    if operation != op.SUBTRACT_F and len(left) == 1:
        value, constant = right, left
    if len(value) != VALUE or value[2] != op.NULL or len(constant) != 1:
        return None
    return (*value[:2], operation, *constant)
