"""The explanation of a rule as a person reads it, and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import assert_never

from cep.explanation.automaton_graph import Graph
from cep.explanation.pattern_tree import tree
from cep.explanation.rule_cost import Cost
from cep.explanation.rule_facts import Asked, Condition, Facts, StateBound
from cep.explanation.wording import bytes_of, duration
from rules.typed import Match, On, Over, Rule

_PLACES = {
    "column": "by column, before the shuffle",
    "text": "by the percolator, before the shuffle",
    "inside": "inside, over what the run keeps",
    "events": "inside, over the whole events that the run took",
    "windows": "inside, over the window",
}


def text(facts: Facts, graph: Graph | None) -> str:
    """The explanation, section by section."""
    rule = facts.rule
    lines = [f"rule {rule.name}, pack {facts.pack.name} {facts.pack.version}, structure {rule.structure}", ""]
    lines += _table([(f"key of {name}", fields or "all events are one key") for name, fields in facts.key])
    lines += _table([(bound.name, bound.text) for bound in facts.bounds])
    if pattern := _pattern(rule):
        lines += ["", "pattern", *(f"  {line}" for line in pattern)]
    if facts.conditions:
        lines += ["", "conditions", *_conditions(facts.conditions)]
    if facts.columns:
        lines += ["", "computed by column, before the shuffle", *(f"  {column}" for column in facts.columns)]
    for asked in facts.asked:
        lines += ["", f"standing queries {asked.queries}, asked of {asked.documents}", *_asked(asked)]
    if graph is not None:
        lines += ["", "automaton", *_automaton(graph)]
    lines += ["", "state", *(f"  {line}" for line in _state(facts))]
    if facts.cost is not None:
        lines += ["", "cost", *(f"  {line}" for line in _cost(facts.cost, rule.streams))]
    for finding in facts.refused:
        lines += ["", f"not run yet: {finding.message} ({finding.code})"]
    return "\n".join(lines) + "\n"


def _pattern(rule: Rule) -> list[str]:
    """The lines of a rule's pattern; of a rule without one, none."""
    match rule.body:
        case Match(pattern=pattern):
            return list(tree(pattern))
        case On() | Over():
            return []
        case _:
            assert_never(rule.body)


def _table(rows: Sequence[tuple[str, str]]) -> list[str]:
    return [f"  {name:<16} {value}" for name, value in rows]


def _conditions(conditions: Sequence[Condition]) -> Iterator[str]:
    for place, words in _PLACES.items():
        here = [condition for condition in conditions if condition.place == place]
        if here:
            yield f"  {words}"
            yield from (f"    {condition.of}: {condition.text}" for condition in here)


def _asked(asked: Asked) -> Iterator[str]:
    number = f"{asked.number:,} {'query' if asked.number == 1 else 'queries'}"
    refused = f", {asked.refused:,} refused" if asked.refused else ""
    yield f"  {number}{refused}; believed to cost {asked.units:,.0f} units together"
    costly = ", ".join(f"{id_} ({units:,.1f})" for id_, units in asked.costly)
    yield f"  the costliest: {costly}"


def _automaton(graph: Graph) -> Iterator[str]:
    """Every state with what it waits for, most preferred first."""
    labels = dict(graph.nodes)
    for name, label in graph.nodes:
        leading = [arrow for arrow in graph.arrows if arrow.source == name]
        if not leading:
            continue
        yield f"  {label}"
        for arrow in leading:
            said = "; ".join(arrow.label.splitlines())
            goal = labels[arrow.target].splitlines()[0]
            yield f"    {said} -> {goal}" if said else f"    -> {goal}"


def _state(facts: Facts) -> Iterator[str]:
    match facts.rule.body:
        case On():
            yield "nothing: an event is decided alone"
        case Match(within=within) if facts.state is not None:
            if facts.registers:
                yield "an alternative of a run keeps"
                yield from (f"  {register}" for register in facts.registers)
            yield from _bound(within, facts.state)
        case Over():
            assert facts.windows is not None
            yield from facts.windows.lines()
        case Match():  # refused: nothing is known of its state
            pass
        case _:
            assert_never(facts.rule.body)


def _bound(within: int | None, state: StateBound) -> Iterator[str]:
    most = (
        f"at most {state.events:,} event{'' if state.events == 1 else 's'}"
        if state.events is not None
        else f"as many events as come within {duration(within)}"
        if within is not None
        else "as many events as come"
    )
    yield f"a match takes {most}"
    yield (
        f"{bytes_of(state.alternative)} an alternative of a run, "
        f"{bytes_of(state.event)} an event that it took"
    )
    if state.bytes is None:
        yield f"a key keeps at most {state.runs:,} runs"
    else:
        yield f"a key keeps at most {state.runs:,} runs: {bytes_of(state.bytes)}"
    yield "with the ids of the events taken, and the fields that alerts show"


def _cost(cost: Cost, streams: Sequence[str]) -> Iterator[str]:
    names = " and ".join(streams)
    if cost.every_event:
        yield f"looks at every event of {names} under its key"
    else:
        yield f"looks at the events of {names} that fit a step by what they are alone"
    shared = f", {cost.shared:,} of them shared with other rules" if cost.shared else ""
    yield f"{cost.predicates:,} predicate{'' if cost.predicates == 1 else 's'} by column{shared}"
    operations = f"{cost.operations:,.1f}".removesuffix(".0")
    if cost.together:
        rules = "1 rule" if cost.together == 1 else f"{cost.together:,} rules"
        yield f"runs are kept as sets of {rules}: {bytes_of(cost.bytes)} a key for all of them"
        yield f"at most {operations} operations an event for conditions over earlier events"
    else:
        yield f"runs are kept one by one: {bytes_of(cost.bytes)} a run that has taken one event"
        yield f"at most {operations} operations an event for each run that waits"


def as_dict(facts: Facts, graph: Graph | None) -> dict[str, object]:
    """The explanation as JSON values."""
    rule, state = facts.rule, facts.state
    return {
        "rule": rule.name,
        "pack": facts.pack.name,
        "version": facts.pack.version,
        "structure": rule.structure,
        "key": dict(facts.key),
        "bounds": [{"name": bound.name, "text": bound.text} for bound in facts.bounds],
        "pattern": _pattern(rule),
        "conditions": [{"of": c.of, "text": c.text, "evaluated": c.place} for c in facts.conditions],
        "columns": list(facts.columns),
        "queries": [
            {
                "queries": one.queries,
                "documents": one.documents,
                "number": one.number,
                "refused": one.refused,
                "units": round(one.units, 3),
                "costly": [{"query": id_, "units": round(units, 3)} for id_, units in one.costly],
            }
            for one in facts.asked
        ],
        "registers": list(facts.registers),
        "states": [] if graph is None else [{"id": name, "label": label} for name, label in graph.nodes],
        "edges": []
        if graph is None
        else [
            {"from": arrow.source, "to": arrow.target, "rank": arrow.rank, "label": arrow.label}
            for arrow in graph.arrows
        ],
        "state": None
        if state is None
        else {
            "runs": state.runs,
            "alternative_bytes": state.alternative,
            "event_bytes": state.event,
            "events": state.events,
            "bytes": state.bytes,
        },
        "windows": None if facts.windows is None else asdict(facts.windows),
        "cost": None if facts.cost is None else asdict(facts.cost),
        "refused": [finding.as_dict() for finding in facts.refused],
    }
