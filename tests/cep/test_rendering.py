"""Decisions that are rendered by column are those rendered one by one: every value, text, id and rank."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from random_expressions import EXPRESSIONS, STREAM, rows

from alerts.alert import Kind
from alerts.notation import json_value
from alerts.raised import Raised
from alerts.ranks import decided
from cep.batch.decisions import Decisions, EventColumns, KeyValues, objects
from cep.batch.shared_columns import Chosen, SharedColumn
from cep.events import arrow_type
from cep.expressions.held import as_held, value_at
from cep.expressions.scalar import aggregate_of, evaluate
from cep.packs.compile import compile_plan
from cep.plan.plan import RulePlan
from cep.shard import render
from cep.shard.render import MANY, RuleWriter, rendered
from rules.packs import load_texts
from rules.typed import (
    Aggregate,
    FieldRef,
    Match,
    Path,
    PrevRef,
    Rule,
    StepRef,
    TextMatch,
    WindowAggregate,
    walk,
)

KEYS = ("k", "v", "m", "k, s", "x, q", "f")
OF_STEPS = (
    "k", "m", "c.x - first(a.x)", "first(a.s, 1)", "last(a.l)", "last(a.m, 2)", "count(a)", "max(a.w)",
    "list(a.s)", "sum(a.v)", "avg(a.m)", "list(a.t)", "b.r", "b.r.s", "b.y", "c.y.s", "coalesce(b.s, c.k)",
    "b.j", "c.t", "c.u", "c.f", "c.q", "(b.f ? last(a.x) : c.x)", "c.t - first(a.t)", '"100%"', "b.w",
    "list(b.q)", "1.50", "c.at",
)  # fmt: skip
SUPPRESS = ("", "suppress 1 hour", "suppress 1 hour by one")
SUMMARY = ("", 'summary "{one}% of {two}, {one}"', 'summary "100 %s"')
OTHERS = {
    "": "", SUMMARY[1]: 'summary "\\"{one}, {two} é{one}"', SUMMARY[2]: 'summary "99"',
    "suppress 1 hour": "suppress 2 hours", "suppress 1 hour by one": "suppress 1 minute by one",
}  # fmt: skip
"""What another rule may say in the place of these, and be written beside the first."""
IDS = st.sampled_from(("e1", "e2", 'a"b', "\x01", "é\\", "日本 %s"))


@dataclass
class Scope:
    """One decision as expressions see it: the events of each step, and for an `on` rule the event."""

    steps: Mapping[str, list[dict[str, object]]]
    keys: Mapping[str, object]

    def field(self, path: Path) -> object:
        return value_at(self.steps["e"][0], path)

    def key(self, name: str) -> object:
        return self.keys[name]

    def step(self, ref: StepRef) -> object:
        taken = self.steps.get(ref.step, [])
        place = ref.offset if ref.which == "first" else len(taken) - 1 - ref.offset
        return value_at(taken[place], ref.path) if 0 <= place < len(taken) else None

    def window(self, ref: WindowAggregate) -> object:
        raise AssertionError(ref)

    def aggregate(self, ref: Aggregate) -> object:
        taken = self.steps.get(ref.step, [])
        if not ref.path:
            return len(taken)
        return aggregate_of(ref.function, [value_at(one, ref.path) for one in taken], ref.parameter)

    def previous(self, ref: PrevRef) -> object:
        raise AssertionError(ref)

    def text_match(self, ref: TextMatch) -> bool | None:
        raise AssertionError(ref)


EVERY = load_texts([("p.rules", f'pack p version "1"\n{STREAM}\nrule r {{ on e }}')]).need()
TYPES = {f.name: f.type for f in EVERY.streams[0].fields}


def planned(text: str) -> RulePlan | None:
    """The one rule of a pack; None where the front end refuses it."""
    found = all_planned(text)
    return found[0] if found else None


def all_planned(text: str) -> list[RulePlan]:
    """The rules of a pack; none where the front end refuses it."""
    loaded = load_texts([("p.rules", f'pack p version "1"\n{STREAM}\n{text}')])
    return [] if loaded.pack is None else list(compile_plan([loaded.pack]).rules())


@pytest.mark.parametrize("sample", OF_STEPS)
def test_every_sample_is_one_that_the_front_end_takes(sample: str) -> None:
    key = sample if sample in KEYS else "k"
    assert planned(f"rule r {{ by {key}  match a: e+ -> b: e? -> c: e  within 1 hour  emit one = {sample} }}")


def columns(
    plans: list[RulePlan], events: list[dict[str, object]], ids: list[str], cut: int, often: bool
) -> EventColumns:
    """The events in two tables, with the fields that the rules name."""
    paths: set[Path] = set()
    for rule in (plan.rule for plan in plans):
        emits = [*rule.emit, *((rule.body.on_timeout or ()) if isinstance(rule.body, Match) else ())]
        nodes = [node for one in emits for node in walk(one.value)]
        paths |= {n.path for n in nodes if isinstance(n, FieldRef | StepRef | Aggregate) and n.path}
        paths |= set() if rule.by is None else set(rule.by.of("e"))
    table = pa.table({"@id": pa.array(ids, pa.string())})
    for path in sorted(paths):
        values = pa.array([event[path[0]] for event in events], arrow_type(TYPES[path[0]]))
        held = pa.array([value_at(event, path) for event in events]) if path[1:] else as_held(values)
        table = table.append_column("f:" + ".".join(path), held)
    sources = [
        (table.slice(first, end - first), np.arange(first, end), np.arange(end - first))
        for first, end in ((0, cut), (cut, len(events)))
    ]
    return EventColumns(len(events), sources, named=len(events) if often else 0)


def one_by_one(plan: RulePlan, decisions: list[dict[str, Any]], names: list[str]) -> list[Raised]:
    """By definition: every alert by itself."""
    rule = plan.rule
    writer = RuleWriter(plan.pack, plan.revision, rule)
    types = {} if rule.by is None else dict(zip(rule.by.names, rule.by.types, strict=True))
    found = []
    for one in decisions:
        kind: Kind = "event"
        emits = rule.emit
        if isinstance(rule.body, Match):
            kind = "timeout" if one["timeout"] else "match"
            emits = (rule.body.on_timeout or ()) if one["timeout"] else emits
        held = dict(zip(types, one["key"], strict=True))
        scope = Scope({step: [event for _, event in taken] for step, taken in one["steps"].items()}, held)
        emit = {e.name: json_value(evaluate(e.value, scope), e.value.type) for e in emits}
        key = {name: json_value(value, types[name]) for name, value in held.items()}
        events = [(name, [id_ for id_, _ in one["steps"][name]]) for name in names if one["steps"].get(name)]
        found.append(writer.raised(kind, one["time"], key, emit, events, one["order"]))
    return found


FORMS = ("values", "arrow", "chosen", "arrow, shared", "chosen, shared")
"""Forms of keys: Python values, Arrow, chosen out of a column; then texts of the events' columns are made
once, too. In all but the first the decisions of all rules are one table, in those that are shared with a row
for what several rules decided."""


def shared(of_rules: list[list[dict[str, Any]]]) -> tuple[list[dict[str, Any]], list[list[int]]]:
    """The decisions of rules, each once, and by which of them."""
    by: dict[int, list[int]] = {}
    for number, decisions in enumerate(of_rules):
        for one in decisions:
            by.setdefault(id(one), []).append(number)
    once = {id(one): one for decisions in of_rules for one in decisions}
    return list(once.values()), list(by.values())


def keys(rule: Rule, tables: Sequence[list[dict[str, Any]]], form: str) -> list[list[KeyValues]]:
    """The columns of keys of some tables of decisions, of rules with the same `by`."""
    types = () if rule.by is None else rule.by.types
    listed = [list(zip(*[one["key"] for one in decisions], strict=True)) for decisions in tables]
    if form == "values":
        return [list(map(objects, columns)) for columns in listed]
    held = [
        [as_held(pa.array(values, arrow_type(type_))) for values, type_ in zip(columns, types, strict=True)]
        for columns in listed
    ]
    if form.startswith("arrow"):
        return held
    whole = [SharedColumn(pa.concat_arrays(of_each), True) for of_each in zip(*held, strict=True)]
    ends = np.cumsum(list(map(len, tables)))
    return [[Chosen(column, rows) for column in whole] for rows in np.split(np.arange(ends[-1]), ends[:-1])]


Taken = list[tuple[str, dict[str, object]]]


def by_column(
    of_rules: list[tuple[RulePlan, list[dict[str, Any]]]],
    names: list[str],
    cut: int,
    many: int,
    form: str,
) -> list[Raised]:
    """The alerts as the engine writes them, in Arrow where so `many` decisions have one form; as FORMS says.
    The events of all rules are in the same columns."""
    plans = [plan for plan, _ in of_rules]
    tables = [((plan,), decisions, [[0]] * len(decisions)) for plan, decisions in of_rules]
    if form.endswith("shared"):
        tables = [(tuple(plans), *shared([decisions for _, decisions in of_rules]))]
    taken = [
        [
            (names.index(step), id_, event)
            for one in decisions
            for step, events in one["steps"].items()
            for id_, event in events
        ]
        for _, decisions, _ in tables
    ]
    whole: Taken = [(id_, event) for of_table in taken for _, id_, event in of_table]
    events = columns(
        plans, [event for _, event in whole], [id_ for id_, _ in whole], min(cut, len(whole)),
        form.startswith("chosen"),
    )  # fmt: skip
    of_keys = keys(plans[0].rule, [decisions for _, decisions, _ in tables], form)
    found, first = [], 0
    for (rules, decisions, by), mine, key in zip(tables, taken, of_keys, strict=True):
        lengths = [sum(len(events) for events in one["steps"].values()) for one in decisions]
        found.append(
            Decisions(
                rules,
                np.concatenate(by),
                np.cumsum(list(map(len, by))),
                np.array([one["time"] for one in decisions]),
                key,
                pa.array([decided(one["order"]) for one in decisions], pa.binary()),
                np.array([one["timeout"] for one in decisions]),
                np.cumsum(lengths),
                np.array([step for step, _, _ in mine], np.int64),
                np.arange(first, first + len(mine)),
                events,
            )
        )
        first += len(mine)
    found = found if form == "values" else [Decisions.together(found)]
    return [one for part in rendered(found, many=many) for one in part]


@settings(max_examples=examples(60), deadline=None)
@given(st.data())
def test_matches_by_column_are_those_one_by_one(data: st.DataObject) -> None:
    one, two, late = (data.draw(st.sampled_from(OF_STEPS)) for _ in range(3))
    by = data.draw(st.sampled_from(KEYS))
    summary, suppress = data.draw(st.sampled_from(SUMMARY)), data.draw(st.sampled_from(SUPPRESS))

    def other(said: str, choices: tuple[str, ...]) -> str:
        return data.draw(st.just(OTHERS[said]) | st.sampled_from(choices))

    emitted, otherwise = other(summary, SUMMARY), other(suppress, SUPPRESS)
    said = [
        f"emit one = {one}, two = {two}\n{summary}\n{suppress}",
        f"emit one = {one}, two = {two}\nseverity high\n{emitted}\n{otherwise}",
        f"emit one = {two}, two = {one}\n{summary}\n{suppress}",
    ]
    plans = all_planned(
        "\n".join(
            f"rule r{number} {{ by {by}  match a: e+ -> b: e? -> c: e  within 1 hour  {of_rule}\n"
            f"on timeout emit one = {late}, two = count(b) }}"
            for number, of_rule in enumerate(said[: data.draw(st.sampled_from((2, 1, 2, 3)))])
        )
    )
    if not plans:
        return
    names, cut = ["a", "b", "c"], data.draw(st.integers(0, 9))
    of_all = drawn(plans[0], data, least=0)
    of_rules = [(plan, drawn(plan, data) + of_all) for plan in plans]
    expected = sorted(one for plan, decisions in of_rules for one in one_by_one(plan, decisions, names))
    most = data.draw(st.sampled_from((1, 2, 3, render.MOST)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(render, "MOST", most)
        for many, form in product((1, 3, MANY), FORMS):
            assert sorted(by_column(of_rules, names, cut, many, form)) == expected


def drawn(plan: RulePlan, data: st.DataObject, least: int = 1) -> list[dict[str, Any]]:
    """Decisions of a rule of three steps."""
    assert plan.rule.by is not None
    event = st.tuples(IDS, rows())
    decisions = []
    for _ in range(data.draw(st.integers(least, 4))):
        timeout = data.draw(st.booleans())
        steps = {
            "a": data.draw(st.lists(event, min_size=1, max_size=3)),
            "b": data.draw(st.lists(event, max_size=1)),
            "c": [] if timeout else [data.draw(event)],
        }
        of = data.draw(rows())
        key = tuple(value_at(of, path) for path in plan.rule.by.of("e"))
        order = (1, *range(data.draw(st.integers(0, 4))))
        time = data.draw(st.integers(0, 10**18))
        decisions.append({"time": time, "timeout": timeout, "steps": steps, "key": key, "order": order})
    return decisions


@settings(max_examples=examples(60), deadline=None)
@given(st.data())
def test_events_by_column_are_those_one_by_one(data: st.DataObject) -> None:
    one, two = (data.draw(EXPRESSIONS) for _ in range(2))
    by = data.draw(st.sampled_from(("", *[f"by {key}" for key in KEYS])))
    summary = data.draw(st.sampled_from(SUMMARY))
    plan = planned(f"rule r {{ {by}  on e  emit one = {one}, two = {two}\n{summary} }}")
    if plan is None:
        return
    decisions = []
    for _ in range(data.draw(st.integers(1, 4))):
        event = data.draw(rows())
        key = () if plan.rule.by is None else tuple(value_at(event, path) for path in plan.rule.by.of("e"))
        order = (1, data.draw(st.integers(0, 3)))
        steps = {"e": [(data.draw(IDS), event)]}
        decisions.append({"time": 5, "timeout": False, "steps": steps, "key": key, "order": order})
    expected, cut = one_by_one(plan, decisions, ["e"]), data.draw(st.integers(0, 4))
    for many, form in product((1, MANY), FORMS):
        assert by_column([(plan, decisions)], ["e"], cut, many, form) == expected
