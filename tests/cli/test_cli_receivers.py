"""`cep receivers`: what a desk sees of its receivers, tries and resumes, with exit codes 0, 2 and 3."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from ports import free_port
from some_alerts import raised
from wayward_server import Answer, WaywardServer

from alerts.outbox import BatchRecord, Outbox
from alerts.routing import Route
from alerts.standing import Standing
from cep.cli.main import main

JOB = """\
[job]
name = "fraud"
packs = "packs/"
state = "state/"

[feeds.payment]
source = "files"
path = "inbox/*.jsonl"

[receivers.desk]
kind = "webhook"
url = "{url}"
secret = "${{DESK_SECRET}}"
rules = ["card_testing"]
severity = "high"

[receivers.archive]
kind = "file"
path = "alerts.jsonl"

[receivers.night]
kind = "email"
server = "localhost:{port}"
sender = "cep@desk.example"
to = ["night@desk.example"]
user = "cep"
password = "${{MAIL_PASSWORD}}"

[receivers.channel]
kind = "slack"
url = "${{SLACK_URL}}"

[receivers.screen]
kind = "console"
"""
SECRET = "whsec_" + "A" * 32


@pytest.fixture
def server() -> Iterator[WaywardServer]:
    with WaywardServer() as one:
        yield one


@pytest.fixture
def job(tmp_path: Path, server: WaywardServer, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DESK_SECRET", SECRET)
    monkeypatch.setenv("SLACK_URL", server.url.replace("hook", "services/hidden"))
    monkeypatch.delenv("MAIL_PASSWORD", raising=False)
    (tmp_path / "job.toml").write_text(JOB.format(url=server.url, port=free_port()))
    return tmp_path / "job.toml"


@pytest.fixture
def outbox(job: Path) -> Iterator[Outbox]:
    (job.parent / "state").mkdir()
    box = Outbox.open(f"sqlite:///{job.parent}/state/outbox.db", durable=False)
    box.record(BatchRecord(0, "d", {}), [raised(n) for n in range(3)], [Route("desk"), Route("night")])
    yield box
    box.close()


def test_a_list_says_how_receivers_stand(
    job: Path, outbox: Outbox, capsys: pytest.CaptureFixture[str]
) -> None:
    outbox.settle([], {
        "desk": Standing("open", "500: \x1b[31m", 10**18, 10**18 + 1),
        "night": Standing("paused", "nothing but failures for days, the last: refused", 10**18, 2**62),
    })  # fmt: skip
    assert main(["receivers", "list", "--job", str(job)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[:5] for line in lines[:6]] == [
        ["receiver", "kind", "state", "pending", "failed"],
        ["desk", "webhook", "half-open", "3", "0"],
        ["archive", "file", "closed", "0", "0"],
        ["night", "email", "paused", "3", "0"],
        ["channel", "slack", "closed", "0", "0"],
        ["screen", "console", "closed", "0", "0"],
    ]
    assert "127.0.0.1" in lines[1]
    assert lines[1].endswith("card_testing, high and worse")
    assert "${SLACK_URL}" in lines[4]
    assert lines[6] == "desk is half-open since 2001-09-09T01:46:40Z: 500: \\x1b[31m"
    assert lines[7].startswith("night is paused since 2001-09-09T01:46:40Z: nothing but failures")
    assert "hidden" not in "".join(lines)


def test_a_list_of_a_job_that_never_ran_has_no_counts(job: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["receivers", "list", "--job", str(job), "--format", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [(row["receiver"], row["pending"], row["state"]) for row in rows[:2]] == [
        ("desk", None, "closed"), ("archive", None, "closed"),
    ]  # fmt: skip
    assert rows[0]["rules"] == ["card_testing"]
    assert main(["receivers", "list", "--job", str(job)]) == 0
    assert capsys.readouterr().out.splitlines()[1].split()[3:5] == ["-", "-"]


def test_a_test_is_sent_and_marked(
    job: Path, server: WaywardServer, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without the secrets of the others."""
    assert main(["receivers", "test", "desk", "--job", str(job)]) == 0
    assert capsys.readouterr().out == "desk took the test: 204\n"
    (call,) = server.calls
    data = json.loads(call.body)["data"]
    assert (data["pack"], data["rule"], data["tags"]) == ("cep", "test", ["test"])
    assert "webhook-signature" in call.headers
    assert main(["receivers", "test", "archive", "--job", str(job)]) == 0
    assert json.loads((job.parent / "alerts.jsonl").read_text())["tags"] == ["test"]
    assert main(["receivers", "test", "screen", "--job", str(job)]) == 0
    assert "This is a test of the receiver screen" in capsys.readouterr().out
    assert not (job.parent / "state").exists()


@pytest.mark.parametrize("status", [500, 410])
def test_a_receiver_that_does_not_take_it_is_exit_code_3(
    job: Path, server: WaywardServer, capsys: pytest.CaptureFixture[str], status: int
) -> None:
    server.behave = lambda _: Answer(status, body=b"no services/hidden here")
    assert main(["receivers", "test", "channel", "--job", str(job)]) == 3
    said = capsys.readouterr()
    assert f"error: channel did not take the test: {status}" in said.err
    assert "help: " in said.err
    assert "hidden" not in said.err + said.out
    assert main(["receivers", "test", "channel", "--job", str(job), "--format", "json"]) == 3
    assert json.loads(capsys.readouterr().out)["outcome"] == ("gone" if status == 410 else "rejected")


def test_what_is_wrong_with_the_job_file_is_exit_code_2(
    job: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["receivers", "test", "night", "--job", str(job)]) == 2
    assert "CEP0708" in (text := capsys.readouterr().err)
    assert "MAIL_PASSWORD is not set" in text
    assert main(["receivers", "test", "dsk", "--job", str(job)]) == 2
    assert "did you mean `desk`?" in capsys.readouterr().err
    assert main(["receivers", "list", "--job", str(job.parent / "gone.toml")]) == 2
    monkeypatch.setenv("MAIL_PASSWORD", "hunter2")
    assert main(["receivers", "test", "night", "--job", str(job)]) == 3
    said = capsys.readouterr().err
    assert "refused" in said
    assert "hunter2" not in said


@pytest.mark.parametrize("words", [[], ["show"], ["test", "--job", "job.toml"], ["list"]])
def test_a_command_that_is_not_whole_is_exit_code_2(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["receivers", *words])
    assert caught.value.code == 2
    assert "help: " in capsys.readouterr().err


def test_resuming_ends_a_pause(job: Path, outbox: Outbox, capsys: pytest.CaptureFixture[str]) -> None:
    outbox.settle([], {"desk": Standing("paused", "it wants no more: 410 Gone", 1, None)})
    assert main(["receivers", "resume", "desk", "--job", str(job)]) == 0
    assert capsys.readouterr().out == "desk was paused; what waits is sent while the job runs: 3\n"
    assert outbox.standings() == {}
    assert main(["receivers", "resume", "desk", "--job", str(job), "--format", "json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said == {"receiver": "desk", "before": "closed", "pending": 3, "failed": 0}


def test_there_is_nothing_to_resume_without_an_outbox(job: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["receivers", "resume", "desk", "--job", str(job)]) == 3
    assert "CEP0805" in capsys.readouterr().err
