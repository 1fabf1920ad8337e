"""The names that `emit` uses, for all decisions of a rule at once: in Python values, and in Arrow."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import compress
from json.encoder import encode_basestring

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from alerts.alert import Kind
from alerts.columns import Column
from alerts.masking import Mask
from alerts.notation import json_value
from cep.batch.decisions import ByStep, KeyValues, Windows
from cep.batch.shared_columns import Chosen
from cep.expressions.held import python
from cep.expressions.scalar import compiled
from rules.typed import (
    Aggregate,
    Emit,
    Expression,
    FieldRef,
    KeyRef,
    Path,
    PrevRef,
    Rule,
    StepRef,
    TextMatch,
    WindowAggregate,
    parts,
)
from rules.types import Scalar, Type

Ints = npt.NDArray[np.int64]
Named = FieldRef | KeyRef | StepRef | Aggregate


@dataclass(slots=True)
class Scope:
    """Values that `emit` sees: the steps, the key, the event's own fields of a rule that takes events alone;
    of the names in `known` the values. `row` is the decision that an expression is being worked out for."""

    numbers: Mapping[str, int]
    taken: ByStep
    keys: Mapping[str, KeyValues]
    known: Mapping[str, pa.Array]
    row: int = 0
    _keys: dict[str, list[object]] = field(default_factory=dict)
    _columns: dict[Named, list[object]] = field(default_factory=dict)
    _fields: dict[Path, list[object]] = field(default_factory=dict)

    def values(self, one: Emit) -> list[object]:
        """The emitted values of each decision."""
        if one.name in self.known:
            return python(self.known[one.name])
        expression = one.value
        if isinstance(expression, Named):
            return self._column(expression)
        for node in _named(expression):
            self._column(node)
        evaluator, found = compiled(expression), []
        for row in range(len(self.taken.count)):
            self.row = row
            found.append(evaluator(self))
        return found

    def arrow(self, one: Emit) -> pa.Array | Chosen | None:
        """The same in Arrow, of what is known or only looked up; None where it is in no one Arrow type."""
        if one.name in self.known:
            return self.known[one.name]
        match expression := one.value:
            case FieldRef(path):
                return self.taken.arrow_only(path)
            case StepRef():
                return self.taken.arrow_value(expression, self.numbers[expression.step])
            case Aggregate(function="count", path=()):
                return pa.array(self.taken.count[:, self.numbers[expression.step]])
        return None

    def of_key(self, name: str) -> list[object]:
        """A field of each decision's key."""
        if name not in self._keys:
            values = self.keys[name]
            values = values.array() if isinstance(values, Chosen) else values
            self._keys[name] = values.tolist() if isinstance(values, np.ndarray) else python(values)
        return self._keys[name]

    def own(self, path: Path) -> list[object]:
        """A field of each event of an `on` rule."""
        if path not in self._fields:
            self._fields[path] = self.taken.only(path)
        return self._fields[path]

    def _column(self, node: Named) -> list[object]:
        match node:
            case FieldRef(path):
                return self.own(path)
            case KeyRef(name):
                return self.of_key(name)
        if node not in self._columns:
            number = self.numbers[node.step]
            self._columns[node] = (
                self.taken.value(node, number)
                if isinstance(node, StepRef)
                else self.taken.aggregate(node, number)
            )
        return self._columns[node]

    def field(self, path: Path) -> object:
        return self._fields[path][self.row]

    def key(self, name: str) -> object:
        return self.of_key(name)[self.row]

    def step(self, ref: StepRef) -> object:
        return self._columns[ref][self.row]

    def aggregate(self, ref: Aggregate) -> object:
        return self._columns[ref][self.row]

    def window(self, ref: WindowAggregate) -> object:
        raise AssertionError(f"{ref.function} of a window, which the operator works out")

    def previous(self, ref: PrevRef) -> object:
        raise AssertionError(f"prev({'.'.join(ref.path)}) in emit")

    def text_match(self, ref: TextMatch) -> bool | None:
        raise AssertionError(f"a text condition on {'.'.join(ref.path)} in emit")


@dataclass(frozen=True, slots=True)
class Alike:
    """Decisions of one form of a rule, a row each: the kind of their alerts, the key's names and types, what
    is emitted, and the steps that took something with their numbers. `time` in ns since 1970 UTC. `secrets`
    are names of the key; `mask` is None where secret values are shown."""

    kind: Kind
    time: Ints
    by: tuple[tuple[str, Type], ...]
    emitting: tuple[Emit, ...]
    steps: tuple[tuple[str, int], ...]
    scope: Scope
    orders: pa.BinaryArray
    windows: Windows | None = None
    secrets: frozenset[str] = frozenset()
    mask: Mask | None = None

    def key(self, name: str) -> list[object]:
        """The key's values of a name as alerts show them: of secret ones hashes, where there is a mask."""
        return self._masked(self.scope.of_key(name), name in self.secrets)

    def arrow_key(self, name: str) -> pa.Array | Chosen | None:
        """The same in Arrow; None where it has to be listed."""
        values = self.scope.keys[name]
        hidden = self.mask is not None and name in self.secrets
        return None if hidden or isinstance(values, np.ndarray) else values

    def emitted(self, one: Emit) -> list[object]:
        """The same of emitted values."""
        return self._masked(self.scope.values(one), one.secret)

    def _masked(self, values: list[object], secret: bool) -> list[object]:
        return values if self.mask is None or not secret else [self.mask.value(one) for one in values]

    @property
    def queries(self) -> list[str]:
        """The queries of hits."""
        return list(map(str, self.scope.own(("query",))))

    @property
    def estimates(self) -> list[str] | None:
        """The names of emitted values that are estimates, as JSON with commas between; None: none is."""
        if self.windows is None or not self.windows.approximate:
            return None
        names = [encode_basestring(name) for name in self.windows.approximate]
        rows = zip(*(true.tolist() for true in self.windows.approximate.values()), strict=True)
        return [",".join(compress(names, row)) for row in rows]


def json_column(values: list[object], type_: Type) -> Column:
    """Held values of a type as JSON values; most are as they are (doubles are never NaN)."""
    if type_ in AS_THEY_ARE:
        return Column(values)
    return Column([json_value(value, type_) for value in values])


def _named(expression: Expression) -> Iterator[Named]:
    """The names in an expression."""
    if isinstance(expression, Named):
        yield expression
        return
    for part in parts(expression):
        if isinstance(part, Expression):
            yield from _named(part)


AS_THEY_ARE = (Scalar.STRING, Scalar.TEXT, Scalar.LONG, Scalar.DOUBLE, Scalar.BOOLEAN)


def summary_form(rule: Rule, key: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """The names that a summary shows, and the texts around them: one more."""
    template = rule.summary
    if template is None:
        return key, (f"{rule.name} on " if key else rule.name, *[", "] * (len(key) - 1), *[""] * bool(key))
    missing = len(template.names) + 1 - len(template.texts)
    return template.names, (*template.texts, *[""] * missing)
