"""Sends deliveries as their receiver takes them: one, several, a group, or a change of an episode."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from alerts.due import Due, Made
from alerts.receivers.receiver import Following, Gathering, Grouped, OfEpisodes, Outcome, Receiver


def sent(receiver: Receiver, dues: Sequence[Due], now: int, episode: Callable[[int], str | None]) -> Outcome:
    """The outcome of an attempt with deliveries that go out together. `episode` gives the id of the episode
    of an alert, by its number in the outbox."""
    due, made = dues[0], dues[0].made
    if due.follow is not None:
        assert isinstance(receiver, Following), "only such a one is told"
        return receiver.tell(due.follow, due.body, now)
    if isinstance(receiver, OfEpisodes):
        group = Made(0, due.id, (due.body,), 1) if made is None else made
        return receiver.send_of(episode(due.number), group, now)
    if made is not None and made.count > 1:
        assert isinstance(receiver, Grouped), "job.toml has groups for receivers that can tell of them"
        return receiver.send_group(made, now)
    if len(dues) > 1 and isinstance(receiver, Gathering):
        return receiver.send_together([(due.id, due.body) for due in dues], now)
    return receiver.send(dues[0].id, dues[0].body, now)
