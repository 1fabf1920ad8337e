"""A rule's windows over events in batches, with state carried as shards carry it; and by the reference."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from cep.batch.texts import Texts
from cep.expressions.columns import Columns
from cep.expressions.held import held
from cep.expressions.scalar import evaluate
from cep.operators.windows.compile.readings import aggregates_in
from cep.operators.windows.compile.window_plan import WindowPlan, window_plan
from cep.operators.windows.runtime.advance import advance
from cep.operators.windows.runtime.compact_windows import CompactWindows
from cep.operators.windows.runtime.evaluations import AT_ITS_END, Advanced, ReadWindows, RuleEvents, Watch
from cep.operators.windows.runtime.restoring import texts_in
from cep.operators.windows.runtime.window_rows import WindowRows
from cep.reference.alternatives import Alternative, Event
from cep.reference.runs import Scope
from cep.reference.windows.aggregates import Surroundings, aggregate
from cep.reference.windows.views import Evaluation, evaluations
from cep.state.named_texts import named, renamed
from rules.packs import load_texts
from rules.typed import AtEachEvent, Over, Pack, WindowAggregate
from rules.types import ListOf, Record

SECOND = 10**9
LEAST = -(2**63)
HEADER = """pack p version "1"
stream e { id_: string  at: timestamp  k: string  s: string?  v: long?  w: double?  d: decimal?  b: boolean?
           m: timestamp?  tags: list<string>  id id_  time at }
"""


def pack_of(body: str) -> Pack:
    return load_texts([("p.rules", f"{HEADER}rule r {{ by k  over e {body} }}")]).need()


@dataclass(frozen=True)
class Judgement:
    """An evaluation as both sides tell it: the values of its readings, by number, and its newest events."""

    key: str
    time: int
    start: int
    end: int
    at: int
    values: tuple[object, ...]
    newest: tuple[int, ...]
    raised: bool


def exact(value: object) -> object:
    """A value that is equal to others of the same bits alone."""
    return struct.pack("<d", value) if isinstance(value, float) else value


@dataclass
class Rule:
    """A rule, its plan, and its readings as typed nodes."""

    pack: Pack
    plan: WindowPlan = field(init=False)
    body: Over = field(init=False)
    refs: Mapping[int, WindowAggregate] = field(init=False)

    def __post_init__(self) -> None:
        (rule,) = self.pack.rules
        assert isinstance(rule.body, Over)
        self.body, self.plan = rule.body, window_plan(self.pack, rule, rule.body)
        refs = aggregates_in(rule.body.having, *rule.emit)
        self.refs = {number: ref for ref in refs for number in [self.plan.readings.number(ref)]}


def events_of(rows: Sequence[tuple[int, Mapping[str, object]]]) -> list[Event]:
    """Events with these times and values, in order of time."""
    found = [
        Event("e", str(n), at, {"id_": str(n), "at": at, **values}, n) for n, (at, values) in enumerate(rows)
    ]
    return sorted(found, key=lambda event: (event.time, event.place))


def by_reference(rule: Rule, events: Sequence[Event], begun: int, until: int) -> list[Judgement]:
    """The evaluations up to an instant, key by key."""
    found = []
    for key in sorted({str(event.values["k"]) for event in events}):
        mine = [event for event in events if event.values["k"] == key and event.time <= until]
        was, told = False, set[int]()
        for one in evaluations(rule.body, mine):
            if one.time > until:
                continue
            values = {n: _value(rule, ref, one, begun) for n, ref in rule.refs.items()}
            holds = _holds(rule, values)
            if isinstance(rule.body.window, AtEachEvent):
                raised = holds and not (was and not one.anew)
            else:
                raised = holds and one.name not in told
            was = holds
            told |= {one.name} if raised else set()
            newest = tuple(event.place for event in one.view.events[-100:])
            at = AT_ITS_END if one.at is None else one.at.place
            exact_values = tuple(exact(values[n]) for n in sorted(values))
            found.append(
                Judgement(key, one.time, one.view.start, one.view.end, at, exact_values, newest, raised)
            )
    return found


def _value(rule: Rule, ref: WindowAggregate, one: Evaluation, begun: int) -> object:
    view = one.view if ref.which == "this" else one.earlier(ref)
    if view is None or (ref.which != "this" and view.start < begun):
        return None
    return aggregate(ref, view, rule.body.window, Surroundings("e"))


def _holds(rule: Rule, values: Mapping[int, object]) -> bool:
    table = _table(rule, {f"@{n}": [value] for n, value in values.items()})
    return bool(Columns(table).truth(rule.plan.having).to_pylist()[0])


def _table(rule: Rule, columns: Mapping[str, list[object]]) -> pa.Table:
    types = {f"@{n}": held(ref.type) for n, ref in rule.refs.items()}
    return pa.table({name: pa.array(values, types[name]) for name, values in columns.items()})


@dataclass
class Carried:
    """State between batches, by key as such, with texts by numbers of their own."""

    keys: tuple[str, ...] = ()
    rows: WindowRows = field(default_factory=WindowRows.none)
    texts: tuple[str, ...] = ()

    def renamed(self, rule: Rule, texts: Texts) -> WindowRows:
        """The rows with texts named by their places in a dictionary."""
        rows = self.rows.unshared()
        places = texts.numbers(pa.array(self.texts, pa.string()))
        cells = list(texts_in([rule.plan], rows))
        renamed(cells, np.arange(len(self.texts)), places)
        return rows

    @classmethod
    def of(cls, rule: Rule, keys: Sequence[str], rows: WindowRows, texts: Texts) -> Carried:
        """What shards keep: written and read again, with the texts that are named, the keys in order."""
        arrays: list[Any] = []

        def store(array: Any) -> int:
            arrays.append(array.copy())
            return len(arrays) - 1

        rows = WindowRows.read(rows.written(store), lambda place: arrays[place])
        cells = list(texts_in([rule.plan], rows))
        used = named(cells)
        renamed(cells, used, np.arange(len(used)))
        kept = texts.values.take(pa.array(used)).to_pylist() if len(used) else []
        order = np.unique(kept).tolist()
        places = np.array([order.index(text) for text in kept], np.int64)
        renamed(list(texts_in([rule.plan], rows)), np.arange(len(used)), places)
        names = sorted({keys[n] for n in rows.keys.tolist()})
        numbers = np.array([names.index(key) if key in names else -1 for key in keys], np.int64)
        return cls(tuple(names), rows.renumbered(numbers), tuple(order))

    def same(self) -> tuple[object, ...]:
        """What is equal where the same is kept."""
        parts = (self.rows.heads, self.rows.words, self.rows.numbers)
        return self.keys, self.texts, *(part.tolist() for part in parts)


@dataclass
class Run:
    """A rule over batches."""

    rule: Rule
    begun: int
    compiled: bool
    since: int = LEAST
    closing: int | None = None
    state: Carried = field(default_factory=Carried)
    found: list[Judgement] = field(default_factory=list)
    lost: dict[str, int] = field(default_factory=dict)
    approximate: list[tuple[str, int, int]] = field(default_factory=list)
    """Key, time and reading of what was estimated."""

    def batch(self, events: Sequence[Event], watermark: int) -> None:
        """Advance over the events up to a watermark, which come in order of time."""
        due = self.state.rows.due(len(self.state.keys))
        woken = {key for key, time in zip(self.state.keys, due.tolist(), strict=True) if time <= watermark}
        keys = sorted({str(event.values["k"]) for event in events} | woken)
        texts = Texts.empty()
        texts.numbers(pa.array(["another", "zz", "a"]))
        rows = self.state.renamed(self.rule, texts)
        seen = np.array([n for n, key in enumerate(self.state.keys) if key in keys], np.int64)
        as_now = np.array([keys.index(self.state.keys[n]) for n in seen.tolist()], np.int64)
        kept = CompactWindows.of(rows, len(self.state.keys), WindowRows).cut(seen, as_now)
        watch = Watch(self.begun, self.since, self.closing, watermark)
        plan = self.rule.plan
        advanced = advance(plan, kept, self._taken(events, keys), watch, texts, self.compiled)
        truth = Columns(advanced.read(sorted(self.rule.refs)).table).truth(plan.having)
        settled = advanced.settled(np.array(truth.fill_null(False).to_pylist(), bool))
        self._tell(advanced, settled.raised, keys)
        for number, count in settled.dropped.items():
            self.lost[keys[number]] = self.lost.get(keys[number], 0) + count
        others = np.array([n for n, key in enumerate(self.state.keys) if key not in keys], np.int64)
        names = sorted({*keys, *self.state.keys})
        rest = rows.indexed(len(self.state.keys)).cut(
            others, np.array([names.index(self.state.keys[n]) for n in others.tolist()], np.int64)
        )
        numbers = np.array([names.index(key) for key in keys], np.int64)
        together = rest.joined([settled.kept.renumbered(numbers)])
        self.state = Carried.of(self.rule, names, together, texts)

    def _taken(self, events: Sequence[Event], keys: Sequence[str]) -> RuleEvents:
        mine = sorted(events, key=lambda event: keys.index(str(event.values["k"])))
        columns = []
        for argument in self.rule.plan.readings.arguments:
            if isinstance(argument.type, ListOf | Record):
                columns.append(None)
                continue
            scopes = (Scope(Alternative(), event, [event], None, None, {}) for event in mine)
            columns.append(pa.array([evaluate(argument, scope) for scope in scopes], held(argument.type)))
        return RuleEvents(
            np.array([keys.index(str(event.values["k"])) for event in mine], np.int64),
            np.array([event.time for event in mine], np.int64),
            np.array([event.place for event in mine], np.int64),
            tuple(columns),
        )

    def _tell(self, advanced: Advanced, raised: Any, keys: Sequence[str]) -> None:
        of, read = advanced.evaluations(), advanced.read(sorted(self.rule.refs))
        self._compare_some(advanced, read)
        places, newest = advanced.newest(np.arange(len(of.keys)))
        columns = []
        for number in sorted(self.rule.refs):
            ref = self.rule.refs[number]
            if isinstance(ref.type, ListOf | Record):
                columns.append([_tags_of(n) for n in advanced.event_of(number).tolist()])
            else:
                column = read.table.column(f"@{number}")
                assert column.type == held(ref.type)
                columns.append(column.to_pylist())
        for number, mask in read.approximate.items():
            told = zip(of.keys[mask].tolist(), of.times[mask].tolist(), strict=True)
            self.approximate += [(keys[key], time, number) for key, time in told]
        rows = zip(
            of.keys.tolist(), of.times.tolist(), of.starts.tolist(), of.ends.tolist(), of.at.tolist(),
            range(len(of.keys)), raised.tolist(), strict=True,
        )  # fmt: skip
        for key, time, start, end, at, row, is_raised in rows:
            values = tuple(exact(column[row]) for column in columns)
            events = tuple(newest[places[row] : places[row + 1]].tolist())
            self.found.append(Judgement(keys[key], time, start, end, at, values, events, is_raised))

    def _compare_some(self, advanced: Advanced, whole: ReadWindows) -> None:
        """Some evaluations alone, in any order, read as all of them do."""
        rows = np.arange(len(whole.table))[::-2] if self.rule.refs else np.arange(0)
        some = advanced.read(sorted(self.rule.refs), rows)
        assert some.table.equals(whole.table.take(pa.array(rows)))
        for number in whole.approximate.keys() | some.approximate.keys():
            none = np.zeros(len(advanced.keys()), bool)
            mine = some.approximate.get(number, none[rows])
            assert (mine == whole.approximate.get(number, none)[rows]).all()

    def told(self) -> list[Judgement]:
        """All of it, key by key."""
        return sorted(self.found, key=lambda one: one.key)


def _tags_of(number: int) -> object:
    """The field `tags` of the event with a number, as tests make it."""
    return None if number < 0 else (f"tag {number}",)
