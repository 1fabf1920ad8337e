"""Dead letters: kept whole, in order, in the caller's transaction or not at all."""

from __future__ import annotations

from dataclasses import astuple
from pathlib import Path

import pytest
from sqlalchemy import Connection, Engine, create_engine, select

from cep.decode import DeadLetter
from cep.job.state_folder.dead_letters import LateEvent, count, late_events, read, write


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    return create_engine(f"sqlite:///{tmp_path / 'outbox.db'}")


LETTERS = [
    DeadLetter("payment", "in.jsonl", 2**40, "decode", "not JSON", b"\x00\xff{"),
    DeadLetter("payment", "in.jsonl.gz", 7, "read", "the file is missing", b""),
    DeadLetter("login", "x.csv", 0, "decode", "`é` lacks \0 \ud800", b"a,b\n"),
]
LATE = [LateEvent("payment", "in.jsonl", 5, "p1", -(2**62), '{"a": 1}')]


def late(connection: Connection) -> list[tuple[object, ...]]:
    """The late events that are kept, each with its batch."""
    return [tuple(row)[1:] for row in connection.execute(select(late_events))]


def test_letters_come_back_as_they_went_in(engine: Engine) -> None:
    with engine.begin() as connection:
        write(connection, 3, LETTERS[:2], LATE)
        write(connection, 4, LETTERS[2:])
    with engine.connect() as connection:
        stored = read(connection)
        assert [s.letter for s in stored[:2]] == LETTERS[:2]
        assert stored[2].letter.reason == "`é` lacks \ufffd ?"
        assert [s.batch for s in stored] == [3, 3, 4]
        assert late(connection) == [(3, *astuple(LATE[0]))]
        assert (count(connection), count(connection, "payment")) == (3, 2)
        assert [s.letter for s in read(connection, feed="payment", after=stored[0].number)] == LETTERS[1:2]
        assert len(read(connection, limit=2)) == 2


def test_a_batch_that_fails_leaves_none(engine: Engine) -> None:
    with engine.begin() as connection:
        write(connection, 1, LETTERS[:1])

    def fails(connection: Connection) -> None:
        write(connection, 2, LETTERS, LATE)
        raise RuntimeError

    with pytest.raises(RuntimeError), engine.begin() as connection:
        fails(connection)
    with engine.connect() as connection:
        assert (count(connection), late(connection)) == (1, [])


def test_a_database_without_the_tables_has_none(engine: Engine) -> None:
    with engine.connect() as connection:
        assert (count(connection), read(connection)) == (0, [])


@pytest.mark.slow
def test_many_letters_are_one_transaction(engine: Engine) -> None:
    many = [DeadLetter("f", "x", i, "decode", "r", b"") for i in range(12_345)]
    with engine.begin() as connection:
        write(connection, 1, many)
    with engine.connect() as connection:
        assert count(connection) == len(many)
        assert [s.letter.offset for s in read(connection, limit=20_000)] == list(range(len(many)))
