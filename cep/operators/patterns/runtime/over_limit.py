"""The key of which a rule dropped most runs over its `limit`: it is reported with their number.

The kernel counts by rule alone. So a rule that dropped some is run once more, on single keys: those of which
most runs were kept or may have begun. What drops nothing pays nothing, nor does a rule of one key. A key that
is named did lose runs.
"""

from __future__ import annotations

import json
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from alerts.notation import json_value
from cep.operators.patterns.compile.pattern_plan import PatternPlan
from cep.operators.patterns.compile.space_tables import SpaceTables
from cep.operators.patterns.kernel import layout
from cep.operators.patterns.runtime.predicate_bits import AtomEvents
from cep.operators.patterns.runtime.runs import Runs
from cep.state.keys import Keys

Ints = npt.NDArray[np.int64]
TRIED = 8
"""Keys that are compared; where none of them lost a run, more are tried until one did."""
AT_MOST = 64


def crowded(
    tables: SpaceTables, by_atom: AtomEvents, keys: Ints, count: int, kept: Runs, rule: int
) -> list[int]:
    """Of `count` keys those in which a rule has most runs, or may begin most; `keys` are the events'."""
    runs = np.zeros(count, np.int64)
    of_rule = np.flatnonzero(kept.lists[:, layout.KEPT_RULE] == rule)
    np.add.at(runs, kept.lists[of_rule, layout.KEPT_KEY], kept.lists[of_rule, layout.KEPT_RUNS])
    begins = tables.begins
    for pair in range(int(by_atom.first_pairs[rule]), int(by_atom.first_pairs[rule + 1])):
        # Where some of the events were evaluated under another plan, all pairs are taken.
        if len(begins) != len(by_atom.pairs) or begins[pair]:
            atom = by_atom.pairs[pair, 1]
            runs += np.bincount(
                keys[by_atom.events[by_atom.ends[atom] : by_atom.ends[atom + 1]]], minlength=count
            )
    order = np.argsort(-runs, kind="stable")[:AT_MOST]
    found: list[int] = order[runs[order] > 0].tolist()
    return found


def most_dropped(
    rule: PatternPlan, keys: Keys, tried: list[int], total: int, dropped: Callable[[int], int]
) -> tuple[str, int] | None:
    """The key of which most runs were dropped, as JSON, and how many; the least by text of several.

    `dropped` says how many were of a key, of `total`; None where no key was found in time.
    """
    if len(tried) == 1:
        return written(rule, keys, tried)[0], total
    found: dict[int, int] = {}
    left = total
    for number, key in enumerate(tried):
        if left <= 0 or (number >= TRIED and found):
            break
        if (lost := dropped(key)) > 0:
            found[key] = lost
            left -= lost
    if not found:
        return None
    most = max(found.values())
    return min(written(rule, keys, [key for key, lost in found.items() if lost == most])), most


def written(rule: PatternPlan, keys: Keys, numbers: list[int]) -> list[str]:
    """Keys as JSON objects, as alerts have them."""
    by = rule.rule.by
    if by is None:
        return ["{}"] * len(numbers)
    return [
        json.dumps(
            {name: json_value(value, of) for name, value, of in zip(by.names, values, by.types, strict=True)}
        )
        for values in keys.python(numbers).values()
    ]
