"""Counts of a replay in this process (events, alerts, rejected records, losses), as text and as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from cep.counters import (
    AlternativesDropped,
    Count,
    EventOutcome,
    Overflows,
    StreamEvents,
    UndecidedDocuments,
    of_kind,
)
from cep.decode import DeadLetter
from cep.losses import OverLimit, over_limit
from cep.operators.patterns.kernel.merge import MOST_ALTERNATIVES
from cep.plan.plan import RuleName
from rules.nouns import counted
from rules.typed import Pack, Rule

_TOLD = 5
"""Rejected events of which the reason is told."""


@dataclass(slots=True)
class Report:
    """The counts. `events` are those that could be read, `first` the first of the rejected records.

    `over_limit` are packs and rules that passed their `limit`, in order; `alternatives` counts, by pack and
    rule, the alternatives that runs gave up; `overflows` the results of rules that became null, by pack and
    rule, `stream_overflows` those of streams' own conditions; `undecided` the documents that a query was too
    costly to decide, by set and id of the query. `repeated` are names of rules that several packs have.
    `bytes` of the files were read so far.
    """

    events: int = 0
    alerts: int = 0
    withheld: int = 0
    rejected: int = 0
    first: list[DeadLetter] = field(default_factory=list)
    counts: Counter[EventOutcome] = field(default_factory=Counter)
    over_limit: list[tuple[str, Rule, OverLimit]] = field(default_factory=list)
    alternatives: Counter[RuleName] = field(default_factory=Counter)
    overflows: Counter[RuleName] = field(default_factory=Counter)
    stream_overflows: Counter[str] = field(default_factory=Counter)
    undecided: Counter[tuple[str, str]] = field(default_factory=Counter)
    repeated: frozenset[str] = frozenset()
    bytes: int = 0

    def passed(self, number: int) -> None:
        """Count bytes of the files as read."""
        self.bytes += number

    def reject(self, letters: Sequence[DeadLetter]) -> None:
        """Count records that are no events, and keep the first ones."""
        self.rejected += len(letters)
        self.first.extend(letters[: max(0, _TOLD - len(self.first))])

    def count(self, packs: Sequence[Pack], counts: Mapping[Count, int]) -> None:
        """Keep what an engine counted: events by outcome over all streams, what rules lost by rule."""
        rules = {(pack.name, rule.name): rule for pack in packs for rule in pack.rules}
        packs_of = Counter(name for _, name in rules)
        self.repeated = frozenset(name for name, number in packs_of.items() if number > 1)
        dropped = over_limit(counts)
        self.over_limit = [(name[0], rules[name], dropped[name]) for name in sorted(dropped)]
        for events, number in of_kind(counts, StreamEvents):
            self.counts[events.outcome] += number
        for lost, number in of_kind(counts, AlternativesDropped):
            self.alternatives[lost.pack, lost.rule] += number
        for nulls, number in of_kind(counts, Overflows):
            if nulls.kind == "rule":
                self.overflows[nulls.pack, nulls.name] += number
            else:
                self.stream_overflows[nulls.name] += number
        for unknown, number in of_kind(counts, UndecidedDocuments):
            self.undecided[unknown.queries, unknown.query] += number

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
        lines = [
            f"{self._called(pack, rule.name)}: {lost.number(rule)} dropped {lost.sentence(rule)}"
            for pack, rule, lost in self.over_limit
        ]
        lines += [
            f"{self._called(*name)}: {counted(number, 'alternative')} of its runs given up, the least "
            f"preferred of more than {MOST_ALTERNATIVES:,}"
            for name, number in sorted(self.alternatives.items())
        ]
        overflows = [(self._called(*name), number) for name, number in sorted(self.overflows.items())]
        overflows += [(f"stream {name}", number) for name, number in sorted(self.stream_overflows.items())]
        lines += [
            f"{of}: {counted(number, 'result')} became null (overflow or NaN)" for of, number in overflows
        ]
        lines += [
            f"query {query} of {queries} came to its limit on {counted(number, 'document')}: whether it hits "
            "is not known"
            for (queries, query), number in sorted(self.undecided.items())
        ]
        return lines

    def _called(self, pack: str, rule: str) -> str:
        """A rule in a sentence, with its pack where another pack has a rule of that name."""
        return f"rule {rule}{f' of pack {pack}' if rule in self.repeated else ''}"

    def as_dict(self) -> dict[str, object]:
        """The report as a JSON object; what rules lost is by pack and rule."""
        limit = {(pack, rule.name): lost.dropped for pack, rule, lost in self.over_limit}
        return {
            "events": self.events,
            "alerts": self.alerts,
            "withheld": self.withheld,
            "rejected": self.rejected,
            **{name: self.counts[name] for name in ("late", "duplicate", *_OTHERS)},
            "limit": _by_pack(limit),
            "over_limit": [{"pack": pack, **lost.as_dict(rule)} for pack, rule, lost in self.over_limit],
            "alternatives": _by_pack(self.alternatives),
            "overflows": {"rules": _by_pack(self.overflows), "streams": dict(self.stream_overflows)},
            "undecided": {f"{queries} {query}": n for (queries, query), n in self.undecided.items()},
            "reasons": [
                {"stream": one.feed, "file": one.file, "offset": one.offset, "reason": one.reason}
                for one in self.first
            ],
        }


def _by_pack(numbers: Mapping[RuleName, int]) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for (pack, rule), number in sorted(numbers.items()):
        found.setdefault(pack, {})[rule] = number
    return found


_OTHERS: dict[EventOutcome, str] = {
    "id_conflict": "with the id of another event",
    "null_key": "with a null key",
}
