"""A signal that asks a command to end: the exit code says which it was, and nobody reads a traceback."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from heard_signals import ENDING, hear

from cep.job.state_folder import deploy_requests, lock
from cep.job.state_folder.folder import StateFolder

PATIENCE = 60.0

PACK = """pack desk version "1"
stream payment { id: string  at: timestamp  amount: double  id id  time at }
rule whale { on payment[amount > 99] emit id }
"""

SUPERVISED = """
import sys, threading
from cep.cli.signals import Interrupted, exit_code, supervised

may_end = threading.Event()
moments = iter(map(float, sys.argv[2:]))

def work():
    print("working", flush=True)
    if sys.argv[1] == "stubborn":
        threading.Event().wait()
    sys.stdin.read(1)
    if sys.argv[1] == "failing":
        raise OSError("the work failed")
    return 7

def ask():
    print("asked", flush=True)

def end():
    print("ended", flush=True)

try:
    code = supervised(work, ask, end, lambda: next(moments))
except Interrupted as asked:
    code = exit_code(asked)
print("tidy", flush=True)
sys.exit(code)
"""
"""Ends when it is told on its standard input; then come moments of the clock, one for each signal."""


@contextmanager
def started(*command: object, ignored: tuple[signal.Signals, ...] = ()) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, *map(str, command)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=partial(hear, ignored),
    )  # fmt: skip
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def wait_for(condition: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.01)


def said(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def finish(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    out, err = process.communicate(".", timeout=PATIENCE)
    return process.returncode, out, err


@pytest.mark.parametrize("number", ENDING)
def test_work_that_was_asked_ends_by_itself(number: signal.Signals) -> None:
    with started("-c", SUPERVISED, "patient", 0) as process:
        assert said(process) == "working"
        process.send_signal(number)
        assert said(process) == "asked"
        assert finish(process) == (128 + number, "tidy\n", "")


def test_signals_within_half_a_second_are_one_request() -> None:
    with started("-c", SUPERVISED, "patient", 10, 10.4) as process:
        assert said(process) == "working"
        process.send_signal(signal.SIGHUP)
        assert said(process) == "asked"
        process.send_signal(signal.SIGHUP)
        assert finish(process) == (129, "tidy\n", "")


@pytest.mark.parametrize("number", ENDING)
def test_the_second_request_ends_what_does_not_end(number: signal.Signals) -> None:
    with started("-c", SUPERVISED, "stubborn", 10, 10.5) as process:
        assert said(process) == "working"
        process.send_signal(signal.SIGTERM)
        assert said(process) == "asked"
        process.send_signal(number)
        assert said(process) == "ended"
        assert process.wait(PATIENCE) == 128 + number


def test_what_is_ignored_stays_ignored() -> None:
    with started("-c", SUPERVISED, "patient", 0, ignored=(signal.SIGHUP, signal.SIGINT)) as process:
        assert said(process) == "working"
        process.send_signal(signal.SIGHUP)
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGTERM)
        assert said(process) == "asked"
        assert finish(process) == (143, "tidy\n", "")


AT_ONCE = """
import os, signal

put = signal.signal

def and_then_it_comes(number, handler):
    before = put(number, handler)
    signal.signal = put
    os.kill(os.getpid(), number)
    return before

signal.signal = and_then_it_comes
"""
"""A signal comes as soon as the first handler is in place."""


def test_a_signal_is_heard_while_the_handlers_are_put_in_place() -> None:
    with started("-c", AT_ONCE + SUPERVISED, "patient", 0) as process:
        code, out, err = finish(process)
        assert (code, "asked" in out, err) == (130, True, "")


def test_work_that_fails_is_told_also_when_it_was_asked() -> None:
    with started("-c", SUPERVISED, "failing", 0) as process:
        assert said(process) == "working"
        process.send_signal(signal.SIGTERM)
        assert said(process) == "asked"
        code, _, err = finish(process)
    assert code == 1
    assert err.endswith("OSError: the work failed\n")


def test_work_that_nobody_interrupts_returns() -> None:
    with started("-c", SUPERVISED, "patient") as process:
        assert finish(process) == (7, "working\ntidy\n", "")


@pytest.mark.slow
@pytest.mark.parametrize("number", ENDING)
def test_a_verb_that_reads_is_interrupted_where_it_stands(tmp_path: Path, number: signal.Signals) -> None:
    (tmp_path / "p.rules").write_text(PACK, "utf-8")
    events = tmp_path / "events.jsonl"
    os.mkfifo(events)

    def opened() -> bool:
        try:
            descriptors.append(os.open(events, os.O_WRONLY | os.O_NONBLOCK))
        except OSError as error:
            if error.errno != errno.ENXIO:
                raise
            return False  # nobody reads it yet
        return True

    descriptors: list[int] = []
    command = ["eval", tmp_path / "p.rules", "--events", f"payment={events}", "--output", "-"]
    with started("-m", "cep.cli.main", *command) as process:
        wait_for(opened, process)
        process.send_signal(number)
        assert finish(process) == (128 + number, "", "")
        os.close(descriptors[0])


UNTIDY = """
import time
from cep.cli.signals import interrupting

try:
    with interrupting():
        print("begun", flush=True)
        while True:
            time.sleep(0.1)
finally:
    print("tidying", flush=True)
    while True:
        time.sleep(0.1)
"""
"""It waits a little at a time: a call that blocks goes on when a signal comes just before it."""


def asked_twice(script: str, then: str, first: signal.Signals, second: signal.Signals) -> int:
    """The exit code of a script that gets a signal when it has begun, and one when it has said a word."""
    with started("-c", script) as process:
        assert said(process) == "begun"
        process.send_signal(first)
        assert said(process) == then
        process.send_signal(second)
        code = process.wait(PATIENCE)
        assert process.stderr is not None
        assert process.stderr.read() == ""
        return code


def test_the_second_signal_ends_what_tidies_up_for_too_long() -> None:
    assert asked_twice(UNTIDY, "tidying", signal.SIGTERM, signal.SIGINT) == 130


LEAVING = """
import os, sys, time
from cep.cli.signals import Interrupted, exit_code, interrupting

class Leaving:
    def __del__(self, write=os.write, sleep=time.sleep):
        write(1, b"leaving\\n")
        sleep(0.5)

code = 0
try:
    with interrupting():
        print("begun", flush=True)
        while True:
            time.sleep(0.1)
except Interrupted as asked:
    code = exit_code(asked)
sys.leaving = Leaving()
sys.exit(code)
"""
"""The interpreter has something to do when it takes its modules apart."""


def test_a_signal_as_the_interpreter_leaves_changes_no_exit_code() -> None:
    assert asked_twice(LEAVING, "leaving", signal.SIGINT, signal.SIGTERM) == 130


@pytest.mark.slow
@pytest.mark.parametrize("number", ENDING)
def test_a_deploy_that_waits_takes_its_pack_back(tmp_path: Path, number: signal.Signals) -> None:
    (tmp_path / "p.rules").write_text(PACK, "utf-8")
    (tmp_path / "inbox").mkdir()
    (tmp_path / "job.toml").write_text(
        '[job]\nname = "j"\npacks = "p.rules"\nstate = "state"\n'
        '[feeds.payment]\nsource = "files"\npath = "inbox/*.jsonl"\n',
        "utf-8",
    )
    folder = StateFolder(tmp_path / "state")
    folder.make()
    with (
        lock.held(folder),  # so that this process is the job, which never answers
        started(
            "-m", "cep.cli.main", "deploy", tmp_path / "p.rules", "--job", tmp_path / "job.toml"
        ) as process,
    ):
        wait_for(lambda: any(folder.requests.glob("*.json")), process)
        process.send_signal(number)
        code, out, err = finish(process)
        assert not any(folder.requests.glob("*.json"))
    assert (code, out) == (128 + number, "")
    assert err.startswith("not waiting any longer for pack desk, revision ")
    assert err.count("\n") == 1


def test_a_deploy_that_is_ended_as_it_hands_its_pack_over_takes_it_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = StateFolder(tmp_path / "state")
    folder.make()
    real = deploy_requests.submit

    def ended(*arguments: Any) -> None:
        real(*arguments)
        assert any(folder.requests.glob("*.json"))
        raise KeyboardInterrupt

    monkeypatch.setattr(deploy_requests, "submit", ended)
    with lock.held(folder), pytest.raises(KeyboardInterrupt):
        deploy_requests.hand_over(
            folder, deploy_requests.Request(deploy_requests.new_id(), "desk", "r", ()), 60
        )
    assert not any(folder.requests.glob("*.json"))
