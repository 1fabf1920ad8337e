"""A second source is a module of its own and one entry in a tuple: the program does the rest.

The log of `sqlite_log` has several partitions and offsets where files have names and bytes.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import sqlite_log
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from job_folder import JobFolder
from pyspark import cloudpickle
from rules_of_tests import pack, payments
from sqlite_log import Log, LogSection, append, forget

from cep.cli.main import main
from cep.config import load_job
from cep.config.shape import GivenFeeds, JobFile
from cep.decode.blocks import decoder
from cep.decode.formats import BY_NAME
from cep.errors import ConfigurationError, OutsideError
from cep.job.running import lifecycle
from cep.job.state_folder import extents, manifest
from cep.job.workers.share import share
from cep.sources import kinds
from cep.sources.source import Feed
from rules.packs import load_texts

Event = dict[str, object]
EVENTS = list(payments(3, 600))


@pytest.fixture(autouse=True)
def _known(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The log is a source that a job file can name."""
    with monkeypatch.context() as patched:
        patched.setattr(kinds, "SECTIONS", (*kinds.SECTIONS, LogSection))
        _shaped()
        yield
    _shaped()


def _shaped() -> None:
    for file in (JobFile, GivenFeeds):
        file.model_rebuild(force=True)


@pytest.fixture
def folder(tmp_path: Path) -> JobFolder:
    """A job whose one feed is a log, which is empty."""
    made = JobFolder(tmp_path / "job", pack(), ())
    feed = '[feeds.payment]\nsource = "log"\nlog = "payments.log"\n'
    made.description.write_text(made.description.read_text("utf-8") + feed, "utf-8")
    return made


def put(folder: JobFolder, events: Sequence[Event], partitions: int = 3) -> None:
    """Appends events to the log, those of a card to one partition."""
    for number in range(partitions):
        own = [one for one in events if int(str(one["card"])[1:]) % partitions == number]
        append(folder.root / "payments.log", number, [json.dumps(one).encode() for one in own])


def evaluated(out: Path, *arguments: object) -> list[dict[str, Any]]:
    assert main(["eval", *map(str, arguments), "--output", str(out), "--drain"]) == 0
    return [json.loads(line) for line in out.read_text("utf-8").splitlines()]


def of_a_file(folder: JobFolder) -> list[dict[str, Any]]:
    """The alerts that the same events raise as lines of a file."""
    file = folder.root / "all.jsonl"
    file.write_text("".join(json.dumps(one) + "\n" for one in EVENTS), "utf-8")
    found = evaluated(folder.root / "file.out", folder.root / "packs", "--events", f"payment={file}")
    assert len(found) > 50
    return found


@pytest.mark.slow
@pytest.mark.parametrize("in_batches", [True, False])
def test_eval_reads_a_log_as_it_reads_files(folder: JobFolder, *, in_batches: bool) -> None:
    put(folder, EVENTS)
    out = folder.root / "log.out"
    more = () if in_batches else (folder.root / "packs", "--feed", _option(folder))
    arguments = ("--job", folder.description) if in_batches else more
    assert evaluated(out, *arguments) == of_a_file(folder)


def _option(folder: JobFolder) -> str:
    return f'payment=source="log", log="{folder.root}/payments.log"'


@pytest.mark.slow
def test_a_partition_that_lags_behind_makes_no_event_late(
    folder: JobFolder, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_log, "AT_ONCE", 7)
    lines = [json.dumps(one).encode() for one in EVENTS]
    append(folder.root / "payments.log", 0, lines[300:])
    append(folder.root / "payments.log", 1, lines[:300])
    found = evaluated(folder.root / "log.out", folder.root / "packs", "--feed", _option(folder))
    assert found == of_a_file(folder)
    assert " 0 late" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("keys", "code", "span", "said", "help_"),
    [
        ('source = "log"\nlog = "a"\npath = "in/*.csv"', "CEP0741", "path",
         'source "log" has no option `path`',
         '`path` belongs to source "files"; source "log" has `log`, and every feed `format`'),
        ('source = "files"\npath = "in/*.csv"\nlog = "a"', "CEP0741", "log",
         'source "files" has no option `log`', '`log` belongs to source "log"; source "files" has `path`'),
        ('source = "log"\nlgo = "a"', "CEP0703", "lgo", "unknown key `lgo`", "did you mean `log`?"),
        ('source = "log"', "CEP0704", "payment", "`log` is missing in [feeds.payment]",
         'write `log = "payments.log"` there'),
        ('log = "a"', "CEP0704", "payment", "`source` is missing in [feeds.payment]",
         'write `source = "log"` there'),
        ('source = "lod"\nlog = "a"', "CEP0706", '"lod"', "or `http` or `log`, not `lod`",
         "did you mean `log`?"),
        ('source = "log"\nlog = "~/a"', "CEP0706", '"~/a"', "`~` is not replaced", "write the path itself"),
        ('source = "log"\nlog = "a"\nzone = 5', "CEP0705", "5", "`feeds.payment.zone` must be text",
         "zone = "),
    ],
)  # fmt: skip
def test_options_are_told_by_the_source_that_they_belong_to(
    folder: JobFolder, keys: str, code: str, span: str, said: str, help_: str
) -> None:
    head = folder.description.read_text("utf-8").partition("[feeds")[0]
    folder.description.write_text(f"{head}[feeds.payment]\n{keys}\n", "utf-8")
    (one,) = load_job(folder.description, {}).diagnostics
    assert (one.code, one.span and one.span.text) == (code, span)
    assert said in one.message
    assert help_ in one.help


@settings(deadline=None, max_examples=examples(30))
@given(st.lists(st.integers(0, 60), min_size=1, max_size=4), st.integers(1, 5), st.integers(1, 400))
def test_every_record_is_read_by_one_lane(
    tmp_path_factory: pytest.TempPathFactory, sizes: list[int], lanes: int, length: int
) -> None:
    file = tmp_path_factory.mktemp("log") / "payments.log"
    append(file, 99, [])
    for partition, size in enumerate(sizes):
        events = ({**EVENTS[n], "payment_id": f"{partition}-{n}"} for n in range(size))
        append(file, partition, (json.dumps(one).encode().ljust(length) for one in events))
    log = Log(str(file))
    feeds = {"payment": Feed("payment", log, BY_NAME)}
    using = decoder(load_texts([("p.rules", pack())]).need().stream("payment"))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("cep.job.workers.share._SMALLEST", 3_000)
        parts = [part for n in range(lanes) for _, part in share(log.listed("payment"), feeds, n, lanes)]
    read = [
        (block.events.partition, offset)
        for part in parts
        for block in log.read(part, using)
        for offset in block.events.table.column("@offset").to_pylist()
    ]
    assert sorted(read) == [(f"log/{p}", n) for p, size in enumerate(sizes) for n in range(size)]


def test_what_a_batch_reads_is_written_down_and_found_again(tmp_path: Path) -> None:
    append(tmp_path / "log", 0, [b"{}"] * 5)
    log = Log(str(tmp_path / "log"))
    pinned = [log.pin(one) for one in log.listed("payment")]
    checksum = extents.store(tmp_path, 7, pinned)
    assert json.loads((tmp_path / "7.files").read_text("utf-8"))["files"] == [["payment", "log/0", 0, 5, 10]]
    assert extents.load(tmp_path, {"payment": log}, 7, checksum) == tuple(pinned)


@pytest.fixture
def session(spark: Callable[..., Any]) -> Iterator[Callable[..., Any]]:
    """The shared session, whose workers are given the log's module, which they could not import."""
    cloudpickle.register_pickle_by_value(sqlite_log)
    yield spark
    cloudpickle.unregister_pickle_by_value(sqlite_log)


@pytest.mark.spark
def test_a_job_reads_a_log_pins_it_and_reads_it_again(
    folder: JobFolder, session: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    put(folder, EVENTS[:200])
    folder.once(session)
    put(folder, EVENTS[200:400])
    with monkeypatch.context() as patched:
        patched.setattr(manifest, "write", _crash_after(manifest.write))
        with pytest.raises(OutsideError, match="a crash"):
            folder.once(session)
    put(folder, EVENTS[400:], partitions=5)
    folder.once(session, drain=True)
    found = [{name: one for name, one in alert.items() if name != "batch"} for alert in folder.alerts()]
    assert found == of_a_file(folder)
    rows = {
        batch.name: json.loads(batch.read_text("utf-8"))["files"]
        for batch in folder.state.manifests.glob("*.files")
    }
    assert [row[:3] for row in rows["0.files"]] == [["payment", f"log/{n}", 0] for n in range(3)]
    assert {row[1] for name in rows for row in rows[name]} == {f"log/{n}" for n in range(5)}


@pytest.mark.spark
def test_what_retention_removed_stops_the_job_until_its_loss_is_accepted(
    folder: JobFolder, session: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    put(folder, EVENTS[:300])
    with monkeypatch.context() as patched:
        patched.setattr(manifest, "write", _crash_after(manifest.write))
        with pytest.raises(OutsideError, match="a crash"):
            folder.once(session)
    forget(folder.root / "payments.log", 1, 4)
    with pytest.raises(
        ConfigurationError, match="the partition log/1 of batch 0 has offsets from 4; 0 is gone"
    ):
        folder.once(session)
    accepted = frozenset({os.path.realpath("log/1")})
    told = folder.once(session, mode=lifecycle.Mode(once=True, accepted=accepted))
    assert "batch 0 goes without the partition log/1, which has offsets from 4; 0 is gone" in told
    with closing(sqlite3.connect(folder.outbox)) as database, database:
        rows = database.execute("select feed, file, stage, reason from dead_letters").fetchall()
    assert rows == [
        ("payment", "log/1", "lost", "the partition has offsets from 4; 0 is gone; its loss was accepted")
    ]


def _crash_after(real: Callable[..., None]) -> Callable[..., None]:
    def write(*arguments: object, **more: object) -> None:
        real(*arguments, **more)
        raise OutsideError("a crash", "none")

    return write
