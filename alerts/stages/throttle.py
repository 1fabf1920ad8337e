"""Not more than a receiver can take: so many notifications a while, and those of a key one after another.

What is over the rate waits and goes out together. What follows on a key waits until what came before it was
delivered, or given up.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import cast

from alerts.grouping import Manner
from alerts.notation import timestamp
from alerts.raised_columns import key_text
from alerts.stages.candidate import Candidate, Hold
from alerts.stages.group import Group

OVER = "rate"
_KEY = "key"
_SECOND = 1_000_000_000


class Throttle:
    """The stage of one receiver."""

    def __init__(self, manner: Manner, group: Group) -> None:
        self._manner = manner
        self._group = group
        self.spent: deque[int] = deque()
        """The moments of notifications within the last period, wall clock in ns."""
        self.failing: dict[str, tuple[int, int]] = {}
        """By key what failed last: its number, and when it is tried again."""

    def __call__(self, one: Candidate, now: int) -> Hold | None:
        """Hold back what is over the rate, and what another one of its key goes before."""
        if self._manner.by_key and (hold := self._behind(one, now)) is not None:
            return hold
        rate = self._manner.rate
        if rate is None:
            return None
        over = one.due.held == OVER
        if over and one.group is None and not one.due.asked_for:
            one.group = self._overflow(one)
        if (moment := self.next_at(now)) <= now:
            return None
        group = one.group or self._overflow(one)
        said = f"throttle: over {rate}: waits until {timestamp(moment)} or later, then goes with the rest"
        return Hold(OVER, said, moment, group)

    def _overflow(self, one: Candidate) -> str:
        return f"over {self._group.together(one)}"

    def _behind(self, one: Candidate, now: int) -> Hold | None:
        before = self.failing.get(key_of(one))
        if before is None or before[0] >= one.due.number:
            return None
        said = (
            f"throttle: waits for an earlier one of its key, which is tried again at {timestamp(before[1])}"
        )
        return Hold(_KEY, said, before[1] if before[1] > now else now + _SECOND)

    def note_failing(self, key: str, number: int, due_at: int) -> None:
        """One of a key failed; of several the first goes before the others."""
        self.failing[key] = min(self.failing.get(key, (number, due_at)), (number, due_at))

    def next_at(self, now: int) -> int:
        """The moment from which on a notification may go out."""
        rate = self._manner.rate
        if rate is None:
            return now
        if self.spent and self.spent[-1] > now:  # the clock was set back
            self.spent = deque(min(moment, now) for moment in self.spent)
        while self.spent and self.spent[0] <= now - rate.period:
            self.spent.popleft()
        return now if len(self.spent) < rate.most else self.spent[0] + rate.period

    def free(self, now: int) -> int | None:
        """The number of notifications that may go out now; None: any."""
        if self._manner.rate is None:
            return None
        return self._manner.rate.most - len(self.spent) if self.next_at(now) <= now else 0

    def unspend(self) -> None:
        """Take note that what was to go out did not."""
        if self.spent:
            self.spent.pop()

    def spend(self, now: int) -> None:
        """A notification goes out."""
        if self._manner.rate is not None:
            self.spent.append(now)


def key_of(one: Candidate) -> str:
    """The key of a candidate as text."""
    return key_text(cast(Mapping[str, object], one.labels.alert["key"]))
