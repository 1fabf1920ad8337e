"""A dead letter that is replayed is read once, at its place of before: as if it had been right at once."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from job_folder import JobFolder, in_process
from rules_of_tests import BEGIN, OTHER, SECOND, pack, payments

from alerts.notation import timestamp
from alerts.outbox import Outbox
from cep.config import load_job
from cep.job.batches.heartbeat import HEARTBEAT
from cep.job.state_folder.deploy_requests import Request, new_id, submit
from cep.web.desk.acting import Actor
from cep.web.desk.dead_letters import LetterView, letters_page
from cep.web.desk.desk import JobDesk
from cep.web.desk.filters import Page
from cep.web.desk.letter_replays import replay_feed, replay_letters
from rules.packs import load_texts

pytestmark = pytest.mark.spark
Spark = Callable[..., Any]
ANN = Actor("ann", BEGIN)


@pytest.fixture
def folder(tmp_path: Path) -> JobFolder:
    return JobFolder(tmp_path / "job", pack(), ("payment",))


@contextmanager
def desk(folder: JobFolder) -> Iterator[JobDesk]:
    """The desk of a job that does not run here."""
    outbox = Outbox.open(f"sqlite:///{folder.outbox}", create=False)
    try:
        yield JobDesk(outbox, load_job(folder.description, {}).need(), os.environ)
    finally:
        outbox.close()


def letters(folder: JobFolder) -> dict[int, LetterView]:
    with desk(folder) as at:
        return {one.number: one for one in letters_page(at, None, Page(500)).dead_letters}


def replay(folder: JobFolder, *numbers: int, data: bytes | None = None) -> None:
    with desk(folder) as at:
        replay_letters(at, [str(one) for one in numbers], ANN, data=data)


def state(one: LetterView) -> tuple[object, ...]:
    assert one.replay is not None
    return one.replay.state, one.replay.batch, one.replay.successor


def whale(number: int, second: int, amount: object = 100.5) -> dict[str, object]:
    at = timestamp(BEGIN + second * SECOND)
    return {"payment_id": f"w{number}", "at": at, "card": "c1", "amount": amount}


def same(found: Sequence[dict[str, object]], expected: Sequence[dict[str, object]]) -> None:
    plain = [{k: v for k, v in one.items() if k not in ("batch", "revision")} for one in found]
    wanted = [{k: v for k, v in one.items() if k not in ("batch", "revision")} for one in expected]
    assert sorted(map(json.dumps, plain)) == sorted(map(json.dumps, wanted))


def test_mended_letters_are_events_once_at_their_place(folder: JobFolder, spark: Spark) -> None:
    """With ids that are places: the alerts are those of a file that was right at once."""
    folder.pack = pack().replace("id payment_id  ", "")
    (folder.root / "packs" / "pack.rules").write_text(folder.pack, "utf-8")
    right = [whale(n, n) for n in range(6)]
    wrong = [json.dumps(one).encode() for one in right]
    wrong[4] = wrong[4].replace(b'"c1"', b"0x1a")  # as long as what it should be
    path = folder.put("payment", wrong)
    folder.once(spark)
    (number,) = letters(folder)
    replay(folder, number, data=json.dumps(right[4]).encode())
    with desk(folder) as at, pytest.raises(Exception, match="waits to be read again already"):
        replay_letters(at, [str(number)], ANN)
    assert "read dead letters again: 1 became events" in folder.once(spark)
    assert state(letters(folder)[number]) == ("event", 1, None)
    before = folder.alerts()
    folder.commits()[-1].unlink()  # the batch is run again
    folder.once(spark, drain=True)
    assert folder.alerts()[: len(before)] == before
    path.write_bytes(b"".join(json.dumps(one).encode() + b"\n" for one in right))
    same(folder.alerts(), in_process(folder, [[("payment", path)]]))
    assert len(folder.alerts()) == 6
    with desk(folder) as at, pytest.raises(Exception, match="became an event"):
        replay_letters(at, [str(number)], ANN)


def test_a_schema_that_was_wrong_is_deployed_and_its_letters_are_replayed(
    folder: JobFolder, spark: Spark
) -> None:
    late = whale(9, 0, "much")
    folder.put("payment", [whale(1, 30), whale(2, 31, "101"), b"no JSON", late])
    folder.once(spark)
    assert len(letters(folder)) == 3
    replay(folder, *letters(folder))
    told = folder.once(spark)
    assert "batch 1 read dead letters again: 3 are dead letters again" in told
    again = {one.forebear: one for one in letters(folder).values() if one.forebear}
    assert {number: state(one)[0] for number, one in letters(folder).items() if one.replay} == dict.fromkeys(
        again, "refused"
    )
    assert all(state(letters(folder)[old])[2] == new.number for old, new in again.items())

    text = pack().replace("amount:     double", "amount:     string").replace("amount < 20", 'amount == "5"')
    text = text.replace("amount > 90", 'amount == "95"').replace("amount > 99", 'amount != ""')
    new = load_texts([("pack.rules", text)]).need()
    submit(folder.state, Request(new_id(), new.name, new.revision, new.files))
    folder.put("payment", [whale(3, 60, "1")])  # so that what was said at second 0 is late
    folder.once(spark)
    with desk(folder) as at:
        counted = replay_feed(at, "payment", ANN, dry_run=True)
        assert replay_feed(at, "payment", ANN, dry_run=False) == counted.__class__(
            6, 3, {"was read again": 3}, False
        )
    told = folder.once(spark)
    # all are late by now: the watermark is where the event at second 60 put it
    assert "read dead letters again: 2 are late events, 1 are dead letters again" in told
    assert {state(letters(folder)[one.number])[0] for one in again.values()} == {"late", "refused"}


def test_a_kill_with_replays_under_way_loses_and_doubles_none(spark: Spark, tmp_path: Path) -> None:
    folder = JobFolder(tmp_path / "job", pack(), ("payment",), trigger="50ms")
    wrong = [whale(n, n, "much") for n in range(40)]
    folder.put("payment", wrong)
    folder.once(spark)
    numbers = sorted(letters(folder))
    for number, one in zip(numbers, wrong, strict=True):
        replay(folder, number, data=json.dumps({**one, "amount": 100.5}).encode())
    with folder.running("--once") as job:
        while not list(folder.state.manifests.glob("*.letters")):
            assert job.process.poll() is None, folder.told
            time.sleep(0.01)
        job.kill()
    folder.once(spark, drain=True)
    assert {state(one)[0] for one in letters(folder).values()} == {"event"}
    assert len({alert["id"] for alert in folder.alerts()}) == len(folder.alerts()) == 40


def test_records_of_csv_take_their_columns_from_their_file(tmp_path: Path, spark: Spark) -> None:
    folder = JobFolder(tmp_path / "job", pack(), ("payment",))
    text = folder.description.read_text("utf-8").replace("*.jsonl", "*.csv")
    folder.description.write_text(text, "utf-8")
    inbox = folder.root / "inbox" / "payment"
    rows = [f"c1,{timestamp(BEGIN + n * SECOND)},w{n},much" for n in range(3)]
    for name in ("here", "gone"):
        (inbox / f"{name}.csv").write_text("\n".join(["card,at,payment_id,amount", *rows, ""]), "utf-8")
    folder.once(spark)
    (inbox / "gone.csv").unlink()
    for number, one in letters(folder).items():
        replay(folder, number, data=one.text.replace("much", '"100.5"').replace("w", one.file[-5]).encode())
    folder.once(spark, drain=True)
    found = {(Path(one.file).stem, state(one)[0]) for one in letters(folder).values() if one.replay}
    assert found == {("here", "event"), ("gone", "refused")}
    assert {one.reason for one in letters(folder).values() if one.forebear} == {
        "the file is missing, whose header names the columns"
    }
    assert len(folder.alerts()) == 3


def test_payments_go_on_beside_replays(folder: JobFolder, spark: Spark) -> None:
    """Letters are divided among the lanes, and a batch has both them and files."""
    events = list(payments(5, 200))
    broken = [json.dumps(one).encode()[:-1] for one in events[::4]]
    path = folder.put("payment", [*broken, *[one for n, one in enumerate(events) if n % 4]])
    folder.put("payment", [])
    folder.once(spark)
    assert len(letters(folder)) == 50
    for number, one in letters(folder).items():
        replay(folder, number, data=one.text.encode() + b"}")
    more = folder.put("payment", payments(6, 20))
    folder.once(spark, drain=True)
    states = [state(one)[0] for one in letters(folder).values()]
    assert set(states) <= {"event", "late"}
    assert states.count("late") > 0
    assert more.exists()
    assert path.exists()


@pytest.mark.soak
def test_a_letter_that_no_pack_reads_any_more_waits_and_keeps_nothing_awake(
    tmp_path: Path, spark: Spark
) -> None:
    folder = JobFolder(tmp_path / "job", pack(more=OTHER), ("payment", "other"), "100ms")
    folder.put("payment", [whale(1, 0)])
    folder.put("other", [b"no JSON"])
    folder.once(spark)
    (number,) = letters(folder)
    replay(folder, number)
    (folder.root / "packs" / "pack.rules").write_text(pack(), "utf-8")
    new = load_texts([("pack.rules", pack())]).need()
    submit(folder.state, Request(new_id(), new.name, new.revision, new.files))
    with folder.running() as job:
        job.wait_for(lambda: len(folder.commits()) > 2, "the batch of the deploy, and one after it")
        before = len(folder.commits())
        time.sleep(2 * HEARTBEAT)  # how many batches there are meanwhile is what is tried
        assert len(folder.commits()) - before <= 4
        assert job.stop() == 143, folder.told
    assert state(letters(folder)[number])[0] == "waits"
