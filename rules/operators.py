"""The arithmetic of the language: which types an operator takes, what both sides become, what comes out.

The elaborator types `+ - * / %` by this table, and the manual prints it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from rules.types import Scalar, Type

_LONG, _DOUBLE, _DECIMAL = Scalar.LONG, Scalar.DOUBLE, Scalar.DECIMAL
_TIMESTAMP, _DURATION = Scalar.TIMESTAMP, Scalar.DURATION


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """The effect of an operator on two types: both sides are widened first, then give the result."""

    left: Scalar
    right: Scalar
    result: Scalar


def _same(type_: Scalar) -> Arithmetic:
    return Arithmetic(type_, type_, type_)


def _of_numbers() -> Iterator[tuple[tuple[Scalar, str, Scalar], Arithmetic]]:
    for operator in "+-*/%":
        whole = _same(_DOUBLE) if operator == "/" else _same(_LONG)
        yield (_LONG, operator, _LONG), whole
        for wide in (_DOUBLE, _DECIMAL):
            for pair in ((wide, wide), (_LONG, wide), (wide, _LONG)):
                yield (pair[0], operator, pair[1]), _same(wide)


def _of_times() -> Iterator[tuple[tuple[Scalar, str, Scalar], Arithmetic]]:
    for left, operator, right, result in (
        (_TIMESTAMP, "-", _TIMESTAMP, _DURATION),
        (_TIMESTAMP, "+", _DURATION, _TIMESTAMP),
        (_DURATION, "+", _TIMESTAMP, _TIMESTAMP),
        (_TIMESTAMP, "-", _DURATION, _TIMESTAMP),
        (_DURATION, "+", _DURATION, _DURATION),
        (_DURATION, "-", _DURATION, _DURATION),
        (_DURATION, "*", _LONG, _DURATION),
        (_DURATION, "*", _DOUBLE, _DURATION),
        (_LONG, "*", _DURATION, _DURATION),
        (_DOUBLE, "*", _DURATION, _DURATION),
        (_DURATION, "/", _LONG, _DURATION),
        (_DURATION, "/", _DOUBLE, _DURATION),
        (_DURATION, "/", _DURATION, _DOUBLE),
    ):
        yield (left, operator, right), Arithmetic(left, right, result)


ARITHMETIC: Mapping[tuple[Type, str, Type], Arithmetic] = MappingProxyType(
    dict((*_of_numbers(), *_of_times()))
)
"""By the type of the left side, the operator and the type of the right side."""
