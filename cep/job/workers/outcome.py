"""The messages of all mappers and shards about a batch, put together."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from alerts.raised import Raised
from alerts.raised_columns import RaisedColumns
from cep.batch.clock import Seen
from cep.counters import Count, Counts, EventOutcome, PoisonEvents, PoisonStage, StreamEvents, of_kind
from cep.decode.letters import DeadLetter
from cep.events import MAX_TIME
from cep.job.shipping.rows import Kind, unpack, unpack_raised
from cep.job.state_folder.dead_letters import LateEvent
from cep.plan.plan import RuleId, RuleName


@dataclass(frozen=True, slots=True)
class Settled:
    """A shard after its part of a batch: the watermark after it, and what the whole batch saw.

    `runs` are the live runs by pack and rule, of those that have some, `kept` the same by generation.
    `seconds` are those of matching. `due` is the event time at which time alone changes something there.
    """

    watermark: int
    seen: Seen
    counts: Mapping[Count, int]
    runs: Mapping[RuleName, int]
    state_bytes: int
    seconds: float
    kept: Mapping[RuleId, int] = field(default_factory=dict)
    due: int = MAX_TIME


@dataclass(frozen=True, slots=True)
class BatchOutcome:
    """A batch after its one action.

    `counts` are those of classification and matching; `runs` the live runs by pack and rule, of those that
    have some, `kept` the same by generation. `seconds` by stage are sums over tasks, which run side by side.
    `due` is the event time at which time alone changes something, MAX_TIME for never.
    """

    watermark: int
    seen: Seen
    raised: RaisedColumns
    dead: tuple[DeadLetter, ...]
    late: tuple[LateEvent, ...]
    counts: Mapping[Count, int]
    runs: Mapping[RuleName, int]
    state_bytes: int
    seconds: Mapping[str, float]
    kept: Mapping[RuleId, int] = field(default_factory=dict)
    due: int = MAX_TIME

    def events(self, outcome: EventOutcome) -> int:
        """The number of events of all streams that this became of."""
        return sum(n for one, n in of_kind(self.counts, StreamEvents) if one.outcome == outcome)

    def poison(self, stage: PoisonStage) -> int:
        """The number of poisonous events of all streams, of one stage."""
        return sum(n for one, n in of_kind(self.counts, PoisonEvents) if one.stage == stage)

    def with_letters(self, letters: Iterable[DeadLetter]) -> BatchOutcome:
        """The outcome with more dead letters, counted."""
        more = list(letters)
        counts = Counts(self.counts)
        counts.update(StreamEvents(letter.feed, "dead") for letter in more)
        return replace(self, dead=_in_order((*self.dead, *more)), counts=counts)


def _in_order(letters: Iterable[DeadLetter]) -> tuple[DeadLetter, ...]:
    return tuple(sorted(letters, key=lambda d: (d.feed, d.file, d.offset)))


class ShardsDisagreeError(Exception):
    """Shards of one batch came to different watermarks, or some did not answer: our mistake."""


def put_together(rows: Iterable[tuple[Kind, bytes]], shards: int) -> BatchOutcome:
    """The outcome of a batch from the rows that were collected. Raises ShardsDisagreeError."""
    raised: list[Sequence[Raised]] = []
    dead: list[DeadLetter] = []
    late: list[LateEvent] = []
    counts = Counts()
    runs: Counter[RuleName] = Counter()
    kept: Counter[RuleId] = Counter()
    settled: list[Settled] = []
    seconds: defaultdict[str, float] = defaultdict(float)
    for kind, payload in rows:
        match kind:
            case Kind.RAISED:
                raised += unpack_raised(payload)
            case Kind.DEAD:
                dead.extend(DeadLetter(*letter) for letter in unpack(payload))
            case Kind.LATE:
                late.extend(LateEvent(*event) for event in unpack(payload))
            case Kind.READ:
                counted, spent = unpack(payload)
                counts.update(counted)
                for stage, passed in spent.items():
                    seconds[stage] += passed
            case Kind.SETTLED:
                shard: Settled = unpack(payload)
                settled.append(shard)
                counts.update(shard.counts)
                runs.update(shard.runs)
                kept.update(shard.kept)
                seconds["match"] += shard.seconds
            case Kind.EVENTS | Kind.SEEN:
                raise ShardsDisagreeError(f"a row of kind {kind} came to the driver")
    return BatchOutcome(
        _agreed(settled, shards),
        Seen().joined(shard.seen for shard in settled),
        RaisedColumns.ordered(raised),
        _in_order(dead),
        tuple(sorted(late, key=lambda e: (e.stream, e.file, e.offset))),
        counts,
        {rule: n for rule, n in runs.items() if n},
        sum(shard.state_bytes for shard in settled),
        seconds,
        dict(kept),
        min((shard.due for shard in settled), default=MAX_TIME),
    )


def _agreed(settled: Sequence[Settled], shards: int) -> int:
    """The watermark to which all shards came."""
    watermarks = {shard.watermark for shard in settled}
    if len(settled) != shards or len(watermarks) != 1:
        raise ShardsDisagreeError(f"{len(settled)} of {shards} shards answered, with watermarks {watermarks}")
    return watermarks.pop()
