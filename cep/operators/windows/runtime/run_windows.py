"""The windows of one key space over one shard's events: from arrivals and state to decisions and state."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from cep.batch.arrivals import Arrivals
from cep.batch.clock import Clock
from cep.batch.decisions import Decisions
from cep.events import MIN_TIME
from cep.hashing.rows import order_of, rising
from cep.operators.operator import BatchContext
from cep.operators.windows.compile.window_plan import WindowPlan
from cep.operators.windows.runtime import over_limit, trace_records
from cep.operators.windows.runtime.advance import advance
from cep.operators.windows.runtime.deciding import Deciding
from cep.operators.windows.runtime.evaluations import RuleEvents, Watch
from cep.operators.windows.runtime.rule_events import Gathering
from cep.operators.windows.runtime.window_rows import DUE, WindowRows
from cep.state.keyed_rows import RULE, Ints

AT_ONCE = 1 << 20
"""Evaluations of one rule that are made together, unless they are all of one key: a watermark that leaps ends
all open windows in one batch."""


def run_windows(
    rules: Sequence[WindowPlan], kept: WindowRows, events: Arrivals, context: BatchContext
) -> tuple[list[Decisions], WindowRows]:
    """Run every rule of a space over events up to the watermark, key by key in order of time."""
    gathering = Gathering(events, context)
    found, left = [], []
    for number, (rule, before) in enumerate(zip(rules, _by_rule(kept, len(rules)), strict=True)):
        decisions, after = _run(rule, before, gathering)
        found += decisions
        after.heads[:, RULE] = number
        left.append(after)
    return found, WindowRows.none().joined(left)


def _run(rule: WindowPlan, kept: WindowRows, gathering: Gathering) -> tuple[list[Decisions], WindowRows]:
    came, context = gathering.of(rule), gathering.context
    watermark = context.clock.watermark_after
    if not len(came.keys) and not np.any(kept.heads[:, DUE] <= watermark):
        return [], kept
    found: list[Decisions] = []
    dropped: dict[int, int] = {}
    left, waiting, watch = [], [(kept, came)], _watch(rule, context.clock)
    while waiting:
        advanced = advance(rule, *waiting[-1], watch, context.texts, context.compiled)
        parts = _separated(*waiting.pop(), -(-advanced.count // AT_ONCE))
        if len(parts) > 1:
            waiting += reversed(parts)
            continue
        deciding = Deciding(rule, advanced, context)
        holds = deciding.holds()
        settled = advanced.settled(holds)
        if context.trace is not None:
            trace_records.write(deciding, settled.raised, holds)
        dropped.update(settled.dropped)
        found += deciding.decisions(settled.raised)
        left.append(settled.kept)
    over_limit.count(rule, dropped, context)
    return found, left[0] if len(left) == 1 else WindowRows.none().joined(left)


def _separated(kept: WindowRows, came: RuleEvents, parts: int) -> list[tuple[WindowRows, RuleEvents]]:
    """Windows and events of some keys in so many parts, each of keys that follow one another; in as many
    as there are keys, if these are fewer."""
    if parts < 2:
        return [(kept, came)]
    keys = rising(np.concatenate((kept.keys, came.keys)), runs=True)
    firsts = keys[np.unique(np.arange(parts) * len(keys) // parts)][1:]
    of_events = [0, *np.searchsorted(came.keys, firsts).tolist(), len(came.keys)]
    return [
        (rows, came.part(first, end))
        for rows, (first, end) in zip(_cut(kept, kept.keys, firsts), pairwise(of_events), strict=True)
    ]


def _cut(rows: WindowRows, by: Ints, firsts: Ints) -> Iterator[WindowRows]:
    """Parts of rows: those before the first of some values of a column that rises, from it on up to the next,
    and so on."""
    words, named = rows.places()
    for first, last in pairwise([0, *np.searchsorted(by, firsts).tolist(), len(by)]):
        yield WindowRows(
            rows.heads[first:last],
            rows.words[words[first] : words[last]],
            rows.numbers[named[first] : named[last]],
        )


def _watch(rule: WindowPlan, clock: Clock) -> Watch:
    closing = rule.closing
    if closing is not None:
        begun = max(clock.first_of(rule), closing.since)
        return Watch(begun, closing.since, closing.until, clock.watermark_after)
    since = clock.since.get(rule.name, MIN_TIME)
    return Watch(clock.watching(rule), since, None, clock.watermark_after)


def _by_rule(kept: WindowRows, rules: int) -> Iterator[WindowRows]:
    """Copies of the rows of each rule, as those of rule 0."""
    numbers = kept.heads[:, RULE]
    ordered = kept.chosen(order_of(numbers))
    of_rule = ordered.heads[:, RULE].copy()
    ordered.heads[:, RULE] = 0
    return _cut(ordered, of_rule, np.arange(1, rules))
