"""Attempts: of the delivery of one alert, or of a notification that was made of several; their outcomes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

State = Literal["pending", "delivered", "failed"]
Says = Literal["trigger", "acknowledge", "resolve"]
"""Events of an episode that a receiver which follows it is told."""
_FOLLOWS = 1 << 62
"""Added to the number of an episode in the place of what is told of it."""


@dataclass(frozen=True, slots=True)
class Follow:
    """A message about an episode: `first` is the number of its first alert, `episode` its id."""

    first: int
    episode: str
    says: Says

    @property
    def place(self) -> int:
        """A number that no delivery has, nor another episode."""
        return _FOLLOWS + self.first


@dataclass(frozen=True, slots=True)
class Due:
    """A delivery whose time has come: `number` is the alert's in the outbox, `body` its JSON.

    `attempts` were made before; `recorded_at` is when it came into the outbox, wall clock in ns. `time` is
    the alert's event time, `way` the number of the words for its route, `held` what held it back until now;
    `asked_for`: a person wants it sent, by itself. `made` is the notification that it is, once it is settled
    which alerts go out together; number, id, body and time are then those of its newest alert. `follow` is
    what the receiver is told of an episode; then they are those of the episode's last alert.
    """

    number: int
    id: str
    body: str
    attempts: int
    recorded_at: int
    time: int = 0
    way: int | None = None
    held: str | None = None
    asked_for: bool = False
    made: Made | None = None
    follow: Follow | None = None

    @property
    def settled(self) -> bool:
        """True if it was settled what it says: no stage holds it back for the sake of its alert."""
        return self.made is not None or self.follow is not None

    @property
    def place(self) -> int:
        """A number that no other due delivery of the receiver has."""
        if self.follow is not None:
            return self.follow.place
        return self.number if self.made is None else -self.made.number

    @property
    def sign(self) -> str:
        """The id under which receivers get it."""
        return self.id if self.made is None else self.made.id


@dataclass(frozen=True, slots=True)
class Made:
    """A notification, which never changes: of `count` alerts the newest by their `bodies`, oldest first.

    `id` is the alert's where it is one, and else its own.
    """

    number: int
    id: str
    bodies: tuple[str, ...]
    count: int


@dataclass(frozen=True, slots=True)
class Settled:
    """The outcome of one attempt. A pending delivery has the moment of its next attempt in `due_at`.

    `made` is the number of the notification that was attempted, if it is more than the delivery of one alert,
    `follow` what was told of an episode, if it is that.
    """

    receiver: str
    number: int
    state: State
    attempts: int
    outcome: str
    due_at: int | None
    settled_at: int
    made: int | None = None
    follow: Follow | None = None

    @property
    def place(self) -> int:
        """The place of the delivery that was attempted."""
        if self.follow is not None:
            return self.follow.place
        return self.number if self.made is None else -self.made
