"""The history of runs, in the order in which things happened: for `cep eval --trace` and failing tests.

cep.operators.patterns.runtime.trace_records makes the records. A plan that was compiled to be observed sends
every event of a pattern's streams, with all its fields, so that a record also tells what did not fit.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from cep.batch.selection import EVERYTHING, Narrowed, Selection
from cep.plan.plan import RuleName
from rules.source import Span

Kind = Literal[
    "began", "took", "tried", "prevented", "broken", "expired", "skipped", "dropped", "matched", "forked",
    "timed out", "stopped", "refused", "passed", "gave up", "waiting", "repeated",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class TracedEvent:
    """An event: `time` in nanoseconds since 1970, `values` as an alert would write them, by field."""

    stream: str
    id: str
    time: int
    values: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class TracedWindow:
    """A window when it was judged: its bounds, the ids of its newest events, and the aggregates that the rule
    names, each as it is written with its value as an alert would show it."""

    start: int
    end: int
    events: tuple[str, ...]
    readings: tuple[tuple[str, object], ...]


@dataclass(frozen=True, slots=True)
class Record:
    """One thing that happened to one run, or to an event that might have begun one (`run` None).

    `run` numbers the runs of a rule and key from 1, in order of their beginning; `parent` is the run that
    it forked from. `step` is the step that took or was tried, or None; `place` is where that step, or the
    guard that was tried, that ended the run or whose time passed, stands in the text. `failed` tells which
    part of the step's condition was not true: what it asks of the event `alone`, the part that names
    `earlier` events, or the `absence` that was to come first; or that the event satisfies the `until` of a
    loop that it would begin. `condition` is that part's text, or the guard's, or that of `having`. `bound`
    is what expired; `by` the run whose match skipped this one; `waits` the steps that a waiting run waits
    for, and `until` when it ends. `taken` holds what the run had taken by then, in order, with its step.

    Of a rule over windows there is one for each time that a `window` was judged: it `matched`, and raised an
    alert; it was `refused`, as `having` was not true; or it `repeated` what had been raised or true before.
    `event` is the one that it was judged at, None at its end.
    """

    pack: str
    rule: str
    key: tuple[tuple[str, object], ...]
    kind: Kind
    time: int
    run: int | None = None
    parent: int | None = None
    event: TracedEvent | None = None
    step: str | None = None
    place: Span | None = None
    failed: Literal["alone", "earlier", "absence", "until"] | None = None
    condition: str | None = None
    bound: str | None = None
    by: int | None = None
    waits: tuple[str, ...] = ()
    until: int | None = None
    taken: tuple[tuple[str, TracedEvent], ...] = ()
    window: TracedWindow | None = None


Key = tuple[tuple[str, object], ...]
Identity = tuple[int, int]
"""The two numbers of a run that outlive batches and restarts."""


@dataclass(slots=True)
class Trace:
    """Collects records of the runs selected. Hand one to a Session; read it at any time.

    With `most` it keeps no more records than that, the first by time, if `settle` is called after each batch;
    `left_out` is then the time from which on something was left out, after which there is no use in going on.
    Besides the records it remembers what is told of runs that still live.
    """

    selection: Selection = EVERYTHING
    most: int | None = None
    records: list[Record] = field(default_factory=list)
    left_out: int | None = None
    narrowed: Narrowed = field(init=False)
    shard: int = 0
    _numbers: dict[tuple[RuleName, Key], dict[Identity, int]] = field(default_factory=dict)
    _begun: dict[tuple[RuleName, Key], int] = field(default_factory=dict)
    _waiting: dict[tuple[int, RuleName, Key], list[Record]] = field(default_factory=dict)
    _settled: int = 0

    def __post_init__(self) -> None:
        self.narrowed = Narrowed(self.selection)

    def of(self, rule: str) -> list[Record]:
        """The records of one rule."""
        return [record for record in self.records if record.rule == rule]

    def waiting(self) -> list[Record]:
        """The runs that wait after the last batch, one record each, by rule and time of their beginning.

        None where something was left out: nobody knows what became of them.
        """
        if self.left_out is not None:
            return []
        found = [record for records in self._waiting.values() for record in records]
        return sorted(found, key=lambda one: (one.rule, one.pack, one.time, str(one.key), one.run))

    def settle(self) -> None:
        """Put the records of a batch in order of time, and leave out what is too much."""
        self.records[self._settled :] = sorted(self.records[self._settled :], key=lambda one: one.time)
        if self.most is not None and len(self.records) > self.most:
            self.leave_out(self.records[self.most].time)
            del self.records[self.most :]
        self._settled = len(self.records)

    def leave_out(self, time: int) -> None:
        """Note that something of that time is not told."""
        self.left_out = time if self.left_out is None else min(time, self.left_out)

    def number(self, rule: RuleName, key: Key, identity: Identity) -> int:
        """The number by which people know a run."""
        numbers = self._numbers.setdefault((rule, key), {})
        if identity not in numbers:
            numbers[identity] = self._begun[rule, key] = self._begun.get((rule, key), 0) + 1
        return numbers[identity]

    def known(self, rule: RuleName, key: Key, identity: Identity) -> int | None:
        """The number of a run that is told of."""
        number = self._numbers.get((rule, key), {}).get(identity)
        return number if self.selection.run in (None, number) else None

    def keep(self, rule: RuleName, keys: Iterable[Key], live: Mapping[Key, set[Identity]]) -> None:
        """Forget the runs of a rule under some keys but those that live."""
        for key in keys:
            numbers = self._numbers.pop((rule, key), {})
            if still := {one: number for one, number in numbers.items() if one in live.get(key, ())}:
                self._numbers[rule, key] = still

    def keep_waiting(self, rule: RuleName, keys: Iterable[Key], records: Iterable[Record]) -> None:
        """The runs of a rule that wait under some keys in the shard that is running, and no others there."""
        for key in keys:
            self._waiting.pop((self.shard, rule, key), None)
        for record in records:
            self._waiting.setdefault((self.shard, rule, record.key), []).append(record)
