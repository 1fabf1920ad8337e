"""Files through an engine, in blocks: read in step by event time, suppressed and put in order on the way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow.compute as pc

from alerts.raised import Raised
from alerts.suppress import Memory, in_order, withhold
from cep.cli.engines import Engine
from cep.cli.output import counted
from cep.decode import DeadLetter, Decoded, decoder
from cep.events import MAX_TIME, MIN_TIME, TIME
from cep.feeds import read, splits
from cep.losses import OverLimit, over_limit
from cep.matching.kernel import MOST_WAYS
from rules.typed import Match, On, Pack, Rule

_TOLD = 5
"""Rejected events of which the reason is told."""


@dataclass(slots=True)
class Report:
    """What became of the events. `events` counts those that could be read, `first` are rejected ones.

    `over_limit` are rules that dropped runs, in order of name, `ways` those that runs gave up, `overflows`
    results that became null by `rule NAME`, `stream NAME`, `undecided` documents by set and id of the query
    of which nobody knows whether it hits them.
    """

    events: int = 0
    alerts: int = 0
    withheld: int = 0
    rejected: int = 0
    first: list[DeadLetter] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    over_limit: list[tuple[Rule, OverLimit]] = field(default_factory=list)
    ways: Counter[str] = field(default_factory=Counter)
    overflows: Counter[str] = field(default_factory=Counter)
    undecided: Counter[tuple[str, str]] = field(default_factory=Counter)

    def reject(self, letters: Sequence[DeadLetter]) -> None:
        """Count what is no event."""
        self.rejected += len(letters)
        self.first.extend(letters[: max(0, _TOLD - len(self.first))])

    def count(self, pack: Pack, counts: Mapping[tuple[str, ...], int]) -> None:
        """Keep what an engine counted: events by outcome over all streams, what rules lost by rule."""
        rules = {rule.name: rule for rule in pack.rules}
        dropped = over_limit(counts)
        self.over_limit = [(rules[name[1]], dropped[name]) for name in sorted(dropped)]
        for name, number in counts.items():
            match name:
                case ("events", _, outcome):
                    self.counts[outcome] += number
                case ("ways", _, rule, "limit"):
                    self.ways[rule] += number
                case ("overflows", kind, *_, of):
                    self.overflows[f"{kind} {of}"] += number
                case ("undecided", _, queries, query, _):
                    self.undecided[queries, query] += number
                case _:
                    pass  # what only a job tells of

    def lines(self) -> list[str]:
        """For people."""
        rest = [f"{self.rejected:,} rejected", f"{self.counts['late']:,} late"]
        rest.append(counted(self.counts["duplicate"], "duplicate"))
        for outcome, words in _OTHERS.items():
            if self.counts[outcome]:
                rest.append(f"{self.counts[outcome]:,} {words}")
        head = f"{counted(self.events, 'event')}, {counted(self.alerts, 'alert')}, {self.withheld:,} withheld"
        lines = [f"{head}; {', '.join(rest)}"]
        lines += [f"rejected: {letter.file}:{letter.offset}: {letter.reason}" for letter in self.first]
        if self.rejected > len(self.first):
            lines.append(f"rejected: {self.rejected - len(self.first):,} more")
        return lines + self.losses()

    def losses(self) -> list[str]:
        """Sentences about bounds of the engine that were passed, so that an alert may be missing."""
        lines = [
            f"rule {rule.name}: {counted(lost.runs, 'run')} dropped {lost.sentence(rule)}"
            for rule, lost in self.over_limit
        ]
        lines += [
            f"rule {rule}: {counted(number, 'way')} of its runs given up, the least preferred of more than "
            f"{MOST_WAYS:,}"
            for rule, number in sorted(self.ways.items())
        ]
        lines += [
            f"{of}: {counted(number, 'result')} became null (overflow or NaN)"
            for of, number in sorted(self.overflows.items())
        ]
        lines += [
            f"query {query} of {queries} came to its limit on {counted(number, 'document')}: whether it hits "
            "is not known"
            for (queries, query), number in sorted(self.undecided.items())
        ]
        return lines

    def as_dict(self) -> dict[str, object]:
        """For programs."""
        return {
            "events": self.events,
            "alerts": self.alerts,
            "withheld": self.withheld,
            "rejected": self.rejected,
            **{name: self.counts[name] for name in ("late", "duplicate", *_OTHERS)},
            "limit": {rule.name: lost.runs for rule, lost in self.over_limit},
            "over_limit": [lost.as_dict(rule) for rule, lost in self.over_limit],
            "ways": dict(self.ways),
            "overflows": dict(self.overflows),
            "undecided": {f"{queries} {query}": n for (queries, query), n in self.undecided.items()},
            "reasons": [
                {"stream": one.feed, "file": one.file, "offset": one.offset, "reason": one.reason}
                for one in self.first
            ],
        }


_OTHERS = {
    "id_conflict": "with the id of another event",
    "null_key": "with a null key",
}


@dataclass(slots=True)
class _Source:
    """The files of a stream, as one partition; `reached` is its own watermark."""

    stream: str
    blocks: Iterator[Decoded]
    lateness: int
    moves: bool
    reached: int = MIN_TIME
    ended: bool = False

    @property
    def holds(self) -> bool:
        """Whether the watermark waits for it: not if no rule reads it, nor if it turned out to be empty."""
        return self.moves and not (self.ended and self.reached == MIN_TIME)


def replay(
    pack: Pack,
    engine: Engine,
    files: Mapping[str, Sequence[str]],
    watermark: int | None,
    drain: bool,
    report: Report,
) -> Iterator[Raised]:
    """The alerts of a pack over the files of its streams, in the documented order, suppression applied.

    At the end the watermark stands at `watermark`, or with `drain` at the end of time, or where the data
    leave it: at the least of the streams that some rule reads and that have events. `report` is filled.
    """
    used = _read_by_rules(pack)
    sources = [
        _Source(name, _blocks(pack, name, of), pack.stream(name).lateness, name in used)
        for name, of in files.items()
    ]
    out = _InOrder(report)
    now = MIN_TIME
    while (source := _lagging(sources)) is not None:
        decoded = next(source.blocks, None)
        if decoded is None:
            source.ended = True
            continue
        report.reject(decoded.dead)
        table = decoded.events.table
        if not table.num_rows:
            continue
        report.events += table.num_rows
        source.reached = max(source.reached, pc.max(table.column(TIME)).as_py() - source.lateness)
        now = max(now, _reached(sources))
        if watermark is not None:
            now = min(now, watermark)
        yield from out.take(engine.feed([decoded.events], now), now)
    end = MAX_TIME if drain else max(now, _reached(sources)) if watermark is None else watermark
    yield from out.take(engine.feed([], end), end)
    yield from out.take(engine.finish(), end)
    yield from out.rest()
    report.count(pack, engine.counts)


def _lagging(sources: Sequence[_Source]) -> _Source | None:
    """The stream to read on: the one whose watermark is least, so that no other runs ahead of it."""
    return min((s for s in sources if not s.ended), key=lambda s: s.reached, default=None)


def _reached(sources: Sequence[_Source]) -> int:
    return min((s.reached for s in sources if s.holds), default=MIN_TIME)


def _blocks(pack: Pack, stream: str, files: Sequence[str]) -> Iterator[Decoded]:
    using = decoder(pack.stream(stream))
    for file in files:
        for split in splits(file, Path(file).stat().st_size):
            yield from read(split, using)


def _read_by_rules(pack: Pack) -> set[str]:
    used: set[str] = set()
    for rule in pack.rules:
        match rule.body:
            case On(stream):
                used.add(stream)
            case Match(streams=streams):
                used.update(streams)
    return used


@dataclass(slots=True)
class _InOrder:
    """Alerts of several batches in one order; those of the last instant wait for others of that instant."""

    report: Report
    memory: Memory = field(default_factory=Memory)
    waiting: list[Raised] = field(default_factory=list)

    def take(self, raised: Sequence[Raised], watermark: int) -> Iterator[Raised]:
        """What a batch raised; gives all that no later batch can come before."""
        together = in_order([*self.waiting, *raised]) if self.waiting else list(raised)
        self.waiting = [one for one in together if one.time >= watermark]
        yield from self._suppressed([one for one in together if one.time < watermark])

    def rest(self) -> Iterator[Raised]:
        """What waits, at the end."""
        yield from self._suppressed(self.waiting)

    def _suppressed(self, raised: Sequence[Raised]) -> Iterator[Raised]:
        kept, withheld, self.memory = withhold(raised, self.memory)
        self.report.alerts += len(kept)
        self.report.withheld += len(withheld)
        yield from kept
