"""Losses of rules to their limits, in the words of `cep eval` and of the job."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import assert_never

from cep.counters import Count, RunsDropped, RunsOverLimit, of_kind
from rules.resolve.rules import MOST_RUNS
from rules.typed import Match, On, Over, Rule

_LONGEST = 80
"""Characters of a key in a sentence."""


@dataclass(slots=True)
class OverLimit:
    """Runs of a rule dropped over its `limit`; `keys` has how many were of some of the keys, as JSON."""

    runs: int = 0
    keys: Counter[str] = field(default_factory=Counter)

    @property
    def most(self) -> tuple[str, int] | None:
        """The key that lost most, and how many; the least by text of several."""
        return min(self.keys.items(), key=lambda one: (-one[1], one[0]), default=None)

    def sentence(self, rule: Rule) -> str:
        """The end of the sentence that begins `dropped 12 runs`: the limit, the key, and a fix."""
        bound, own = _limit_of(rule)
        over = f"its `limit {bound} runs`" if own else f"the default of {bound:,} runs of a key"
        return f"over {over}, the oldest ones{' of a key' if own else ''}{self._of_key()}; {self._cure(rule)}"

    def as_dict(self, rule: Rule) -> dict[str, object]:
        """Limit and cure, for programs; `key` is the one that lost most, `of_key` how many of its runs."""
        bound, own = _limit_of(rule)
        key, of_key = self.most or (None, None)
        return {
            "rule": rule.name,
            "runs": self.runs,
            "limit": bound,
            "default": not own,
            "key": None if key is None else json.loads(key),
            "of_key": of_key,
            "help": self._cure(rule),
        }

    def _cure(self, rule: Rule) -> str:
        bound, own = _limit_of(rule)
        enough = 10
        while enough < bound + (self.runs if self.most is None else self.most[1]):
            enough *= 10
        if enough > MOST_RUNS:
            return "begin fewer runs: a narrower first step, or a shorter `within`"
        return f"`limit {enough} runs` is enough" if own else f"write `limit {enough} runs`"

    def _of_key(self) -> str:
        """The key that lost most, in a sentence; nothing where the rule has no key."""
        if self.most is None:
            return ""
        key, runs = self.most
        values = json.loads(key).items()
        text = ", ".join(f"{name} {json.dumps(value, ensure_ascii=False)}" for name, value in values)
        if not text:
            return ""
        text = text if len(text) <= _LONGEST else text[:_LONGEST] + "..."
        return f", {'all' if runs == self.runs else f'{runs:,} of them'} of {text}"


def over_limit(counts: Mapping[Count, int]) -> dict[tuple[str, str], OverLimit]:
    """Runs that limits dropped, by pack and rule, from the counters of matching."""
    found: dict[tuple[str, str], OverLimit] = {}
    for dropped, number in of_kind(counts, RunsDropped):
        if dropped.reason == "limit":
            found.setdefault((dropped.pack, dropped.rule), OverLimit()).runs += number
    for of_key, number in of_kind(counts, RunsOverLimit):
        found.setdefault((of_key.pack, of_key.rule), OverLimit()).keys[of_key.key] += number
    return found


def _limit_of(rule: Rule) -> tuple[int, bool]:
    """The limit of a rule with a pattern, and whether it says so itself."""
    match rule.body:
        case Match() as body:
            return body.limit, body.own_limit
        case On() | Over():
            raise AssertionError("only patterns have runs")
        case _:
            assert_never(rule.body)
