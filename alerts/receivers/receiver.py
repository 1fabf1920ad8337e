"""A receiver as the dispatcher sees it: it makes one attempt and says what came of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

from alerts.due import Due, Follow, Made
from alerts.position import Position

Result = Literal["delivered", "rejected", "unreachable", "gone", "refused"]
"""delivered; answered, but not with success; no answer; asked never to be called again; this one never can be
delivered, and others can."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of an attempt, with `detail` in words.

    `retry_after`: nanoseconds for which the receiver asked to be left alone.
    """

    result: Result
    detail: str
    retry_after: int | None = None


class Receiver(Protocol):
    """One configured receiver."""

    @property
    def name(self) -> str:
        """Its name in job.toml, under which the outbox keeps its deliveries."""

    @property
    def in_flight(self) -> int:
        """The number of attempts that may be made at once; 1 keeps the order."""

    def send(self, id_: str, body: str, now: int) -> Outcome:
        """Makes one attempt to deliver the alert of this id and JSON text.

        `now` is the wall clock in nanoseconds. Blocks, for no longer than a limit of its own, and raises
        nothing for what the outside world does. Called by several threads.
        """

    def close(self) -> None:
        """Gives up its connections. No attempt is made afterwards."""


@runtime_checkable
class Gathering(Receiver, Protocol):
    """A receiver that takes several alerts in one attempt, so that what waits does not take as many."""

    @property
    def together(self) -> int:
        """The number of alerts that one attempt takes at most."""

    @property
    def pace(self) -> int:
        """Nanoseconds from the begin of an attempt to that of the next at least."""

    def send_together(self, alerts: Sequence[tuple[str, str]], now: int) -> Outcome:
        """Makes one attempt to deliver alerts, given by ids and JSON texts in the order raised; as `send`."""


@runtime_checkable
class Grouped(Receiver, Protocol):
    """A receiver that tells of several alerts in one notification."""

    @property
    def apart(self) -> bool:
        """True if no notification may be about several rules or keys."""

    def send_group(self, group: Made, now: int) -> Outcome:
        """Makes one attempt to deliver a notification of several alerts, under its id; as `send`."""


@runtime_checkable
class OfEpisodes(Receiver, Protocol):
    """A receiver that puts what it is told of an episode together: it gets alerts once they belong to one."""

    def send_of(self, episode: str | None, group: Made, now: int) -> Outcome:
        """Makes one attempt to deliver an alert, or several, of which the newest belongs to the episode of
        this id; None: to none; as `send`."""


@runtime_checkable
class Following(OfEpisodes, Protocol):
    """A receiver that is also told what people make of episodes that it was told of."""

    def tell(self, follow: Follow, body: str, now: int) -> Outcome:
        """Makes one attempt to tell how an episode stands, whose last alert has this JSON text; as `send`."""


class Session(Protocol):
    """A way to a receiver of transactions, open for one dispatcher: whoever opens another has ended it."""

    @property
    def last(self) -> Position:
        """The position that the receiver had when it was opened; 0 is before the first."""

    @property
    def notice(self) -> str:
        """A sentence about its opening that people should read; empty where there is none."""

    @property
    def over(self) -> bool:
        """True if it takes nothing any more: the next attempt opens another."""

    def send(self, number: int, dues: Sequence[Due], now: int) -> Sequence[Outcome]:
        """Makes one attempt to deliver in the transaction of this number; the outcomes of the first of them,
        one at least unless it is over, in their order. What is delivered is so all together, with the
        position, or not at all. Blocks, for no longer than a limit of its own."""

    def close(self) -> None:
        """Ends it. What is under way counts as not sent."""


@runtime_checkable
class Transacting(Receiver, Protocol):
    """A receiver that takes deliveries in transactions and keeps the position of the last one with them."""

    @property
    def together(self) -> int:
        """The number of deliveries that one transaction takes at most."""

    def open(self, id_: str) -> Session | Outcome:
        """Ends every session of this id, in whatever process, and opens one; or why that cannot be done.
        Blocks, for no longer than a limit of its own."""
