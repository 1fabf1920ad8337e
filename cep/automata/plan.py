"""Packs as the engine runs them: key spaces, the conditions and columns of every stream, and rules' tables.

A plan is a function of the packs alone, so that the driver and every worker derive the same one from the
same texts. Rules whose partition key is read from the same fields share a key space: an event goes to each
space at most once. Events meet `on` rules in a space of their stream, sharded by event id; patterns without
`by` live in one shard.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from cep.automata.conditions import Identity, identity
from cep.automata.program import field_type
from cep.automata.regions import Together, together
from cep.automata.space_tables import Sources, SpaceTables, space_tables
from cep.automata.tables import Tables, compile_tables
from cep.automata.unsupported import unsupported
from rules.diagnostics import DiagnosticsError, has_errors
from rules.typed import (
    Aggregate,
    Expression,
    FieldRef,
    Hits,
    Match,
    On,
    Pack,
    Path,
    Queries,
    Rule,
    StepRef,
    Stream,
    TextMatch,
    walk,
)
from rules.types import Record, Scalar, Type

RuleName = tuple[str, str]
"""A rule among those of a job, by pack and name: two packs may each have a rule of one name."""

LAYOUT = 2
"""Raised when equal packs get other registers, programs or columns: live runs are then worked out anew."""

__all__ = [
    "HitStream",
    "Plan",
    "RuleName",
    "RulePlan",
    "Space",
    "StreamPlan",
    "compile_plan",
    "hit_streams",
    "unsupported",
]


@dataclass(frozen=True, slots=True)
class StreamPlan:
    """What one space needs of one stream's events.

    `atoms` are the distinct conditions over the event alone (None: true of every event), in the order of
    their bits, and `together` says how to judge them; an event whose bits are all 0 is not wanted. `columns`
    are computed, `fields` travel as they are. `key` are the fields of the partition key.
    """

    stream: str
    key: tuple[Path, ...]
    atoms: tuple[Expression | None, ...]
    columns: tuple[Expression, ...]
    fields: tuple[Path, ...]
    together: tuple[Together, ...] = field(repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class HitStream:
    """A stream of hits: documents and the standing queries that are asked of them.

    `fields` are those fields of a hit that some rule looks at, in the order of the stream.
    """

    stream: Stream
    documents: Stream
    queries: Queries
    fields: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RulePlan:
    """A rule with its pack. `tables` None: an `on` rule; `documents` is then the stream whose hits it reads.

    `places[p]` gives, by stream, the bit of the rule's p-th condition, and `columns[c]` the computed column
    that its c-th column is in. The last place is true of every event of the pattern's streams where
    `tables.everything` says so.
    """

    pack: str
    revision: str
    rule: Rule
    tables: Tables | None
    places: tuple[Mapping[str, int], ...]
    columns: tuple[Mapping[str, int], ...]
    documents: str | None = None

    @property
    def identity(self) -> tuple[str, str, str]:
        """Pack, name and structure: what live runs belong to."""
        return (self.pack, self.rule.name, self.rule.structure)

    @property
    def name(self) -> RuleName:
        """Pack and name: what is counted and remembered of the rule goes by it."""
        return (self.pack, self.rule.name)


@dataclass(frozen=True, slots=True)
class Space:
    """Events of several streams under one partition key.

    `judged` tells how the plan's verdicts are read: for each rule, by place and by column, the bit and the
    computed column of each stream. `on` names the stream of a space of `on` rules; `tables` are those of the
    patterns of any other.
    """

    id: str
    types: tuple[Type, ...]
    streams: tuple[StreamPlan, ...]
    rules: tuple[RulePlan, ...]
    judged: Mapping[tuple[str, str, str], tuple[Sources, Sources]] = field(repr=False, compare=False)
    on: str | None = None
    tables: SpaceTables | None = field(default=None, repr=False, compare=False)

    def of(self, stream: str) -> StreamPlan | None:
        """What the space needs of a stream; None: nothing."""
        return next((s for s in self.streams if s.stream == stream), None)


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything the engine needs to know. `streams` are those of feeds, in the order of the packs.

    `hits` are the streams of hits that some rule reads, by name, in the order of the packs. `id` is equal for
    plans of equal packs. `searches` are the distinct text conditions of each stream.
    `observed`: every event of a pattern's streams reaches it (compile_plan).
    """

    id: str
    packs: tuple[Pack, ...] = field(repr=False)
    streams: Mapping[str, Stream] = field(repr=False)
    spaces: tuple[Space, ...] = field(repr=False)
    searches: Mapping[str, tuple[TextMatch, ...]] = field(repr=False)
    observed: bool = False
    hits: Mapping[str, HitStream] = field(repr=False, default_factory=dict)

    @property
    def read(self) -> tuple[str, ...]:
        """The streams that some rule reads, in feed order: those that move the watermark."""
        used = {s.stream for space in self.spaces for s in space.streams}
        used |= {one.documents.name for one in self.hits.values()}
        return tuple(name for name in self.streams if name in used)

    def stream(self, name: str) -> Stream:
        """A stream of a feed or of hits. Raises KeyError."""
        return self.hits[name].stream if name in self.hits else self.streams[name]

    def feed(self, stream: str) -> int:
        """The rank of a stream among events of one instant: hits have the place of their document."""
        return tuple(self.streams).index(self._fed(stream))

    def order(self, stream: str) -> tuple[int, int]:
        """The rank of a stream among events of one place: a document comes before its hits."""
        return self.feed(stream), tuple(self.hits).index(stream) + 1 if stream in self.hits else 0

    def _fed(self, stream: str) -> str:
        return self.hits[stream].documents.name if stream in self.hits else stream

    def rules(self) -> Iterator[RulePlan]:
        """All rules, by space."""
        for space in self.spaces:
            yield from space.rules


def compile_plan(packs: Sequence[Pack], observed: bool = False) -> Plan:
    """The plan of packs that run together.

    `observed`: every event of a pattern's streams reaches it, with all its fields, for a trace to tell of it.
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
    declared = {stream.name: stream for pack in packs for stream in pack.streams} | streams
    for pack in packs:
        for rule in pack.rules:
            space, types, on = _space_of(rule)
            drafts.setdefault(space, _Draft(space, types, on, declared, observed)).add(pack, rule)
    hits = {one.stream.name: one for pack in packs for one in _hits(pack, drafts.values())}
    searches = {
        name: tuple(_searches(space, name) for space in drafts.values()) for name in (*streams, *hits)
    }
    return Plan(
        id=hashlib.sha256(
            "\0".join((str(LAYOUT), *_names(packs), *["observed"] * observed)).encode()
        ).hexdigest(),
        packs=tuple(packs),
        streams=streams,
        spaces=tuple(draft.space() for draft in drafts.values()),
        searches={name: _distinct(n for part in parts for n in part) for name, parts in searches.items()},
        observed=observed,
        hits=hits,
    )


def hit_streams(pack: Pack) -> Iterator[HitStream]:
    """The streams of hits of a pack, with all their fields."""
    queries = {one.name: one for one in pack.queries}
    for stream in pack.streams:
        if isinstance(stream.origin, Hits):
            documents = pack.stream(stream.origin.documents)
            fields = tuple(f.name for f in stream.fields)
            yield HitStream(stream, documents, queries[stream.origin.queries], fields)


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


def _space_of(rule: Rule) -> tuple[str, tuple[Type, ...], str | None]:
    """The key space of a rule: it depends on the rule alone, so that a deploy moves no other rule's runs."""
    if isinstance(rule.body, On):
        return f"on {rule.body.stream}", (), rule.body.stream
    if rule.by is None:
        return "all", (), None
    by = rule.by
    types = " ".join(str(type_) for type_ in by.types)
    if all(tuple(".".join(path) for path in paths) == by.names for _, paths in by.paths):
        return f"by {' '.join(by.names)} ({types})", by.types, None
    fields = "; ".join(f"{stream}: {' '.join('.'.join(p) for p in paths)}" for stream, paths in by.paths)
    return f"by {fields} ({types})", by.types, None


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
    on: str | None
    declared: Mapping[str, Stream]
    observed: bool
    streams: dict[str, _StreamDraft] = field(default_factory=dict)
    rules: list[RulePlan] = field(default_factory=list)

    def add(self, pack: Pack, rule: Rule) -> None:
        """Make room for a rule."""
        if isinstance(rule.body, On):
            self._add_on(pack, rule, rule.body)
        elif isinstance(rule.body, Match):
            self._add_match(pack, rule, rule.body)

    def _stream(self, name: str, key: tuple[Path, ...]) -> _StreamDraft:
        return self.streams.setdefault(name, _StreamDraft(key))

    def _add_on(self, pack: Pack, rule: Rule, body: On) -> None:
        draft = self._stream(body.stream, ())
        bit = draft.atoms.number(body.condition)
        shown = [n.path for item in rule.emit for n in walk(item.value) if isinstance(n, FieldRef)]
        shown += [] if rule.by is None else rule.by.of(body.stream)
        documents = None
        origin = self.declared[body.stream].origin
        if isinstance(origin, Hits):
            documents = origin.documents
            shown.append(("query",))  # the alert's id names it
        draft.fields.update(dict.fromkeys(shown))
        self.rules.append(
            RulePlan(pack.name, pack.revision, rule, None, ({body.stream: bit},), (), documents)
        )

    def _add_match(self, pack: Pack, rule: Rule, body: Match) -> None:
        tables = compile_tables(pack, rule)
        for name in body.streams:
            self._stream(name, () if rule.by is None else rule.by.of(name))
        places: list[Mapping[str, int]] = [
            {p.stream: self.streams[p.stream].atoms.number(p.condition)} for p in tables.places
        ]
        if tables.everything or self.observed:
            places.append({name: self.streams[name].atoms.number(None) for name in body.streams})
        columns = []
        for column in tables.columns:
            of = (column.stream,) if column.stream is not None else body.streams
            columns.append(
                {
                    name: self.streams[name].columns.number(column.expression)
                    for name in of
                    if self._has(name, column)
                }
            )
        for node in _nodes(rule, body):
            if isinstance(node, StepRef | Aggregate) and node.path:
                self.streams[tables.automaton.stream(node.step)].fields[node.path] = None
        for outside in tables.outside:
            for part in walk(outside.expression):
                if isinstance(part, FieldRef) and outside.stream is not None:
                    self.streams[outside.stream].fields[part.path] = None
        if self.observed:
            for name in body.streams:
                leaves = (path for f in self.declared[name].fields for path in _leaves((f.name,), f.type))
                self.streams[name].fields.update(dict.fromkeys(leaves))
        self.rules.append(RulePlan(pack.name, pack.revision, rule, tables, tuple(places), tuple(columns)))

    def _has(self, stream: str, column: object) -> bool:
        """Whether a stream has the fields of a column that is read from every stream of a pattern."""
        for node in walk(column):
            if isinstance(node, FieldRef):
                try:
                    if field_type(self.declared[stream], node.path) != node.type:
                        return False
                except (KeyError, AssertionError):
                    return False
        return True

    def space(self) -> Space:
        """The space, complete."""
        streams = tuple(draft.plan(name) for name, draft in self.streams.items())
        tables = space_tables(self.rules, streams) if self.on is None else None
        judged = {rule.identity: (rule.places, rule.columns) for rule in self.rules}
        return Space(self.id, self.types, streams, tuple(self.rules), judged, self.on, tables)


def _leaves(path: Path, type_: Type) -> Iterator[Path]:
    """The paths of a field's values, those inside a record one by one."""
    if not isinstance(type_, Record):
        yield path
        return
    for name, part in type_.fields:
        yield from _leaves((*path, name), part)


def _nodes(rule: Rule, body: Match) -> Iterator[object]:
    for item in (*rule.emit, *(body.on_timeout or ())):
        yield from walk(item.value)
    yield from walk(body.pattern)
    if body.having is not None:
        yield from walk(body.having)


def _searches(draft: _Draft, stream: str) -> tuple[TextMatch, ...]:
    return _searches_in(draft.streams[stream]) if stream in draft.streams else ()


def _searches_in(own: _StreamDraft) -> tuple[TextMatch, ...]:
    expressions = [e for e in (*own.atoms.expressions, *own.columns.expressions) if e is not None]
    return tuple(n for e in expressions for n in walk(e) if isinstance(n, TextMatch))


def _distinct(searches: Iterable[TextMatch]) -> tuple[TextMatch, ...]:
    return tuple({identity(search): search for search in searches}.values())
