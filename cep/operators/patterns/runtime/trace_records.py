"""The rows of numbers that the kernel writes for each thing that it does to a run, as records.

It writes them in either form, if a trace is asked for; here they become records with the events that the
numbers mean.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from alerts.notation import json_value
from cep.batch.taken import EventBook
from cep.batch.trace import Identity, Key, Kind, Record, Trace, TracedEvent
from cep.collector import paused
from cep.expressions.conditions import conjuncts, names_earlier
from cep.operators.patterns.compile.automaton import Automaton
from cep.operators.patterns.compile.pattern_plan import PatternPlan
from cep.operators.patterns.kernel import chains as kernel_chains
from cep.operators.patterns.kernel import layout, restore
from cep.operators.patterns.kernel import trace as kernel_trace
from cep.operators.patterns.runtime.chains import in_pool
from cep.operators.patterns.runtime.runs import Runs
from cep.plan.plan import Plan
from cep.state.keys import Keys
from rules.typed import Stream

Ints = npt.NDArray[np.int64]
KINDS: Mapping[int, Kind] = {
    kernel_trace.BEGAN: "began",
    kernel_trace.TOOK: "took",
    kernel_trace.TRIED: "tried",
    kernel_trace.PREVENTED: "prevented",
    kernel_trace.BROKEN: "broken",
    kernel_trace.EXPIRED: "expired",
    kernel_trace.SKIPPED: "skipped",
    kernel_trace.DROPPED: "dropped",
    kernel_trace.MATCHES: "matched",
    kernel_trace.FORKED: "forked",
    kernel_trace.TIMED_OUT: "timed out",
    kernel_trace.STOPPED: "stopped",
    kernel_trace.REFUSED: "refused",
    kernel_trace.PASSED: "passed",
    kernel_trace.GAVE_UP: "gave up",
}


_OF_GUARDS = (kernel_trace.PREVENTED, kernel_trace.STOPPED, kernel_trace.PASSED)


@dataclass(slots=True)
class TraceWriter:
    """Turns the kernel's rows about one rule into records."""

    plan: Plan
    rule: PatternPlan
    keys: Keys
    book: EventBook
    trace: Trace
    _conditions: dict[tuple[int, bool], str | None] = field(default_factory=dict)

    def write(self, rows: Ints, nodes: Ints) -> None:
        """Add what the rows say; `nodes` are the kernel's."""
        rows = self._selected(rows[self._of_own_streams(rows)])
        chains = [_chain(nodes, head) for head in rows[:, kernel_trace.X_NODE].tolist()]
        events = self._events(rows[:, kernel_trace.X_EVENT], chains)
        keys = self._keys(rows[:, kernel_trace.X_KEY])
        with paused():  # every record stays, and none is in a cycle
            for row, chain in zip(rows.tolist(), chains, strict=True):
                event = events.get(row[kernel_trace.X_EVENT])
                record = Record(
                    pack=self.rule.pack,
                    rule=self.rule.rule.name,
                    key=keys[row[kernel_trace.X_KEY]],
                    kind=KINDS[row[kernel_trace.X_KIND]],
                    time=row[kernel_trace.X_TIME],
                    event=event,
                    taken=self._taken(chain, events),
                )
                self.trace.records.append(self._completed(record, row))

    def _of_own_streams(self, rows: Ints) -> npt.NDArray[np.bool_]:
        """A mask of the rows, without those that only say that an event of another stream did not fit."""
        names: dict[str, int] = {}
        numbers, of_row = np.unique(rows[:, kernel_trace.X_EVENT], return_inverse=True)
        streams = np.full(len(numbers), layout.NONE)
        first = int(np.searchsorted(numbers, 0))
        for stream, _, where, _ in self.book.sources(numbers[first:]):
            streams[first + where] = names.setdefault(stream, len(names))
        came = streams[of_row]
        steps, guards = (
            np.array([names.get(one.stream, len(names)) for one in of], np.int64)
            for of in (self._machine.steps, self._machine.guards)
        )
        kind, number = rows[:, kernel_trace.X_KIND], rows[:, kernel_trace.X_STEP]
        tried = kind == kernel_trace.TRIED
        of_guard = np.isin(kind, _OF_GUARDS) | (
            tried & (rows[:, kernel_trace.X_WHY] == kernel_trace.WHY_GUARD)
        )
        tried &= ~of_guard
        kept = np.ones(len(rows), bool)
        kept[tried] = came[tried] == steps[number[tried]]
        kept[of_guard] = (came[of_guard] < 0) | (came[of_guard] == guards[number[of_guard]])
        return kept

    def _selected(self, rows: Ints) -> Ints:
        """The rows of the run selected, or all; of these the first by time, if there is a bound."""
        trace = self.trace
        if trace.selection.run is not None:
            rows = rows[self._of_run(rows, trace.selection.run)]
        if trace.most is None or len(rows) <= trace.most:
            return rows
        order = np.argsort(rows[:, kernel_trace.X_TIME], kind="stable")
        trace.leave_out(int(rows[order[trace.most], kernel_trace.X_TIME]))
        chosen: Ints = rows[np.sort(order[: trace.most])]
        return chosen

    def _of_run(self, rows: Ints, run: int) -> npt.NDArray[np.bool_]:
        """The rows of a run, and of those that forked from it as they did; every run gets its number."""
        keys = self._keys(rows[:, kernel_trace.X_KEY])
        chosen = np.zeros(len(rows), bool)
        for place, row in enumerate(rows.tolist()):
            if row[kernel_trace.X_START] >= 0:
                key, start = keys[row[kernel_trace.X_KEY]], row[kernel_trace.X_START]
                chosen[place] = self._number(key, start, row[kernel_trace.X_FORK]) == run
                if row[kernel_trace.X_KIND] == kernel_trace.FORKED:
                    chosen[place] |= self._number(key, start, row[kernel_trace.X_PARENT]) == run
        return chosen

    def write_waiting(self, live: Runs) -> None:
        """Note the runs that live on under the keys of the batch; of those traced, what they wait for."""
        name, keys = self.rule.name, self._keys(np.arange(self.keys.count))
        counts = live.lists[:, layout.KEPT_RUNS]
        of_run = [keys[key] for key in np.repeat(live.lists[:, layout.KEPT_KEY], counts).tolist()]
        identities = [(run[0], run[2]) for run in live.runs.tolist()]
        living: dict[Key, set[Identity]] = {}
        for key, identity in zip(of_run, identities, strict=True):
            living.setdefault(key, set()).add(identity)
        self.trace.keep(name, keys.values(), living)
        told = [self.trace.known(name, *one) for one in zip(of_run, identities, strict=True)]
        places = [place for place, number in enumerate(told) if number is not None]
        alternatives, chains = self._alternatives(live, places)
        events = self._events(np.zeros(0, np.int64), chains)
        found = []
        for place, alternative, chain in zip(places, alternatives, chains, strict=True):
            until = int(alternative[layout.T_DEADLINE])
            found.append(
                Record(
                    pack=self.rule.pack,
                    rule=self.rule.rule.name,
                    key=of_run[place],
                    kind="waiting",
                    time=int(live.runs[place, 1]),
                    run=told[place],
                    waits=self._waits(alternative),
                    until=None if until == layout.END_OF_TIME else until,
                    taken=self._taken(chain, events),
                )
            )
        self.trace.keep_waiting(name, keys.values(), found)

    def _alternatives(
        self, live: Runs, places: Sequence[int]
    ) -> tuple[list[Ints], list[list[tuple[int, int]]]]:
        """The preferred alternative of some of the runs, and what each has taken."""
        ends, lengths = np.cumsum(live.runs[:, layout.KEPT_RUN_ALTS]), live.runs[:, layout.KEPT_RUN_ALTS]
        alternatives = [
            _most_preferred(live.alternatives, int(ends[place] - lengths[place])) for place in places
        ]
        # Kept nodes are numbered within their list, the kernel's by where they are.
        firsts = np.repeat(live.firsts()[:-1, 2], live.lists[:, layout.KEPT_RUNS])
        begins = np.repeat(live.firsts()[:-1, 2], live.lists[:, layout.KEPT_NODES])
        flat = in_pool(live.nodes, begins)
        return alternatives, [
            _chain(flat, restore.placed(int(alternative[layout.T_NODE]), int(firsts[place]) * layout.NODE))
            for place, alternative in zip(places, alternatives, strict=True)
        ]

    def _completed(self, record: Record, row: list[int]) -> Record:
        """The record with what its kind adds."""
        key, why = record.key, row[kernel_trace.X_WHY]
        if row[kernel_trace.X_START] >= 0:
            record = replace(
                record, run=self._number(key, row[kernel_trace.X_START], row[kernel_trace.X_FORK])
            )
        match record.kind:
            case "began" | "took" | "broken":
                step = self._machine.steps[row[kernel_trace.X_STEP]]
                return replace(record, step=step.name, place=step.span)
            case "tried" if why != kernel_trace.WHY_GUARD:
                return self._tried(record, row[kernel_trace.X_STEP], why)
            case "tried" | "prevented" | "stopped" | "passed":
                guard = self._machine.guards[row[kernel_trace.X_STEP]]
                return replace(record, condition=guard.span.text, place=guard.span)
            case "refused":
                having = self.rule.body.having
                return replace(record, condition=having.span.text if having is not None else None)
            case "expired" | "timed out":
                return replace(record, bound=self._bound(record))
            case "skipped":
                return replace(record, by=self._number(key, why, row[kernel_trace.X_STEP]))
            case "forked":
                return replace(
                    record, parent=self._number(key, row[kernel_trace.X_START], row[kernel_trace.X_PARENT])
                )
            case _:
                return record

    def _tried(self, record: Record, number: int, why: int) -> Record:
        step = self._machine.steps[number]
        failed: Literal["alone", "earlier", "absence", "until"] = "until"
        text = None
        if why == kernel_trace.WHY_LOOK:
            failed = "absence"
        elif why != kernel_trace.WHY_UNTIL:
            failed = "earlier" if why == kernel_trace.WHY_EARLIER else "alone"
            text = self._condition(number, failed == "earlier")
        return replace(record, step=step.name, place=step.span, failed=failed, condition=text)

    def _condition(self, step: int, earlier: bool) -> str | None:
        """The text of the part of a step's condition that names earlier events, or that does not."""
        if (step, earlier) not in self._conditions:
            parts = conjuncts(self._machine.steps[step].condition)
            told = [part.span.text for part in parts if names_earlier(part) == earlier]
            self._conditions[step, earlier] = " and ".join(told) or None
        return self._conditions[step, earlier]

    def _bound(self, record: Record) -> str:
        """The bound that ended a run at the record's time: `within` or `gap`."""
        within = self.rule.body.within
        first = record.taken[0][1].time if record.taken else record.time
        return "within" if within is not None and record.time == first + within else "gap"

    @property
    def _machine(self) -> Automaton:
        return self.rule.tables.automaton

    def _number(self, key: tuple[tuple[str, object], ...], start: int, fork: int) -> int:
        return self.trace.number(self.rule.name, key, (start, fork))

    def _taken(
        self, chain: list[tuple[int, int]], events: Mapping[int, TracedEvent]
    ) -> tuple[tuple[str, TracedEvent], ...]:
        machine = self._machine
        return tuple((machine.steps[machine.edges[edge]].name, events[number]) for edge, number in chain)

    def _waits(self, alternative: Ints) -> tuple[str, ...]:
        """The steps that the preferred alternative waits for."""
        state = int(alternative[layout.T_STATE])
        if state == layout.MATCHED:
            return ()
        names = []
        for number, transition in enumerate(self._machine.states[state].transitions):
            if not (int(alternative[layout.T_MASK + number // layout.BITS]) >> (number % layout.BITS)) & 1:
                continue
            if transition.kind == "option" and transition.step is not None:
                names.append(self._machine.steps[transition.step].name)
            elif transition.kind == "timer":
                guards = [self._machine.guards[watch.guard] for watch in transition.watches if watch.until]
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

    def _events(self, numbers: Ints, chains: Iterable[list[tuple[int, int]]]) -> dict[int, TracedEvent]:
        taken = [number for chain in chains for _, number in chain]
        wanted = np.unique(np.concatenate((numbers[numbers >= 0], np.array(taken, np.int64))))
        return dict(_read(self.plan, self.book, wanted)) if len(wanted) else {}


def _chain(nodes: Ints, head: int) -> list[tuple[int, int]]:
    """Edge and event number of each event taken, in order."""
    found = []
    while head >= 0:
        node = head & layout.LOWER
        found.append((int(nodes[node + layout.N_EDGE]), int(nodes[node + layout.N_EVENT])))
        head = kernel_chains.without_last(nodes, head)
    return found[::-1]


def _most_preferred(alternatives: Ints, row: int) -> Ints:
    """The most preferred alternative of compact rows: a fork stands before what is in it."""
    while alternatives[row, layout.T_STATE] <= layout.EACH:
        row += 1
    alternative: Ints = alternatives[row]
    return alternative


def _read(plan: Plan, book: EventBook, numbers: Ints) -> Iterator[tuple[int, TracedEvent]]:
    from cep.batch.payload import ID

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
            yield int(numbers[place]), TracedEvent(stream, row[ID], row.get(time, 0), values)


def _type_of(stream: Stream, path: str) -> object:
    from cep.operators.patterns.compile.program import field_type

    return field_type(stream, tuple(path.split(".")))
