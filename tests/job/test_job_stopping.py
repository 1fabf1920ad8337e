"""The first request to stop spares the batch that runs, the second one spares nothing."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from typing import get_args

import pytest

from cep.job.running.stopping import Stage, Stop


@pytest.fixture
def java() -> Iterator[subprocess.Popen[bytes]]:
    """A process of its own group that waits, as Java does, for the end of its standard input."""
    process = subprocess.Popen(
        [sys.executable, "-c", "import sys; sys.stdin.read()"],
        stdin=subprocess.PIPE,
        start_new_session=True,
    )
    yield process
    process.kill()
    process.communicate()


def _stop(stage: Stage, java: subprocess.Popen[bytes]) -> tuple[Stop, list[str]]:
    told: list[str] = []
    stop = Stop(told.append, lambda: 5)
    stop.stage = lambda: stage
    stop.java(java)
    return stop, told


@pytest.mark.parametrize("stage", get_args(Stage))
def test_the_first_request_ends_java_only_before_a_batch(stage: Stage, java: subprocess.Popen[bytes]) -> None:
    stop, told = _stop(stage, java)
    assert (stop.is_set(), stop.since) == (False, None)
    stop.ask()
    assert (stop.is_set(), stop.since, stop.wait(0)) == (True, 5, True)
    assert stop.abandoned == (stage == "starting")
    if stop.abandoned:
        assert java.wait(60) == -9
    else:
        assert java.poll() is None
    (sentence,) = told
    assert sentence.startswith("stopping")
    assert sentence.endswith("; again to stop now")


@pytest.mark.parametrize("stage", get_args(Stage))
def test_the_second_request_ends_java_always(stage: Stage, java: subprocess.Popen[bytes]) -> None:
    stop, _ = _stop(stage, java)
    stop.ask()
    sentence = stop.now()
    assert java.wait(60) == -9
    assert sentence.startswith("stopped")
    assert ("run again at the next start" in sentence) == (stage == "within a batch")


def test_java_that_starts_too_late_is_ended(java: subprocess.Popen[bytes]) -> None:
    stop = Stop()
    stop.ask()
    stop.java(java)
    assert java.wait(60) == -9


def test_java_that_has_ended_is_left_alone(java: subprocess.Popen[bytes]) -> None:
    stop, _ = _stop("starting", java)
    java.communicate()
    stop.ask()
    assert java.returncode == 0
