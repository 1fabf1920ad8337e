"""Topics as a job reads them: batches by offsets, replays after a crash, gaps in the log."""

from __future__ import annotations

import io
import json
import os
import re
import sqlite3
import tempfile
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import fastavro
import pytest
from broker import brokers
from duel import Program, pack_of, programs
from hypothesis import HealthCheck, Phase, given, settings
from job_folder import JobFolder, in_process
from kafka.admin import ACL, ACLOperation, ACLPermissionType, ResourcePattern, ResourceType
from rules_of_tests import pack, payments
from schema_registry import SchemaRegistry, guid_of, serving
from topics_of_tests import Event, describe, feed, read_committed, topic, wait, without_batch

from alerts.notation import json_value
from cep.cli.main import main
from cep.decode.formats import IN_HEADER
from cep.errors import ConfigurationError, OutsideError
from cep.job.running import lifecycle
from cep.job.state_folder import manifest

if TYPE_CHECKING:
    from broker import Brokers

pytestmark = [pytest.mark.kafka, pytest.mark.spark]
EVENTS = list(payments(3, 600))
OUT = """
[receivers.stream]
kind = "kafka"
servers = "{servers}"
topic = "{alerts}"

[deadletters]
servers = "{servers}"
topic = "{letters}"
"""
Spark = Callable[..., Any]


@pytest.fixture
def folder(tmp_path: Path) -> JobFolder:
    return JobFolder(tmp_path / "job", pack(), ())


def of_a_file(folder: JobFolder, events: Sequence[Event] = EVENTS) -> list[dict[str, Any]]:
    """The alerts that the same events raise as lines of a file."""
    file, out = folder.root / "all.jsonl", folder.root / "file.out"
    file.write_text("".join(json.dumps(one) + "\n" for one in events), "utf-8")
    arguments = ["--events", f"payment={file}", "--output", str(out), "--drain"]
    assert main(["eval", str(folder.root / "packs"), *arguments]) == 0
    found = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    assert len(found) > 50
    return found


def extents(folder: JobFolder) -> dict[int, list[list[Any]]]:
    """What each batch read, by number."""
    return {
        int(path.stem): json.loads(path.read_text("utf-8"))["files"]
        for path in folder.state.manifests.glob("*.files")
    }


def test_a_job_reads_a_topic_in_batches_and_again_after_a_crash(
    kafka: Brokers, folder: JobFolder, spark: Spark, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of Avro by a registry; the last third has a newer schema, whose id is in a header."""
    own = topic(kafka)
    alerts, letters = (topic(kafka, 1, f"{own.name}-{what}").name for what in ("alerts", "dead"))
    out = OUT.format(servers=kafka.servers, alerts=alerts, letters=letters)
    with serving(SchemaRegistry()) as registry:
        by_schema = 'format = "avro"', f'registry = "{registry.address}"'
        describe(folder, feed(own, f'group = "desk-{own.name}"', *by_schema), out)
        own.put([*EVENTS[:200], b"no json"], write=avro(registry, "double"))
        folder.once(spark)
        own.put(EVENTS[200:400], write=avro(registry, "double"))
        with monkeypatch.context() as patched:
            patched.setattr(manifest, "write", _crash_after(manifest.write))
            with pytest.raises(OutsideError, match="a crash"):
                folder.once(spark)
        newer = avro(registry, ["null", "double"])
        header = (IN_HEADER, b"\x01" + guid_of(len(registry.schemas)).bytes)
        own.put(EVENTS[400:], write=lambda one: newer(one)[5:], headers=[("other", b"x"), header])
        folder.once(spark, drain=True)
    assert without_batch(folder.alerts()) == of_a_file(folder)
    read = extents(folder)
    assert [row[:3] for row in read[0]] == [["payment", f"{own.name}/{n}", 0] for n in range(3)]
    last = extents(folder)[sorted(read)[-1]]
    with kafka.admin() as admin:
        told = admin.list_group_offsets(f"desk-{own.name}")[f"desk-{own.name}"]
    behind = {f"{at.topic}/{at.partition}": one.offset for at, one in told.items()}
    assert behind == {row[1]: row[3] for row in last}, "others see how far it is"
    ends = {row[1]: row[3] for row in read[0]}
    second = read[sorted(read)[1]]
    assert all(row[2] == ends[row[1]] for row in second), "the second batch begins where the first ended"
    with pytest.raises(ConfigurationError, match="was closed by --drain"):
        folder.once(spark)  # what is left would be delivered
    sent = [json.loads(value or b"")["data"] for value, _ in read_committed(kafka.servers, alerts)]
    assert sent == without_batch(folder.alerts()), "each once, in the order raised"
    ((value, said),) = read_committed(kafka.servers, letters)
    assert (value, said["place"], said["stage"]) == (b"no json", f"{own.name}/0", "decode")


def avro(registry: SchemaRegistry, amount: object) -> Callable[[Event], bytes]:
    """What writes payments by a schema that is registered now."""
    names = {"payment_id": "string", "at": "string", "card": "string", "amount": amount}
    fields = [{"name": name, "type": type_} for name, type_ in names.items()]
    schema: Any = {"type": "record", "name": "Payment", "fields": fields}
    head = b"\x00" + registry.add(json.dumps(schema)).to_bytes(4, "big")
    parsed = fastavro.parse_schema(schema)

    def write(event: Event) -> bytes:
        out = io.BytesIO()
        fastavro.schemaless_writer(out, parsed, event)
        return head + out.getvalue()

    return write


def _crash_after(real: Callable[..., None]) -> Callable[..., None]:
    def write(*arguments: object, **more: object) -> None:
        real(*arguments, **more)
        raise OutsideError("a crash", "none")

    return write


def test_no_kill_and_no_cut_loses_or_adds_an_alert(kafka: Brokers, spark: Spark, tmp_path: Path) -> None:
    random, events = Random(4), list(payments(9, 3_000, 60))
    folder = JobFolder(tmp_path / "job", pack(), (), trigger="50ms")
    own = topic(kafka, partitions=4)
    kept: list[int] = []
    for life in range(3):
        describe(folder, feed(own, f"batch_records = {random.randrange(50, 400)}"))
        own.put(events[life * 1_000 : life * 1_000 + 1_000])
        if life == 2:
            break
        until = max((int(path.name) for path in folder.commits()), default=-1) + 3
        with folder.running() as job:
            job.wait_for((folder.state.manifests / f"{until}.json").exists, "some batches")
            job.kill()
        kept.append(len(folder.alerts()))
    folder.once(spark, drain=True)
    assert kept[0] > 0
    assert without_batch(folder.alerts()) == of_a_file(folder, events)
    assert len(extents(folder)) > 6
    assert "Traceback" not in folder.told


@settings(
    max_examples=2,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    database=None,
    phases=(Phase.generate,),
)
@given(program=programs().filter(lambda p: sum(map(len, p.batches)) >= 8))
def test_random_programs_raise_the_same_from_topics(
    kafka: Brokers, spark: Spark, tmp_path_factory: pytest.TempPathFactory, program: Program
) -> None:
    root = Path(tempfile.mkdtemp(dir=tmp_path_factory.getbasetemp()))
    folder = JobFolder(root / "job", program.text, ("e", "f"), shards=program.shards)
    loaded = pack_of(program.text)
    topics = {stream: topic(kafka, partitions=1) for stream in ("e", "f")}
    describe(folder, *(feed(own, stream=stream) for stream, own in topics.items()))
    batches = []
    for batch in program.batches:
        files = []
        for stream, own in topics.items():
            fields = loaded.stream(stream).fields
            own_events = [one.values for one in batch if one.stream == stream]
            came = [{f.name: json_value(one[f.name], f.type) for f in fields} for one in own_events]
            if came:
                own.put([json.dumps(one).encode() for one in came])
                files.append((stream, folder.put(stream, came)))
        if files:
            batches.append(files)
            folder.once(spark)
    folder.once(spark, drain=True)
    found, expected = without_batch(folder.alerts()), in_process(folder, batches)
    assert sorted(found, key=str) == sorted(expected, key=str), str(program)


def test_a_gap_stops_the_job_until_its_loss_is_accepted(
    kafka: Brokers, folder: JobFolder, spark: Spark
) -> None:
    own = topic(kafka)
    describe(folder, feed(own))
    own.put(EVENTS[:300])
    folder.once(spark)
    ends = {row[1]: row[3] for row in extents(folder)[0]}
    own.put(EVENTS[300:])
    lost = ends[f"{own.name}/1"] + 4
    own.forget(1, lost)
    with pytest.raises(ConfigurationError) as refused:
        folder.once(spark)
    said = f" begins at offset {lost} by now: records {lost - 4} to {lost - 1} are gone"
    assert re.search(f"the partition {own.name}/1 of batch [0-9]+{said}", refused.value.message)
    assert f"--accept-loss {own.name}" in refused.value.help
    accepted = frozenset({os.path.realpath(own.name)})
    told = folder.once(spark, mode=lifecycle.Mode(once=True, accepted=accepted))
    assert f"goes on with what is left of the partition {own.name}/1, which begins at" in told
    with closing(sqlite3.connect(folder.outbox)) as database, database:
        rows = database.execute("select feed, file, stage, reason from dead_letters").fetchall()
    assert [row[:3] for row in rows] == [("payment", f"{own.name}/1", "lost")]
    read = {row[1]: row for row in extents(folder)[sorted(extents(folder))[1]]}
    assert read[f"{own.name}/1"][4] == lost, "the rest of the partition is read"


def test_partitions_that_are_added_and_topics_that_come_are_read_from_their_beginning(
    kafka: Brokers, folder: JobFolder, spark: Spark
) -> None:
    own = topic(kafka, partitions=1)
    describe(folder, feed(own).replace(f'topic = "{own.name}"', f'pattern = "{own.name}.*"'))
    own.put(EVENTS[:200])
    folder.once(spark)
    with kafka.admin() as admin:
        admin.create_partitions({own.name: 3})
        wait(lambda: len(admin.describe_topics([own.name])[0]["partitions"]) == 3)
    own.put(EVENTS[200:400])
    topic(kafka, partitions=2, name=f"{own.name}-late").put(EVENTS[400:])
    folder.once(spark, drain=True)
    assert without_batch(folder.alerts()) == of_a_file(folder)
    firsts = {row[1] for rows in extents(folder).values() for row in rows if row[4] == 0}
    assert firsts >= {f"{own.name}/{n}" for n in range(3)} | {f"{own.name}-late/{n}" for n in range(2)}


def test_a_job_goes_on_when_its_broker_comes_back(spark: Spark, tmp_path: Path) -> None:
    folder = JobFolder(tmp_path / "job", pack(), (), trigger="200ms")
    with brokers(tmp_path / "kafka") as own_brokers:
        own = topic(own_brokers)
        describe(folder, feed(own))
        own.put(EVENTS[:300])
        with folder.running() as job:
            job.wait_for(lambda: folder.commits() and folder.alerts(), "alerts before")
            own_brokers.kill()
            own_brokers.start()
            before = len(folder.alerts())
            own.put(EVENTS[300:])
            job.wait_for(lambda: len(folder.alerts()) > before, "alerts after")
            job.kill()
        folder.once(spark, drain=True)
    assert without_batch(folder.alerts()) == of_a_file(folder)


def test_a_job_reads_a_topic_over_tls_with_a_password(kafka: Brokers, tmp_path: Path, spark: Spark) -> None:
    own = topic(kafka)
    with kafka.admin() as admin:
        for operation in (ACLOperation.READ, ACLOperation.DESCRIBE):
            pattern = ResourcePattern(ResourceType.TOPIC, own.name)
            admin.create_acls([ACL("User:alice", "*", operation, ACLPermissionType.ALLOW, pattern)])
    own.put(EVENTS)
    folder = JobFolder(tmp_path / "job", pack(), ())
    (folder.root / "password").write_text("alice-secret\n", "utf-8")
    options = [
        "[feeds.payment.options]",
        'security.protocol = "SASL_SSL"',
        'sasl.mechanism = "SCRAM-SHA-512"',
        'sasl.username = "alice"',
        'sasl.password = "file:password"',
        f'ssl.ca.location = "{kafka.certificate}"',
    ]
    text = feed(own, 'group = "desk"', *options).replace(kafka.servers, kafka.secured)
    describe(folder, text)
    told = folder.once(spark, drain=True)
    why = "the user of the feed's options needs Read on it"
    assert f"feed payment: offsets are not committed under the group desk: {why}" in told
    assert without_batch(folder.alerts()) == of_a_file(folder)
