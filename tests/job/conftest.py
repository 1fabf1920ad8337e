"""One Spark session for all tests that need not start their own."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import pytest
from damaging import BATCHES, EVENTS, Alerts, restore
from job_folder import JobFolder
from quick_start import make_archive
from rules_of_tests import in_files, pack, payments

from cep.job.spark import session
from cep.job.spark.class_archive import VARIABLE
from cep.job.state_folder.folder import StateFolder

Opener = Callable[..., AbstractContextManager[Any]]


QUICK_JAVA = "-XX:TieredStopAtLevel=1"
"""Of the two compilers of the JVM the quick one alone: jobs of tests end before the other's work pays."""


@pytest.fixture(scope="session", autouse=True)
def _archive(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> None:
    """No job of a test uses the archive of classes that this user happens to have: there is one for tests."""
    os.environ[VARIABLE] = ""
    os.environ.setdefault("JDK_JAVA_OPTIONS", QUICK_JAVA)
    cache = getattr(request.config, "cache", None)  # without it jobs start as they do the first time
    if cache and any(item.get_closest_marker("spark") for item in request.session.items):
        folder = cache.mkdir("classes")
        make_archive(folder, tmp_path_factory.mktemp("classes"))
        os.environ[VARIABLE] = str(folder)


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Opener]:
    """Opens the shared session, wherever a job would open its own."""
    folder = StateFolder(tmp_path_factory.mktemp("session"))
    folder.make()
    log = os.open(folder.logs / "spark.log", os.O_RDWR | os.O_CREAT | os.O_APPEND)
    try:
        with session.running(folder, 2, 2, log, os.environ) as opened:
            yield lambda *_: nullcontext(opened)
    finally:
        os.close(log)


@pytest.fixture(scope="session")
def made(spark: Opener, tmp_path_factory: pytest.TempPathFactory) -> tuple[JobFolder, Path]:
    """A job after its batches, and a copy of its folder: for tests that damage it."""
    root = tmp_path_factory.mktemp("damage")
    folder = JobFolder(root / "job", pack(), ("payment",))
    for part in in_files(list(payments(8, EVENTS)), BATCHES):
        folder.put("payment", part)
        folder.once(spark)
    shutil.copytree(folder.root, root / "whole")
    assert len(folder.commits()) == BATCHES
    assert {alert["batch"] for alert in folder.alerts()} == set(range(BATCHES))
    return folder, root / "whole"


@pytest.fixture
def folder(made: tuple[JobFolder, Path]) -> JobFolder:
    """The job as it was."""
    restore(made)
    return made[0]


@pytest.fixture
def expected(folder: JobFolder) -> Alerts:
    """The alerts that the whole job raises."""
    return folder.alerts()
