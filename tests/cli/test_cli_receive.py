"""`cep receive` as a sender meets it, with the signatures of the published standardwebhooks package."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path

import httpx
import psutil
import pytest
from cep_command import cep
from heard_signals import ENDING, hear
from standardwebhooks.webhooks import Webhook

pytestmark = pytest.mark.slow  # each test starts a receiver as a process
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
ALERT = {
    "id": "a1", "time": "2018-07-11T10:05:00Z", "severity": "high", "rule": "card_testing",
    "summary": "3 probes on c1", "suppressed": 0,
}  # fmt: skip


class Receiver:
    """A running `cep receive`."""

    def __init__(self, *options: object, secret: tuple[str, ...] = ("--secret", SECRET)) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "cep.cli.main", "receive", *secret, "--listen", "127.0.0.1:0"]
            + [str(option) for option in options],
            env={**os.environ, "DESK_SECRET": SECRET},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=hear,
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
        return httpx.post(self.url, content=body, headers=headers, timeout=120).status_code

    def end(self, with_signal: signal.Signals) -> tuple[int, str, str]:
        self.process.send_signal(with_signal)
        out, err = self.process.communicate(timeout=120)
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


@pytest.mark.parametrize("ending", ENDING)
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


@contextmanager
def running(*options: object, secret: tuple[str, ...]) -> Iterator[Receiver]:
    one = Receiver(*options, secret=secret)
    try:
        yield one
    finally:
        one.process.kill()
        one.process.communicate()


@pytest.mark.parametrize(
    "secret",
    [
        ("--secret-env", "DESK_SECRET"),
        ("--secret-file", "{}"),
        ("--secret", "${{DESK_SECRET}}"),
        ("--secret", "file:{}"),
    ],
)
def test_a_secret_need_not_be_seen_by_other_users(tmp_path: Path, secret: tuple[str, str]) -> None:
    file = tmp_path / "desk.secret"
    file.write_text(SECRET + "\n")
    with running(secret=(secret[0], secret[1].format(file))) as one:
        assert one.send("a1") == 204
        assert one.send("a2", "whsec_" + "A" * 32) == 401
        assert SECRET not in " ".join(psutil.Process(one.process.pid).cmdline())


def test_secrets_of_several_places_all_hold(tmp_path: Path) -> None:
    other = "whsec_" + "B" * 32
    (tmp_path / "new.secret").write_text(other)
    secrets = ("--secret-env", "DESK_SECRET", "--secret-file", str(tmp_path / "new.secret"))
    with running(secret=secrets) as one:
        assert [one.send("a1"), one.send("a2", other)] == [204, 204]


@pytest.mark.parametrize(
    ("options", "message", "fix"),
    [
        ([], "a secret is missing", "--secret-env NAME"),
        (["--secret-env", "NO_SUCH"], "--secret-env: there is no environment variable NO_SUCH", "export it"),
        (["--secret-env", SECRET], "--secret-env: there is no environment variable\n", "export it"),
        (["--secret-file", "/no/such"], "--secret-file: there is no file /no/such", "make it, or correct"),
        (["--secret-file", "/"], "--secret-file: / is a folder", "name a file in it"),
        (["--secret", "${NO_SUCH}"], "--secret: the environment variable NO_SUCH is not set", "export"),
        (["--secret-env", "HOME"], "--secret-env: a webhook secret is whsec_", "that the sender signs with"),
    ],
)
def test_a_secret_that_is_not_there_is_wrong_usage(options: list[str], message: str, fix: str) -> None:
    told = cep("receive", *options)
    assert told.code == 2
    assert told.err.startswith(f"error: {message}")
    assert fix in told.err
    assert SECRET not in told.err


def test_when_nobody_reads_what_is_printed_it_ends_and_the_alert_comes_again() -> None:
    with running(secret=("--secret-env", "DESK_SECRET")) as one:
        assert one.process.stdout is not None
        one.process.stdout.close()
        assert one.send("a1") == 500
        assert one.process.wait(120) == 141
        assert one.process.stderr is not None
        assert one.process.stderr.read() == ""
        one.process.stdout = None


def test_clients_that_say_nothing_do_not_keep_alerts_out(receiver: Receiver) -> None:
    address = ("127.0.0.1", int(receiver.url.rstrip("/").rpartition(":")[2]))
    with ExitStack() as stack:
        for _ in range(400):
            held = stack.enter_context(socket.create_connection(address, timeout=120))
            held.sendall(b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\n1")
        assert receiver.send("a1") == 204
        code, out, err = receiver.end(signal.SIGTERM)
    assert (code, out.count("\n")) == (143, 1)
    assert "accepted" in err
    assert err.count("\n") == 1


def test_a_port_that_is_taken_is_the_outside_world(receiver: Receiver) -> None:
    told = cep("receive", "--secret", SECRET, "--listen", receiver.url.removeprefix("http://").strip("/"))
    assert told.code == 3
    assert "already in use" in told.err


@pytest.mark.parametrize("options", [["--secret", "short"], ["--secret", SECRET, "--listen", "8090"]])
def test_a_wrong_option_is_wrong_usage(options: list[str]) -> None:
    told = cep("receive", *options)
    assert told.code == 2
    assert told.err.startswith("error: --")
