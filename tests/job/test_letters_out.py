"""Dead letters and late events on topics: each once and in order, whatever fails at whatever moment."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from kafka.admin import NewTopic
from log_in_memory import FATES, Fate, Log, LogReceiver
from topics_of_tests import read_committed

from alerts.codes import AHEAD, NO_TOPIC
from alerts.outbox import Outbox, OutboxError
from cep.config.job import Letters
from cep.decode.letters import DeadLetter
from cep.job.running import letters_out
from cep.job.running.letters_out import LettersOut, LetterWriter
from cep.job.state_folder import dead_letters
from cep.job.state_folder.dead_letters import LateEvent
from cep.job.state_folder.letters_on_topics import LONGEST

if TYPE_CHECKING:
    from broker import Brokers

SOON = letters_out.Schedule(first=0.001, probe=0.002)
PATIENCE = 40.0


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(letters_out, "Schedule", lambda: SOON)
    monkeypatch.setattr(letters_out, "_AT_ONCE", 4)


def letter(number: int, data: bytes = b"{") -> DeadLetter:
    return DeadLetter("payment", f"inbox/{number % 3}.jsonl", number, "decode", "no JSON: \u00e9", data)


def late(number: int) -> LateEvent:
    event = json.dumps({"payment_id": f"p{number}"})
    return LateEvent("payment", "payments/3", number, f"p{number}", number * 10**9, event)


def opened(folder: Path | str) -> Outbox:
    return Outbox.open(f"sqlite:///{folder}/outbox.db", durable=False)


def keep(outbox: Outbox, batch: int, letters: Sequence[DeadLetter], events: Sequence[LateEvent] = ()) -> None:
    with outbox.writing() as connection:
        dead_letters.write(connection, batch, letters, events)


def write(outbox: Outbox, log: Log, told: list[str]) -> bool:
    """A process that writes until all is written, or it crashes; whether all was."""
    settle = outbox.settle

    def settled(*args: Any, **more: Any) -> None:
        if log.crash.is_set():
            raise OutboxError("CEP0809", "the process has ended", "")
        settle(*args, **more)

    outbox.settle = settled  # type: ignore[method-assign]
    writer = LetterWriter(dead_letters.dead_letters, LogReceiver(log), outbox, told.append)  # type: ignore[arg-type]
    writer.start()
    try:
        return writer.drain(time.monotonic() + PATIENCE, log.crash.is_set)
    finally:
        writer.stop()


@settings(max_examples=examples(40), deadline=None)
@given(
    st.lists(st.sampled_from([one for one in FATES if one != "raised"]), max_size=10),
    st.lists(st.integers(0, 9), max_size=4),
)
def test_each_is_there_once_and_in_order(fates: list[Fate], batches: list[int]) -> None:
    log, told = Log(fates), list[str]()
    with TemporaryDirectory() as folder:
        outbox = opened(folder)
        for batch, count in enumerate(batches):
            keep(outbox, batch, [letter(batch * 100 + n) for n in range(count)])
            while not write(outbox, log, told):
                log.crash.clear()
                outbox.close()
                outbox = opened(folder)
        outbox.close()
    every = [letter(batch * 100 + n) for batch, count in enumerate(batches) for n in range(count)]
    signs = [f"{one.feed} {one.file}:{one.offset} {one.stage}" for one in every]
    assert log.committed == [sign for sign in signs if sign not in log.refused]
    assert not [said for said in told if AHEAD in said]


def test_an_outbox_that_was_put_back_says_so_and_leaves_no_gap(tmp_path: Path) -> None:
    log, told = Log([]), list[str]()
    outbox = opened(tmp_path)
    keep(outbox, 1, [letter(n) for n in range(3)])
    assert write(outbox, log, told)
    outbox.close()
    kept = (tmp_path / "outbox.db").read_bytes()
    outbox = opened(tmp_path)
    keep(outbox, 2, [letter(n) for n in range(10, 16)])
    assert write(outbox, log, told)
    outbox.close()
    assert told == []
    (tmp_path / "outbox.db").write_bytes(kept)
    outbox = opened(tmp_path)
    keep(outbox, 2, [letter(n) for n in range(20, 29)])
    assert write(outbox, log, told)
    outbox.close()
    assert [AHEAD in said for said in told] == [True]
    assert [sign.split(":")[1] for sign in log.committed[9:]] == [f"{n} decode" for n in range(20, 29)]


@pytest.mark.kafka
@pytest.mark.slow
def test_letters_are_on_topics_of_a_broker(kafka: Brokers, tmp_path: Path) -> None:
    """A topic that is not there yet is waited for, and holds up no other."""
    name = uuid4().hex[:8]
    with kafka.admin() as admin:
        admin.create_topics([NewTopic(f"late-{name}", 1, 1)])
    outbox = opened(tmp_path)
    long = b"x" * (LONGEST + 7)
    keep(outbox, 5, [letter(1), letter(2, b"\x00\xff"), letter(3, long)], [late(4)])
    for round_ in range(2):
        told: list[str] = []
        way = LettersOut(Letters(kafka.servers, f"dead-{name}", f"late-{name}", ()), {}, told.append)
        with letters_out.ExitStack() as stack:
            way.start(outbox, stack)
            if round_ == 0:
                until = time.monotonic() + PATIENCE
                while (
                    not (told and read_committed(kafka.servers, f"late-{name}")) and time.monotonic() < until
                ):
                    time.sleep(0.05)
                with kafka.admin() as admin:
                    admin.create_topics([NewTopic(f"dead-{name}", 1, 1)])
            way.finish(lambda: False)
            keep(outbox, 6 + round_, [letter(10 + round_)], [late(10 + round_)])
            way.wake()
            way.finish(lambda: False)
        if round_ == 0:
            assert told[0].startswith("dead letters wait: ")
            assert NO_TOPIC in told[0]
            assert told[-1] == "dead letters go to their topic again"
        else:
            assert told == []
    outbox.close()
    dead = read_committed(kafka.servers, f"dead-{name}")
    assert [said["offset"] for _, said in dead] == ["1", "2", "3", "10", "11"]
    assert [value for value, _ in dead[:3]] == [b"{", b"\x00\xff", long[:LONGEST]]
    assert dead[0][1] == {
        "feed": "payment", "stage": "decode", "reason": "no JSON: \u00e9", "place": "inbox/1.jsonl",
        "offset": "1", "batch": "5",
    }  # fmt: skip
    assert dead[2][1]["bytes"] == str(len(long))
    events = read_committed(kafka.servers, f"late-{name}")
    assert [(value, said["id"], said["time"]) for value, said in events] == [
        (f'{{"payment_id": "p{n}"}}'.encode(), f"p{n}", f"1970-01-01T00:00:{n:02}Z") for n in (4, 10, 11)
    ]
    assert {said["stage"] for _, said in events} == {"late"}
