"""The plan of a rule with a pattern: its tables, and what they need of events."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from cep.operators.patterns.compile.program import field_type
from cep.operators.patterns.compile.tables import Tables, compile_tables
from cep.plan.plan import AlertForm, Needs, RulePlan
from rules.typed import Aggregate, Expression, FieldRef, Match, Pack, Path, Rule, StepRef, Stream, walk
from rules.types import Record, Type


@dataclass(frozen=True, slots=True, kw_only=True)
class PatternPlan(RulePlan):
    """A rule whose body is a pattern.

    The last of its `places` is true of every event of the pattern's streams where `tables.everything` says
    so.
    """

    body: Match
    tables: Tables = field(repr=False, compare=False)


def pattern_plan(pack: Pack, rule: Rule, body: Match, observed: bool) -> PatternPlan:
    """The plan of a rule of a pack. Raises TooLargeError."""
    tables = compile_tables(pack, rule)
    form = AlertForm("match", tuple(tables.automaton.names), body.on_timeout or ())
    needs = _needs(pack, rule, body, tables, observed)
    return PatternPlan(pack.name, pack.revision, rule, needs, form, body=body, tables=tables)


def _needs(pack: Pack, rule: Rule, body: Match, tables: Tables, observed: bool) -> Needs:
    declared = {name: pack.stream(name) for name in body.streams}
    conditions: list[Mapping[str, Expression | None]] = [{p.stream: p.condition} for p in tables.places]
    if tables.everything or observed:
        conditions.append(dict.fromkeys(body.streams))
    columns = []
    for column in tables.columns:
        of = (column.stream,) if column.stream is not None else body.streams
        columns.append({name: column.expression for name in of if _has(declared[name], column)})
    fields: dict[str, dict[Path, None]] = {name: {} for name in body.streams}
    for node in _nodes(rule, body):
        if isinstance(node, StepRef | Aggregate) and node.path:
            fields[tables.automaton.stream(node.step)][node.path] = None
    for outside in tables.outside:
        for part in walk(outside.expression):
            if isinstance(part, FieldRef) and outside.stream is not None:
                fields[outside.stream][part.path] = None
    for name, stream in declared.items() if observed else ():
        paths = (path for f in stream.fields for path in _leaf_paths((f.name,), f.type))
        fields[name].update(dict.fromkeys(paths))
    return Needs(tuple(conditions), tuple(columns), {name: tuple(of) for name, of in fields.items()})


def _has(stream: Stream, column: object) -> bool:
    """True if a stream has the fields of a column that is read from every stream of a pattern."""
    for node in walk(column):
        if isinstance(node, FieldRef):
            try:
                if field_type(stream, node.path) != node.type:
                    return False
            except (KeyError, AssertionError):
                return False
    return True


def _leaf_paths(path: Path, type_: Type) -> Iterator[Path]:
    """The paths of a field's values, those inside a record one by one."""
    if not isinstance(type_, Record):
        yield path
        return
    for name, part in type_.fields:
        yield from _leaf_paths((*path, name), part)


def _nodes(rule: Rule, body: Match) -> Iterator[object]:
    for item in (*rule.emit, *(body.on_timeout or ())):
        yield from walk(item.value)
    yield from walk(body.pattern)
    if body.having is not None:
        yield from walk(body.having)
