"""From a decision to an alert: the emitted values, the summary, the id, and what suppression goes by."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from alerts.alert import Kind
from alerts.identity import canonical
from alerts.notation import json_value, plain
from alerts.raised import Raised, Withholding, Writer
from cep.automata.plan import RulePlan
from cep.expressions.scalar import Evaluator, aggregate_of, compiled
from rules.typed import Aggregate, Emit, Match, Path, PrevRef, Rule, StepRef, TextMatch
from rules.types import Scalar, Type

WriteValue = Callable[[object], object]


@dataclass(slots=True)
class Taken:
    """An event that a step took: its id, and a row of columns of values by path."""

    id: str
    values: Mapping[Path, Sequence[Any]]
    row: int
    sequence: int


@dataclass(slots=True)
class Decision:
    """What an engine decided: the events by step number, in order, and the key's values as they are held.

    For an `on` rule the one event is that of step 0; `query` is the query's id where it is a hit. `timeout`:
    time ended a run before it came to a match.
    """

    time: int
    key: tuple[object, ...]
    steps: dict[int, list[Taken]]
    order: tuple[int, ...]
    timeout: bool = False
    query: str | None = None


@dataclass(slots=True)
class Renderer:
    """Writes the alerts of one rule."""

    plan: RulePlan
    names: tuple[str, ...] = ()
    steps: dict[str, int] = field(default_factory=dict)
    emit: tuple[tuple[str, Evaluator, WriteValue], ...] = ()
    on_timeout: tuple[tuple[str, Evaluator, WriteValue], ...] = ()
    labels: tuple[tuple[str, WriteValue], ...] = ()
    writer: RuleWriter = field(init=False)

    def __post_init__(self) -> None:
        rule = self.plan.rule
        self.writer = RuleWriter(self.plan.pack, self.plan.revision, rule)
        if isinstance(rule.body, Match):
            assert self.plan.tables is not None
            self.names = self.plan.tables.automaton.names
        else:
            self.names = (self.plan.documents or rule.body.stream,)
        self.steps = {name: number for number, name in enumerate(self.names)}
        self.emit = _emitting(rule.emit)
        if isinstance(rule.body, Match):
            self.on_timeout = _emitting(rule.body.on_timeout or ())
        if rule.by is not None:
            types = zip(rule.by.names, rule.by.types, strict=True)
            self.labels = tuple((name, _writer(type_)) for name, type_ in types)

    def raised(self, decision: Decision) -> Raised:
        """The alert of a decision, before suppression."""
        rule = self.plan.rule
        key = {name: write(value) for (name, write), value in zip(self.labels, decision.key, strict=True)}
        scope = _Scope(self.steps, decision, dict(zip(key, decision.key, strict=True)))
        emitting = self.on_timeout if decision.timeout else self.emit
        emit = {name: write(evaluator(scope)) for name, evaluator, write in emitting}
        events = [(self.names[n], [taken.id for taken in decision.steps[n]]) for n in sorted(decision.steps)]
        kind: Kind = "match" if isinstance(rule.body, Match) else "event" if decision.query is None else "hit"
        if decision.timeout:
            kind = "timeout"
        return self.writer.raised(kind, decision.time, key, emit, events, decision.order, decision.query)


def _emitting(items: Sequence[Emit]) -> tuple[tuple[str, Evaluator, WriteValue], ...]:
    return tuple((item.name, compiled(item.value), _writer(item.value.type)) for item in items)


def _writer(type_: Type) -> WriteValue:
    """Writes values of a type as JSON values; most are as they are (doubles are never NaN)."""
    if type_ in _AS_THEY_ARE:
        return lambda value: value
    return lambda value: json_value(value, type_)


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


def _withholding(rule: Rule, key: Mapping[str, object], emit: Mapping[str, object]) -> Withholding | None:
    suppress = rule.suppress
    if suppress is None:
        return None
    names = suppress.names
    values = [emit[n] if n in emit else key.get(n) for n in names] if names else list(key.values())
    return Withholding(canonical(values), suppress.duration)


@dataclass(slots=True)
class _Scope:
    """What `emit` sees: the steps, the key; for an `on` rule the event's own fields."""

    names: Mapping[str, int]
    decision: Decision
    labels: Mapping[str, object]

    def field(self, path: Path) -> object:
        taken = self.decision.steps[0][0]
        value: object = taken.values[path][taken.row]
        return value

    def key(self, name: str) -> object:
        return self.labels[name]

    def step(self, ref: StepRef) -> object:
        taken = self.decision.steps.get(self.names[ref.step], ())
        place = ref.offset if ref.which == "first" else len(taken) - 1 - ref.offset
        if not 0 <= place < len(taken):
            return None
        value: object = taken[place].values[ref.path][taken[place].row]
        return value

    def aggregate(self, ref: Aggregate) -> object:
        taken = self.decision.steps.get(self.names[ref.step], ())
        if not ref.path:
            return len(taken) if ref.function == "count" else None
        values = [one.values[ref.path][one.row] for one in taken]
        return aggregate_of(ref.function, values, ref.parameter)

    def previous(self, ref: PrevRef) -> object:
        raise AssertionError(f"prev({'.'.join(ref.path)}) in emit")

    def text_match(self, ref: TextMatch) -> bool | None:
        raise AssertionError(f"a text condition on {'.'.join(ref.path)} in emit")
