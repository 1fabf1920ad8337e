"""The fraud desk's events as records of topics, and what the engine alone makes of them."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from broker import Brokers
from demo_job import CEP, DemoError, DemoRun
from fraud.generate import Generated
from kafka import KafkaProducer
from kafka.admin import NewTopic

STREAMS = {"payment": 4, "chargeback": 1}
"""The partitions of each stream's topic, whose name is the stream's."""
_PACKS = Path(__file__).parent / "packs"


def send(kafka: Brokers, files: Iterable[tuple[str, Path]]) -> int:
    """Sends the lines of files to the topics of their streams, those of a card to one partition; how many."""
    producer = KafkaProducer(bootstrap_servers=kafka.servers.split(","), linger_ms=20, batch_size=1 << 18)
    sent = 0
    for stream, path in files:
        for line in path.read_bytes().splitlines():
            producer.send(stream, value=line, key=_key(line))
            sent += 1
    producer.flush()
    producer.close()
    return sent


def _key(line: bytes) -> bytes | None:
    """The card of a payment; None for what is no event."""
    with suppress(ValueError, TypeError, AttributeError):
        card = json.loads(line).get("card_id")
        return None if card is None else str(card).encode()
    return None


def make_topics(kafka: Brokers) -> None:
    """Makes the topic of each stream."""
    with kafka.admin() as admin:
        admin.create_topics([NewTopic(name, partitions, 1) for name, partitions in STREAMS.items()])


def with_topics(text: str, kafka: Brokers) -> str:
    """The text of the example's job file with topics in place of files."""
    for stream in STREAMS:
        files = f'[feeds.{stream}]\nsource = "files"\npath = "inbox/{stream}/*.jsonl"\n'
        assert files in text, stream
        topic = f'[feeds.{stream}]\nsource = "kafka"\nservers = "{kafka.servers}"\ntopic = "{stream}"\n'
        text = text.replace(files, topic)
    return text


def halves(generated: Generated) -> list[list[tuple[str, Path]]]:
    """The files of each stream, those before and those behind its middle."""
    found: list[list[tuple[str, Path]]] = [[], []]
    for stream, paths in generated.files.items():
        for number, path in enumerate(paths):
            found[2 * number >= len(paths)].append((stream, path))
    return found


def alone(place: DemoRun, generated: Generated) -> dict[str, Any]:
    """The alerts of the engine in one process over the same events, by id. Raises DemoError."""
    told = place.work / "alone.jsonl"
    events = [
        part
        for stream, paths in generated.files.items()
        for path in paths
        for part in ("--events", f"{stream}={path}")
    ]
    command = [str(CEP), "eval", str(_PACKS), *events, "--drain", "--output", str(told)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise DemoError(f"cep eval ended with {done.returncode}:\n{done.stderr}")
    found = (json.loads(line) for line in told.read_text("utf-8").splitlines())
    return {one["id"]: one for one in found}
