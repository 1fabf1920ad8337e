"""The operators that there are: a new kind of rule is its own module, and its place here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cep.operators.operator import Operator
from cep.operators.patterns.match import MATCH
from cep.operators.single import SINGLE
from cep.operators.windows.over import OVER
from cep.state.keyed_rows import KeyedRows
from rules.typed import Rule

OPERATORS: tuple[Operator[Any, Any], ...] = (SINGLE, MATCH, OVER)
"""In the order in which they run on the events of a space."""


def operator_of(rule: Rule) -> Operator[Any, Any]:
    """The operator that runs a rule. There is one: `cep.packs.unsupported` refuses other rules."""
    return next(operator for operator in OPERATORS if operator.takes(rule))


def operator_named(kind: str) -> Operator[Any, Any]:
    """The operator of a kind."""
    return next(operator for operator in OPERATORS if operator.kind == kind)


def forms() -> Mapping[str, type[KeyedRows]]:
    """The form of every kind of state that some operator keeps."""
    return {kind: form for operator in OPERATORS for kind, form in operator.state.items()}
