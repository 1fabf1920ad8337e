"""The cost of a rule beside the others of its pack, counted: what it looks at, evaluates and keeps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

from cep.operators.patterns.compile.pattern_plan import PatternPlan
from cep.operators.patterns.compile.space_tables import SpaceTables
from cep.operators.patterns.compile.strict_groups import StrictGroup
from cep.operators.patterns.kernel import layout, strict_layout
from cep.operators.patterns.kernel import tables as kernel_tables
from cep.packs.compile import compile_plan
from cep.plan.plan import RulePlan, Space
from rules.diagnostics import Diagnostic
from rules.typed import Pack, Rule

_WORD = 8


@dataclass(frozen=True, slots=True)
class Cost:
    """Counts for a rule in its pack.

    `every_event`: it looks at every event of its streams, not only at those that fit a step by what they are
    alone. It asks `predicates` of an event by column, of which other rules ask `shared`, too, so that these
    are evaluated once. Its runs are kept as sets of `together` rules (itself one of them; 0: run by run), in
    `bytes` a key for all of them, or a run with one event. Of conditions over earlier events an event costs
    `operations` at most: the rule's share of them where rules are together, otherwise for each run that
    waits.
    """

    every_event: bool
    predicates: int
    shared: int
    together: int
    bytes: int
    operations: float


def cost(pack: Pack, rule: Rule, refused: tuple[Diagnostic, ...]) -> Cost | None:
    """The cost of a rule of a checked pack, beside its rules that run; None where it does not run, or keeps
    nothing."""
    places = [found.span for found in refused if found.span is not None]
    runs = tuple(
        one
        for one in pack.rules
        if not any(
            place.file is one.span.file and one.span.start <= place.start < one.span.end for place in places
        )
    )
    if len(places) < len(refused) or (len(runs) == len(pack.rules)) == bool(refused):
        return None
    for space in compile_plan((replace(pack, rules=runs),)).spaces:
        for group in space.groups:
            for number, plan in enumerate(group.rules):
                if plan.rule.name == rule.name and isinstance(group, SpaceTables):
                    return _of_pattern(space, group, number)
    return None


def _of_pattern(space: Space, tables: SpaceTables, number: int) -> Cost:
    plan = tables.rules[number]
    asked = Counter(bit for one in space.rules for bit in set(_predicates(one)))
    mine = set(_predicates(plan))
    every_event = plan.tables.everything
    found = Cost(
        every_event=every_event,
        predicates=len(mine),
        shared=sum(asked[bit] > 1 for bit in mine),
        together=0,
        bytes=(layout.KEPT_LIST + layout.KEPT_RUN + plan.tables.row_width + layout.NODE) * _WORD,
        operations=float(max(_lengths(plan))),
    )
    for group in tables.strict:
        if number in group.rules:
            width = group.depth * (strict_layout.ENTRY_HEAD + len(group.columns) + group.words)
            return replace(
                found,
                together=len(group.rules),
                bytes=(strict_layout.PACKED + width) * _WORD,
                operations=_shared_operations(plan, group, group.rules.tolist().index(number)),
            )
    return found


def _predicates(plan: RulePlan) -> Iterator[tuple[str, int]]:
    """The predicates of a rule that are asked of every event by column."""
    for conditions, bits in zip(plan.needs.conditions, plan.places, strict=True):
        for stream, condition in conditions.items():
            if condition is not None:
                yield stream, bits[stream]


def _lengths(plan: PatternPlan) -> Iterator[int]:
    """By state the operations of all conditions that an event may be asked there."""
    array = plan.tables.array
    for state in range(len(plan.tables.automaton.states)):
        at = int(array[kernel_tables.H_STATES]) + state * kernel_tables.STATE
        first = int(array[at + kernel_tables.S_TRANSITION])
        count = int(array[at + kernel_tables.S_TRANSITIONS])
        rows = array[first : first + count * kernel_tables.TRANSITION].reshape(-1, kernel_tables.TRANSITION)
        total = 0
        for row in rows:
            total += max(int(row[kernel_tables.F_LENGTH]), 0)
            for place, number in (
                (kernel_tables.F_UNTIL, kernel_tables.F_UNTILS),
                (kernel_tables.F_WATCH, kernel_tables.F_WATCHES),
            ):
                begin, guards = int(row[place]), int(row[number])
                watched = array[begin : begin + guards * kernel_tables.WATCH].reshape(-1, kernel_tables.WATCH)
                total += int(watched[:, kernel_tables.W_LENGTH].sum())
        yield total


def _shared_operations(plan: PatternPlan, group: StrictGroup, place: int) -> float:
    """The operations of a rule's conditions for an event, those of a ladder divided among its rules."""
    arrays, total = group.arrays, 0.0
    steps = group.depth + 1
    word, bit = place // layout.BITS, 1 << place % layout.BITS
    for step in range(len(plan.tables.automaton.states) - 1):
        length = int(arrays.programs[2 * (place * steps + step) + 1])
        if not length or int(arrays.alone[step * group.words + word]) & bit:
            total += length
            continue
        for first, count in (
            arrays.ladders[int(arrays.ladders_of[step]) : int(arrays.ladders_of[step + 1])]
            .reshape(-1, strict_layout.LADDER)
            .tolist()
        ):
            size = strict_layout.RUNG + group.words
            last = first + (count - 1) * size + strict_layout.RUNG
            standing = arrays.rungs[last : last + group.words].tolist()
            if standing[word] & bit:
                # Both ends, and what halves the rest.
                asked = 1 if count == 1 else 2 + max(0, count - 2).bit_length()
                total += asked * length / sum(part.bit_count() for part in standing)
    return total
