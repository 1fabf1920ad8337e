"""Packs to a plan: key spaces, the conditions and columns of every stream, and what operators make of rules.

A plan is a function of the packs alone, so that the driver and every worker derive the same one from the
same texts. Rules whose partition key is read from the same fields share a key space: an event goes to each
space at most once. Events meet `on` rules in a space of their stream, sharded by event id; patterns without
`by` live in one shard.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from cep.expressions.conditions import Identity, identity
from cep.operators import known
from cep.packs.unsupported import unsupported
from cep.plan.generations import NO_GENERATIONS, Closing, Generations
from cep.plan.plan import HitStream, Needs, Plan, RulePlan, Space, StreamPlan, hit_streams
from cep.plan.regions import together
from rules.diagnostics import DiagnosticsError, has_errors
from rules.typed import Expression, FieldRef, Pack, Path, Rule, Stream, TextMatch, walk
from rules.types import Scalar, Type

LAYOUT = 2
"""Raised when equal packs get other registers, programs or columns: live runs are then evaluated again."""


def compile_plan(
    packs: Sequence[Pack],
    observed: bool = False,
    generations: Generations = NO_GENERATIONS,
    replaced: Sequence[Pack] = (),
) -> Plan:
    """The plan of packs that run together, and of the rules that are closing, whose packs are `replaced`.

    `observed`: every event of a pattern's streams reaches it, with all its fields, for a trace to say so.
    Alerts are the same.

    Raises DiagnosticsError where a rule is not executed yet or two packs declare a stream differently.
    """
    findings = [finding for pack in packs for finding in unsupported(pack)]
    if has_errors(findings):
        raise DiagnosticsError(findings)
    streams: dict[str, Stream] = {}
    for pack in packs:
        for stream in pack.fed:
            streams.setdefault(stream.name, stream)
    drafts: dict[str, _Draft] = {}
    for pack, rule, begun, closing in _rules(packs, generations, replaced):
        operator = known.operator_of(rule)
        planned = operator.plan(pack, rule, observed)
        planned = replace(planned, begun=begun if operator.has_generations else 0, closing=closing)
        space, types = _space_of(rule, planned.needs)
        draft = drafts.setdefault(space, _Draft(space, types, planned.needs.spread))
        draft.add(operator.kind, planned)
    hits = {one.stream.name: one for pack in packs for one in _hits(pack, drafts.values())}
    searches = {
        name: tuple(_searches(space, name) for space in drafts.values()) for name in (*streams, *hits)
    }
    return Plan(
        id=hashlib.sha256(
            "\0".join((str(LAYOUT), *_names(packs), *_named(generations), *["observed"] * observed)).encode()
        ).hexdigest(),
        packs=tuple(packs),
        streams=streams,
        spaces=tuple(draft.space() for draft in drafts.values()),
        searches={name: _distinct(n for part in parts for n in part) for name, parts in searches.items()},
        observed=observed,
        hits=hits,
        generations=generations,
        replaced=tuple(replaced),
    )


def _rules(
    packs: Sequence[Pack], generations: Generations, replaced: Sequence[Pack]
) -> Iterator[tuple[Pack, Rule, int, Closing | None]]:
    """Every rule with its pack, the batch with which it began, and how it is closing."""
    for pack in packs:
        for rule in pack.rules:
            yield pack, rule, generations.begun.get((pack.name, rule.name), 0), None
    earlier = {pack.revision: pack for pack in replaced}
    for one in generations.closing:
        pack = earlier[one.revision]
        yield pack, next(rule for rule in pack.rules if rule.name == one.rule), one.begun, one


def _named(generations: Generations) -> Iterator[str]:
    """The part of a plan's id that tells it apart from that of the packs alone."""
    if generations.begun or generations.closing:
        yield json.dumps(generations.as_dict())


def _hits(pack: Pack, drafts: Iterable[_Draft]) -> Iterator[HitStream]:
    """The streams of hits that the drafted rules of a pack read, each with what is read of it."""
    for hits in hit_streams(pack):
        stream = hits.stream
        drawn = [draft.streams[stream.name] for draft in drafts if stream.name in draft.streams]
        if drawn:
            read = {path[0] for draft in drawn for path in draft.read()}
            if any(_searches_in(draft) for draft in drawn):  # a query may name any text
                read |= {f.name for f in stream.fields if f.type is Scalar.TEXT}
            yield replace(hits, fields=tuple(name for name in hits.fields if name in read))


def _names(packs: Sequence[Pack]) -> Iterator[str]:
    for pack in packs:
        yield from (pack.name, pack.revision)


def _space_of(rule: Rule, needs: Needs) -> tuple[str, tuple[Type, ...]]:
    """The key space of a rule: it depends on the rule alone, so that a deploy moves no other rule's runs."""
    if needs.spread:
        return f"on {' '.join(rule.streams)}", ()
    if rule.by is None:
        return "all", ()
    by = rule.by
    types = " ".join(str(type_) for type_ in by.types)
    if all(tuple(".".join(path) for path in paths) == by.names for _, paths in by.paths):
        return f"by {' '.join(by.names)} ({types})", by.types
    fields = "; ".join(f"{stream}: {' '.join('.'.join(p) for p in paths)}" for stream, paths in by.paths)
    return f"by {fields} ({types})", by.types


@dataclass(slots=True)
class _Distinct:
    """Expressions without repetition, numbered in order of first use; None is always true."""

    numbers: dict[Identity | None, int] = field(default_factory=dict)
    expressions: list[Expression | None] = field(default_factory=list)

    def number(self, expression: Expression | None) -> int:
        name = None if expression is None else identity(expression)
        if name not in self.numbers:
            self.numbers[name] = len(self.expressions)
            self.expressions.append(expression)
        return self.numbers[name]


@dataclass(slots=True)
class _StreamDraft:
    key: tuple[Path, ...]
    atoms: _Distinct = field(default_factory=_Distinct)
    columns: _Distinct = field(default_factory=_Distinct)
    fields: dict[Path, None] = field(default_factory=dict)

    def read(self) -> Iterator[Path]:
        """The fields that are looked at."""
        yield from (*self.key, *self.fields)
        for expression in (*self.atoms.expressions, *self.columns.expressions):
            if expression is not None:
                yield from (n.path for n in walk(expression) if isinstance(n, FieldRef | TextMatch))

    def plan(self, stream: str) -> StreamPlan:
        columns = tuple(c for c in self.columns.expressions if c is not None)
        atoms = tuple(self.atoms.expressions)
        return StreamPlan(stream, self.key, atoms, columns, tuple(self.fields), together(atoms))


@dataclass(slots=True)
class _Draft:
    id: str
    types: tuple[Type, ...]
    spread: bool
    streams: dict[str, _StreamDraft] = field(default_factory=dict)
    rules: list[RulePlan] = field(default_factory=list)
    groups: dict[str, list[RulePlan]] = field(default_factory=dict)

    def add(self, kind: str, planned: RulePlan) -> None:
        """Make room for a rule."""
        rule, needs = planned.rule, planned.needs
        for name in rule.streams:
            key = () if self.spread or rule.by is None else rule.by.of(name)
            self.streams.setdefault(name, _StreamDraft(key))
        places = tuple(
            {name: self.streams[name].atoms.number(condition) for name, condition in of.items()}
            for of in needs.conditions
        )
        columns = tuple(
            {name: self.streams[name].columns.number(column) for name, column in of.items()}
            for of in needs.columns
        )
        for name, paths in needs.fields.items():
            self.streams[name].fields.update(dict.fromkeys(paths))
        placed = planned.placed(places, columns)
        self.rules.append(placed)
        self.groups.setdefault(kind, []).append(placed)

    def space(self) -> Space:
        """The space, complete."""
        streams = tuple(draft.plan(name) for name, draft in self.streams.items())
        slots = {rule.identity: (rule.places, rule.columns) for rule in self.rules}
        groups = tuple(
            operator.group(self.groups[operator.kind], streams)
            for operator in known.OPERATORS
            if operator.kind in self.groups
        )
        return Space(self.id, self.types, streams, tuple(self.rules), slots, groups, self.spread)


def _searches(draft: _Draft, stream: str) -> tuple[TextMatch, ...]:
    return _searches_in(draft.streams[stream]) if stream in draft.streams else ()


def _searches_in(own: _StreamDraft) -> tuple[TextMatch, ...]:
    expressions = [e for e in (*own.atoms.expressions, *own.columns.expressions) if e is not None]
    return tuple(n for e in expressions for n in walk(e) if isinstance(n, TextMatch))


def _distinct(searches: Iterable[TextMatch]) -> tuple[TextMatch, ...]:
    return tuple({identity(search): search for search in searches}.values())
