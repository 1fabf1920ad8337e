"""A server of PostgreSQL for tests: one for each process of pytest, and more for those that kill theirs."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

import database
import pytest
from database import Server

__all__ = ["Server", "need", "postgres_server", "running_server"]


def need() -> None:
    """Where the server's programs are missing the test is skipped, but not in continuous integration."""
    if why := database.lacking():
        assert "CEP_TOOLS" not in os.environ, why
        pytest.skip(why)


@contextmanager
def running_server() -> Iterator[Server]:
    """A new server, where there can be one."""
    need()
    with database.running_server() as server:
        yield server


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Server]:
    """The server that all tests of this process share."""
    with running_server() as server:
        yield server
