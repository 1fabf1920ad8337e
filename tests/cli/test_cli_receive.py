"""`cep receive` as a sender meets it, with the signatures of the published standardwebhooks package."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import httpx
import pytest
from cep_command import cep
from standardwebhooks.webhooks import Webhook

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
ALERT = {
    "id": "a1", "time": "2018-07-11T10:05:00Z", "severity": "high", "rule": "card_testing",
    "summary": "3 probes on c1", "suppressed": 0,
}  # fmt: skip


class Receiver:
    """A running `cep receive`."""

    def __init__(self, *options: object) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "cep.cli.main", "receive", "--secret", SECRET, "--listen", "127.0.0.1:0"]
            + [str(option) for option in options],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            # What a shell starts in the background ignores it, and so do that one's children.
            preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
        )
        assert self.process.stderr is not None
        self.url = self.process.stderr.readline().removeprefix("listening on ").strip()
        assert self.url.startswith("http://127.0.0.1:"), self.process.stderr.read()

    def send(self, id_: str, secret: str = SECRET) -> int:
        body = json.dumps({"specversion": "1.0", "id": id_, "data": ALERT})
        now = datetime.now(tz=UTC)
        headers = {
            "webhook-id": id_,
            "webhook-timestamp": str(int(now.timestamp())),
            "webhook-signature": Webhook(secret).sign(id_, now, body),
        }
        return httpx.post(self.url, content=body, headers=headers, timeout=30).status_code

    def end(self, with_signal: signal.Signals) -> tuple[int, str, str]:
        self.process.send_signal(with_signal)
        out, err = self.process.communicate(timeout=30)
        return self.process.returncode, out, err


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    return tmp_path / "kept.jsonl"


@pytest.fixture
def receiver(kept: Path) -> Iterator[Receiver]:
    running = Receiver("--output", kept)
    yield running
    running.process.kill()
    running.process.communicate()


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_it_prints_each_verified_alert_once_and_ends_when_told(
    receiver: Receiver, kept: Path, ending: signal.Signals
) -> None:
    assert receiver.send("a1") == 204
    assert receiver.send("a1") == 204
    assert receiver.send("a2", "whsec_" + "A" * 32) == 401
    code, out, err = receiver.end(ending)
    assert code == 128 + ending
    assert out == "2018-07-11T10:05:00Z high     card_testing 3 probes on c1\n"
    assert err == "1 401, 1 accepted, 1 repeated\n"
    assert [json.loads(line)["id"] for line in kept.read_text().splitlines()] == ["a1"]


def test_a_port_that_is_taken_is_the_outside_world(receiver: Receiver) -> None:
    told = cep("receive", "--secret", SECRET, "--listen", receiver.url.removeprefix("http://").strip("/"))
    assert told.code == 3
    assert "already in use" in told.err


@pytest.mark.parametrize("options", [["--secret", "short"], ["--secret", SECRET, "--listen", "8090"]])
def test_a_wrong_option_is_wrong_usage(options: list[str]) -> None:
    told = cep("receive", *options)
    assert told.code == 2
    assert told.err.startswith("error: --")
