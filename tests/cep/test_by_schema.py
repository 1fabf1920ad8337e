"""Records of Avro and Protobuf give the events that the same events as JSON give; what is damaged is told."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import numpy as np
import pytest
from decoding import stream_of
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from schema_events import Written, events

from cep.decode import Decoded, FeedFormat, decoder
from cep.decode.formats import Schemas
from cep.decode.log_records import LogRecords, decode_log, decode_values
from rules.typed import Stream
from rules.types import Scalar


def decoded(stream: Stream, feed: FeedFormat, values: list[bytes]) -> Decoded:
    count = len(values)
    records = LogRecords(values, (None,) * count, np.zeros(count, np.int64), np.arange(count))
    return decode_log(decoder(stream, feed), records, "topic/0", "topic/0")


def both(written: Written) -> tuple[Decoded, Decoded]:
    """The events by their schema, and as JSON."""
    by_schema = decoded(written.stream, written.feed, written.records)
    return by_schema, decoded(written.stream, FeedFormat(format="json"), written.lines)


@settings(deadline=None, max_examples=examples(150))
@given(st.randoms(use_true_random=False), st.sampled_from(["avro", "protobuf"]))
def test_events_are_those_of_the_same_as_json(random: Random, format_: str) -> None:
    found, expected = both(events(random, format_, random.choice([1, 3, 20])))
    assert found.dead == expected.dead == ()
    assert found.events.table.equals(expected.events.table)


@pytest.mark.parametrize("format_", ["avro", "protobuf"])
def test_dead_letters_are_read_again_by_a_schema_that_was_mended(format_: str) -> None:
    written = events(Random(1), format_, 3)
    assert written.feed.schemas is not None
    wrong = replace(written.feed, fields=(("eid", "gone"),))
    found = decoded(written.stream, wrong, written.records)
    assert [one.reason for one in found.dead] == [
        "lacks the required field `eid`: the schema has no field `gone`"
    ] * 3
    letters = [(one.offset, one.data) for one in found.dead]
    again = decode_values(decoder(written.stream, written.feed), letters, "topic/0", "topic/0")
    assert again.events.table.equals(decoded(written.stream, written.feed, written.records).events.table)


def test_keys_and_times_stand_beside_what_a_schema_gives() -> None:
    schema = b'{"type": "record", "name": "P", "fields": [{"name": "n", "type": "int"}]}'
    feed = FeedFormat(format="avro", key="eid", record_time=True, schemas=Schemas(schema))
    values = [b"\x02", None, b"", b"\x04"]
    records = LogRecords(values, [b"a", b"b", b"c", b"d"], np.full(4, 1_000), np.arange(4))
    found = decode_log(decoder(stream_of({"n": Scalar.LONG}), feed), records, "t/0", "t/0")
    assert found.events.table.column("n").to_pylist() == [1, 2]
    assert found.events.table.column("@id").to_pylist() == ["a", "d"]
    assert [(one.offset, one.reason) for one in found.dead] == [
        (1, "its value is null: a tombstone"),
        (2, "`n`: the value ends here (byte 0 of the value)"),
    ]
