"""One Spark session for all tests that need not start their own."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import pytest

from cep.job import session
from cep.job.class_archive import VARIABLE
from cep.job.folder import StateFolder

Opener = Callable[..., AbstractContextManager[Any]]


@pytest.fixture(scope="session", autouse=True)
def _no_archive() -> None:
    """No job of a test makes an archive of classes, nor uses one that this user happens to have."""
    os.environ[VARIABLE] = ""


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
