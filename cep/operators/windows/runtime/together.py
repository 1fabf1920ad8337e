"""Rules that run together: windows that are kept and read alike are those of one rule, over the keys of each.

What a call of numpy takes for few events is much of what a rule takes for few; with ten rules together it is
taken once. What tells rules apart is asked and told by each (`deciding`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from cep.batch.clock import Clock
from cep.events import MIN_TIME
from cep.operators.windows.compile.window_plan import WindowPlan
from cep.operators.windows.runtime.evaluations import RuleEvents, Watch
from cep.operators.windows.runtime.rule_events import Gathering
from cep.operators.windows.runtime.window_rows import DUE, ITEMS, WindowRows
from cep.state.keyed_rows import KEY, Ints

MOST = 1 << 18
"""Events and items of rules that run together: of more each rule has enough to do alone."""


@dataclass(frozen=True, slots=True)
class Alone:
    """A rule with what it keeps and what comes to it; `number` is its place among those of the space."""

    number: int
    plan: WindowPlan
    watch: Watch
    kept: WindowRows
    came: RuleEvents

    @property
    def is_due(self) -> bool:
        """True if there is something to do: an event, or a window that time changes."""
        return len(self.came.keys) > 0 or bool(np.any(self.kept.heads[:, DUE] <= self.watch.watermark))

    @property
    def size(self) -> int:
        """The number of events and items."""
        return len(self.came.keys) + int(self.kept.heads[:, ITEMS].sum())


@dataclass(frozen=True, slots=True)
class Together:
    """Rules that are one for what keeps and reads windows: the key k of the n-th is `n * keys + k` there."""

    rules: Sequence[Alone]
    keys: int

    @property
    def plan(self) -> WindowPlan:
        """The plan of one of them: its shape and readings are those of all."""
        return self.rules[0].plan

    @property
    def watch(self) -> Watch:
        """The part of time that all of them watch."""
        return self.rules[0].watch

    def kept(self) -> WindowRows:
        """The rows that are kept of them."""
        parts = [one.kept for one in self.rules]
        if len(parts) == 1:
            return parts[0]
        heads = np.concatenate([part.heads for part in parts])
        heads[:, KEY] += np.repeat(self._firsts, [len(part.heads) for part in parts])
        words, numbers = ([getattr(part, name) for part in parts] for name in ("words", "numbers"))
        return WindowRows(heads, np.concatenate(words), np.concatenate(numbers))

    def came(self) -> RuleEvents:
        """The events that came to them."""
        parts = [one.came for one in self.rules]
        if len(parts) == 1:
            return parts[0]
        keys = np.concatenate([part.keys for part in parts])
        keys += np.repeat(self._firsts, [len(part.keys) for part in parts])
        columns = zip(*(part.arguments for part in parts), strict=True)
        return RuleEvents(
            keys,
            np.concatenate([part.times for part in parts]),
            np.concatenate([part.numbers for part in parts]),
            tuple(None if column[0] is None else pa.concat_arrays(column) for column in columns),
        )

    def bounds(self, keys: Ints) -> Ints:
        """Where the rows of each rule begin among rows with these keys, which rise; last where they end."""
        return np.searchsorted(keys, np.append(self._firsts, len(self.rules) * self.keys))

    def apart(self, counts: Mapping[int, int]) -> Iterator[tuple[WindowPlan, dict[int, int]]]:
        """Counts of keys, by rule."""
        for number, one in enumerate(self.rules):
            first = number * self.keys
            mine = {key - first: count for key, count in counts.items() if 0 <= key - first < self.keys}
            yield one.plan, mine

    @property
    def _firsts(self) -> Ints:
        return np.arange(len(self.rules)) * self.keys


def together(rules: Sequence[Alone], keys: int, most: int) -> Iterator[Together]:
    """Rules of a space with so many keys, those that are alike together, up to so many events and items.

    Below zero each is alone. Rules of one space have a key of the same names and types.
    """
    alike: dict[object, list[Alone]] = {}
    for one in rules:
        types = tuple(argument.type for argument in one.plan.readings.arguments)
        name = (one.plan.shape, one.plan.readings.names, types, one.watch)
        alike.setdefault(name, []).append(one)
    for group in alike.values():
        part: list[Alone] = []
        size = 0
        for one in group:
            if part and size + one.size > most:
                yield Together(part, keys)
                part, size = [], 0
            part.append(one)
            size += one.size
        yield Together(part, keys)


def each(rules: Sequence[WindowPlan], kept: Iterator[WindowRows], gathering: Gathering) -> Iterator[Alone]:
    """The rules of a space, each with what is kept of it and what comes to it."""
    clock = gathering.context.clock
    for number, (rule, before) in enumerate(zip(rules, kept, strict=True)):
        yield Alone(number, rule, _watch(rule, clock), before, gathering.of(rule))


def _watch(rule: WindowPlan, clock: Clock) -> Watch:
    closing = rule.closing
    if closing is not None:
        begun = max(clock.first_of(rule), closing.since)
        return Watch(begun, closing.since, closing.until, clock.watermark_after)
    since = clock.since.get(rule.name, MIN_TIME)
    return Watch(clock.watching(rule), since, None, clock.watermark_after)
