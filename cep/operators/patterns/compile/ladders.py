"""Ladders: conditions of many rules that differ in one constant, and rise or fall with it.

Of `v > a.v + 10`, `v > a.v + 20`, ... those are true whose constant is below a bound, which halving finds; a
condition that is the same in all rules is a ladder with one rung. The operations between the constant and the
result must be monotone in it (rounding is), also in three-valued logic: false, unknown, true in this order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass

from cep.operators.patterns.compile.program import FLOAT, INTEGER
from cep.operators.patterns.kernel import bytecode as op

Code = Sequence[int]
Constant = tuple[int, object]
_ONE = {op.TO_FLOAT, op.TO_WHOLE, op.NEGATE_I, op.NEGATE_F, op.ROUND, op.NOT}
_EITHER = {
    op.ADD_I, op.ADD_F, op.SUBTRACT_I, op.SUBTRACT_F, op.MULTIPLY_I, op.MULTIPLY_F,
    op.LESS_I, op.LESS_F, op.AT_MOST_I, op.AT_MOST_F, op.AND, op.OR,
}  # fmt: skip
_NOTHING = {op.NULL, op.CONSTANT, op.COLUMN, op.REGISTER}
"""Operations that read no slot."""
_ALONE = {op.ABS_I, op.ABS_F, op.IS_NULL, op.IS_KNOWN}
"""Others that read one."""


@dataclass(frozen=True, slots=True)
class Ladder:
    """Places of rules by rung, from the least constant on."""

    rungs: tuple[tuple[int, ...], ...]


def ladders(programs: Sequence[tuple[Sequence[Code], Sequence[Constant]]], least: int) -> list[Ladder]:
    """The ladders of at least so many rules that the programs of one step make, a program being its code and
    the constants of its rule; each rule stands in one at most."""
    names = [dict(_names(codes, constants)) for codes, constants in programs]
    counts = Counter(name for of_rule in names for name in of_rule)
    found: dict[Hashable, dict[object, list[int]]] = {}
    for place, of_rule in enumerate(names):
        if of_rule:
            best = max(of_rule, key=lambda name: counts[name])
            found.setdefault(best, {}).setdefault(of_rule[best], []).append(place)
    some = (of for of in found.values() if sum(map(len, of.values())) >= least)
    return [Ladder(tuple(tuple(of[value]) for value in sorted(of))) for of in some]  # type: ignore[type-var]


def _names(codes: Sequence[Code], constants: Sequence[Constant]) -> Iterator[tuple[Hashable, object]]:
    """The names of the ladders that a program may stand in, and its constant in each."""
    if not codes:
        return
    whole = [_name(code, constants) for code in codes]
    yield tuple(whole), 0
    for place, (operation, constant, _, _) in enumerate(codes):
        if operation == op.CONSTANT and constants[constant][0] in (FLOAT, INTEGER) and _rises(codes, place):
            kind, value = constants[constant]
            yield (*whole[:place], kind, place, *whole[place + 1 :]), value


def _name(code: Code, constants: Sequence[Constant]) -> Hashable:
    if code[0] != op.CONSTANT:
        return tuple(code)
    kind, value = constants[code[1]]
    # 1 and 1.0, or 0.0 and -0.0, are equal in Python.
    return (op.CONSTANT, kind, type(value), repr(value), code[3])


def _rises(codes: Sequence[Code], place: int) -> bool:
    """True if the result rises or falls with the constant that one of the operations loads."""
    of_constant = {codes[place][3]}
    for operation, a, b, to in codes[place + 1 :]:
        read = () if operation in _NOTHING else (a,) if operation in _ONE | _ALONE else (a, b)
        touched = [slot for slot in read if slot in of_constant]
        fine = operation in _ONE or (operation in _EITHER and a != b)
        fine = fine or (operation == op.DIVIDE_F and b not in of_constant)
        if operation in (op.COALESCE, op.CHOOSE, op.DISTANCE):
            # They read slots that they do not name.
            return False
        if touched and (not fine or len(touched) > 1):
            return False
        of_constant.discard(to)
        if touched:
            of_constant.add(to)
    return codes[-1][3] in of_constant
