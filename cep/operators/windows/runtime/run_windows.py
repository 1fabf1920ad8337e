"""The windows of one key space over one shard's events: from arrivals and state to decisions and state."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from cep.batch.arrivals import Arrivals
from cep.batch.decisions import Decisions
from cep.hashing.rows import order_of, rising
from cep.operators.operator import BatchContext
from cep.operators.windows.compile.window_plan import WindowPlan
from cep.operators.windows.runtime import over_limit, trace_records
from cep.operators.windows.runtime.advance import advance
from cep.operators.windows.runtime.deciding import Deciding
from cep.operators.windows.runtime.evaluations import RuleEvents
from cep.operators.windows.runtime.rule_events import Gathering
from cep.operators.windows.runtime.together import MOST, Together, each, together
from cep.operators.windows.runtime.window_rows import WindowRows
from cep.state.keyed_rows import KEY, RULE, Ints

AT_ONCE = 1 << 20
"""Evaluations that are made together, unless they are all of one key: a watermark that leaps ends
all open windows in one batch."""


def run_windows(
    rules: Sequence[WindowPlan], kept: WindowRows, events: Arrivals, context: BatchContext
) -> tuple[list[Decisions], WindowRows]:
    """Run every rule of a space over events up to the watermark, key by key in order of time."""
    found: list[Decisions] = []
    left, due = [], []
    for one in each(rules, _by_rule(kept, len(rules)), Gathering(events, context)):
        if one.is_due:
            due.append(one)
        else:
            left.append(_named(one.kept, one.number, 0))
    most = MOST if context.trace is None else -1  # a trace tells of each rule what it asked
    for some in together(due, max(context.keys.count, 1), most):
        decisions, after = _run(some, context)
        found += decisions
        left += after
    return found, WindowRows.none().joined(left)


def _run(some: Together, context: BatchContext) -> tuple[list[Decisions], list[WindowRows]]:
    """The decisions of rules, and what is kept of each."""
    found: list[Decisions] = []
    dropped: dict[int, int] = {}
    left, waiting = [], [(some.kept(), some.came())]
    while waiting:
        advanced = advance(some.plan, *waiting[-1], some.watch, context.texts, context.compiled)
        parts = _separated(*waiting.pop(), -(-advanced.count // AT_ONCE))
        if len(parts) > 1:
            waiting += reversed(parts)
            continue
        deciding = Deciding(some, advanced, context)
        holds = deciding.holds()
        settled = advanced.settled(holds)
        if context.trace is not None:
            trace_records.write(deciding, settled.raised, holds)
        dropped.update(settled.dropped)
        found += deciding.decisions(settled.raised)
        left.append(settled.kept)
    for plan, lost in some.apart(dropped) if dropped else ():
        over_limit.count(plan, lost, context)
    whole = left[0] if len(left) == 1 else WindowRows.none().joined(left)
    firsts = np.arange(1, len(some.rules)) * some.keys
    parts_left = _cut(whole, whole.keys, firsts)
    return found, [
        _named(rows, one.number, place * some.keys)
        for place, (one, rows) in enumerate(zip(some.rules, parts_left, strict=True))
    ]


def _named(rows: WindowRows, rule: int, first: int) -> WindowRows:
    """The rows, which nobody else has, as those of a rule; its first key has such a number in them."""
    rows.heads[:, RULE] = rule
    rows.heads[:, KEY] -= first
    return rows


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


def _by_rule(kept: WindowRows, rules: int) -> Iterator[WindowRows]:
    """Copies of the rows of each rule, as those of rule 0."""
    numbers = kept.heads[:, RULE]
    ordered = kept.chosen(order_of(numbers))
    of_rule = ordered.heads[:, RULE].copy()
    ordered.heads[:, RULE] = 0
    return _cut(ordered, of_rule, np.arange(1, rules))
