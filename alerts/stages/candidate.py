"""The one shape of the stages between a delivery that is due and its notification.

A stage is a value that is called with a candidate and the time, and either lets it through (None) or says why
and until when it holds it back. It is asked when a notification is about to be made; what it keeps between
calls can be made again from the outbox.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass

from alerts.due import Due
from alerts.matchers import Labels

REASONS = {
    "silence": "silenced",
    "mute": "muted",
    "alert": "inhibited",
    "group": "grouped",
    "rate": "throttled",
    "key": "throttled",
    "paused": "paused",
}
"""The reasons that are counted, by the first word of what the outbox keeps."""


@dataclass(slots=True)
class Candidate:
    """A delivery that is due. A stage that puts it into a group writes its `group`; it goes out together with
    what waits in that group."""

    due: Due
    group: str | None = None
    named: str | None = None
    """The name of its group, once that was asked for."""
    _labels: Labels | None = None

    @property
    def labels(self) -> Labels:
        """The values of its alert; read when they are first asked for."""
        if self._labels is None:
            self._labels = Labels(json.loads(self.due.body))
        return self._labels


@dataclass(frozen=True, slots=True)
class Hold:
    """The reason for which a stage holds back, in the outbox's words and in those of people; `until` when it
    is to be asked again, wall clock in ns, None: for good. `group` is where it waits."""

    reason: str
    said: str
    until: int | None
    group: str | None = None


Stage = Callable[[Candidate, int], Hold | None]
"""Called with a candidate and the wall clock in ns; None lets it through."""


def first_hold(stages: tuple[Stage, ...], one: Candidate, now: int) -> Hold | None:
    """The word of the first stage that holds a candidate back; None if all let it through."""
    for stage in stages:
        if (hold := stage(one, now)) is not None:
            return hold
    return None
