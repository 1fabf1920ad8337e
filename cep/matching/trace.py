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
from cep.automata.conditions import conjuncts, names_earlier
from cep.automata.plan import Plan, RulePlan
from cep.matching import kernel
from cep.matching.keys import Keys
from cep.matching.taken import EventBook
from rules.source import Span
from rules.typed import Expression, Guard, Stream

Ints = npt.NDArray[np.int64]
Kind = Literal[
    "began", "took", "tried", "prevented", "broken", "expired", "skipped", "dropped", "matched", "forked",
    "timed out", "gave up", "passed", "waiting",
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
    kernel.GAVE_UP: "gave up",
    kernel.PASSED: "passed",
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
    part of the step's condition was not true: what it asks of the event `alone`, or the part that names
    `earlier` events; `condition` is that part's text, or the guard's. `bound` is what expired;
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
    failed: Literal["alone", "earlier"] | None = None
    condition: str | None = None
    bound: str | None = None
    by: int | None = None
    waits: tuple[str, ...] = ()
    until: int | None = None
    taken: tuple[tuple[str, Seen], ...] = ()


_Identity = tuple[str, tuple[tuple[str, object], ...], int, int]
"""Rule, key, and the two numbers of a run that outlive batches and restarts."""


@dataclass(slots=True)
class Trace:
    """Collects records. Hand one to a Session; read `records` and `waiting()` at any time."""

    records: list[Record] = field(default_factory=list)
    _numbers: dict[_Identity, int] = field(default_factory=dict)
    _begun: dict[tuple[str, tuple[tuple[str, object], ...]], int] = field(default_factory=dict)
    _waiting: dict[tuple[int, str], list[Record]] = field(default_factory=dict)
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

    def keep_waiting(self, rule: str, records: list[Record]) -> None:
        """The runs of a rule that wait in the shard that is running."""
        self._waiting[self.shard, rule] = records


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
                taken=tuple((self._step(step), events[number]) for step, number in chain),
            )
            told = self._completed(record, row)
            if told is not None:
                self.trace.records.append(told)

    def tell_waiting(self, lists: Ints, runs: Ints, first: Ints, nodes: Ints) -> None:
        """Note the live runs: compact rows of lists and runs, and the first thread of every run."""
        chains = [_chain(nodes, head) for head in first[:, kernel.T_NODE - 1].tolist()]
        events = self._events(np.zeros(0, np.int64), chains)
        keys = self._keys(lists[:, 0])
        of_run = np.repeat(lists[:, 0], lists[:, 2]).tolist()
        found = []
        for key, run, thread, chain in zip(of_run, runs.tolist(), first.tolist(), chains, strict=True):
            identity = (self.rule.rule.name, keys[key], run[0], 0)
            deadline = thread[kernel.T_DEADLINE - 1]
            found.append(
                Record(
                    rule=self.rule.rule.name,
                    key=keys[key],
                    kind="waiting",
                    time=run[1],
                    run=self.trace.number(identity),
                    waits=self._waits(thread[kernel.T_STATE - 1]),
                    until=None if deadline == kernel.END_OF_TIME else deadline,
                    taken=tuple((self._step(step), events[number]) for step, number in chain),
                )
            )
        self.trace.keep_waiting(self.rule.rule.name, found)

    def _completed(self, record: Record, row: list[int]) -> Record | None:
        """The record with what its kind adds; None where an event of another stream was merely not it."""
        name, key, why = record.rule, record.key, row[kernel.X_WHY]
        if row[kernel.X_START] >= 0:
            record = replace(record, run=self.trace.number((name, key, row[kernel.X_START], 0)))
        match record.kind:
            case "began" | "took" | "broken":
                number = row[kernel.X_STEP]
                return replace(record, step=self._step(number), place=self._place(number))
            case "tried" if why == kernel.WHY_GUARD:
                guard = self._guard()
                if record.event is None or record.event.stream != guard.stream:
                    return None
                return replace(record, condition=guard.span.text, place=guard.span)
            case "tried":
                return self._tried(record, row[kernel.X_STEP], why)
            case "prevented" | "passed":
                guard = self._guard()
                return replace(record, condition=guard.span.text, place=guard.span)
            case "expired" | "timed out":
                return replace(record, bound="within")
            case "skipped":
                return replace(record, by=self.trace.number((name, key, why, 0)))
            case _:
                return record

    def _tried(self, record: Record, number: int, why: int) -> Record | None:
        assert self.rule.tables is not None
        step = self.rule.tables.automaton.steps[number]
        if record.event is None or record.event.stream != step.stream:
            return None
        earlier = why == kernel.WHY_EARLIER
        text = _condition(step.condition, earlier)
        failed: Literal["alone", "earlier"] = "earlier" if earlier else "alone"
        return replace(record, step=step.name, place=step.span, failed=failed, condition=text)

    def _step(self, number: int) -> str:
        assert self.rule.tables is not None
        return self.rule.tables.automaton.steps[number].name

    def _place(self, number: int) -> Span:
        assert self.rule.tables is not None
        return self.rule.tables.automaton.steps[number].span

    def _guard(self) -> Guard:
        assert self.rule.tables is not None
        absent = self.rule.tables.automaton.absent
        assert absent is not None
        return absent.guard

    def _waits(self, state: int) -> tuple[str, ...]:
        assert self.rule.tables is not None
        machine = self.rule.tables.automaton
        if state == kernel.MATCHED:
            return ()
        names = [machine.steps[edge.step].name for edge in machine.states[state].edges]
        if machine.states[state].absent and machine.absent is not None:
            names.append(f"absent {machine.absent.guard.span.text}")
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
    """Step and event number of each event taken, in order."""
    found = []
    while head >= 0:
        found.append((int(nodes[head + kernel.N_STEP]), int(nodes[head + kernel.N_EVENT])))
        head = int(nodes[head + kernel.N_PREVIOUS])
    return found[::-1]


def _read(plan: Plan, book: EventBook, numbers: Ints) -> Iterator[tuple[int, Seen]]:
    from cep.routing.payload import ID

    for stream, table, where, rows in book.sources(numbers):
        declared = plan.streams[stream]
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
