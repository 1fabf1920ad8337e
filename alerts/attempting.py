"""One attempt, in a thread of a receiver's pool: sends deliveries, or opens the way to their receiver."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from alerts.due import Due
from alerts.lane import Lane
from alerts.outbox import Outbox, OutboxError
from alerts.receivers.receiver import Outcome, Session, Transacting
from alerts.receivers.sending import sent


@dataclass(frozen=True, slots=True)
class Attempted:
    """An attempt that is over, with outcomes of the first of its deliveries; the others were not attempted.

    `opened`: a session was opened first, and nothing attempted.
    """

    lane: Lane
    dues: Sequence[Due]
    outcomes: Sequence[Outcome]
    seconds: float
    opened: Session | None = None


def attempted(
    lane: Lane, session: Session | None, dues: Sequence[Due], outbox: Outbox, clock: Callable[[], int]
) -> Attempted:
    """The attempt to send deliveries that go out together; a receiver of transactions needs the session that
    its lane had when they were taken."""
    begun = time.perf_counter()
    found: Outcome | Session | Sequence[Outcome]
    try:
        if not isinstance(lane.receiver, Transacting):
            found = sent(lane.receiver, dues, clock(), outbox.episode_id)
        elif session is None:
            found = lane.receiver.open(lane.transactions.known.id)
        else:
            found = session.send(lane.transactions.known.number + 1, dues, clock())
    except OutboxError as error:
        found = Outcome("unreachable", f"the outbox cannot be read: {error.message}")
    except Exception as error:  # a mistake of a receiver's must not cost the alert: it is tried again
        if session is not None:
            session.close()
        found = Outcome("rejected", f"{type(error).__name__} in the receiver: {error}")
    seconds = time.perf_counter() - begun
    if isinstance(found, Outcome):
        return Attempted(lane, dues, [found] * len(dues), seconds)
    if isinstance(found, Sequence):
        return Attempted(lane, dues, found, seconds)
    return Attempted(lane, dues, (), seconds, found)
