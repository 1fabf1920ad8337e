"""One program through both engines: a pack, events in batches, restarts between them, a number of shards."""

from __future__ import annotations

import itertools
import json
import random
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import pytest
import random_values
from event_tables import in_order_of_arrival, row, tables
from hypothesis import reject
from hypothesis import strategies as st
from random_packs import packs
from random_streams import SECOND, Arrival, Pick, in_batches, some_events

from alerts.identity import alert_id
from alerts.notation import json_value
from alerts.raised import Raised
from alerts.stages.order import in_order
from cep.batch.trace import Trace
from cep.counters import AlternativesDropped, Count, Counts
from cep.events import MAX_TIME, MIN_TIME
from cep.inprocess.session import Session
from cep.operators.patterns.compile.space_tables import SpaceTables
from cep.operators.patterns.compile.tables import NEVER_PARKS
from cep.operators.patterns.compile.too_many import OF_AUTOMATA
from cep.operators.patterns.kernel import layout, merge
from cep.operators.patterns.kernel import tables as kernel_tables
from cep.packs.compile import compile_plan
from cep.packs.unsupported import unsupported
from cep.plan.plan import Plan
from cep.reference import Decided, TooManyAlternativesError, decided
from cep.reference.text_conditions import text_predicate
from cep.shard.advance import MatchOptions
from cep.shard.memory import Merging
from cep.shard.render import MANY
from rules.instants import parse_instant
from rules.packs import Loaded, load_texts
from rules.typed import Emit, Match, Pack, Rule
from rules.types import Scalar

LOOSE = Merging(base=0.5, later=1, small=0, anew=2)
"""Segments of any weight go on as they are: small tests see what jobs see."""


NEVER_ASKED = 10**9
"""A bound that nothing comes to."""


@dataclass(frozen=True, slots=True)
class Program:
    """The question to the engines. After the batches numbered in `restarts` all but the snapshot is lost.

    `crowd`: beyond how many runs of a key they are parked; None: as it comes.
    `all_alternatives`: how many alternatives the runs of a key keep.
    """

    text: str
    batches: tuple[tuple[Arrival, ...], ...]
    restarts: frozenset[int] = frozenset()
    shards: int = 1
    drain: bool = True
    compiled: bool = False
    crowd: int | None = None
    all_alternatives: int = merge.ALL_ALTERNATIVES
    merging: Merging = LOOSE

    def __str__(self) -> str:
        lines = [self.text[self.text.index("\nrule") :].strip()]
        for number, batch in enumerate(self.batches):
            lines.append(f"batch {number}" + (" (then a restart)" if number in self.restarts else ""))
            for a in batch:
                shown = json.dumps({**a.values, "at": a.time // SECOND}, default=str)
                lines.append(f"  {a.stream} partition {a.partition} file {a.file} {shown}")
        lateness = self.text[self.text.index("lateness") :].splitlines()[0]
        lines.append(f"{lateness}, shards {self.shards}, drain {self.drain}, compiled {self.compiled}")
        lines.append(f"crowd {self.crowd}, {self.merging}")
        return "\n".join(lines)


@st.composite
def programs(
    draw: st.DrawFn,
    compiled: bool = False,
    texts: st.SearchStrategy[str] | None = None,
    most: int = 12,
    longest: int = 30,
) -> Program:
    """Random programs; of packs like `texts` if given, with mostly so many events, some with the longest."""
    text = draw((packs() if texts is None else texts).filter(accepted))
    nested = random_values.drawn()
    return _program(
        text, lambda of: draw(st.sampled_from(of)), lambda: draw(nested), (most, longest), compiled
    )


def program(text: str, seed: int, most: int = 12, longest: int = 30) -> Program:
    """A program of a pack, as `programs` draws them, by a seed: cheap to make, but it cannot be shrunk."""
    chance = random.Random(seed)
    return _program(text, chance.choice, lambda: random_values.values(chance), (most, longest), False)


def of_its_pack(first: Program, feeds: int) -> Iterator[Program]:
    """A program and others of its pack, with so many feeds in all: those of the others come from seeds.

    A feed costs less than a pack. None is longer than the first, so that they become small with it.
    """
    yield first
    events = sum(map(len, first.batches))
    for number in range(1, feeds):
        other = program(first.text, zlib.crc32(f"{number} {first.text}".encode()), events, events)
        yield replace(other, compiled=first.compiled, crowd=first.crowd)


def _program(
    text: str, pick: Pick, nested: Callable[[], dict[str, Any]], events: tuple[int, int], compiled: bool
) -> Program:
    most, longest = events
    came = in_batches(pick, some_events(pick, nested, pick((most, most, most, longest))))
    return Program(
        text,
        came,
        frozenset(pick(range(len(came))) for _ in range(pick(range(4)))),
        shards=pick((1, 1, 2, 5)),
        drain=pick((True, True, False)),
        compiled=compiled,
        crowd=pick((None, 0, 0, 1, 2)),
        merging=pick((LOOSE, Merging(8, 8, 0, anew=2), Merging(8, 8, 0), Merging())),
    )


@dataclass(frozen=True, slots=True)
class Answer:
    """The alerts in order, each as a JSON object, and the watermark after the last batch."""

    alerts: list[dict[str, Any]]
    watermark: int
    late: int
    counts: Mapping[Count, int] = field(default_factory=dict)


def accepted(text: str) -> bool:
    """True if a pack is taken: of random patterns the front end refuses some, others are too large to run."""
    pack = _loaded(text).pack
    return pack is not None and not any(found.code in OF_AUTOMATA for found in unsupported(pack))


def pack_of(text: str) -> Pack:
    """The checked pack."""
    return _loaded(text).need()


@lru_cache(maxsize=16)
def _loaded(text: str) -> Loaded:
    """Packs never change, and a program asks for its own at every restart."""
    return load_texts([("p.rules", text)])


def plan_of(text: str, crowd: int | None = None, all_alternatives: int = merge.ALL_ALTERNATIVES) -> Plan:
    """A plan as a worker derives it, from the text alone; `crowd` and `all_alternatives` as in Program.

    Where it is given, alternatives are merged from so many in a run on, too, and of so many nodes for one
    edge the alternatives that come to it join the first.
    """
    plan = compile_plan([pack_of(text)])
    for of in patterns_of(plan):
        for of_width in of.classes:
            for rule, of_rule in zip(of_width.rules, of_width.rows, strict=True):
                of_width.tables[of_rule[layout.U_TABLES] + kernel_tables.H_ALL_ALTS] = all_alternatives
                if crowd is None:
                    continue
                of_width.tables[of_rule[layout.U_TABLES] + kernel_tables.H_MERGE] = crowd
                of_width.tables[of_rule[layout.U_TABLES] + kernel_tables.H_BACKBONES] = crowd
                if of.tables(rule).array[kernel_tables.H_PARK] != NEVER_PARKS:
                    of_width.tables[of_rule[layout.U_TABLES] + kernel_tables.H_PARK] = crowd
    return plan


@lru_cache(maxsize=8)
def _plan(text: str, crowd: int | None, all_alternatives: int, life: int) -> Plan:
    """One of two plans of a pack, which many feeds of it share: neither knows of the other."""
    del life
    return plan_of(text, crowd, all_alternatives)


def patterns_of(plan: Plan) -> list[SpaceTables]:
    """The patterns of each key space that has some."""
    return [of for space in plan.spaces for of in space.groups if isinstance(of, SpaceTables)]


def by_engine(program: Program, trace: Trace | None = None, plan: Plan | None = None) -> Answer:
    """The engine that runs. A restart leaves nothing but the snapshot: it goes on with another plan.

    `plan` is the one to begin with; None: one of the pack's two.
    """
    of_pack = (program.text, program.crowd, program.all_alternatives)
    life, plan = 0, _plan(*of_pack, 0) if plan is None else plan
    # The compiled form writes all alerts by column, the other one few of them.
    options = MatchOptions(
        compiled=program.compiled, trace=trace, merging=program.merging, many=1 if program.compiled else MANY
    )
    session = Session(plan, program.shards, options=options)
    raised: list[Raised] = []
    counts = Counts()
    offset = late = 0
    for number, batch in enumerate(program.batches):
        found = session.feed(tables(plan.packs[0], batch, offset))
        assert found == in_order(found), "a batch's alerts are not in the documented order"
        raised += found
        offset += len(batch)
        session.store()
        if number in program.restarts:
            snapshot = session.snapshot()
            late += sum(len(events.table) for events in session.late)
            counts.update(session.counts)
            life = 1 - life
            session = Session(_plan(*of_pack, life), program.shards, options=options)
            session.restore(snapshot)
    watermark = session.watermark
    times = [one.time for one in raised]
    if program.drain:
        raised += session.drain()
    late += sum(len(events.table) for events in session.late)
    counts.update(session.counts)
    assert times == sorted(times), "alerts of a later batch are older than those of an earlier one"
    return Answer([one.alert.as_dict() for one in in_order(raised)], watermark, late, dict(counts))


def gave_up(answer: Answer) -> bool:
    """True if a run had more alternatives than the engine keeps; the reference keeps all."""
    return any(isinstance(name, AlternativesDropped) for name in answer.counts)


def assert_agreement(program: Program, feeds: int = 1) -> None:
    """The engine answers as the reference does, for so many feeds of the program's pack.

    Hypothesis is told to take another program where in each of them a run has too many alternatives for an
    engine.
    """
    compared = 0
    for one in of_its_pack(program, feeds):
        with suppress(TooManyAlternativesError):
            if found := disagreement(one):
                pytest.fail(found, pytrace=False)
            compared += 1
    if not compared:
        reject()


def disagreement(program: Program) -> str:
    """The difference of the engine's answer from the reference's; "" where there is none.

    Raises TooManyAlternativesError where a run has too many alternatives for one of them.
    """
    answer = by_engine(program)
    if gave_up(answer):
        raise TooManyAlternativesError(
            next(one.rule for one in answer.counts if isinstance(one, AlternativesDropped))
        )
    return difference(program, by_reference(program), answer)


def by_reference(program: Program) -> Answer:
    """The reference, told which events came too late by the rule of docs/language.md, "Time".

    Raises TooManyAlternativesError.
    """
    pack = pack_of(program.text)
    came = taken_in_time(pack, program)
    until = MAX_TIME if program.drain else came.marks[-1]
    found = decided(pack, (row(arrival) for _, arrival in came.in_time), until, text_predicate(pack))
    alerts = []
    for _, ties in itertools.groupby(found, key=lambda one: (one.time, one.rule, one.key, one.rank)):
        # What one event decided about the same events goes by id.
        alerts += sorted((as_alert(pack, one) for one in ties), key=lambda alert: str(alert["id"]))
    return Answer(alerts, came.marks[-1], came.late)


@dataclass(frozen=True, slots=True)
class InTime:
    """The events that are not late, each with the number of its batch, in order of arrival; how many are. The
    watermark before each batch, and at last after all."""

    in_time: list[tuple[int, Arrival]]
    late: int
    marks: list[int]


def taken_in_time(pack: Pack, program: Program) -> InTime:
    """The events of a program by the rule of docs/language.md, "Time"."""
    read = {name for rule in pack.rules for name in _streams(rule)}
    in_time: list[tuple[int, Arrival]] = []
    late, marks = 0, [MIN_TIME]
    greatest: dict[tuple[str, str], int] = {}
    placed = in_order_of_arrival(pack, program.batches)
    for number in range(len(program.batches)):
        batch = [arrival for batch, arrival in placed if batch == number]
        in_time += [(number, arrival) for arrival in batch if arrival.time >= marks[-1]]
        late += sum(arrival.time < marks[-1] for arrival in batch)
        for a in batch:
            greatest[a.stream, a.partition] = max(a.time, greatest.get((a.stream, a.partition), a.time))
        behind = [MIN_TIME]
        if read <= {stream for stream, _ in greatest}:
            behind = [
                t - pack.stream(stream).lateness for (stream, _), t in greatest.items() if stream in read
            ]
        marks.append(max(marks[-1], min(behind)))
    return InTime(in_time, late, marks)


def _streams(rule: Rule) -> Sequence[str]:
    body = rule.body
    return body.streams if hasattr(body, "streams") else (body.stream,)


def _emitted(rule: Rule, kind: str) -> Sequence[Emit]:
    if kind == "timeout" and isinstance(rule.body, Match):
        return rule.body.on_timeout or ()
    return rule.emit


def difference(program: Program, expected: Answer, got: Answer) -> str:
    """The difference of the engine's answer from the reference's, with the program; "" for none."""
    names = ("id", "rule", "kind", "key", "time", "emit", "events", "approximate")
    alerts = [{n: parse_instant(a["time"]) if n == "time" else a[n] for n in names} for a in got.alerts]
    if alerts != expected.alerts:
        answers = ["reference:", *map(json.dumps, expected.alerts), "engine:", *map(json.dumps, alerts)]
        return "\n".join([f"{program}", *answers])
    for name, ours, theirs in (
        ("watermark", expected.watermark, got.watermark), ("late", expected.late, got.late)
    ):  # fmt: skip
        if ours != theirs:
            return f"{program}\n{name}: reference {ours}, engine {theirs}"
    return ""


def as_alert(pack: Pack, one: Decided) -> dict[str, Any]:
    """The alert of a decision as it must be."""
    rule = next(rule for rule in pack.rules if rule.name == one.rule)
    types = rule.by.types if rule.by else ()
    key = {name: json_value(value, type_) for (name, value), type_ in zip(one.key, types, strict=True)}
    emitted = {item.name: item.value.type for item in _emitted(rule, one.kind)}
    steps = [(step, list(ids)) for step, ids in one.events]
    named = (pack.name, rule.name, rule.structure, one.kind, list(key.values()))
    id_ = alert_id(*named, steps, one.query)
    if one.window is not None:
        start, end, event = one.window
        bounds = [str(json_value(time, Scalar.TIMESTAMP)) for time in (start, end)]
        id_ = alert_id(*named, [], None, bounds if event is None else [*bounds, event])
    return {
        "id": id_,
        "rule": rule.name,
        "kind": one.kind,
        "key": key,
        "time": one.time,
        "emit": {name: json_value(value, emitted[name]) for name, value in one.emit},
        "events": dict(steps),
        "approximate": list(one.approximate),
    }
