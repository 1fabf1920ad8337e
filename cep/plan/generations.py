"""Rules that outlive the packs they stand in: since when each rule is there, and those that a deploy replaced
and that go on beside the new ones until what they left open is over.

A manifest names them, and with the packs' texts they give the plan.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

RuleName = tuple[str, str]


@dataclass(frozen=True, slots=True, order=True)
class Closing:
    """A rule that was replaced; `revision` is that of its pack.

    It `begun` with that batch (0: with the job), when the watermark was `since`; `until` was the watermark
    when it was replaced: what begins later is none of it.
    """

    pack: str
    rule: str
    revision: str
    begun: int
    since: int
    until: int

    @property
    def name(self) -> RuleName:
        """Pack and name."""
        return (self.pack, self.rule)


@dataclass(frozen=True, slots=True)
class Generations:
    """`begun` has for rules that a deploy brought to a running job the number of its batch, by pack and name.
    Two generations of a rule have nothing in common but the name, even where their texts are equal."""

    begun: Mapping[RuleName, int] = field(default_factory=dict)
    closing: tuple[Closing, ...] = ()

    @property
    def key(self) -> tuple[object, ...]:
        """Equal for equal generations, and hashable."""
        return tuple(sorted(self.begun.items())), self.closing

    @property
    def revisions(self) -> tuple[str, ...]:
        """The revisions of packs whose texts are needed besides those that run."""
        return tuple(dict.fromkeys(one.revision for one in self.closing))

    def as_dict(self) -> dict[str, object]:
        """As JSON, without what is empty."""
        found: dict[str, object] = {}
        if self.begun:
            found["begun"] = [[*name, batch] for name, batch in sorted(self.begun.items())]
        if self.closing:
            found["closing"] = [[c.pack, c.rule, c.revision, c.begun, c.since, c.until] for c in self.closing]
        return found

    @classmethod
    def of(cls, value: Mapping[str, Any]) -> Generations:
        """From what `as_dict` gave. Raises TypeError or ValueError."""
        begun = {(str(pack), str(rule)): _int(batch) for pack, rule, batch in value.get("begun", ())}
        closing = (
            Closing(str(pack), str(rule), str(revision), *map(_int, numbers))
            for pack, rule, revision, *numbers in value.get("closing", ())
        )
        return cls(begun, tuple(closing))

    def without(self, over: Collection[Closing]) -> Generations:
        """The same without those that are over."""
        return Generations(self.begun, tuple(one for one in self.closing if one not in over))


def _int(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError("a whole number is expected")
    return value


NO_GENERATIONS = Generations()
