"""Losses of rules to their limits, in the words of `cep eval` and of the job."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import assert_never

from cep.counters import (
    Count,
    RunsDropped,
    RunsOverLimit,
    WindowEventsDropped,
    WindowEventsOverLimit,
    of_kind,
)
from rules.nouns import counted
from rules.resolve.rules import MOST_RUNS
from rules.resolve.windows import EVENTS
from rules.resolve.windows import MOST as MOST_EVENTS
from rules.typed import Match, On, Over, Rule

_LONGEST = 80
"""Characters of a key in a sentence."""


@dataclass(slots=True)
class OverLimit:
    """Losses of a rule over its `limit`: runs of a pattern, events of windows; `keys` has how many were of
    some of the keys, as JSON."""

    dropped: int = 0
    keys: Counter[str] = field(default_factory=Counter)

    @property
    def most(self) -> tuple[str, int] | None:
        """The key that lost most, and how many; the least by text of several."""
        return min(self.keys.items(), key=lambda one: (-one[1], one[0]), default=None)

    def sentence(self, rule: Rule) -> str:
        """The end of the sentence that begins `dropped 12 runs`: the limit, the key, and a fix."""
        limit = _limit_of(rule)
        over = f"its `limit {limit.bound} {limit.of}`"
        if not limit.own:
            over = f"the default of {limit.bound:,} {limit.of} of a key"
        oldest = f"the oldest ones{' of a key' if limit.own else ''}"
        return f"over {over}, {oldest}{self._of_key()}; {self._cure(limit)}"

    def number(self, rule: Rule) -> str:
        """The number with its unit: `12 runs`."""
        return counted(self.dropped, _limit_of(rule).of.removesuffix("s"))

    def as_dict(self, rule: Rule) -> dict[str, object]:
        """Limit and cure, for programs; `key` is the one that lost most, `of_key` how many were its own."""
        limit = _limit_of(rule)
        key, of_key = self.most or (None, None)
        return {
            "rule": rule.name,
            limit.of: self.dropped,
            "limit": limit.bound,
            "default": not limit.own,
            "key": None if key is None else json.loads(key),
            "of_key": of_key,
            "help": self._cure(limit),
        }

    def _cure(self, limit: _Limit) -> str:
        enough = 10
        while enough < limit.bound + (self.dropped if self.most is None else self.most[1]):
            enough *= 10
        if enough > limit.most:
            return limit.instead
        return f"`limit {enough} {limit.of}` is enough" if limit.own else f"write `limit {enough} {limit.of}`"

    def _of_key(self) -> str:
        """The key that lost most, in a sentence; nothing where the rule has no key."""
        if self.most is None:
            return ""
        key, dropped = self.most
        values = json.loads(key).items()
        text = ", ".join(f"{name} {json.dumps(value, ensure_ascii=False)}" for name, value in values)
        if not text:
            return ""
        text = text if len(text) <= _LONGEST else text[:_LONGEST] + "..."
        return f", {'all' if dropped == self.dropped else f'{dropped:,} of them'} of {text}"


def over_limit(counts: Mapping[Count, int]) -> dict[tuple[str, str], OverLimit]:
    """Losses over limits, by pack and rule, from the counters of matching."""
    found: dict[tuple[str, str], OverLimit] = {}
    for runs, number in of_kind(counts, RunsDropped):
        if runs.reason == "limit":
            found.setdefault((runs.pack, runs.rule), OverLimit()).dropped += number
    for events, number in of_kind(counts, WindowEventsDropped):
        found.setdefault((events.pack, events.rule), OverLimit()).dropped += number
    for of_run, number in of_kind(counts, RunsOverLimit):
        found.setdefault((of_run.pack, of_run.rule), OverLimit()).keys[of_run.key] += number
    for of_key, number in of_kind(counts, WindowEventsOverLimit):
        found.setdefault((of_key.pack, of_key.rule), OverLimit()).keys[of_key.key] += number
    return found


@dataclass(frozen=True, slots=True)
class _Limit:
    """The limit of a rule, of runs or events, whether it says so itself, the greatest one, and what helps
    where that is not enough."""

    bound: int
    of: str
    own: bool
    most: int
    instead: str


def _limit_of(rule: Rule) -> _Limit:
    match rule.body:
        case Match(limit=bound, own_limit=own):
            instead = "begin fewer runs: a narrower first step, or a shorter `within`"
            return _Limit(bound, "runs", own, MOST_RUNS, instead)
        case Over(limit=bound):
            instead = "keep fewer events: a narrower condition, or a shorter window"
            return _Limit(bound, "events", bound != EVENTS, MOST_EVENTS, instead)
        case On():
            raise AssertionError("a rule with `on` keeps nothing")
        case _:
            assert_never(rule.body)
