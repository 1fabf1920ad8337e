"""Counts of a replay in this process (events, alerts, rejected records, losses), as text and as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from cep.decode import DeadLetter
from cep.losses import OverLimit, over_limit
from cep.matching.kernel import MOST_WAYS
from rules.nouns import counted
from rules.typed import Pack, Rule

_TOLD = 5
"""Rejected events of which the reason is told."""


@dataclass(slots=True)
class Report:
    """The counts. `events` are those that could be read, `first` the first of the rejected records.

    `over_limit` are the packs and rules that dropped runs, in their order; `ways` counts, by rule, the
    alternatives that runs gave up; `overflows` the results that became null, by `rule NAME` or `stream NAME`;
    `undecided` the documents that a query was too costly to decide, by set and id of the query. `bytes` of
    the files were read so far.
    """

    events: int = 0
    alerts: int = 0
    withheld: int = 0
    rejected: int = 0
    first: list[DeadLetter] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    over_limit: list[tuple[str, Rule, OverLimit]] = field(default_factory=list)
    ways: Counter[str] = field(default_factory=Counter)
    overflows: Counter[str] = field(default_factory=Counter)
    undecided: Counter[tuple[str, str]] = field(default_factory=Counter)
    bytes: int = 0

    def passed(self, number: int) -> None:
        """Count bytes of the files as read."""
        self.bytes += number

    def reject(self, letters: Sequence[DeadLetter]) -> None:
        """Count records that are no events, and keep the first ones."""
        self.rejected += len(letters)
        self.first.extend(letters[: max(0, _TOLD - len(self.first))])

    def count(self, packs: Sequence[Pack], counts: Mapping[tuple[str, ...], int]) -> None:
        """Keep what an engine counted: events by outcome over all streams, what rules lost by rule."""
        rules = {(pack.name, rule.name): rule for pack in packs for rule in pack.rules}
        dropped = over_limit(counts)
        self.over_limit = [(name[0], rules[name], dropped[name]) for name in sorted(dropped)]
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

    def progress(self, size: int) -> Callable[[float], str]:
        """Says how far it is, after some seconds, through files of so many bytes."""

        def line(seconds: float) -> str:
            share = f"{min(100, 100 * self.bytes // max(1, size))} % read"
            alerts = counted(self.alerts, "alert")
            return f"{counted(self.events, 'event')}, {share}, {alerts}, {seconds:,.0f} s"

        return line

    def lines(self) -> list[str]:
        """The report as lines of text."""
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
        packs = Counter(rule.name for _, rule, _ in self.over_limit)
        lines = [
            f"rule {rule.name}{f' of pack {pack}' if packs[rule.name] > 1 else ''}: "
            f"{counted(lost.runs, 'run')} dropped {lost.sentence(rule)}"
            for pack, rule, lost in self.over_limit
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
        """The report as a JSON object; `limit` and `ways` add up rules of one name in several packs."""
        limit: Counter[str] = Counter()
        for _, rule, lost in self.over_limit:
            limit[rule.name] += lost.runs
        return {
            "events": self.events,
            "alerts": self.alerts,
            "withheld": self.withheld,
            "rejected": self.rejected,
            **{name: self.counts[name] for name in ("late", "duplicate", *_OTHERS)},
            "limit": dict(limit),
            "over_limit": [{"pack": pack, **lost.as_dict(rule)} for pack, rule, lost in self.over_limit],
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
