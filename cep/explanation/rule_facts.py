"""A rule as it runs, as values: texts and drawings are made of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import assert_never

from cep.explanation import window_facts
from cep.explanation.rule_cost import Cost, cost
from cep.explanation.window_facts import WindowFacts
from cep.explanation.wording import duration, guarded, skipping, window, written
from cep.expressions.conditions import conjuncts, names_earlier
from cep.operators.patterns.compile.program import Register
from cep.operators.patterns.compile.tables import Tables, compile_tables
from cep.operators.patterns.kernel import layout
from cep.operators.windows.compile.readings import aggregates_in
from cep.packs.unsupported import unsupported
from cep.plan.plan import hit_streams
from rules.diagnostics import Diagnostic
from rules.typed import (
    Absent,
    AnyOrder,
    Either,
    Element,
    Expression,
    FieldRef,
    Group,
    Match,
    On,
    Over,
    Pack,
    Path,
    Rule,
    Sequence,
    Step,
    TextMatch,
    Unless,
    walk,
)

_WORD = 8
_COSTLY = 3


@dataclass(frozen=True, slots=True)
class Condition:
    """One condition that must hold, where it stands, and where it is evaluated.

    `place`: by column, before the shuffle; text, by the percolator, before the shuffle; inside, over what a
    run keeps; events, over the whole events that a run took; windows, over what is kept of windows.
    """

    of: str
    text: str
    place: str


@dataclass(frozen=True, slots=True)
class Bound:
    """A bound by name, in words."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class StateBound:
    """The most that a key can keep: so many runs; bytes of one alternative of a run, and of one event it
    took.

    `events` is how many events a match can take at most (None: as many as come in time), `alternatives` how
    many a run may keep at once (None: no fixed number). `bytes` is their product where there is one.
    """

    runs: int
    alternative: int
    event: int
    events: int | None
    alternatives: int | None

    @property
    def bytes(self) -> int | None:
        """An upper bound for one key, without ids and fields of the events."""
        if self.events is None or self.alternatives is None:
            return None
        run = layout.RUN * _WORD + self.alternatives * self.alternative + self.events * self.event
        return layout.LIST * _WORD + self.runs * run


@dataclass(frozen=True, slots=True)
class Asked:
    """The standing queries that documents are asked: how many, how many lines were refused, the costliest.

    `costly` are ids with their estimates (percolator.library.cost), the highest first; `units` is the sum of
    all estimates.
    """

    queries: str
    documents: str
    number: int
    refused: int
    units: float
    costly: tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class Facts:
    """Everything that is said of a rule. `tables` None: it is no pattern, or is not executed yet."""

    pack: Pack
    rule: Rule
    key: tuple[tuple[str, str], ...]
    bounds: tuple[Bound, ...]
    conditions: tuple[Condition, ...]
    columns: tuple[str, ...]
    registers: tuple[str, ...]
    state: StateBound | None
    tables: Tables | None
    refused: tuple[Diagnostic, ...]
    asked: tuple[Asked, ...] = ()
    cost: Cost | None = None
    windows: WindowFacts | None = None


def facts(pack: Pack, rule: Rule) -> Facts:
    """The facts of a rule of a checked pack."""
    findings = tuple(unsupported(pack))
    refused = tuple(found for found in findings if _stands_in(found, rule))
    tables = compile_tables(pack, rule) if isinstance(rule.body, Match) and not refused else None
    return Facts(
        pack,
        rule,
        tuple(_key(rule)),
        tuple(_bounds(rule)),
        tuple(_conditions(rule, tables)),
        tuple(_computed(_columns(rule, tables))),
        () if tables is None else tuple(_register(tables, register) for register in tables.registers),
        None if tables is None else _state(rule, tables),
        tables,
        refused,
        tuple(_asked(pack, rule)),
        None if tables is None else cost(pack, rule, findings),
        window_facts.window_facts(pack, rule, rule.body) if isinstance(rule.body, Over) else None,
    )


def _asked(pack: Pack, rule: Rule) -> Iterator[Asked]:
    for hits in hit_streams(pack):
        if hits.stream.name not in rule.streams or not hits.queries.path:
            continue
        from cep.standing.compiled import compiled

        one = compiled(hits)
        cost, costly = one.kept.costs(_COSTLY)
        refused = len(one.report.refused)
        yield Asked(hits.queries.name, hits.documents.name, len(one.kept), refused, cost, costly)


def _stands_in(found: Diagnostic, rule: Rule) -> bool:
    place, whole = found.span, rule.span
    return place is not None and place.file is whole.file and whole.start <= place.start < whole.end


def _key(rule: Rule) -> Iterator[tuple[str, str]]:
    """For every stream the fields of its key."""
    for stream in rule.streams:
        if rule.by is None:
            yield stream, ""
        else:
            yield stream, ", ".join(".".join(path) for path in rule.by.of(stream))


def _bounds(rule: Rule) -> Iterator[Bound]:
    body = rule.body
    match body:
        case On():
            yield Bound("window", "none: every event is decided alone, and nothing is kept")
        case Over():
            yield Bound("window", window(body.window))
            yield from (Bound(*one) for one in window_facts.bounds(body, rule))
        case Match():
            within = "unbounded" if body.within is None else f"less than {duration(body.within)}"
            yield Bound("within", f"{within} from the first event to the last")
            for part in walk(body.pattern):
                gap = getattr(part, "gap", None)
                if gap is not None and isinstance(part, Step | Group | Either | AnyOrder):
                    name = part.name if isinstance(part, Step) else "a group"
                    yield Bound("gap", f"{name}: less than {duration(gap)} after the event before")
                if isinstance(part, Absent) and part.duration is not None:
                    yield Bound("for", f"{duration(part.duration)} without {guarded(part.guard)}")
            default = "" if body.own_limit else " (the default)"
            yield Bound(
                "limit", f"{body.limit:,} runs of a key{default}; beyond it the oldest is dropped and counted"
            )
            yield Bound("skip", f"{body.skip.to}: {skipping(body.skip)}")
        case _:
            assert_never(body)
    if rule.suppress is not None:
        by = ", ".join(rule.suppress.names) or "the key"
        yield Bound("suppress", f"{duration(rule.suppress.duration)} by {by}")
    if rule.episode is not None:
        yield Bound("episode", f"alerts of a key less than {duration(rule.episode)} apart belong together")


def _conditions(rule: Rule, tables: Tables | None) -> Iterator[Condition]:
    outside = [] if tables is None else [out.expression for out in tables.outside]
    for of, condition in _tested(rule):
        for part in conjuncts(condition):
            yield Condition(of, written(part.span), _place(part, outside))
    having = _having(rule)
    if having is not None:
        for part in conjuncts(having):
            place = "windows" if isinstance(rule.body, Over) else _place(part, outside, inside=True)
            yield Condition("having", written(part.span), place)


def _having(rule: Rule) -> Expression | None:
    match rule.body:
        case Match(having=having) | Over(having=having):
            return having
        case On():
            return None
        case _:
            assert_never(rule.body)


def _tested(rule: Rule) -> Iterator[tuple[str, Expression | None]]:
    match rule.body:
        case On(stream=stream, condition=condition) | Over(stream=stream, condition=condition):
            yield stream, condition
        case Match(pattern=pattern):
            yield from _tested_of(pattern)
        case _:
            assert_never(rule.body)


def _tested_of(pattern: Sequence) -> Iterator[tuple[str, Expression | None]]:
    for part in walk(pattern):
        if isinstance(part, Step):
            yield part.name, part.condition
            if part.until is not None:
                yield f"until after {part.name}", part.until.condition
        elif isinstance(part, Unless):
            yield f"not {part.guard.stream}", part.guard.condition
        elif isinstance(part, Absent):
            yield f"absent {part.guard.stream}", part.guard.condition
        elif isinstance(part, Group | Either | AnyOrder) and part.until is not None:
            yield "until after a group", part.until.condition


def _place(part: Expression, outside: list[Expression], inside: bool = False) -> str:
    nodes = list(walk(part))
    if any(out.span.start < part.span.end and part.span.start < out.span.end for out in outside):
        return "events"
    if inside or names_earlier(part):
        return "inside"
    return "text" if any(isinstance(node, TextMatch) for node in nodes) else "column"


def _computed(columns: Iterable[Expression]) -> Iterator[str]:
    """The values that are computed by column before the shuffle and travel with the events."""
    yield from dict.fromkeys(written(column.span) for column in columns if not isinstance(column, FieldRef))


def _columns(rule: Rule, tables: Tables | None) -> Iterator[Expression]:
    """The values that are computed of the events of a rule."""
    if tables is not None:
        yield from (column.expression for column in tables.columns)
    if isinstance(rule.body, Over):
        for ref in aggregates_in(rule.body.having, *rule.emit):
            yield from () if ref.argument is None else (ref.argument,)


def _register(tables: Tables, register: Register) -> str:
    """A register in the words of the language."""
    step = tables.automaton.names[register.step]
    if register.column < 0:
        return f"count({step})"
    value = _field(step, tables.columns[register.column].expression)
    match register.what:
        case "value":
            which = "last" if register.from_end else "first"
            return f"{which}({value}, {register.offset})" if register.offset else f"{which}({value})"
        case "known":
            return f"how many {value} are not null"
        case _:
            return f"{register.what}({value})"


def _field(step: str, expression: Expression) -> str:
    path: Path | None = expression.path if isinstance(expression, FieldRef) else None
    return f"{step}.{'.'.join(path)}" if path is not None else f"{written(expression.span)} of {step}"


def _state(rule: Rule, tables: Tables) -> StateBound:
    assert isinstance(rule.body, Match)
    most = _most(rule.body.pattern)
    return StateBound(
        rule.body.limit,
        tables.row_width * _WORD,
        layout.NODE * _WORD,
        most,
        1 if most is not None and all(len(s.transitions) < 2 for s in tables.automaton.states) else None,
    )


def _most(pattern: Sequence) -> int | None:
    """The largest number of events that a match can take."""
    total = 0
    for _, element in pattern.elements:
        most = _most_of(element)
        if most is None:
            return None
        total += most
    return total


def _most_of(element: Element) -> int | None:
    match element:
        case Unless() | Absent():
            return 0
        case Step():
            inner: int | None = 1
        case Group():
            inner = _most(element.body)
        case Either():
            each = [_most(branch) for branch in element.branches]
            inner = None if None in each else max(most for most in each if most is not None)
        case AnyOrder():
            each = [_most(operand) for operand in element.operands]
            inner = None if None in each else sum(most for most in each if most is not None)
    if inner == 0:
        return 0
    if inner is None or element.quantifier.most is None:
        return None
    return inner * element.quantifier.most
