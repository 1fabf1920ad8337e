"""Which matches a process has told already: forks of a run may come to the same one at different times.

What took the same events in the same steps is one match, told when it is first decided (decision 8). Only
rules whose runs fork can decide one again, and only while the run that began it may still live: so long its
alert's id is remembered, and no longer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from alerts.raised import Raised
from cep.events import MAX_TIME, MIN_TIME
from rules.typed import Absent, AnyOrder, Either, Group, Match, Pack, Rule, Sequence, Step, walk

OFTEN = 1_024
"""Alerts that may be forgotten later than they could be, so that looking for them costs next to nothing."""


@dataclass(slots=True)
class Told:
    """The ids of alerts that may be decided again, each with the last time at which it may.

    `lives` has for every rule whose runs fork how long after a match its run may live, by pack and name.
    """

    lives: Mapping[tuple[str, str], int]
    ids: dict[str, int] = field(default_factory=dict)
    kept: int = 0

    @classmethod
    def of(cls, packs: Iterable[Pack]) -> Told:
        """Of the rules of some packs, nothing told yet."""
        return cls(
            {
                (pack.name, rule.name): life
                for pack in packs
                for rule in pack.rules
                if (life := life_of(rule)) is not None
            }
        )

    def fresh(self, raised: Iterable[Raised], watermark: int) -> list[Raised]:
        """Those that were not told before, which are told now; `watermark` is the one after the batch."""
        if not (self.lives or self.ids):
            return list(raised)
        fresh = []
        for one in raised:
            life = self.lives.get((one.pack, one.rule))
            if life is not None:
                if one.time <= self.ids.get(one.id, MIN_TIME):
                    continue
                self.ids[one.id] = min(one.time + life, MAX_TIME)
            fresh.append(one)
        if len(self.ids) > 2 * self.kept + OFTEN:
            self.ids = {id_: until for id_, until in self.ids.items() if until >= watermark}
            self.kept = len(self.ids)
        return fresh


def life_of(rule: Rule) -> int | None:
    """How long after a match of a rule, in nanoseconds, a fork of its run may come to the same; None: never.

    A run takes its last event before `within` is over, and an `absent` may end later by its own time.
    """
    body = rule.body
    if not isinstance(body, Match) or not any(_forks(node) for node in walk(body.pattern)):
        return None
    if body.within is None:
        return MAX_TIME
    return body.within + sum(
        node.duration for node in walk(body.pattern) if isinstance(node, Absent) and node.duration is not None
    )


def _forks(node: object) -> bool:
    match node:
        case Sequence(elements):
            return any(sign == "~>" for sign, _ in elements)
        case Step() | Group() | Either() | AnyOrder():
            return node.quantifier.mode == "each" or node.quantifier.own == "any"
        case _:
            return False
