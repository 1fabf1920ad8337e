"""The windows of one key space over one shard's events: from arrivals and state to decisions and state."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from cep.batch.arrivals import Arrivals
from cep.batch.clock import Clock
from cep.batch.decisions import Decisions
from cep.events import MIN_TIME
from cep.operators.operator import BatchContext
from cep.operators.windows.compile.window_plan import WindowPlan
from cep.operators.windows.runtime import over_limit, trace_records
from cep.operators.windows.runtime.advance import advance
from cep.operators.windows.runtime.deciding import Deciding
from cep.operators.windows.runtime.evaluations import Watch
from cep.operators.windows.runtime.rule_events import Gathering
from cep.operators.windows.runtime.window_rows import DUE, WindowRows
from cep.state.keyed_rows import RULE


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
    advanced = advance(rule, kept, came, _watch(rule, context.clock), context.texts, context.compiled)
    deciding = Deciding(rule, advanced, context)
    holds = deciding.holds()
    settled = advanced.settled(holds)
    if context.trace is not None:
        trace_records.write(deciding, settled.raised, holds)
    over_limit.count(rule, settled.dropped, context)
    return deciding.decisions(settled.raised), settled.kept


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
    ordered = kept.chosen(np.argsort(numbers, kind="stable"))
    words, named = ordered.places()
    bounds = np.searchsorted(ordered.heads[:, RULE], np.arange(rules + 1))
    ordered.heads[:, RULE] = 0
    for first, last in pairwise(bounds.tolist()):
        yield WindowRows(
            ordered.heads[first:last],
            ordered.words[words[first] : words[last]],
            ordered.numbers[named[first] : named[last]],
        )
