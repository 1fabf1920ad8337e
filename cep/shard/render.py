"""From decisions to alerts: the emitted values, the summary, the id, and what suppression goes by.

By column, for all decisions of a rule in a shard and batch: what expressions name is looked up together, and
only what they compute from it is computed one by one. `RuleWriter.raised` is the same for one alert.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import repeat

import numpy as np
import numpy.typing as npt

from alerts.alert import Kind
from alerts.columns import Column
from alerts.forms import filled
from alerts.identity import canonical
from alerts.notation import json_value, plain
from alerts.raised import Raised, Withholding, Writer
from cep.batch.decisions import ByStep, Decisions
from cep.expressions.scalar import compiled
from cep.plan.plan import RulePlan
from rules.typed import (
    Aggregate,
    Expression,
    FieldRef,
    KeyRef,
    Path,
    PrevRef,
    Rule,
    StepRef,
    TextMatch,
    WindowAggregate,
    walk,
)
from rules.types import Scalar, Type

Ints = npt.NDArray[np.int64]
Named = FieldRef | KeyRef | StepRef | Aggregate | WindowAggregate


def rendered(decided: Iterable[Decisions]) -> list[Raised]:
    """The alerts of decisions, before suppression."""
    return [one for decisions in decided for one in renderer(decisions.rule).raised(decisions)]


@dataclass(slots=True)
class Renderer:
    """Writes the alerts of one rule."""

    plan: RulePlan
    writer: RuleWriter = field(init=False)

    def __post_init__(self) -> None:
        self.writer = RuleWriter(self.plan.pack, self.plan.revision, self.plan.rule)

    def raised(self, decisions: Decisions) -> list[Raised]:
        """The alerts of decisions, before suppression."""
        taken = decisions.by_step(len(self.plan.alerts.steps))
        found: list[Raised] = []
        for which in _forms(decisions, taken):
            found += self._alike(decisions, taken.chosen(which), which)
        return found

    def _alike(self, decisions: Decisions, taken: ByStep, which: Ints | slice) -> list[Raised]:
        """The alerts of decisions of one form."""
        rule, form = self.plan.rule, self.plan.alerts
        by = () if rule.by is None else tuple(zip(rule.by.names, rule.by.types, strict=True))
        held = [values[which].tolist() for values in decisions.key]
        keys = {name: values for (name, _), values in zip(by, held, strict=True)}
        known = {one: values[which].tolist() for one, values in decisions.values.items()}
        scope = _Scope({name: number for number, name in enumerate(form.steps)}, taken, keys, known)
        kind, emitting = form.kind, rule.emit
        if decisions.timeout[which][0]:
            kind, emitting = "timeout", form.on_timeout
        query = Column(list(map(str, scope.own(("query",))))) if kind == "hit" else None
        emit = {one.name: _column(scope.values(one.value), one.value.type) for one in emitting}
        key = {name: _column(keys[name], type_) for name, type_ in by}
        events = [
            (name, taken.ids(number)) for number, name in enumerate(form.steps) if taken.count[0, number]
        ]
        times, orders = decisions.time[which].tolist(), decisions.orders[which].tolist()
        return self.writer.by_column(kind, times, key, emit, events, orders, query)


_renderers: dict[tuple[str, str, str], Renderer] = {}
_KEPT = 4096


def renderer(plan: RulePlan) -> Renderer:
    """The renderer of a rule in a revision of its pack, made once: its templates cost more than an alert."""
    name = plan.pack, plan.revision, plan.rule.name
    found = _renderers.get(name)
    if found is None:
        if len(_renderers) >= _KEPT:
            _renderers.clear()
        found = _renderers[name] = Renderer(plan)
    return found


def _forms(decisions: Decisions, taken: ByStep) -> Sequence[Ints | slice]:
    """Decisions by form: whether time ended them, and which steps took something."""
    if len(decisions.time) == 1:
        return (slice(None),)
    forms = np.column_stack((decisions.timeout, taken.count > 0))
    if (forms == forms[0]).all():
        return (slice(None),)
    _, of_form = np.unique(forms, axis=0, return_inverse=True)
    order = np.argsort(of_form, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(of_form[order])) + 1)


def _column(values: list[object], type_: Type) -> Column:
    """Held values of a type as JSON values; most are as they are (doubles are never NaN)."""
    if type_ in _AS_THEY_ARE:
        return Column(values)
    return Column([json_value(value, type_) for value in values])


_AS_THEY_ARE = (Scalar.STRING, Scalar.TEXT, Scalar.LONG, Scalar.DOUBLE, Scalar.BOOLEAN)


class RuleWriter:
    """Writes a rule's alerts, its summary and what suppression goes by; `key` and `emit` are JSON values."""

    def __init__(self, pack: str, revision: str, rule: Rule) -> None:
        self._rule = rule
        self._writer = Writer(
            pack, revision, rule.name, rule.structure, rule.severity, rule.tags, rule.runbook
        )

    def raised(
        self,
        kind: Kind,
        time: int,
        key: dict[str, object],
        emit: dict[str, object],
        events: Sequence[tuple[str, list[str]]],
        order: tuple[int, ...],
        query: str | None = None,
    ) -> Raised:
        """The alert of a decision, before suppression."""
        summary = _summary(self._rule, key, emit)
        withholding = _withholding(self._rule, key, emit)
        return self._writer.raised(kind, time, key, summary, emit, events, order, withholding, query)

    def by_column(
        self,
        kind: Kind,
        times: Sequence[int],
        key: Mapping[str, Column],
        emit: Mapping[str, Column],
        events: Sequence[tuple[str, Sequence[str]]],
        orders: Sequence[bytes],
        query: Column | None = None,
    ) -> list[Raised]:
        """The result of `raised`, for many decisions: see `alerts.raised.Writer.by_column`."""
        known = {**key, **emit}
        summary = Column(_summaries(self._rule, key, known, len(times)))
        withholding = _withheld(self._rule, key, known, len(times))
        return self._writer.by_column(kind, times, key, summary, emit, events, orders, withholding, query)


def _summary(rule: Rule, key: Mapping[str, object], emit: Mapping[str, object]) -> str:
    template = rule.summary
    if template is None:
        on = ", ".join(plain(value) for value in key.values())
        return f"{rule.name} on {on}" if key else rule.name
    parts = [template.texts[0]]
    for place, name in enumerate(template.names):
        parts.append(plain(emit[name] if name in emit else key.get(name)))
        parts.append(template.texts[place + 1] if place + 1 < len(template.texts) else "")
    return "".join(parts)


def _summaries(rule: Rule, key: Mapping[str, Column], known: Mapping[str, Column], count: int) -> list[str]:
    template = rule.summary
    if template is None:
        names, texts = tuple(key), (f"{rule.name} on " if key else rule.name, *[", "] * (len(key) - 1))
    else:
        names, texts = template.names, template.texts
    columns = [known[name].plain if name in known else ["null"] * count for name in names]
    texts += ("",) * (len(names) + 1 - len(texts))
    return filled(texts, columns, count)


def _withholding(rule: Rule, key: Mapping[str, object], emit: Mapping[str, object]) -> Withholding | None:
    suppress = rule.suppress
    if suppress is None:
        return None
    names = suppress.names
    values = [emit[n] if n in emit else key.get(n) for n in names] if names else list(key.values())
    return Withholding(canonical(values), suppress.duration)


def _withheld(
    rule: Rule, key: Mapping[str, Column], known: Mapping[str, Column], count: int
) -> list[Withholding] | None:
    suppress = rule.suppress
    if suppress is None:
        return None
    named = [known.get(name) for name in suppress.names] if suppress.names else list(key.values())
    columns = [["null"] * count if column is None else column.canonical for column in named]
    keys = (f"[{','.join(row)}]" for row in _rows(columns, count))
    return list(map(Withholding, keys, repeat(suppress.duration)))


def _rows(columns: Sequence[Sequence[str]], count: int) -> list[tuple[str, ...]]:
    return list(zip(*columns, strict=True)) if columns else [()] * count


@dataclass(slots=True)
class _Scope:
    """The values that `emit` sees: the steps, the key, the event's own fields of a rule that takes events
    alone, what the operator computed. `row` is the decision that an expression is being evaluated for."""

    numbers: Mapping[str, int]
    taken: ByStep
    keys: Mapping[str, list[object]]
    known: Mapping[Expression, list[object]]
    row: int = 0
    _columns: dict[Named, list[object]] = field(default_factory=dict)
    _fields: dict[Path, list[object]] = field(default_factory=dict)

    def values(self, expression: Expression) -> list[object]:
        """The value of an expression in each decision."""
        if isinstance(expression, Named):
            return self._column(expression)
        for node in walk(expression):
            if isinstance(node, Named):
                self._column(node)
        evaluator, found = compiled(expression), []
        for row in range(len(self.taken.count)):
            self.row = row
            found.append(evaluator(self))
        return found

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
                return self.keys[name]
            case WindowAggregate():
                return self.known[node]
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
        return self.keys[name][self.row]

    def step(self, ref: StepRef) -> object:
        return self._columns[ref][self.row]

    def aggregate(self, ref: Aggregate) -> object:
        return self._columns[ref][self.row]

    def previous(self, ref: PrevRef) -> object:
        raise AssertionError(f"prev({'.'.join(ref.path)}) in emit")

    def text_match(self, ref: TextMatch) -> bool | None:
        raise AssertionError(f"a text condition on {'.'.join(ref.path)} in emit")
