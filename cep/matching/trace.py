"""What happened to runs, in the order in which it happened: for `cep eval --trace` and failing tests.

The kernel writes a row of numbers for each thing that it does to a run, in either form and only if asked;
here they become records with the events behind the numbers. A plan that was compiled to be observed sends
every event of a pattern's streams, with all its fields, so that a record also tells what did not fit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from alerts.notation import json_value
from cep.automata.automaton import Automaton
from cep.automata.conditions import conjuncts, names_earlier
from cep.automata.plan import Plan, RulePlan
from cep.matching import kernel
from cep.matching.keys import Keys
from cep.matching.runs import Runs
from cep.matching.taken import EventBook
from rules.source import Span
from rules.typed import Expression, Match, Stream

Ints = npt.NDArray[np.int64]
Kind = Literal[
    "began", "took", "tried", "prevented", "broken", "expired", "skipped", "dropped", "matched", "forked",
    "timed out", "stopped", "refused", "passed", "gave up", "waiting",
]  # fmt: skip
KINDS: Mapping[int, Kind] = {
    kernel.BEGAN: "began",
    kernel.TOOK: "took",
    kernel.TRIED: "tried",
    kernel.PREVENTED: "prevented",
    kernel.BROKEN: "broken",
    kernel.EXPIRED: "expired",
    kernel.SKIPPED: "skipped",
    kernel.DROPPED: "dropped",
    kernel.MATCHES: "matched",
    kernel.FORKED: "forked",
    kernel.TIMED_OUT: "timed out",
    kernel.STOPPED: "stopped",
    kernel.REFUSED: "refused",
    kernel.PASSED: "passed",
    kernel.GAVE_UP: "gave up",
}


@dataclass(frozen=True, slots=True)
class Seen:
    """An event: `time` in nanoseconds since 1970, `values` as an alert would write them, by field."""

    stream: str
    id: str
    time: int
    values: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Record:
    """One thing that happened to one run, or to an event that might have begun one (`run` None).

    `run` numbers the runs of a rule and key from 1, in order of their beginning; `parent` is the run that
    it forked from. `step` is the step that took or was tried, or None; `place` is where that step, or the
    guard that was tried, that ended the run or whose time passed, stands in the text. `failed` tells which
    part of the step's condition was not true: what it asks of the event `alone`, the part that names
    `earlier` events, or the `absence` that was to come first; `condition` is that part's text, or the
    guard's, or that of `having`. `bound` is what expired;
    `by` the run whose match skipped this one; `waits` the steps that a waiting run waits for, and `until`
    when it ends. `taken` holds what the run had taken by then, in order, with its step.
    """

    rule: str
    key: tuple[tuple[str, object], ...]
    kind: Kind
    time: int
    run: int | None = None
    parent: int | None = None
    event: Seen | None = None
    step: str | None = None
    place: Span | None = None
    failed: Literal["alone", "earlier", "absence"] | None = None
    condition: str | None = None
    bound: str | None = None
    by: int | None = None
    waits: tuple[str, ...] = ()
    until: int | None = None
    taken: tuple[tuple[str, Seen], ...] = ()


_Identity = tuple[str, tuple[tuple[str, object], ...], int, int]
"""Rule, key, and the two numbers of a run that outlive batches and restarts."""

_OfKey = tuple[int, str, tuple[tuple[str, object], ...]]
"""Shard, rule and key."""


@dataclass(slots=True)
class Trace:
    """Collects records. Hand one to a Session; read `records` and `waiting()` at any time."""

    records: list[Record] = field(default_factory=list)
    _numbers: dict[_Identity, int] = field(default_factory=dict)
    _begun: dict[tuple[str, tuple[tuple[str, object], ...]], int] = field(default_factory=dict)
    _waiting: dict[_OfKey, list[Record]] = field(default_factory=dict)
    shard: int = 0

    def of(self, rule: str) -> list[Record]:
        """The records of one rule."""
        return [record for record in self.records if record.rule == rule]

    def waiting(self) -> list[Record]:
        """The runs that wait after the last batch, one record each, by rule and time of their beginning."""
        found = [record for records in self._waiting.values() for record in records]
        return sorted(found, key=lambda record: (record.rule, record.time, str(record.key), record.run))

    def number(self, identity: _Identity) -> int:
        """The number by which people know a run."""
        if identity not in self._numbers:
            of = identity[:2]
            self._begun[of] = self._begun.get(of, 0) + 1
            self._numbers[identity] = self._begun[of]
        return self._numbers[identity]

    def keep_waiting(
        self, rule: str, keys: Iterable[tuple[tuple[str, object], ...]], records: Iterable[Record]
    ) -> None:
        """The runs of a rule that wait under some keys in the shard that is running, and no others there."""
        for key in keys:
            self._waiting.pop((self.shard, rule, key), None)
        for record in records:
            self._waiting.setdefault((self.shard, rule, record.key), []).append(record)


@dataclass(slots=True)
class Teller:
    """Turns the kernel's rows about one rule into records."""

    plan: Plan
    rule: RulePlan
    keys: Keys
    book: EventBook
    trace: Trace

    def tell(self, rows: Ints, nodes: Ints) -> None:
        """Add what the rows say; `nodes` are the kernel's."""
        chains = [_chain(nodes, head) for head in rows[:, kernel.X_NODE].tolist()]
        events = self._events(rows[:, kernel.X_EVENT], chains)
        keys = self._keys(rows[:, kernel.X_KEY])
        for row, chain in zip(rows.tolist(), chains, strict=True):
            event = events.get(row[kernel.X_EVENT])
            record = Record(
                rule=self.rule.rule.name,
                key=keys[row[kernel.X_KEY]],
                kind=KINDS[row[kernel.X_KIND]],
                time=row[kernel.X_TIME],
                event=event,
                taken=self._taken(chain, events),
            )
            told = self._completed(record, row)
            if told is not None:
                self.trace.records.append(told)

    def tell_waiting(self, live: Runs) -> None:
        """Note the runs that live on under the keys of the batch."""
        assert self.rule.tables is not None
        ends = np.cumsum(live.runs[:, kernel.KEPT_WAYS])
        ways = [
            _first_way(live.threads, int(end - count))
            for end, count in zip(ends, live.runs[:, kernel.KEPT_WAYS], strict=True)
        ]
        counts = live.lists[:, kernel.KEPT_RUNS]
        # Kept nodes are numbered within their list, the kernel's by where they are.
        firsts = np.repeat(live.firsts()[:-1, 2], counts).tolist()
        nodes = live.nodes.copy()
        linked = nodes[:, kernel.N_PREVIOUS] >= 0
        begins = np.repeat(live.firsts()[:-1, 2], live.lists[:, kernel.KEPT_NODES])
        nodes[linked, kernel.N_PREVIOUS] += begins[linked]
        nodes[linked, kernel.N_PREVIOUS] *= kernel.NODE
        chains = [
            _chain(nodes.ravel(), (first + int(way[kernel.T_NODE])) * kernel.NODE)
            for first, way in zip(firsts, ways, strict=True)
        ]
        events = self._events(np.zeros(0, np.int64), chains)
        keys = self._keys(np.arange(self.keys.count))
        of_run = np.repeat(live.lists[:, kernel.KEPT_KEY], counts).tolist()
        found = []
        for key, run, way, chain in zip(of_run, live.runs.tolist(), ways, chains, strict=True):
            until = int(way[kernel.T_DEADLINE])
            found.append(
                Record(
                    rule=self.rule.rule.name,
                    key=keys[key],
                    kind="waiting",
                    time=run[1],
                    run=self._number(keys[key], run[0], run[2]),
                    waits=self._waits(way),
                    until=None if until == kernel.END_OF_TIME else until,
                    taken=self._taken(chain, events),
                )
            )
        self.trace.keep_waiting(self.rule.rule.name, keys.values(), found)

    def _completed(self, record: Record, row: list[int]) -> Record | None:
        """The record with what its kind adds; None where an event of another stream was merely not it."""
        key, why = record.key, row[kernel.X_WHY]
        if row[kernel.X_START] >= 0:
            record = replace(record, run=self._number(key, row[kernel.X_START], row[kernel.X_FORK]))
        match record.kind:
            case "began" | "took" | "broken":
                step = self._machine.steps[row[kernel.X_STEP]]
                return replace(record, step=step.name, place=step.span)
            case "tried" if why != kernel.WHY_GUARD:
                return self._tried(record, row[kernel.X_STEP], why)
            case "tried" | "prevented" | "stopped" | "passed":
                guard = self._machine.guards[row[kernel.X_STEP]]
                if record.event is not None and record.event.stream != guard.stream:
                    return None
                return replace(record, condition=guard.span.text, place=guard.span)
            case "refused":
                body = self.rule.rule.body
                assert isinstance(body, Match)
                return replace(record, condition=body.having.span.text if body.having is not None else None)
            case "expired" | "timed out":
                return replace(record, bound=self._bound(record))
            case "skipped":
                return replace(record, by=self._number(key, why, row[kernel.X_STEP]))
            case "forked":
                return replace(record, parent=self._number(key, row[kernel.X_START], row[kernel.X_PARENT]))
            case _:
                return record

    def _tried(self, record: Record, number: int, why: int) -> Record | None:
        step = self._machine.steps[number]
        if record.event is None or record.event.stream != step.stream:
            return None
        failed: Literal["alone", "earlier", "absence"] = "absence"
        text = None
        if why != kernel.WHY_LOOK:
            failed = "earlier" if why == kernel.WHY_EARLIER else "alone"
            text = _condition(step.condition, failed == "earlier")
        return replace(record, step=step.name, place=step.span, failed=failed, condition=text)

    def _bound(self, record: Record) -> str:
        """What ended a run at a time: `within`, or a gap."""
        body = self.rule.rule.body
        assert isinstance(body, Match)
        first = record.taken[0][1].time if record.taken else record.time
        return "within" if body.within is not None and record.time == first + body.within else "gap"

    @property
    def _machine(self) -> Automaton:
        assert self.rule.tables is not None
        return self.rule.tables.automaton

    def _number(self, key: tuple[tuple[str, object], ...], start: int, fork: int) -> int:
        return self.trace.number((self.rule.rule.name, key, start, fork))

    def _taken(
        self, chain: list[tuple[int, int]], events: Mapping[int, Seen]
    ) -> tuple[tuple[str, Seen], ...]:
        machine = self._machine
        return tuple((machine.steps[machine.edges[edge]].name, events[number]) for edge, number in chain)

    def _waits(self, way: Ints) -> tuple[str, ...]:
        """The steps that the preferred way waits for."""
        state = int(way[kernel.T_STATE])
        if state == kernel.MATCHED:
            return ()
        names = []
        for number, leaf in enumerate(self._machine.states[state].leaves):
            if not (int(way[kernel.T_MASK + number // kernel.BITS]) >> (number % kernel.BITS)) & 1:
                continue
            if leaf.kind == "option" and leaf.step is not None:
                names.append(self._machine.steps[leaf.step].name)
            elif leaf.kind == "timer":
                guards = [self._machine.guards[watch.guard] for watch in leaf.watches if watch.until]
                names += [f"absent {guard.span.text}" for guard in guards]
        return tuple(dict.fromkeys(names))

    def _keys(self, numbers: Ints) -> dict[int, tuple[tuple[str, object], ...]]:
        by = self.rule.rule.by
        found = self.keys.python(np.unique(numbers).tolist())
        if by is None:
            return dict.fromkeys(found, ())
        return {
            number: tuple(
                (name, json_value(value, type_))
                for name, value, type_ in zip(by.names, values, by.types, strict=True)
            )
            for number, values in found.items()
        }

    def _events(self, numbers: Ints, chains: Iterable[list[tuple[int, int]]]) -> dict[int, Seen]:
        taken = [number for chain in chains for _, number in chain]
        wanted = np.unique(np.concatenate((numbers[numbers >= 0], np.array(taken, np.int64))))
        return dict(_read(self.plan, self.book, wanted)) if len(wanted) else {}


def _chain(nodes: Ints, head: int) -> list[tuple[int, int]]:
    """Edge and event number of each event taken, in order."""
    found = []
    while head >= 0:
        found.append((int(nodes[head + kernel.N_EDGE]), int(nodes[head + kernel.N_EVENT])))
        head = int(nodes[head + kernel.N_PREVIOUS])
    return found[::-1]


def _first_way(threads: Ints, row: int) -> Ints:
    """The most preferred way of compact rows: a fork stands before what is in it."""
    while threads[row, kernel.T_STATE] <= kernel.EACH:
        row += 1
    way: Ints = threads[row]
    return way


def _read(plan: Plan, book: EventBook, numbers: Ints) -> Iterator[tuple[int, Seen]]:
    from cep.routing.payload import ID

    for stream, table, where, rows in book.sources(numbers):
        declared = plan.stream(stream)
        order = [f.name for f in declared.fields]
        names = [name for name in table.column_names if name.startswith("f:")]
        names.sort(key=lambda name: order.index(name[2:].split(".")[0]))
        part = table.select([ID, *names]).take(rows)
        types = [_type_of(declared, name[2:]) for name in names]
        time = "f:" + ".".join(declared.time)
        for place, row in zip(where.tolist(), part.to_pylist(), strict=True):
            values = {
                name[2:]: json_value(row[name], type_) for name, type_ in zip(names, types, strict=True)
            }
            yield int(numbers[place]), Seen(stream, row[ID], row.get(time, 0), values)


def _type_of(stream: Stream, path: str) -> object:
    from cep.automata.program import field_type

    return field_type(stream, tuple(path.split(".")))


def _condition(condition: Expression | None, earlier: bool) -> str | None:
    """The text of the part of a condition that is over the event alone, or that names earlier ones."""
    parts = [part.span.text for part in conjuncts(condition) if names_earlier(part) == earlier]
    return " and ".join(parts) or None
