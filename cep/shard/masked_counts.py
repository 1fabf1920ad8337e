"""Counters of keys, which are told to people: without the values of secret fields."""

from __future__ import annotations

import json
from dataclasses import replace

from alerts.masking import Mask
from cep.counters import Counts, RunsOverLimit, WindowEventsOverLimit
from cep.plan.plan import Plan


def masked(counts: Counts, plan: Plan, mask: Mask) -> Counts:
    """The counters with hashes in keys that have secret values."""
    found = Counts()
    for counter, number in counts.items():
        if isinstance(counter, RunsOverLimit | WindowEventsOverLimit):
            key = json.loads(counter.key)
            secrets = _secrets(plan, counter.pack, counter.rule)
            hidden = {name: mask.value(one) if name in secrets else one for name, one in key.items()}
            found[replace(counter, key=json.dumps(hidden, ensure_ascii=False, separators=(",", ":")))] += (
                number
            )
        else:
            found[counter] += number
    return found


def _secrets(plan: Plan, pack: str, rule: str) -> frozenset[str]:
    """The names of a rule's key whose values are secret; of a rule that is closing, in any revision."""
    every = (one for of in (*plan.packs, *plan.replaced) if of.name == pack for one in of.rules)
    return frozenset().union(*(one.by.secrets for one in every if one.name == rule and one.by is not None))
