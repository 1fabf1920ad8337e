"""The transactions of a lane: one after another, each written down before the next begins."""

from __future__ import annotations

from collections.abc import Sequence

from alerts.codes import AHEAD
from alerts.outbox.positions import Confirmed, Kept
from alerts.receivers.receiver import Outcome, Session

_NEW = Kept("", 0)


class Transactions:
    """The transactions of a lane so far. Belongs to the dispatcher's thread."""

    def __init__(self) -> None:
        self.known = _NEW
        """How far they are written down."""
        self.session: Session | None = None
        self.unwritten = False
        """Whether outcomes of the last attempt are still to be written."""
        self.failures = 0
        """Attempts in a row that failed."""
        self.attempts = 0

    @property
    def begun(self) -> bool:
        """True once it was asked how far they are."""
        return self.known is not _NEW

    def begin(self, session: Session, confirmed: Confirmed) -> None:
        """Go on in a session that was opened, from what is written down since."""
        self.session, self.known = session, Kept(self.known.id, confirmed.number)

    def note(self, outcomes: Sequence[Outcome]) -> bool:
        """Take in what came of an attempt; whether its transaction is there. After a failure the next attempt
        opens a session, and finds out what there is."""
        self.attempts += 1
        self.unwritten = self.unwritten or bool(outcomes)
        failed = any(one.result in ("rejected", "unreachable", "gone") for one in outcomes)
        if outcomes:
            self.failures = self.failures + 1 if failed else 0
        if self.session is not None and (failed or self.session.over):
            self.session.close()
            self.session = None
        done = any(one.result == "delivered" for one in outcomes)
        if done:
            self.known = Kept(self.known.id, self.known.number + 1)
        return done


def told(receiver: str, confirmed: Confirmed) -> str:
    """A sentence about what a receiver's position told; empty where nobody needs to know."""
    if confirmed.strange or confirmed.missed:
        return (
            f"{receiver} is ahead of the outbox, which was put back to how it stood earlier: what it was "
            f"sent since is sent again ({AHEAD})"
        )
    return ""
