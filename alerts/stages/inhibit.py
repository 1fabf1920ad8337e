"""Alerts about which a worse one has told all there is to tell: in event time, so that it comes to the same
whenever it is asked.

Alerts are numbered by event time, and whoever holds back is in the outbox before what it holds back is due.
"""

from __future__ import annotations

import json
from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from alerts.inhibiting import Inhibition, Values
from alerts.matchers import Labels, Matchers
from alerts.stages.candidate import Candidate, Hold

MOST = 200_000
"""Alerts that hold back others and are kept at hand; of older ones the outbox is asked."""


class Source(NamedTuple):
    """An alert that may hold back others: its event time, and its body."""

    time: int
    body: str


Sources = Callable[[int, int], Iterable[Source]]
"""The alerts of the outbox from one event time to before another that may hold back others."""


class _Known(NamedTuple):
    time: int
    id: str
    labels: Labels


class Inhibitors:
    """Inhibitions, and the alerts that hold back others."""

    def __init__(self, all_: Sequence[Inhibition] = (), sources: Sources = lambda _since, _until: ()) -> None:
        self.all = all_
        self.longest = max((one.length for one in all_), default=0)
        self._sources = sources
        self._known: dict[tuple[int, Values], list[_Known]] = {}
        self._count = 0
        self._from = 0
        self._of_rule: dict[tuple[str, str, str], list[tuple[int, Matchers]]] = {}

    def knows_from(self, time: int) -> None:
        """All alerts of this event time and later are told by `add`; of earlier ones the outbox is asked."""
        self._from = time

    def may(self, pack: str, rule: str, severity: str) -> bool:
        """True if alerts of such a rule may hold back others."""
        labels = Labels({"pack": pack, "rule": rule, "severity": severity})
        return any(one.by.parted()[0].matches(labels) for one in self.all)

    def add(self, some: Iterable[Source]) -> None:
        """Take in alerts that may hold back others, in the order raised."""
        for number, values, one in self._fitting(some):
            insort(self._known.setdefault((number, values), []), one, key=lambda known: known.time)
            self._count += 1
        if self._count > MOST:
            self._forget()

    def _fitting(self, some: Iterable[Source]) -> Iterator[tuple[int, Values, _Known]]:
        for time, body in some:
            alert = json.loads(body)
            labels = Labels(alert)
            for number, inhibition in enumerate(self.all):
                if inhibition.by.matches(labels):
                    yield number, inhibition.values(labels), _Known(time, alert["id"], labels)

    def _forget(self) -> None:
        newest = max(some[-1].time for some in self._known.values())
        self._from = max(self._from, newest - self.longest)
        for place, some in list(self._known.items()):
            del some[: bisect_left(some, self._from, key=lambda known: known.time)]
            if not some:
                del self._known[place]
        self._count = sum(map(len, self._known.values()))

    def by(self, one: Candidate) -> tuple[str, Inhibition] | None:
        """The id of the newest alert that holds a candidate back, and by which inhibition; None: none."""
        labels = one.labels
        (pack,), (rule,), (severity,) = labels["pack"], labels["rule"], labels["severity"]
        some = self._of_rule.get((pack, rule, severity))
        if some is None:
            some = self._of_rule[pack, rule, severity] = list(self._for_rule(labels))
        for number, rest in some:
            inhibition = self.all[number]
            if rest.matches(labels):
                for source in self._before(number, inhibition, labels, one.due.time):
                    if inhibition.holds_back(source.labels, labels, one.due.time - source.time):
                        return source.id, inhibition
        return None

    def _for_rule(self, labels: Labels) -> Iterator[tuple[int, Matchers]]:
        for number, one in enumerate(self.all):
            shared, rest = one.of.parted()
            if shared.matches(labels):
                yield number, rest

    def _before(self, number: int, inhibition: Inhibition, labels: Labels, time: int) -> Sequence[_Known]:
        """The alerts that may hold back one of an event time by an inhibition, the newest first."""
        values = inhibition.values(labels)
        if time - inhibition.length >= self._from:
            there = self._known.get((number, values), [])
        else:
            found = self._fitting(self._sources(time - inhibition.length + 1, time + 1))
            there = [known for which, own, known in found if (which, own) == (number, values)]
        begin = bisect_left(there, time - inhibition.length + 1, key=lambda known: known.time)
        return there[begin : bisect_right(there, time, key=lambda known: known.time)][::-1]


class Inhibit:
    """The stage; what it holds back is held for good: the worse alert has told of it."""

    def __init__(self, inhibitors: Inhibitors) -> None:
        self._inhibitors = inhibitors

    def __call__(self, one: Candidate, _now: int) -> Hold | None:
        """Hold back what another alert holds back, unless a person asked for it."""
        if not self._inhibitors.all or one.due.asked_for:
            return None
        found = self._inhibitors.by(one)
        if found is None:
            return None
        said = f"inhibit: alert {found[0]} holds it back, by {found[1].said}"
        return Hold(f"alert {found[0]}", said, None)
