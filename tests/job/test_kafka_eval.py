"""Topics as `cep eval` reads them: the alerts, dead letters and order that the same events in files give."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zlib import crc32

import fastavro
import pytest
from fraud.generate import generate
from google.protobuf.message_factory import GetMessageClass
from job_folder import JobFolder
from rules_of_tests import BEGIN, SECOND, pack, payments
from topics_of_tests import describe, feed, producer, topic

from alerts.notation import timestamp
from cep.cli.main import main
from cep.decode.by_schema.protobuf_schema import described
from cep.decode.by_schema.schema_files import schemas_of_file
from rules.instants import parse_instant

if TYPE_CHECKING:
    from broker import Brokers

pytestmark = [pytest.mark.kafka, pytest.mark.slow]
FRAUD = Path(__file__).parents[2] / "examples" / "fraud"
EVENTS = list(payments(3, 600))


@pytest.fixture
def folder(tmp_path: Path) -> JobFolder:
    return JobFolder(tmp_path / "job", pack(), ())


def evaluated(out: Path, *arguments: object) -> list[dict[str, Any]]:
    assert main(["eval", *map(str, arguments), "--output", str(out), "--drain"]) == 0
    return [json.loads(line) for line in out.read_text("utf-8").splitlines()]


def of_a_file(folder: JobFolder) -> list[dict[str, Any]]:
    file = folder.root / "all.jsonl"
    file.write_text("".join(json.dumps(one) + "\n" for one in EVENTS), "utf-8")
    found = evaluated(folder.root / "file.out", folder.root / "packs", "--events", f"payment={file}")
    assert len(found) > 50
    return found


@pytest.mark.parametrize("compression", [None, "gzip"])
def test_a_topic_gives_the_alerts_of_the_same_events_in_a_file(
    kafka: Brokers, folder: JobFolder, compression: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    own = topic(kafka)
    own.put(EVENTS, compression_type=compression)
    describe(folder, feed(own))
    expected = of_a_file(folder)
    assert evaluated(folder.root / "topic.out", "--job", folder.description) == expected
    assert "0 late" in capsys.readouterr().err
    named = folder.root / "packs", "--events", f"payment=kafka://{kafka.servers}/{own.name}"
    assert evaluated(folder.root / "named.out", *named) == expected
    wrong = f"{named[2]}-wrong"
    assert main(["eval", str(named[0]), "--events", wrong, "--output", "-"]) == 2
    assert f"CEP0811]: there is no topic `{own.name}-wrong`" in capsys.readouterr().err


def test_avro_and_protobuf_give_the_alerts_of_the_same_events_in_a_file(
    kafka: Brokers, folder: JobFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    expected = of_a_file(folder)
    for format_, options, write in by_schema(folder.root):
        own = topic(kafka, partitions=1)
        own.put([write(one) for one in EVENTS[:300]] + [b"\xff"] + [write(one) for one in EVENTS[300:]])
        describe(folder, feed(own, f'format = "{format_}"', *options))
        capsys.readouterr()
        assert evaluated(folder.root / "topic.out", "--job", folder.description) == expected
        assert f"{own.name}/0:300: " in capsys.readouterr().err


def by_schema(folder: Path) -> Iterator[tuple[str, list[str], Callable[[Mapping[str, Any]], bytes]]]:
    """Formats, with the options of a feed for payments in them, and what writes one."""
    fields = [
        {"name": "payment_id", "type": "string"},
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-nanos"}},
        {"name": "card", "type": "string"},
        {"name": "amount", "type": ["null", "double"]},
    ]
    schema: Any = {"type": "record", "name": "Payment", "namespace": "acme", "fields": fields}
    (folder / "payment.avsc").write_text(json.dumps(schema), "utf-8")
    proto = (
        'syntax = "proto3"; package acme; import "google/protobuf/timestamp.proto"; message Payment { '
        "string payment_id = 1; google.protobuf.Timestamp at = 2; string card = 3; double amount = 4; }"
    )
    (folder / "payment.proto").write_text(proto, "utf-8")
    parsed = fastavro.parse_schema(schema)

    def avro(event: Mapping[str, Any]) -> bytes:
        out = io.BytesIO()
        fastavro.schemaless_writer(out, parsed, {**event, "at": parse_instant(event["at"])})
        return out.getvalue()

    yield "avro", ['schema = "payment.avsc"'], avro
    files = schemas_of_file(folder / "payment.proto", "protobuf", "").text
    made = GetMessageClass(described(files).message_types_by_name["Payment"])

    def protobuf(event: Mapping[str, Any]) -> bytes:
        seconds, nanos = divmod(parse_instant(event["at"]), 10**9)
        found = made(**{**event, "at": {"seconds": seconds, "nanos": nanos}})
        return bytes(found.SerializeToString())

    yield "protobuf", ['schema = "payment.proto"', 'message = "acme.Payment"'], protobuf


def test_what_is_no_event_is_a_dead_letter_at_topic_partition_and_offset(
    kafka: Brokers, folder: JobFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    own = topic(kafka, partitions=1)
    own.put([b"{", None, EVENTS[0], b'{"card": 1}'])
    describe(folder, feed(own))
    evaluated(folder.root / "topic.out", "--job", folder.description)
    told = capsys.readouterr().err
    assert f"{own.name}/0:1: its value is null: a tombstone" in told
    assert all(f"{own.name}/0:{n}: " in told for n in (0, 3))
    assert "1 event" in told


def test_keys_times_and_raw_values_give_fields(kafka: Brokers, tmp_path: Path) -> None:
    rules = """pack logs version "1"

stream line {
  at:   timestamp
  host: string
  text: string
  time at
}

rule failed {
  on   line[text =~ "(?s).*failed.*"]
  emit host, at, text
}
"""
    folder = JobFolder(tmp_path / "job", rules, ())
    own = topic(kafka, partitions=1)
    with producer(kafka) as client:
        for n, text in enumerate(["login failed", "login", "disk\nfailed"]):
            moment = (BEGIN + n * SECOND) // 1_000_000
            client.send(own.name, text.encode(), key=f"h{n}".encode(), timestamp_ms=moment, partition=0)
    describe(folder, feed(own, 'format = "raw"', 'key = "host"', 'time = "kafka"', stream="line"))
    found = evaluated(folder.root / "out", "--job", folder.description)
    assert [(one["emit"]["host"], one["emit"]["text"]) for one in found] == [
        ("h0", "login failed"),
        ("h2", "disk\nfailed"),
    ]
    assert [one["events"]["line"] for one in found] == [[f"{own.name}/0:{n}"] for n in (0, 2)]


def test_a_transaction_that_was_taken_back_is_not_read(kafka: Brokers, folder: JobFolder) -> None:
    own = topic(kafka, partitions=1)
    events = EVENTS[:300]
    with producer(kafka, transactional_id=own.name) as client:
        client.init_transactions()
        for number, part in enumerate(events[at : at + 50] for at in range(0, 300, 50)):
            client.begin_transaction()
            for one in part:
                client.send(own.name, json.dumps(one).encode(), partition=0)
            client.abort_transaction() if number % 2 else client.commit_transaction()
    describe(folder, feed(own))
    found = evaluated(folder.root / "topic.out", "--job", folder.description)
    file = folder.root / "kept.jsonl"
    kept = [one for n, one in enumerate(events) if n // 50 % 2 == 0]
    file.write_text("".join(json.dumps(one) + "\n" for one in kept), "utf-8")
    expected = evaluated(folder.root / "file.out", folder.root / "packs", "--events", f"payment={file}")
    assert found == expected
    assert len(found) > 10


def test_a_start_at_a_time_begins_with_the_first_record_of_it(kafka: Brokers, folder: JobFolder) -> None:
    own = topic(kafka, partitions=2)
    with producer(kafka) as client:
        for n, one in enumerate(EVENTS):
            moment = BEGIN // 1_000_000 + n
            client.send(own.name, json.dumps(one).encode(), partition=n % 2, timestamp_ms=moment)
    begin = timestamp(BEGIN + 300_000_000)
    describe(folder, feed(own, f'start = "{begin}"'))
    found = evaluated(folder.root / "topic.out", "--job", folder.description)
    file = folder.root / "from.jsonl"
    file.write_text("".join(json.dumps(one) + "\n" for one in EVENTS[300:]), "utf-8")
    assert found == evaluated(folder.root / "f.out", folder.root / "packs", "--events", f"payment={file}")


def test_the_fraud_demo_in_full_gives_the_same_from_topics(kafka: Brokers, tmp_path: Path) -> None:
    made = generate(tmp_path / "generated", 200_000, files=4, seed=5)
    folder = JobFolder(tmp_path / "job", (FRAUD / "packs" / "fraud.rules").read_text("utf-8"), ())
    feeds, arguments = [], []
    for stream, files in made.files.items():
        own = topic(kafka, partitions=4)
        with producer(kafka, linger_ms=20, batch_size=1 << 18) as client:
            for line in (line for file in files for line in file.read_bytes().splitlines()):
                client.send(own.name, line, partition=crc32(_card(line)) % 4)
        feeds.append(feed(own, stream=stream))
        arguments += ["--events", f"{stream}={files[0]}", *map(str, files[1:])]
    describe(folder, *feeds)
    expected = evaluated(tmp_path / "files.out", folder.root / "packs", *arguments)
    assert len(expected) > 1_000
    assert evaluated(tmp_path / "topics.out", folder.root / "packs", *_options(folder)) == expected


def _card(line: bytes) -> bytes:
    """The card of a payment, also of one that is damaged: those of a card stay in order."""
    found = re.search(rb'"card_id": ?"([^"]*)', line)
    return found[1] if found else b""


def _options(folder: JobFolder) -> list[str]:
    """The feeds of a job file as options."""
    feeds = folder.description.read_text("utf-8").split("[feeds.")[1:]
    options = []
    for one in feeds:
        name, _, rest = one.partition("]\n")
        options += ["--feed", f"{name}={', '.join(line for line in rest.splitlines() if line)}"]
    return options
