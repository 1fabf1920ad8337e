"""Signals at any moment of a job's life: sentences, the right exit code, no process left, and no alert lost.

CEP_SIGNALS=N adds N lives with random moments, signals and receivers to those that always run, and one
that ends between Java and the first batch; CEP_SEED draws others.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from random import Random
from typing import Any, Literal

import psutil
import pytest
from heard_signals import hear
from job_folder import PATIENCE, JobFolder, RunningJob, in_process
from rules_of_tests import in_files, pack, payments
from terminal import Terminal, terminal

pytestmark = pytest.mark.spark
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

SENTENCES = re.compile(
    r"(first start on|going on after batch|starting Spark; |batch \d+ \(|delivering what is left|"
    r"stopping (before the first batch|after this batch|without waiting for deliveries); again to stop now$|"
    r"stopping; again to stop now$|stopped after batch \d+: |the folder is closed after batch \d+: |"
    r"stopped before the first batch$|stopped within a batch, which will be run again at the next start$|"
    r"stopped$|to desk [\d,]+ of the alerts are not delivered yet; )"
)
UNREACHABLE = f'[receivers.desk]\nkind = "webhook"\nurl = "http://127.0.0.1:9/"\nsecret = "{SECRET}"\n'

Moment = Literal["Python", "launch", "Java", "batch", "commit", "delivery"]
MOMENTS: dict[Moment, Callable[[JobFolder, str, int], bool]] = {
    "Python": lambda _folder, _told, _begun: True,
    "launch": lambda _folder, told, _begun: "starting Spark" in told,
    "Java": lambda folder, _told, _begun: bool(folder.processes_of("java")),
    "batch": lambda folder, _told, begun: (folder.state.manifests / f"{begun}.json").exists(),
    "commit": lambda folder, _told, begun: (folder.state.checkpoint / "commits" / str(begun)).exists(),
    "delivery": lambda _folder, told, _begun: "stopped after batch" in told,
}
"""How far a life has come: by what it told, and the first batch that was not begun before it."""


@dataclass(frozen=True, slots=True)
class Life:
    """One start, ended by a signal `delay` seconds after a moment; `again` seconds before the second one."""

    moment: Moment
    delay: float
    number: signal.Signals
    to: Literal["command", "group", "all"] = "command"
    again: float | None = None
    arguments: tuple[str, ...] = ()


LIVES = [
    Life("launch", 0, signal.SIGINT, "group"),
    Life("batch", 0, signal.SIGINT, "group", again=0.6),
    Life("batch", 0, signal.SIGTERM, "all"),
    Life("delivery", 0, signal.SIGINT, "group", arguments=("--once",)),
]
FURTHER = Life("Java", 1.5, signal.SIGTERM)


def _random_lives(number: int) -> list[Life]:
    random = Random(int(os.environ.get("CEP_SEED", "12")))
    found = [FURTHER] * (number > 0)
    for _ in range(number):
        moment: Moment = random.choice(list(MOMENTS))
        found.append(
            Life(
                moment,
                random.uniform(0, 3) * random.random(),
                random.choice((signal.SIGINT, signal.SIGTERM, signal.SIGHUP)),
                random.choice(("command", "group", "all")),
                random.choice((None, None, random.uniform(0.5, 1.5))),
                ("--once",) if moment == "delivery" else (),
            )
        )
    return found


def _end(folder: JobFolder, life: Life) -> tuple[int, str]:
    """The exit code of a life, and what it told."""
    begun, before = len(list(folder.state.manifests.glob("*.json"))), len(folder.told)
    with folder.running(*life.arguments) as job:
        job.wait_for(lambda: MOMENTS[life.moment](folder, folder.told[before:], begun), life.moment)
        time.sleep(life.delay)  # when the signal comes is what is tried
        _send(job, life)
        if life.again is not None:
            time.sleep(life.again)
            _send(job, life)
        code = job.process.wait(PATIENCE)
        _wait_until(lambda: not folder.processes(), "every process ended")
        return code, folder.told[before:]


def _send(job: RunningJob, life: Life) -> None:
    match life.to:
        case "command":
            job.process.send_signal(life.number)
        case "group":
            os.killpg(job.process.pid, life.number)
        case "all":  # as a service manager does that knows every process of a service
            for process in job.folder.processes():
                with suppress(psutil.NoSuchProcess):  # some live for a moment only
                    process.send_signal(life.number)


def _wait_until(condition: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.02)


def test_no_signal_shows_more_than_sentences_or_loses_an_alert(
    tmp_path: Path, spark: Callable[..., Any]
) -> None:
    lives = [*LIVES, *_random_lives(int(os.environ.get("CEP_SIGNALS", "0")))]
    folder = JobFolder(tmp_path / "job", pack(), ("payment",), more=UNREACHABLE)
    (folder.root / "told.txt").touch()
    parts = in_files(list(payments(4, 1_000)), len(lives) + 1)
    paths = []
    for life, part in zip(lives, parts, strict=False):
        paths.append(folder.put("payment", part))
        code, told = _end(folder, life)
        assert code == 128 + life.number, (life, told)
        for line in told.splitlines():
            assert SENTENCES.match(line), (life, told)
        assert told.count("again to stop now") <= 1, (life, told)
        # between a moment and the signal the job may have gone on, so only some sentences are sure
        if life.moment == "delivery":
            assert "stopping without waiting for deliveries" in told
            assert "are not delivered yet" in told
        if life.moment == "launch" and life.delay == 0:
            assert told.endswith("stopping before the first batch; again to stop now\n")
        assert life.again is not None or not folder.state.lock_file.exists(), (life, told)
    paths += [folder.put("payment", part) for part in parts[len(lives) :]]
    folder.more = ""
    folder.describe()
    folder.once(spark, drain=True)
    expected = {alert["id"] for alert in in_process(folder, [[("payment", path)] for path in paths])}
    assert len(expected) > 30
    assert folder.ids() == expected
    assert len(folder.alerts()) == len(expected)


def test_a_job_on_a_terminal_shows_whole_alerts_and_ends_when_it_closes(tmp_path: Path) -> None:
    folder = JobFolder(tmp_path / "job", pack(), ("payment",), more='[receivers.desk]\nkind = "console"\n')
    parts = cycle(in_files(list(payments(5, 600)), 6))
    with terminal(100) as shown:
        process = _on(shown, folder)
        job = RunningJob(folder, process)
        try:
            for batch in range(3):
                folder.put("payment", next(parts))
                _wait_until(
                    lambda batch=batch: (
                        shown.read(),
                        (folder.state.checkpoint / "commits" / str(batch)).exists(),
                    )[1],  # type: ignore[misc]
                    f"batch {batch}",
                )
            _wait_until(lambda: _printed(shown) >= len(folder.alerts()) > 20, "every alert on the terminal")
            rules = {f"{alert['time']} {alert['severity']!s:<8} {alert['rule']}" for alert in folder.alerts()}
            for line in shown.read().lines():
                if " whale" in line or " probing" in line:
                    assert " ".join(line.split()[:3]) in {" ".join(one.split()) for one in rules}, line
                elif "batch" in line and "starting" not in line:
                    assert re.match(r"batch \d+ \(\d+\.\d\d s\)[;:] .*(alerts|clock)$", line), line
        except BaseException:
            job.kill()
            raise
    # the terminal is closed: whoever runs on it is hung up
    try:
        assert process.wait(PATIENCE) == 129
        _wait_until(lambda: not folder.processes(), "every process ended")
    finally:
        job.kill()


def _on(shown: Terminal, folder: JobFolder) -> subprocess.Popen[bytes]:
    """The job, as what a terminal belongs to."""
    script = (
        "import fcntl, os, sys, termios; os.setsid(); fcntl.ioctl(0, termios.TIOCSCTTY, 0); "
        "os.execv(sys.executable, [sys.executable, '-m', 'cep.cli.main', 'run', sys.argv[1]])"
    )
    return subprocess.Popen(
        [sys.executable, "-c", script, str(folder.description)],
        stdin=shown.slave, stdout=shown.slave, stderr=shown.slave,
        env={**folder.environment, "TERM": "xterm"}, preexec_fn=hear,
    )  # fmt: skip


def _printed(shown: Terminal) -> int:
    return sum(line.count(" whale") + line.count(" probing") for line in shown.read().lines())
