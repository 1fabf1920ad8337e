"""A library is what a dict of queries and the reference would be, whatever happens to it."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import pytest
from effort import examples
from failing_disk import FailingDisk, PowerCut, UnsyncedDisk
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from life_model import (
    Change,
    Held,
    Oracle,
    do,
    document_lists,
    expected,
    programs,
    query_texts,
)
from percolator_trees import WHOLE_SCHEMA

from percolator.library import writer
from percolator.library.reader import Reader
from percolator.library.standing import NEVER, StandingQuery
from percolator.library.writer import Library

QUIET = settings(deadline=None, suppress_health_check=list(HealthCheck))


@contextmanager
def folder() -> Iterator[Path]:
    with TemporaryDirectory() as name, patch.object(writer, "MOST_IN_LOG", 6):
        yield Path(name) / "library"


def duel(data: st.DataObject, length: int) -> int:
    """One program; readers follow, fall behind, and go back to pins. How many pairs were judged."""
    texts = data.draw(query_texts)
    oracle = Oracle(data.draw(document_lists))
    chance = data.draw(st.randoms(use_true_random=False))
    held: Held = {}
    pins = []
    with folder() as path:
        library = Library.create(path, WHOLE_SCHEMA, disk=UnsyncedDisk(), kept=1000)
        reader = Reader.open(path)
        for change in data.draw(programs(texts, 40, length)):
            do(library, change, held)
            held = expected(held, change)
            if change == ("reopen",):
                library.close()
                library = Library.open(path, disk=UnsyncedDisk(), kept=1000)
            pins.append((library.pin, held))
            if chance.random() < 0.5:
                oracle.judge(library.queries, held)
            if chance.random() < 0.5:
                assert reader.refresh() == library.pin
                oracle.judge(reader.queries, held)
        library.close()
        for pin, then in chance.sample(pins, 3):
            assert reader.refresh(pin) == pin
            oracle.judge(reader.queries, then)
            oracle.judge(Reader.open(path, pin).queries, then)
    return oracle.pairs


def run_duels(count: int, length: int) -> int:
    """So many duels, of pairs (query, document) that both sides judged; how many."""
    pairs = 0

    @given(st.data())
    @settings(QUIET, max_examples=count)
    def duels(data: st.DataObject) -> None:
        nonlocal pairs
        pairs += duel(data, length)

    duels()
    return pairs


@pytest.mark.slow
def test_a_library_answers_as_the_reference_over_a_dict() -> None:
    count = examples(12)
    pairs = run_duels(count, 14)
    assert pairs > (100_000 if count >= 12 else 0)


def state(path: Path) -> Held:
    return {query.id: query for query in Reader.open(path).queries}


def crash(changes: list[Change], at: int, seed: int, path: Path) -> bool:
    """Runs a program whose power is cut at an operation; checks what is found; whether it was cut."""
    held: Held = {}
    after = held
    Library.create(path, WHOLE_SCHEMA, disk=UnsyncedDisk()).close()
    disk = FailingDisk(at, seed)
    library = None
    try:
        library = Library.open(path, disk=disk, kept=2)
        for change in changes:
            after = expected(held, change)
            do(library, change, held)
            if change == ("reopen",):
                library.close()
                library = Library.open(path, disk=disk, kept=2)
            held = after
    except PowerCut:
        pass
    if library is not None:
        library.close()
    if not disk.failed:
        return False
    disk.lose()
    found = state(path)
    assert found in (held, after), "what was before the change that was cut, or what is behind it"
    with Library.open(path, disk=UnsyncedDisk()) as again:
        assert {query.id: query for query in again.queries} == found
        for change in changes:
            do(again, change, found)
            found = expected(found, change)
        assert {query.id: query for query in again.queries} == found
    assert state(path) == found
    return True


QUERIES = ["a", "a b", "NOT c", '"a b"~2', "body:run*", "a NEAR/3 b"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "seed", [*range(4), *(pytest.param(seed, marks=pytest.mark.soak) for seed in range(4, 20))]
)
def test_a_power_cut_between_any_two_operations_loses_nothing_that_was_confirmed(seed: int) -> None:
    chance = random.Random(seed)
    changes: list[Change] = [
        ("add", some_query(chance)),
        ("add", some_query(chance)),
        ("compact", False),
        ("add", some_query(chance)),
        ("remove", "q1"),
        ("load", [some_query(chance) for _ in range(9)]),
        ("expire", 10),
        ("reopen",),
        ("compact", True),
    ]
    at = 0
    while True:
        with folder() as path:
            if not crash(changes, at, seed + at, path):
                break
        at += 1
    assert at > 60


def some_query(chance: random.Random) -> StandingQuery:
    """A query of one of a few ids."""
    return StandingQuery(
        f"q{chance.randrange(8)}", chance.choice(QUERIES), expires=chance.choice([NEVER, 10, 20])
    )


@given(st.data(), st.integers(0, 120), st.integers(0, 1000))
@settings(QUIET, max_examples=examples(25))
def test_a_power_cut_in_any_program_loses_nothing_that_was_confirmed(
    data: st.DataObject, at: int, seed: int
) -> None:
    with folder() as path:
        crash(data.draw(programs(QUERIES, 8, 8)), at, seed, path)


@given(st.data(), st.integers(0, 120), st.integers(0, 1000))
@settings(QUIET, max_examples=examples(40))
def test_a_disk_that_fails_once_leaves_the_library_as_it_says(
    data: st.DataObject, at: int, seed: int
) -> None:
    fail_once(data.draw(programs(QUERIES, 8, 8)), at, seed)


@pytest.mark.slow
def test_a_disk_may_fail_at_any_one_operation() -> None:
    """At each in turn, through a load that becomes a segment, changes in the log, compactions."""
    queries = [StandingQuery(f"q{number}", "a") for number in range(8)]
    changes: list[Change] = [
        ("load", queries), ("add", StandingQuery("q1", "b")), ("compact", False), ("remove", "q2"),
        ("compact", True), ("add", StandingQuery("q9", "c")),
    ]  # fmt: skip
    at = 0
    while fail_once(changes, at, at):
        at += 1
    assert at > 40


def fail_once(changes: Sequence[Change], at: int, seed: int) -> bool:
    """The change that meets the failure has not happened and the library goes on; or it wants to be opened
    anew. True if the disk came to fail."""
    with folder() as path:
        held: Held = {}
        Library.create(path, WHOLE_SCHEMA, disk=UnsyncedDisk()).close()
        disk = FailingDisk(at + 8, seed, cut=False)  # opening it alone is less than that
        library = Library.open(path, disk=disk)
        for change in changes:
            after = expected(held, change)
            try:
                do(library, change, held)
                held = after
            except OSError:
                if change[0] != "compact":  # whose result may be in place before old files are removed
                    assert {query.id: query for query in library.queries} in (held, after)
                if library._log.broken:
                    with pytest.raises(OSError, match="open the library anew"):
                        library.add(StandingQuery("probe", "a"))
                    library.close()
                    library = Library.open(path, disk=UnsyncedDisk())
                known = {query.id: query for query in library.queries}
                assert known in (held, after)
                held = known
        library.close()
        assert state(path) == held
        return disk.failed
