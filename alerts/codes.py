"""The codes of what can be wrong with an outbox and with topics that alerts go to, with their titles.

A code never changes its meaning.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

LOCKED = "CEP0801"
FULL = "CEP0802"
READ_ONLY = "CEP0803"
CORRUPT = "CEP0804"
CANNOT_OPEN = "CEP0805"
WRONG_VERSION = "CEP0806"
OTHER_BATCH = "CEP0807"
FORGOTTEN_BATCH = "CEP0808"
DATABASE = "CEP0809"
AWAY = "CEP0830"
FENCED = "CEP0831"
TAKEN_OVER = "CEP0832"
RUNS_ELSEWHERE = "CEP0833"
NO_BROKERS = "CEP0834"
NO_TOPIC = "CEP0835"
NOT_ALLOWED = "CEP0836"
TOO_LARGE = "CEP0837"
SUPERSEDED = "CEP0838"
AHEAD = "CEP0839"
UNFINISHED = "CEP0840"

TITLES: Mapping[str, str] = MappingProxyType(
    {
        LOCKED: "the outbox is locked by another process",
        FULL: "there is no room left for the outbox",
        READ_ONLY: "the outbox cannot be written",
        CORRUPT: "the outbox is damaged or is no database",
        CANNOT_OPEN: "the outbox cannot be opened",
        WRONG_VERSION: "no outbox, or one of another version",
        OTHER_BATCH: "the outbox belongs to another run of the job",
        FORGOTTEN_BATCH: "the outbox is far ahead of the state folder",
        DATABASE: "the database of the outbox failed",
        FENCED: "another process has taken over",
        AWAY: "the database of the outbox does not answer",
        TAKEN_OVER: "another process has taken over the job",
        RUNS_ELSEWHERE: "another process runs the job of this outbox",
        NO_BROKERS: "the brokers of a receiver do not answer",
        NO_TOPIC: "the topic of a receiver is not there",
        NOT_ALLOWED: "brokers do not let a receiver's user do this",
        TOO_LARGE: "an alert is larger than its topic takes",
        SUPERSEDED: "another dispatcher writes to the topic",
        AHEAD: "a topic is ahead of the outbox",
        UNFINISHED: "brokers lost the end of a transaction",
    }
)
