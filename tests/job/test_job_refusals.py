"""A job refuses before it starts Spark, in a sentence with a fix, and with an exit code."""

from __future__ import annotations

import fcntl
import os
import resource
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from job_folder import JobFolder
from rules_of_tests import OTHER, pack

from cep.cli.main import main
from cep.errors import OutsideError
from cep.job.running import lifecycle


@pytest.fixture(autouse=True)
def _no_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        pytest.fail("Spark was started")

    monkeypatch.setattr(lifecycle.run, "__defaults__", (refuse,))


@pytest.fixture
def folder(tmp_path: Path) -> JobFolder:
    return JobFolder(tmp_path / "job", pack(), ("payment",))


def _refused(
    folder: JobFolder, capsys: pytest.CaptureFixture[str], code: int, said: str, *arguments: str
) -> None:
    assert main(["run", str(folder.description), *arguments]) == code
    told = capsys.readouterr().err
    assert said in told
    assert "Traceback" not in told


def test_no_java_names_the_package(
    folder: JobFolder, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    _refused(folder, capsys, 3, "apt-get install openjdk-17-jre-headless")


@pytest.mark.parametrize(
    ("release", "answer", "said"),
    [
        ('JAVA_VERSION="11.0.2"\n', "", "is Java 11"),
        (None, 'openjdk version "1.8.0_402"', "is Java 8"),
        (None, "a kettle", "does not say which Java it is"),
    ],
)
def test_a_java_that_will_not_do_is_named(
    folder: JobFolder, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path, release: str | None, answer: str, said: str,
) -> None:  # fmt: skip
    program = tmp_path / "java" / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\necho '{answer}' >&2\n")
    program.chmod(0o755)
    if release is not None:
        (tmp_path / "java" / "release").write_text(release)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "java"))
    _refused(folder, capsys, 3, said)


def test_a_java_home_without_java_is_named(
    folder: JobFolder, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "nowhere"))
    _refused(folder, capsys, 3, "JAVA_HOME names")


def test_a_busy_port_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        folder = JobFolder(
            tmp_path / "job", pack(), ("payment",), more=f'[http]\nlisten = "127.0.0.1:{port}"\n'
        )
        _refused(
            folder, capsys, 3, f"error[CEP0958]: the port {port} of 127.0.0.1 is taken by another program\n"
        )


def test_a_port_with_few_file_handles_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = JobFolder(tmp_path / "job", pack(), ("payment",), more='[http]\nlisten = "127.0.0.1:0"\n')
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "nowhere"))
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard))
    try:
        main(["run", str(folder.description)])
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    told = capsys.readouterr().err
    assert "warning[CEP0957]: this process may have 256 file handles, so that the job's port holds 32" in told
    assert 'listen = "127.0.0.1:0"' in told


@pytest.fixture
def second(folder: JobFolder) -> Iterator[None]:
    """Holds the folder as a running job does."""
    folder.state.make()
    folder.state.lock_file.write_text(str(os.getpid()))
    with (folder.state.logs / "spark.log").open("a") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield


@pytest.mark.usefixtures("second")
def test_a_second_job_on_one_folder_is_refused(folder: JobFolder, capsys: pytest.CaptureFixture[str]) -> None:
    _refused(folder, capsys, 2, f"process {os.getpid()} runs a job on the state folder")


def test_drain_without_once_is_refused(folder: JobFolder, capsys: pytest.CaptureFixture[str]) -> None:
    _refused(folder, capsys, 2, "--drain goes with --once", "--drain")


def _made_with(folder: JobFolder, **changes: object) -> None:
    folder.state.make()
    layout = {"format": 3, "shards": 4, "partitions": 2, "feeds": ["payment"]} | changes
    import json

    folder.state.layout_file.write_text(json.dumps(layout))


def _other_shards(folder: JobFolder) -> None:
    _made_with(folder, shards=8)


def _other_format(folder: JobFolder) -> None:
    _made_with(folder, format=99)


def _other_feeds(folder: JobFolder) -> None:
    _made_with(folder, feeds=["payment", "login"])


def _broken_layout(folder: JobFolder) -> None:
    folder.state.make()
    folder.state.layout_file.write_text("{")


def _no_layout(folder: JobFolder) -> None:
    folder.state.make()
    folder.state.checkpoint.mkdir()
    (folder.state.checkpoint / "metadata").write_text("{}")


def _no_outbox(folder: JobFolder) -> None:
    _made_with(folder)
    (folder.state.checkpoint / "offsets").mkdir(parents=True)


def _damaged_outbox(folder: JobFolder) -> None:
    _made_with(folder)
    (folder.state.root / "outbox.db").write_bytes(b"no database" * 1000)


def _a_file_within(folder: JobFolder) -> None:
    folder.state.root.mkdir()
    folder.state.manifests.write_text("")


def _a_file(folder: JobFolder) -> None:
    folder.state.root.write_text("")


@pytest.mark.parametrize(
    ("make", "code", "said"),
    [
        (_other_shards, 2, "was made with shards = 8, job.toml says 4"),
        (_other_format, 2, "has format 99, this program writes format 4"),
        (_other_feeds, 2, "was fed by `login`"),
        (_other_shards, 2, "error[CEP0722]"),
        (_broken_layout, 2, "is damaged: layout.json is no whole JSON"),
        (_no_layout, 2, "is damaged: layout.json is missing"),
        (_no_outbox, 2, "outbox.db is missing"),
        (_damaged_outbox, 3, "is damaged or is no database"),
        (_a_file_within, 2, "is a file where the state folder needs a folder"),
        (_a_file, 2, "is a file where the state folder needs a folder"),
    ],
)
def test_a_state_folder_that_cannot_be_used_is_told_so(
    folder: JobFolder,
    capsys: pytest.CaptureFixture[str],
    make: Callable[[JobFolder], None],
    code: int,
    said: str,
) -> None:
    make(folder)
    _refused(folder, capsys, code, said)


def test_a_loss_accepted_where_no_batch_is_open_is_told_before_spark_starts(
    folder: JobFolder, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_spark(*_: object) -> None:
        raise OutsideError("no Spark today", "wait")

    monkeypatch.setattr(lifecycle.run, "__defaults__", (no_spark,))
    _refused(folder, capsys, 3, "/a.jsonl: no batch is open", "--accept-loss", "a.jsonl")


def test_a_path_that_fits_no_file_is_told_at_its_line_before_spark_starts(
    folder: JobFolder, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_spark(*_: object) -> None:
        raise OutsideError("no Spark today", "wait")

    monkeypatch.setattr(lifecycle.run, "__defaults__", (no_spark,))
    text = folder.description.read_text("utf-8")
    assert '"inbox/payment/*.jsonl"' in text
    folder.description.write_text(text.replace("/*.jsonl", "/.*\\\\.jsonl"), "utf-8")
    for _ in range(2):
        assert main(["run", str(folder.description)]) == 3
        told = capsys.readouterr().err
        assert told.count("warning[CEP0740]: no file fits the path of feed `payment` yet") == 1, told
        assert f"--> {folder.description}:9:" in told
        assert "write `inbox/payment/*.jsonl`" in told


def test_a_closed_folder_stays_closed(folder: JobFolder, capsys: pytest.CaptureFixture[str]) -> None:
    from alerts.outbox import Outbox

    folder.state.make()
    Outbox.open(f"sqlite:///{folder.root}/state/outbox.db").close()
    folder.state.closed_file.write_text("{}")
    _refused(folder, capsys, 2, "was closed by --drain")


def test_a_pack_with_an_error_and_one_without_feed_are_diagnosed(
    folder: JobFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    rules = folder.root / "packs" / "pack.rules"
    rules.write_text(pack(big="amont > 3"))
    _refused(folder, capsys, 2, "CEP0202")
    rules.write_text(pack(more=OTHER))
    _refused(folder, capsys, 2, "CEP0711")


def test_a_feed_without_its_folder_is_diagnosed(
    folder: JobFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder.root / "inbox" / "payment").rmdir()
    _refused(folder, capsys, 2, "CEP0952")


def test_packs_that_declare_a_stream_differently_are_refused(
    folder: JobFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    second = pack().replace("pack desk", "pack second").replace("lateness 2", "lateness 3")
    (folder.root / "packs" / "second.rules").write_text(
        second.replace("probing", "p2").replace("whale", "w2")
    )
    _refused(folder, capsys, 2, "CEP0951")


MISTAKES: list[tuple[str, str, str, int]] = [
    # what is replaced in a good job.toml by what; the code, and the line that it is told at
    ('packs = "packs/"', 'packs = "pakcs/"', "CEP0720", 3),
    ('packs = "packs/"', 'packs = "inbox/"', "CEP0720", 3),
    ('packs = "packs/"', "packs = 5", "CEP0705", 3),
    ('packs = "packs/"', 'pack = "packs/"', "CEP0703", 3),
    ('state = "state/"', 'state = "job.toml"', "CEP0721", 4),
    ('state = "state/"', 'state = "inbox/payment/"', "CEP0721", 4),
    ('state = "state/"', 'state = "."', "CEP0721", 4),
    ('state = "state/"', 'state = "packs/"', "CEP0721", 4),
    ('state = "state/"', "", "CEP0704", 1),
    ("shards = 4", "shards = 0", "CEP0706", 6),
    ("[feeds.payment]", "[feeds.paymnt]", "CEP0710", 7),
    ("[feeds.payment]", "[feeds.wires]", "CEP0710", 7),
    ('path = "inbox/payment/*.jsonl"', 'path = "inbx/payment/*.jsonl"', "CEP0952", 9),
    ('path = "inbox/payment/*.jsonl"', 'path = "job.toml/*.jsonl"', "CEP0726", 9),
    ('path = "inbox/payment/*.jsonl"', 'path = "inbox/[a/*.jsonl"', "CEP0706", 9),
    ("", "constants = { amount = 'much' }\n", "CEP0713", 10),
    ("", "fields = { AMOUNT = 'amount' }\n", "CEP0712", 10),
    ("", "[outbox]\nurl = 'sqlite:///data/a.db'\n", "CEP0723", 11),
    ("", "[outbox]\nurl = 'sqlite:///inbox'\n", "CEP0723", 11),
    ("", "[outbox]\nurl = '${GONE}'\n", "CEP0708", 11),
    (
        "",
        "[receivers.desk]\nkind = 'webhook'\nurl = 'https://desk.example'\nsecret = '${GONE}'\n",
        "CEP0708",
        13,
    ),
    ("", "[http]\nlisten = '192.0.2.1:8090'\n", "CEP0724", 11),
    ("", "[spark]\ncores = 0\n", "CEP0706", 11),
    ("", "[spark]\ncore = 2\n", "CEP0703", 11),
    ("", "name: fraud\n", "CEP0702", 10),
]


@pytest.mark.parametrize(("old", "new", "code", "line"), MISTAKES)
def test_a_mistake_in_the_job_file_is_told_at_its_line_and_nothing_is_made(
    folder: JobFolder, capsys: pytest.CaptureFixture[str], old: str, new: str, code: str, line: int
) -> None:
    text = folder.description.read_text("utf-8")
    assert old in text
    folder.description.write_text(text.replace(old, new, 1) if old else text + new, "utf-8")
    before = _tree(folder)
    assert main(["run", str(folder.description)]) == 2
    told = capsys.readouterr().err
    assert told.count("error") == told.count(f"error[{code}]") == 1, told
    assert f"--> {folder.description}:{line}:" in told
    assert _tree(folder) == before
    assert main(["deploy", str(folder.root / "packs"), "--job", str(folder.description)]) in (2, 3)
    assert _tree(folder) == before


def _tree(folder: JobFolder) -> list[tuple[str, bytes]]:
    paths = sorted(folder.root.rglob("*"))
    return [(str(path), path.read_bytes() if path.is_file() else b"") for path in paths]


def test_packs_that_are_gone_before_the_first_batch_are_told_at_their_line(
    folder: JobFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    _made_with(folder)
    (folder.root / "packs" / "pack.rules").unlink()
    _refused(folder, capsys, 2, "error[CEP0720]: there is no *.rules file")


def test_mistakes_of_every_kind_are_told_at_once(
    folder: JobFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    text = folder.description.read_text("utf-8").replace("inbox/payment", "inbx/payment")
    folder.description.write_text(text + "[http]\nlisten = '192.0.2.1:1'\n", "utf-8")
    (folder.root / "packs" / "pack.rules").write_text(pack(big="amont > 3"), "utf-8")
    assert main(["run", str(folder.description)]) == 2
    told = capsys.readouterr().err
    assert [code for code in ("CEP0952", "CEP0724", "CEP0202") if f"error[{code}]" in told] == [
        "CEP0952", "CEP0724", "CEP0202"
    ]  # fmt: skip
    assert not folder.state.root.exists()


def test_what_a_job_gets_by_without_is_a_warning(
    folder: JobFolder, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: object) -> None:
        raise OutsideError("there is no Spark in this test", "run it without")

    monkeypatch.setattr(lifecycle.run, "__defaults__", (stop,))
    folder.more = (
        '[receivers.desk]\nkind = "console"\nrules = ["wale"]\n'
        '[receivers.chief]\nkind = "console"\nseverity = "critical"\n'
        '[feeds.wires]\nsource = "files"\npath = "inbox/*.jsonl"\n'
    )
    folder.describe()
    assert main(["run", str(folder.description)]) == 3
    told = capsys.readouterr().err
    for code, line, fix in (
        ("CEP0714", 12, "did you mean `whale`?"),
        ("CEP0718", 15, "write `high`, which rule `probing` has"),
        ("CEP0710", 16, "the only one is `payment`"),
    ):
        assert told.count(f"warning[{code}]") == 1
        assert f"--> {folder.description}:{line}:" in told
        assert fix in told


def test_a_deploy_without_a_job_says_how_to_start_one(
    folder: JobFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    rules = folder.root / "packs" / "pack.rules"
    assert main(["deploy", str(rules), "--job", str(folder.description)]) == 3
    assert "no job runs on the state folder" in capsys.readouterr().err
    folder.state.make()
    assert main(["deploy", str(rules), "--job", str(folder.description)]) == 3
    rules.write_text(pack(big="amont > 3"))
    assert main(["deploy", str(rules), "--job", str(folder.description)]) == 1
