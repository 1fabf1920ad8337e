"""The verbs of a desk at the port of a job: the same words and the same answers as over its outbox."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from cep_command import Outcome
from served import Client, port
from some_desk import SOME, TOKENS

from cep.cli.main import main

pytestmark = pytest.mark.usefixtures("store")

IDS = [one.id for one in SOME]


@dataclass
class Here:
    """The command in this process, in the job's folder."""

    client: Client
    capture: pytest.CaptureFixture[str]

    def cep(self, *words: str) -> Outcome:
        try:
            code = main(list(words))
        except SystemExit as ended:
            code = int(str(ended.code))
        return Outcome(code, *self.capture.readouterr())

    def over(self, *words: str) -> Outcome:
        return self.cep(*words, "--job", "job.toml")

    def at(self, *words: str, token: str | None = None) -> Outcome:
        more = ["--token-env", token] if token else []
        return self.cep(*words, "--url", f"http://127.0.0.1:{self.client.port}", *more)


@pytest.fixture
def here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Here]:
    with port(tmp_path) as client:
        monkeypatch.chdir(tmp_path)
        for name, secret in TOKENS.items():
            monkeypatch.setenv(name, secret)
        yield Here(client, capsys)


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        ("alerts", "list"), ("alerts", "list", "--limit", "2", "--format", "json"),
        ("alerts", "list", "--key", "card_id=c1", "--since", "1970-01-01T00:00:15Z"),
        ("alerts", "show", IDS[0]), ("alerts", "explain", IDS[0][:8]),
        ("alerts", "show", IDS[0], "--events"), ("alerts", "show", IDS[0], "--events", "--format", "json"),
        ("episodes", "list"), ("episodes", "list", "--state", "closed"), ("episodes", "show", IDS[1]),
        ("episodes", "precision"), ("silences", "list", "--all"), ("receivers", "list", "--format", "json"),
        ("deadletters", "list"), ("deadletters", "show", "1"), ("queries", "list"), ("queries", "try", "{}"),
        ("alerts", "show", "0" * 64), ("deadletters", "show", "x"),
    ],
    ids=" ".join,
)  # fmt: skip
def test_reading_says_the_same_as_over_the_outbox(here: Here, words: tuple[str, ...]) -> None:
    asked, read = here.at(*words), here.over(*words)
    if words[0] == "receivers":  # how long something waits goes by another clock
        rows = [[{k: v for k, v in one.items() if k != "oldest_seconds"} for one in json.loads(done.out)]
                for done in (asked, read)]  # fmt: skip
        assert rows[0] == rows[1]
    else:
        assert (asked.code, asked.out, asked.err) == (read.code, read.out, read.err)


@pytest.mark.slow
def test_a_desk_works_with_its_token(here: Here) -> None:
    refused = here.at("episodes", "acknowledge", IDS[0])
    assert (refused.code, "CEP0961" in refused.err) == (2, True)
    refused = here.at("episodes", "acknowledge", IDS[0], token="READ_TOKEN")
    assert (refused.code, "CEP0962" in refused.err) == (2, True)
    done = here.at("episodes", "close", IDS[0], IDS[2], "--verdict", "benign", token="DESK_TOKEN")
    assert done.out == f"{IDS[0][:12]} is closed, benign\n{IDS[2][:12]} is closed, benign\n"
    silence = ("silences", "add", "rule = large", "--for", "2 hours", "--why", "a test")
    added = here.at(*silence, token="DESK_TOKEN").out.strip()
    assert here.at("silences", "expire", added, token="DESK_TOKEN").out == f"{added} is taken back\n"
    assert here.at("receivers", "test", "desk", token="DESK_TOKEN").code == 0
    again = ("alerts", "redeliver", "--receiver", "night", "--rule", "card_testing")
    tried = here.at(*again, "--dry-run", token="DESK_TOKEN")
    assert tried.out == "alerts of the filter: 3; for night would be pending: 1\n"
    assert here.at(*again, token="DESK_TOKEN").out.endswith("are pending: 1\n")
    counted = here.at("deadletters", "replay", "--feed", "payment", "--dry-run", token="DESK_TOKEN")
    assert counted.out == ("can be read again: 1 of 2 dead letters\n1 not: each tells of a file\n")
    Path("right.jsonl").write_bytes(b'{"id": 1}\r\n')
    mended = here.at("deadletters", "replay", "1", "--with", "right.jsonl", token="DESK_TOKEN")
    assert mended.out == "the next batches read again: 1 of 1 dead letter\n"
    assert "ann had it read again, mended, " in here.at("deadletters", "show", "1").out
    acts = here.client.get("/audit", "DESK_TOKEN").value["acts"]
    assert {one["who"] for one in acts} == {"ann"}
    assert len(acts) == 6


def test_over_the_outbox_the_user_is_written_down(here: Here) -> None:
    done = here.over("episodes", "acknowledge", IDS[0], "--by", "ben")
    assert done.code == 0
    (act,) = here.client.get("/audit", "DESK_TOKEN").value["acts"]
    assert (act["who"], act["what"], act["details"]["episodes"]) == ("ben", "episode acknowledge", [IDS[0]])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("--url", "ftp://x"), 2, "--url is no address of a job"),
        (("--url", "http://x:99999"), 2, "--url is no address of a job"),
        (("--url", "http://127.0.0.1:1"), 3, "http://127.0.0.1:1 does not answer"),
        (("--url", "http://127.0.0.1:1", "--token-env", "GONE"), 2, "GONE is not set"),
        (("--job", "job.toml", "--token-env", "READ_TOKEN"), 2, "--token-env goes with --url"),
        ((), 2, "one of the arguments --job --url is required"),
        (("--job", "job.toml", "--url", "http://x"), 2, "not allowed with"),
    ],
)
def test_a_job_that_cannot_be_asked_is_told(here: Here, words: tuple[str, ...], code: int, said: str) -> None:
    done = here.cep("episodes", "list", *words)
    assert (done.code, said in done.err) == (code, True), done.err


def test_what_answers_and_is_no_job_is_told(here: Here) -> None:
    done = here.cep("alerts", "list", "--url", f"http://127.0.0.1:{here.client.port}/metrics")
    assert (done.code, "no job" in done.err or "CEP0966" in done.err) == (3, True), done.err


def test_by_is_for_the_outbox(here: Here) -> None:
    done = here.at("episodes", "acknowledge", IDS[0], "--by", "ben", token="DESK_TOKEN")
    assert (done.code, "--by goes with --job" in done.err) == (2, True)


def test_bytes_of_a_dead_letter_come_as_they_were(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    with port(tmp_path) as client:
        monkeypatch.chdir(tmp_path)
        for target in (("--url", f"http://127.0.0.1:{client.port}"), ("--job", "job.toml")):
            assert main(["deadletters", "show", "1", "--raw", *target]) == 0
            assert capfdbinary.readouterr().out == b'{"id": \xff'
