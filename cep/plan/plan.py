"""The plan of a job, as values: key spaces, the conditions and columns of every stream, and operators' rules.

`cep.packs.compile` makes a plan of packs; nothing here knows any kind of rule.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Protocol, Self

from alerts.alert import Kind
from cep.plan.generations import NO_GENERATIONS, Closing, Generations
from cep.plan.regions import Together
from rules.typed import Emit, Expression, Pack, Path, Queries, QueryHits, Rule, Stream, TextMatch
from rules.types import Type

RuleName = tuple[str, str]
"""A rule among those of a job, by pack and name: two packs may each have a rule of one name."""
RuleId = tuple[str, str, str]
"""Pack, rule and structure hash: what live state belongs to."""
ByStream = tuple[Mapping[str, int], ...]
"""The places or the columns of a rule: for each, by stream, the bit or the computed column that it is in."""


@dataclass(frozen=True, slots=True)
class StreamPlan:
    """The needs of one space of one stream's events.

    `atoms` are the distinct conditions over the event alone (None: true of every event), in the order of
    their bits, and `together` says how to evaluate them; an event whose bits are all 0 is not wanted.
    `columns` are computed, `fields` travel as they are. `key` are the fields of the partition key.
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
class Needs:
    """The needs of a rule of the events of its streams.

    `conditions` are over an event alone: for each place of the rule, by stream, the condition that puts an
    event there (None: every event of the stream). `columns` are computed from an event, by stream;
    `fields` travel as they are. `spread`: every event is taken alone and nothing is kept, so that the
    rule's events are spread over the shards by their ids, not by key.
    """

    conditions: tuple[Mapping[str, Expression | None], ...]
    columns: tuple[Mapping[str, Expression], ...]
    fields: Mapping[str, tuple[Path, ...]]
    spread: bool = False


@dataclass(frozen=True, slots=True)
class AlertForm:
    """The form of a rule's alerts: their kind, and the names under which they list events, in order.

    `on_timeout` is what a timeout emits.
    """

    kind: Kind
    steps: tuple[str, ...]
    on_timeout: tuple[Emit, ...] = ()


@dataclass(frozen=True, slots=True)
class RulePlan:
    """A rule with its pack, as its operator plans it; operators may have their own kinds of plans.

    `places[p]` gives, by stream, the bit of the rule's p-th condition, and `columns[c]` the computed column
    that its c-th column is in: those of its space, which numbers them (`placed`).
    `begun` tells its generations apart (cep.plan.generations), where they differ in what is kept; `closing`:
    it was replaced, and goes on with what it left open.
    """

    pack: str
    revision: str
    rule: Rule
    needs: Needs = field(repr=False, compare=False)
    alerts: AlertForm
    places: ByStream = ()
    columns: ByStream = ()
    begun: int = 0
    closing: Closing | None = None

    def placed(self, places: ByStream, columns: ByStream) -> Self:
        """The plan in a space that has numbered what the rule needs."""
        return replace(self, places=places, columns=columns)

    @property
    def identity(self) -> RuleId:
        """Pack, name and structure, with its generation: what live state belongs to."""
        of = f"#{self.begun}" if self.begun else ""
        return (self.pack, self.rule.name, f"{self.rule.structure}{of}")

    @property
    def name(self) -> RuleName:
        """Pack and name: what is counted and remembered of the rule goes by it."""
        return (self.pack, self.rule.name)


class OperatorPlan(Protocol):
    """The rules of one kind in a space, with what running them needs and no event changes.

    Operators have classes of their own for it. What is kept names rules by their place in `rules`.
    """

    @property
    def kind(self) -> str:
        """The kind of the operator (cep.operators.operator)."""

    @property
    def rules(self) -> tuple[RulePlan, ...]:
        """The rules, in the order of their numbers."""


@dataclass(frozen=True, slots=True)
class Space:
    """Events of several streams under one partition key.

    `slots` tells how the plan's predicate bits are read: for each rule, by place and by column, the bit and
    the computed column of each stream. `groups` are the rules by kind, in the order of the operators.
    `spread`: events go to shards by their ids, and nothing is kept of them.
    """

    id: str
    types: tuple[Type, ...]
    streams: tuple[StreamPlan, ...]
    rules: tuple[RulePlan, ...]
    slots: Mapping[RuleId, tuple[ByStream, ByStream]] = field(repr=False, compare=False)
    groups: tuple[OperatorPlan, ...] = field(repr=False, compare=False)
    spread: bool = False

    def of(self, stream: str) -> StreamPlan | None:
        """The needs of the space of a stream; None: nothing."""
        return next((s for s in self.streams if s.stream == stream), None)

    @property
    def keeping(self) -> tuple[RuleId, ...]:
        """The rules of which something may be kept, group by group."""
        return () if self.spread else tuple(rule.identity for of in self.groups for rule in of.rules)


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything the engine needs to know. `streams` are those of feeds, in the order of the packs.

    `hits` are the streams of hits that some rule reads, by name, in the order of the packs. `id` is equal for
    plans of equal packs. `searches` are the distinct text conditions of each stream.
    `observed`: every event of a pattern's streams reaches it (compile_plan).
    `replaced` are packs of earlier revisions, of which the rules closing in `generations` go on.
    """

    id: str
    packs: tuple[Pack, ...] = field(repr=False)
    streams: Mapping[str, Stream] = field(repr=False)
    spaces: tuple[Space, ...] = field(repr=False)
    searches: Mapping[str, tuple[TextMatch, ...]] = field(repr=False)
    observed: bool = False
    hits: Mapping[str, HitStream] = field(repr=False, default_factory=dict)
    generations: Generations = NO_GENERATIONS
    replaced: tuple[Pack, ...] = field(repr=False, default=())

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


def hit_streams(pack: Pack) -> Iterator[HitStream]:
    """The streams of hits of a pack, with all their fields."""
    queries = {one.name: one for one in pack.queries}
    for stream in pack.streams:
        if isinstance(stream.origin, QueryHits):
            documents = pack.stream(stream.origin.documents)
            fields = tuple(f.name for f in stream.fields)
            yield HitStream(stream, documents, queries[stream.origin.queries], fields)
