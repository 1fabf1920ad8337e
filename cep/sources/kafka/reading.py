"""Records between two offsets to events, some thousands at a time.

Offsets need not follow one another: what a transaction took back, its marks, and what compaction left out
have some too. So a part ends where a record behind it comes, or where the broker says that the log ends.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from itertools import takewhile
from typing import Any

import numpy as np

from cep.decode.blocks import Decoder
from cep.decode.bounds import LetterBudget
from cep.decode.formats import IN_HEADER, FeedFormat
from cep.decode.letters import DeadLetter, Decoded
from cep.decode.log_records import LogRecords, decode_log
from cep.errors import OutsideError
from cep.events import Events, event_schema
from cep.sources.kafka.brokers import Brokers
from cep.sources.kafka.cluster import Cluster
from cep.sources.kafka.extents import KafkaPart
from cep.sources.source import GoneError

_AT_ONCE = 50_000
"""Records that are decoded together, at most."""
_BYTES_AT_ONCE = 16 << 20
_ASKED = 10_000
"""Records that the client is asked for at once."""
_WAIT = 0.1
_PATIENCE = 300.0
"""Seconds for a broker to come back, or a leader to be found, before the batch fails."""


def read(
    cluster: Cluster, part: KafkaPart, using: Decoder, passed: Callable[[int], None], *, strict: bool
) -> Iterator[Decoded]:
    """The events and dead letters of a part. With `strict`, GoneError is raised where records are gone."""
    kept = LetterBudget()
    try:
        for messages in _blocks(cluster, part, passed):
            records = _records(messages, using.feed)
            yield kept.within(decode_log(using, records, part.path, part.path))
    except GoneError as error:
        if strict:
            raise
        letter = DeadLetter(using.stream.name, part.path, part.start, "read", str(error), b"")
        empty = event_schema(using.stream).empty_table()
        yield Decoded(Events(using.stream.name, part.path, empty), (letter,))


def _records(messages: Sequence[Any], feed: FeedFormat) -> LogRecords:
    none: Sequence[None] = (None,) * len(messages)
    registered = feed.schemas is not None and feed.schemas.registry is not None
    return LogRecords(
        values=[_with_id(one) if registered else one.value() for one in messages],
        keys=[one.key() for one in messages] if feed.key else none,
        times=np.array([one.timestamp()[1] for one in messages], np.int64)
        if feed.record_time
        else np.zeros(len(messages), np.int64),
        offsets=np.array([one.offset() for one in messages], np.int64),
    )


def _with_id(message: Any) -> bytes | None:
    """The value of a record, behind the id of its schema where a header has that."""
    value: bytes | None = message.value()
    for name, id_ in message.headers() or () if value is not None else ():
        if name == IN_HEADER and isinstance(id_, bytes):
            return id_ + value  # type: ignore[operator]
    return value


def _blocks(cluster: Cluster, part: KafkaPart, passed: Callable[[int], None]) -> Iterator[list[Any]]:
    """The records of a part in order, as many at a time as are decoded together. Raises GoneError."""
    waiting: list[Any] = []
    size = 0
    for messages in _messages(cluster, part):
        waiting += messages
        octets = sum(map(len, messages))
        passed(octets)
        size += octets
        if len(waiting) >= _AT_ONCE or size >= _BYTES_AT_ONCE:
            yield waiting
            waiting, size = [], 0
    if waiting:
        yield waiting


def _messages(cluster: Cluster, part: KafkaPart) -> Iterator[list[Any]]:
    """The records of a part as they come. Raises GoneError, and OutsideError where none come any more."""
    brokers = Brokers.of(cluster)
    at, heard = part.start, time.monotonic()
    with brokers.assigned(part.path, part.start) as consumer:
        while at < part.until:
            came = consumer.consume(min(_ASKED, part.until - at), _WAIT)
            records = [one for one in came if one.error() is None]
            inside = records
            if records and records[-1].offset() >= part.until:
                inside = list(takewhile(lambda one: one.offset() < part.until, records))
            if inside:
                yield inside
            if records:
                at, heard = records[-1].offset() + 1, time.monotonic()
            for one in came:
                if one.error() is not None and brokers.ended(consumer, one, part.path):
                    at = max(at, one.offset())
            if at < part.until and time.monotonic() - heard > _PATIENCE:
                raise OutsideError(
                    f"the brokers {cluster.servers} sent nothing of {part.path} for {_PATIENCE:.0f} seconds",
                    "see whether its leader is there; then start the job again: it goes on where it stopped",
                    "CEP0810",
                )
