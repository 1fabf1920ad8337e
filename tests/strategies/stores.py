"""The databases that an outbox can lie in: a test that uses the fixture `store` is run with each of them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path

import pytest
from postgres import Server, postgres_server
from sqlalchemy import Engine, create_engine, text

__all__ = ["Schemas", "outbox_section", "outbox_url", "postgres_server", "schemas", "store"]

_KEPT = 8
"""Schemas that stay when another is made: no test has more at a time."""


class Schemas:
    """Places on a server for outboxes, each a schema of its own: made in a tenth of the time that a database
    takes."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._engine: Engine = create_engine(server.url(), isolation_level="AUTOCOMMIT")
        self._of_folder: OrderedDict[str, str] = OrderedDict()
        self._made = 0

    def url(self, folder: Path | str) -> str:
        """The address of the outbox that belongs to a folder."""
        name = self._of_folder.get(str(folder)) or self._make(str(folder))
        return self._server.url(options=f"&options=-csearch_path%3D{name}")

    def _make(self, folder: str) -> str:
        self._made += 1
        name = self._of_folder[folder] = f"outbox_{self._made}"
        with self._engine.connect() as connection:
            connection.execute(text(f"CREATE SCHEMA {name}"))
            if len(self._of_folder) > _KEPT:
                _, oldest = self._of_folder.popitem(last=False)
                connection.execute(text(f"DROP SCHEMA {oldest} CASCADE"))
        return name

    def close(self) -> None:
        """Give the connection back."""
        self._engine.dispose()


class _Chosen:
    """The database that tests run with now; None is SQLite."""

    schemas: Schemas | None = None


def outbox_url(folder: Path | str) -> str:
    """The address of the outbox that belongs to a folder, in the database that tests run with now."""
    return f"sqlite:///{folder}/outbox.db" if _Chosen.schemas is None else _Chosen.schemas.url(folder)


def outbox_section(folder: Path | str) -> str:
    """The section of job.toml for it; none where it is where a job has it by itself."""
    url = outbox_url(folder)
    return "" if url.startswith("sqlite") else f'[outbox]\nurl = "{url}"\n'


@pytest.fixture(scope="session")
def schemas(postgres_server: Server) -> Iterator[Schemas]:
    """Places for outboxes on PostgreSQL."""
    found = Schemas(postgres_server)
    yield found
    found.close()


@pytest.fixture(scope="module", params=["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def store(request: pytest.FixtureRequest) -> Iterator[str]:
    """Has `outbox_url` name one database, then the other; the name of the one."""
    name: str = request.param
    if name == "postgresql":
        _Chosen.schemas = request.getfixturevalue("schemas")
    yield name
    _Chosen.schemas = None
