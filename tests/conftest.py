"""How all tests are collected."""

from __future__ import annotations

import gc
import os
from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from broker import Brokers
    from object_store import ObjectStore


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collects tests without the garbage collector: what is made then stays, and is never looked at again."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that share a broker go to one process, which starts it: an idle one takes time from others."""
    for item in items:
        if "kafka" in getattr(item, "fixturenames", ()) and not item.get_closest_marker("xdist_group"):
            item.add_marker(pytest.mark.xdist_group("kafka"))


@pytest.fixture(scope="session")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Brokers]:
    """A broker for all tests of a worker, each of which has topics and ids of its own there; with a second
    port for users with passwords.

    Where its jars are missing the test is skipped, but not in continuous integration.
    """
    from broker import Secured, brokers, lacking

    if why := lacking():
        assert "CEP_TOOLS" not in os.environ, why
        pytest.skip(why)
    with brokers(tmp_path_factory.mktemp("kafka"), secured=Secured()) as one:
        yield one


@pytest.fixture(scope="module")
def s3() -> Iterator[ObjectStore]:
    """A store that speaks S3's protocol for all tests of a file, each with a place of its own."""
    import object_store

    with object_store.running() as found:
        yield found
