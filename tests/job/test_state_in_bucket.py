"""A job whose state is in a bucket: whatever happens to it, its alerts are those of one in a folder."""

from __future__ import annotations

import json
import shutil
import signal
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import object_store
import pytest
from job_folder import PATIENCE, JobFolder, RunningJob, command, in_process
from object_store import SECRET, ObjectStore
from ports import free_port
from posting import TOKEN, by_http, until_taken
from rules_of_tests import in_files, pack, payments
from stores import Schemas

from alerts.outbox import Outbox
from cep.events import document_of
from cep.record.read import events_of

pytestmark = pytest.mark.spark
STOPPED = 128 + signal.SIGTERM
RETRIES = ("attempts.maximum", "retry.limit")
"""Settings without which Spark waits for some minutes for a store."""
NEWS = """pack news version "1"
stream article {
  url: string  title: text  seen_at: timestamp  id url  time seen_at  lateness 1 second
}
queries watchlist { from "watchlist.jsonl" }
rule watched { on article matching watchlist  emit query }
"""


QUERIES = """queries watchlist { from "watchlist.jsonl" }
stream note { id: string  text: text  at: timestamp  id id  time at  lateness 1 second }
rule noted { on note matching watchlist  emit query }
"""


@pytest.fixture
def folder(tmp_path: Path, s3: ObjectStore, schemas: Schemas) -> JobFolder:
    """A job that reads payments, with its state in the bucket and its outbox on PostgreSQL."""
    return _job(tmp_path, s3, schemas, pack(), "payment")


def _job(root: Path, s3: ObjectStore, schemas: Schemas, rules: str, stream: str) -> JobFolder:
    bucket = s3.bucket()
    return JobFolder(
        root / "job", rules, (stream,), server=schemas.url(root), bucket=bucket,
        more=object_store.section(bucket), environ={"S3_SECRET": SECRET},
    )  # fmt: skip


@contextmanager
def _elsewhere(folder: JobFolder, *arguments: str) -> Iterator[RunningJob]:
    """The job on another machine, which has nothing of it but the job file."""
    shutil.rmtree(folder.state.root, ignore_errors=True)
    with folder.running(*arguments) as job:
        yield job


def _rest(folder: JobFolder) -> str:
    """What a run on another machine tells that takes what is there, and ends time."""
    before = len(folder.told)
    with _elsewhere(folder, "--once", "--drain") as job:
        assert job.process.wait(PATIENCE) == 0, folder.told
    return folder.told[before:]


def _same(folder: JobFolder, paths: list[Path]) -> None:
    """The alerts are those of the engine in this process, once each."""
    _are(folder, in_process(folder, [[("payment", path)] for path in paths]))


def _are(folder: JobFolder, alerts: list[Any]) -> None:
    expected = {alert["id"]: alert for alert in alerts}
    found = folder.alerts()
    assert len(expected) > 20
    assert len(found) == len(expected)
    for alert in found:
        assert {k: v for k, v in alert.items() if k != "batch"} == expected[alert["id"]]
    assert "Traceback" not in folder.told


def test_killed_it_goes_on_elsewhere_with_what_the_bucket_has(
    tmp_path: Path, s3: ObjectStore, schemas: Schemas
) -> None:
    """Its query sets among that, since the packs' folder has none any more, and events that came by HTTP."""
    folder, port = _job(tmp_path, s3, schemas, pack() + QUERIES, "payment"), free_port()
    folder.more += by_http(("note",), port)
    folder.environ = {**folder.environ, "SHOP": TOKEN}
    folder.describe()
    (folder.root / "inbox" / "note").mkdir()
    watchlist = folder.root / "packs" / "watchlist.jsonl"
    watchlist.write_text('{"id": "q1", "query": "well"}', "utf-8")
    parts = in_files(list(payments(9, 3_000, 200)), 6)

    def put(number: int) -> list[tuple[str, Path]]:
        note = {"id": f"n{number}", "text": "all is well", "at": f"2026-01-05T08:{2 * number:02}:00Z"}
        until_taken(port, "note", [note])
        return [("payment", folder.put("payment", parts[number])), ("note", folder.put("note", [note]))]

    with folder.running() as job:
        paths = [*put(0), *put(1)]
        job.wait_for(folder.commits, "a batch")
        paths += [*put(2), *put(3)]
        job.wait_for(lambda: len(folder.commits()) > 2, "more batches")
        paths += [*put(4), *put(5)]
        job.kill()
    bucket = folder.bucket
    assert bucket is not None
    assert f"first start on {bucket.url}: pack desk" in folder.told
    assert {path.name for path in folder.state.root.iterdir()} <= {"lock", "logs", "queries", "scratch"}
    assert {
        "layout.json",
        "manifests/0.json",
        "checkpoint/commits/0",
        "received/note/0000000001.jsonl",
    } <= set(s3.names(bucket))
    expected = in_process(folder, [paths])
    watchlist.unlink()
    assert "going on after batch" in _rest(folder)
    assert "closed" in s3.names(bucket)
    assert sum(one["rule"] == "noted" for one in expected) == 6
    _are(folder, expected)
    outbox = Outbox.open(folder.outbox_url, create=False)
    for one in outbox.alerts():
        evidence = events_of(folder.state, one)
        assert evidence.missing == ""
        for taken in evidence.events:
            assert taken.event is not None
            assert taken.event.id in (taken.id, document_of(taken.id))
    outbox.close()


@pytest.mark.soak
def test_a_pack_is_deployed_from_another_machine_and_its_queries_are_found_on_a_third(
    tmp_path: Path, s3: ObjectStore, schemas: Schemas
) -> None:
    folder = _job(tmp_path, s3, schemas, NEWS, "article")
    watchlist, other = folder.root / "packs" / "watchlist.jsonl", folder.root / "other.toml"
    other.write_text(folder.description.read_text("utf-8").replace("state/", "other/"), "utf-8")

    def article(number: int) -> None:
        """One that both queries want, and a later one, after which its time is over."""
        titles = {f"u{number}": "acme and beta", f"after u{number}": "nothing"}
        folder.put(
            "article",
            [
                {"url": url, "title": title, "seen_at": f"2026-01-05T{9 + number:02}:{n:02}:00Z"}
                for n, (url, title) in enumerate(titles.items())
            ],
        )

    watchlist.write_text(json.dumps({"id": "q1", "query": "acme"}), "utf-8")
    article(0)
    with folder.running() as job:
        job.wait_for(lambda: folder.commits() and folder.alerts(), "the first hit")
        watchlist.write_text(json.dumps({"id": "q2", "query": "beta"}), "utf-8")
        deployed = command("deploy", watchlist.parent, "--job", other, environ=folder.environment)
        assert deployed.returncode == 0, deployed.stderr
        assert "runs since batch" in deployed.stdout
        article(1)
        job.wait_for(lambda: len(folder.alerts()) > 1, "the second hit")
        assert job.stop() == STOPPED
    refused = command("deploy", watchlist.parent, "--job", other, environ=folder.environment)
    assert refused.returncode == 3
    assert f"no job runs on the state folder {folder.bucket.url}" in refused.stderr  # type: ignore[union-attr]
    watchlist.unlink()
    article(2)
    _rest(folder)
    assert [(alert["events"]["article"][0], alert["emit"]["query"]) for alert in folder.alerts()] == [
        ("u0 q1", "q1"),
        ("u1 q2", "q2"),
        ("u2 q2", "q2"),
    ]


@pytest.mark.soak
def test_a_store_that_goes_away_ends_the_job_and_nothing_is_lost(folder: JobFolder, s3: ObjectStore) -> None:
    folder.more += "[spark.conf]\n" + "".join(f"spark.hadoop.fs.s3a.{name} = 1\n" for name in RETRIES)
    folder.describe()
    parts = in_files(list(payments(9, 2_000, 200)), 4)
    paths = [folder.put("payment", part) for part in parts[:2]]
    with folder.running() as job:
        job.wait_for(folder.commits, "a batch")
        assert not folder.logged
        s3.end()
        try:
            paths += [folder.put("payment", part) for part in parts[2:]]
            assert job.process.wait(PATIENCE) == 3, folder.told
            assert f"error[CEP0757]: the store of {folder.bucket.url} does not answer" in folder.told  # type: ignore[union-attr]
            before = len(folder.told)
            with folder.running() as again:
                assert again.process.wait(PATIENCE) == 2
            assert "does not answer" in folder.told[before:]
        finally:
            s3.begin()
    _rest(folder)
    _same(folder, paths)


@pytest.mark.soak
def test_a_store_that_is_away_for_a_while_is_waited_for(folder: JobFolder, s3: ObjectStore) -> None:
    parts = in_files(list(payments(9, 2_000, 200)), 4)
    paths = [folder.put("payment", part) for part in parts[:2]]
    with folder.running() as job:
        job.wait_for(folder.commits, "a batch")
        s3.end()
        paths += [folder.put("payment", part) for part in parts[2:]]
        time.sleep(20)  # longer than a command asks for
        s3.begin()
        job.wait_until_read()
        assert job.stop() == STOPPED, folder.told
    _rest(folder)
    _same(folder, paths)


@pytest.mark.soak
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
def test_a_standby_on_another_machine_takes_over(folder: JobFolder, number: signal.Signals) -> None:
    parts = in_files(list(payments(9, 3_000, 200)), 30)
    paths = [folder.put("payment", part) for part in parts[:10]]
    with ExitStack() as stack:
        leader = stack.enter_context(folder.running())
        leader.wait_for(folder.commits, "a batch")
        folder.describe()
        text = folder.description.read_text("utf-8")
        folder.description.write_text(text.replace('"state/"', '"other/"'), "utf-8")
        standby = stack.enter_context(folder.running("--standby"))
        standby.wait_for(lambda: "on standby" in folder.told, "the standby")
        paths += [folder.put("payment", part) for part in parts[10:20]]
        leader.wait_for(lambda: len(folder.commits()) > 2, "batches")
        leader.process.send_signal(number)
        begun = time.monotonic()
        paths += [folder.put("payment", part) for part in parts[20:]]
        standby.wait_for(lambda: "takes over the job from process" in folder.told, "the standby's turn")
        before = len(folder.commits())
        standby.wait_for(lambda: len(folder.commits()) > before, "a batch of the standby")
        print(f"{number.name}: the standby's first batch after {time.monotonic() - begun:.1f} s")
        if number == signal.SIGSTOP:
            leader.process.send_signal(signal.SIGCONT)
            assert leader.process.wait(60) == 3, folder.told
            assert "CEP0832" in folder.told
        standby.wait_until_read()
        assert standby.stop() == STOPPED, folder.told
    _rest(folder)
    _same(folder, paths)
