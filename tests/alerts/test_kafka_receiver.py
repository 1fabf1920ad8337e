"""Alerts on a topic of a real broker: each once for whoever reads what is committed, whatever is killed."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import string
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any
from uuid import uuid4

import pytest
from broker import Brokers, brokers
from dying_writer import STEPS
from effort import examples
from kafka import KafkaConsumer, KafkaProducer, TopicPartition
from kafka.admin import ACL, ACLOperation, ACLPermissionType, NewTopic, ResourcePattern, ResourceType
from kafka.admin import ACLResourcePatternType as Pattern
from some_alerts import raised

from alerts.codes import AHEAD, NO_BROKERS, NO_TOPIC, NOT_ALLOWED, SUPERSEDED, TOO_LARGE, UNFINISHED
from alerts.dispatch import Dispatcher
from alerts.due import Due
from alerts.lane import Schedule
from alerts.listeners import Attempt, Listeners
from alerts.outbox import BatchRecord, Outbox
from alerts.receivers.kafka import KafkaReceiver, Topic
from alerts.receivers.topic_session import TopicSession
from alerts.routing import Route
from alerts.standing import Standing
from cep.cli.main import main

pytestmark = [pytest.mark.kafka, pytest.mark.slow]

PATIENCE = 40.0
SOON = Schedule(first=0.05, longest=0.2, attempts=3, probe=0.2)
READABLE = {"compression.type": "gzip"}
"""The client that reads knows no other compression by itself."""
SECURED = {
    **READABLE,
    "security.protocol": "SASL_SSL",
    "sasl.mechanism": "SCRAM-SHA-512",
    "sasl.username": "alice",
    "sasl.password": "alice-secret",
}


def new_topic(kafka: Brokers, partitions: int = 1, name: str = "", **configs: str) -> str:
    name = name or f"alerts-{uuid4().hex[:8]}"
    with kafka.admin() as admin:
        admin.create_topics([NewTopic(name, partitions, 1, topic_configs=configs)])
    return name


def read(kafka: Brokers, topic: str, level: str = "read_committed") -> list[Any]:
    """The records of a topic by a client that the program does not use, by partition and offset."""
    consumer = KafkaConsumer(
        bootstrap_servers=kafka.servers.split(","), isolation_level=level, consumer_timeout_ms=5_000
    )
    found: list[Any] = []
    try:
        parts = [TopicPartition(topic, n) for n in sorted(consumer.partitions_for_topic(topic) or ())]
        ends = consumer.end_offsets(parts)
        consumer.assign(parts)
        consumer.seek_to_beginning(*parts)
        while any(consumer.position(one) < ends[one] for one in parts):
            for records in consumer.poll(timeout_ms=500).values():
                found += records
    finally:
        consumer.close()
    return sorted(found, key=lambda one: (one.partition, one.offset))


def ids(records: Sequence[Any]) -> list[str]:
    return [dict(one.headers)["id"].decode() for one in records]


@dataclass
class Job:
    """An outbox with batches, and dispatchers that deliver it."""

    folder: Path
    batches: int = 0

    @property
    def url(self) -> str:
        return f"sqlite:///{self.folder}/outbox.db"

    def record(self, count: int, key: Callable[[int], str] = "c{}".format, summary: str = "s") -> list[str]:
        self.batches += 1
        first = self.batches * 10_000
        some = [raised(n, key=key(n), summary=summary) for n in range(first, first + count)]
        box = Outbox.open(self.url, durable=False)
        found = box.record(BatchRecord(self.batches, "d", {}), some, [Route("stream")])
        box.close()
        return [one.id for one in found.alerts]


class Delivering:
    """A dispatcher at work while its block lasts."""

    def __init__(self, job: Job, receiver: KafkaReceiver) -> None:
        self.outbox = Outbox.open(job.url, durable=False)
        self.reports: list[str] = []
        self.attempts: list[Attempt] = []
        self._heard = threading.Condition()
        self.dispatcher = Dispatcher(
            self.outbox, [receiver], schedule=SOON, poll=0.05, random=Random(1),
            listeners=Listeners(self._hear, self.reports.append),
        )  # fmt: skip

    def _hear(self, attempt: Attempt) -> None:
        with self._heard:
            self.attempts.append(attempt)
            self._heard.notify_all()

    def __enter__(self) -> Delivering:
        self.dispatcher.start()
        return self

    def __exit__(self, *_: object) -> None:
        assert self.dispatcher.stop(PATIENCE)
        assert self.dispatcher.failure is None
        self.outbox.close()

    def drain(self) -> None:
        assert self.dispatcher.drain(PATIENCE), self.attempts[-3:]

    def outcome(self, code: str) -> str:
        """Waits until the outcome of an attempt has a code; its words."""

        def last() -> str | None:
            return next((one.outcome.detail for one in self.attempts if code in one.outcome.detail), None)

        with self._heard:
            assert self._heard.wait_for(last, PATIENCE), self.attempts
        return last() or ""


@pytest.fixture
def job(tmp_path: Path) -> Job:
    return Job(tmp_path)


def stream(kafka: Brokers, topic: str, **how: Any) -> KafkaReceiver:
    return KafkaReceiver("stream", Topic(kafka.servers, topic, READABLE), **how)


ENVIRON = {**os.environ, "PYTHONPATH": os.pathsep.join(one for one in sys.path if one)}


def writing(job: Job, kafka: Brokers, topic: str, step: str = "") -> list[str]:
    """The command that delivers an outbox, and dies at a step."""
    script = str(Path(__file__).with_name("dying_writer.py"))
    return [sys.executable, script, job.url, kafka.servers, topic, step]


def test_alerts_are_there_once_by_key_and_in_order(kafka: Brokers, job: Job) -> None:
    topic = new_topic(kafka, 3)
    receiver = stream(kafka, topic)
    receiver.together = 7
    expected = job.record(20, lambda n: f"c{n % 4}")
    with Delivering(job, receiver) as one:
        one.drain()
        expected += job.record(20, lambda n: f"c{n % 4}")
        one.dispatcher.wake()
        one.drain()
    records = read(kafka, topic)
    assert sorted(ids(records)) == sorted(expected)
    for key in {record.key for record in records}:
        of_key = [record for record in records if record.key == key]
        assert len({record.partition for record in of_key}) == 1
        assert ids(of_key) == [one for one in expected if one in set(ids(of_key))]
    producer = KafkaProducer(bootstrap_servers=kafka.servers.split(","))
    by_others = {key: producer.send(topic, b"", key=key).get(30).partition for key in (b"c0", b"c1", b"c2")}
    producer.close()
    assert by_others.items() <= {record.key: record.partition for record in records}.items()


def test_whatever_step_it_is_killed_at_each_is_there_once(kafka: Brokers, job: Job) -> None:
    topic = new_topic(kafka, 2)
    expected: list[str] = []

    def run(step: str) -> subprocess.CompletedProcess[str]:
        expected.extend(job.record(12))
        command = writing(job, kafka, topic, step)
        return subprocess.run(command, env=ENVIRON, capture_output=True, text=True, timeout=120, check=False)

    for step in STEPS:
        killed = run(step)
        assert killed.returncode == -signal.SIGKILL, (step, killed.stderr)
    last = run("")
    assert "drained" in last.stdout, last.stderr
    assert sorted(ids(read(kafka, topic))) == sorted(expected)
    dropped = len(read(kafka, topic, "read_uncommitted")) - len(expected)
    assert dropped >= 2, "some were killed in the middle of a transaction"


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(examples(5)))
def test_no_sequence_of_kills_loses_or_doubles_an_alert(tmp_path: Path, job: Job, seed: int) -> None:
    """Of the program at any moment, and of the broker, which comes back."""
    random_ = Random(seed)
    expected: list[str] = []
    with brokers(tmp_path / "kafka") as own:
        topic = new_topic(own, 2)
        for _ in range(12):
            expected += job.record(random_.randrange(1, 60))
            writer = subprocess.Popen(writing(job, own, topic), env=ENVIRON, stdout=subprocess.PIPE)
            time.sleep(random_.choice((0.5, 1.0, 2.0, 4.0)) + random_.random())
            if random_.random() < 0.3:
                own.kill()
                own.start()
                time.sleep(random_.random())
            writer.kill()
            writer.communicate()
        done = subprocess.run(
            writing(job, own, topic), env=ENVIRON, timeout=120, check=True, capture_output=True
        )
        assert done.stdout == b"drained\n"
        assert sorted(ids(read(own, topic))) == sorted(expected)


def _without_last_ends(log: Path) -> None:
    """Takes each producer's last end of a transaction out of a partition's log, as if never written."""
    data = log.read_bytes()
    ends: dict[int, slice] = {}
    at = 0
    while at < len(data):
        behind = at + 12 + int.from_bytes(data[at + 8 : at + 12], "big")
        attributes, producer = struct.unpack_from(">H20xq", data, at + 21)
        if attributes & 0x20:  # a control batch
            ends[producer] = slice(at, behind)
        at = behind
    for end in sorted(ends.values(), key=lambda one: -one.start):
        data = data[: end.start] + data[end.stop :]
    log.write_bytes(data)


def test_brokers_come_back_also_without_the_end_of_a_transaction(tmp_path: Path) -> None:
    """As they do while no partition has a leader: its markers are nowhere, or not in all partitions; then
    those that have one show the alerts twice."""
    parts = {"none": Job(tmp_path / "none"), "some": Job(tmp_path / "some")}
    with brokers(tmp_path / "kafka") as own:
        before, expected = {}, {}
        for name, job in parts.items():
            job.folder.mkdir()
            new_topic(own, 2, name, **({"cleanup.policy": "compact"} if name == "none" else {}))
            before[name] = job.record(4)
            with Delivering(job, stream(own, name)) as one:
                one.drain()
            expected[name] = job.record(5)
            command = writing(job, own, name, "committed")
            subprocess.run(command, env=ENVIRON, check=False, timeout=120)
            assert len(read(own, name)) == 9
        topic, beside = new_topic(own), Job(tmp_path)
        away = beside.record(10)
        with Delivering(beside, stream(own, topic, patience=10.0)) as waits:
            waits.drain()
            own.kill()
            away += beside.record(10)
            waits.dispatcher.wake()
            assert "does not answer" in waits.outcome(NO_BROKERS)
            folder = tmp_path / "kafka" / "broker-0" / "log"
            for log in (*folder.glob("__consumer_offsets-*/*0.log"), *folder.glob("none-*/*0.log")):
                _without_last_ends(log)
            own.start()
            waits.drain()
        assert ids(read(own, topic)) == away
        for name, job in parts.items():
            with Delivering(job, stream(own, name)) as one:
                one.drain()
                assert [said for said in one.reports if UNFINISHED in said]
            twice = expected[name] if name == "some" else []
            assert sorted(ids(read(own, name))) == sorted([*before[name], *expected[name], *twice])


def test_a_record_that_is_too_large_holds_up_no_other(kafka: Brokers, job: Job) -> None:
    topic = new_topic(kafka, **{"max.message.bytes": "20000"})
    noise = "".join(random.Random(1).choices(string.ascii_letters, k=40_000))
    expected = job.record(5)
    (large,) = job.record(1, summary=noise)
    (larger,) = job.record(1, summary=noise * 30)
    expected += job.record(5)
    with Delivering(job, stream(kafka, topic)) as one:
        one.drain()
        (found,) = one.outbox.deliveries(large)
        assert (found.state, TOO_LARGE in found.outcome) == ("failed", True)
        assert len([said for said in one.reports if large in said or larger in said]) == 2
        assert one.outbox.status()["stream"].failed == 2
    assert ids(read(kafka, topic)) == expected


def test_a_topic_that_is_missing_is_waited_for(kafka: Brokers, job: Job) -> None:
    topic = f"later-{uuid4().hex[:8]}"
    expected = job.record(3)
    with Delivering(job, stream(kafka, topic)) as one:
        assert f"there is no topic {topic}" in one.outcome(NO_TOPIC)
        new_topic(kafka, name=topic)
        one.drain()
    assert ids(read(kafka, topic)) == expected


def test_a_user_needs_the_right_password_and_rights(kafka: Brokers, job: Job) -> None:
    topic = new_topic(kafka)
    told = {**SECURED, "ssl.ca.location": str(kafka.certificate)}

    def receiver(**more: str) -> KafkaReceiver:
        return KafkaReceiver("stream", Topic(kafka.secured, topic, {**told, **more}), patience=3.0)

    expected = job.record(3)
    with Delivering(job, receiver(**{"sasl.password": "guessed"})) as one:
        assert "guessed" not in one.outcome(NOT_ALLOWED)
    with Delivering(job, receiver()) as one:
        # brokers do not tell a stranger whether the topic is there
        assert "does not allow it" in one.outcome(NOT_ALLOWED)
        _grant(kafka, "User:alice", topic)
        one.drain()
    assert ids(read(kafka, topic)) == expected


def _grant(kafka: Brokers, user: str, topic: str) -> None:
    """The rights that docs/errors/CEP0836.md names, and no others."""
    literal, prefixed = Pattern.LITERAL, Pattern.PREFIXED
    wanted = [
        (ResourceType.TOPIC, topic, literal, (ACLOperation.READ, ACLOperation.WRITE, ACLOperation.DESCRIBE)),
        (ResourceType.GROUP, "cep.", prefixed, (ACLOperation.READ,)),
        (ResourceType.TRANSACTIONAL_ID, "cep.", prefixed, (ACLOperation.WRITE, ACLOperation.DESCRIBE)),
    ]
    with kafka.admin() as admin:
        admin.create_acls([
            ACL(user, "*", operation, ACLPermissionType.ALLOW, ResourcePattern(kind, name, how))
            for kind, name, how, operations in wanted for operation in operations
        ])  # fmt: skip


def test_only_the_newest_session_writes(kafka: Brokers) -> None:
    topic, id_ = new_topic(kafka), uuid4().hex
    first, second = stream(kafka, topic), stream(kafka, topic)
    older = first.open(id_)
    assert isinstance(older, TopicSession)
    due = [Due(n, raised(n).id, raised(n).body, 0, 0) for n in range(1, 4)]
    assert [one.result for one in older.send(1, due[:1], 0)] == ["delivered"]
    newer = second.open(id_)
    assert isinstance(newer, TopicSession)
    assert (newer.last.number, newer.last.places) == (1, (1,))
    (refused,) = older.send(2, due[1:2], 0)
    assert (refused.result, older.over) == ("unreachable", True)
    assert SUPERSEDED in refused.detail
    assert [one.result for one in newer.send(2, due[2:], 0)] == ["delivered"]
    first.close()
    second.close()
    assert ids(read(kafka, topic)) == [due[0].id, due[2].id]


def test_an_outbox_that_was_put_back_says_so_and_leaves_no_gap(kafka: Brokers, job: Job) -> None:
    topic = new_topic(kafka)
    receiver = stream(kafka, topic)
    receiver.together = 4
    expected = job.record(2)
    with Delivering(job, receiver) as one:
        one.drain()
    expected += job.record(12)
    shutil.copy(job.folder / "outbox.db", job.folder / "backup.db")
    with Delivering(job, receiver) as one:
        one.drain()
        assert one.reports == []
    (job.folder / "backup.db").replace(job.folder / "outbox.db")
    with Delivering(job, receiver) as one:
        one.drain()
        assert [AHEAD in said for said in one.reports] == [True]
    found = ids(read(kafka, topic))
    assert list(dict.fromkeys(found)) == expected
    assert len(found) == 2 + 12 + 8, "all but those of the last transaction are there again"


JOB = """
[job]
name = "fraud"
packs = "packs/"
state = "state/"

[feeds.payment]
source = "files"
path = "inbox/*.jsonl"

[receivers.stream]
kind = "kafka"
servers = "{servers}"
topic = "{topic}"
mode = "binary"

[receivers.stream.options]
compression.type = "gzip"
"""


def test_a_receiver_is_listed_tried_and_resumed(
    kafka: Brokers, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    topic, path = f"later-{uuid4().hex[:8]}", str(tmp_path / "job.toml")
    Path(path).write_text(JOB.format(servers=kafka.servers, topic=topic), encoding="utf-8")
    (tmp_path / "state").mkdir()
    box = Outbox.open(f"sqlite:///{tmp_path}/state/outbox.db", durable=False)
    box.record(BatchRecord(1, "d", {}), [raised(1)], [Route("stream")])
    box.settle([], {"stream": Standing("open", f"no topic ({NO_TOPIC})", 10**18, 10**18 + 1)})
    assert main(["receivers", "list", "--job", path]) == 0
    told = capsys.readouterr().out
    assert f"{topic} at {kafka.servers}" in told
    assert told.split("\n")[1].split()[:5] == ["stream", "kafka", "half-open", "1", "0"]
    assert main(["receivers", "test", "stream", "--job", path]) == 3
    assert f"there is no topic {topic}" in capsys.readouterr().err
    new_topic(kafka, name=topic)
    assert main(["receivers", "test", "stream", "--job", path]) == 0
    assert capsys.readouterr().out.startswith("stream took the test: transaction ")
    assert main(["receivers", "test", "stream", "--job", path]) == 0
    assert main(["receivers", "resume", "stream", "--job", path]) == 0
    assert box.standings().get("stream", Standing()).state == "closed"
    box.close()
    records = read(kafka, topic)
    assert [json.loads(one.value)["tags"] for one in records] == [["test"], ["test"]]
    assert dict(records[0].headers)["ce_type"] == b"cep.alert.v1"


@pytest.fixture(scope="module", autouse=True)
def nobody_is_left() -> Iterator[None]:
    """Every call that was given up ends, though nobody waits for it."""
    yield
    for one in threading.enumerate():
        if one.name == "deadline":
            one.join(PATIENCE)
            assert not one.is_alive()
