"""The command for long runs compares what it says it compares."""

from __future__ import annotations

import os
from typing import Any

import long_duel
import pytest
from effort import examples
from long_duel import Duel

from percolator.library.collection import Collection
from percolator.matching.matcher import HitPairs


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, size in (("TEXTS", 60), ("DOCUMENTS", 168), ("IDS", 50), ("STATES", 5)):
        monkeypatch.setattr(long_duel, name, size)


@pytest.mark.slow
@pytest.mark.usefixtures("small")
def test_a_round_finds_no_difference_and_is_the_same_again() -> None:
    first, second = Duel(3, 4), Duel(3, 4)
    first.round(7)
    second.round(7)
    assert first.differences == 0
    assert first.pairs > 3000
    assert first.hits > first.highlighted > 200
    assert (first.pairs, first.hits, first.highlighted) == (second.pairs, second.hits, second.highlighted)


@pytest.mark.slow
@pytest.mark.usefixtures("small")
def test_a_hit_that_is_lost_and_a_highlight_that_is_wrong_are_reported(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    answer_columns, tell = Collection.match_batch, Collection.found_all

    def lossy(queries: Collection, *arguments: Any) -> HitPairs:
        found = answer_columns(queries, *arguments)
        return HitPairs(found.document[1:], found.query[1:])

    def shifted(queries: Collection, *arguments: Any, **options: Any) -> Any:
        return [
            one._replace(highlights={name: found[1:] for name, found in (one.highlights or {}).items()})
            for one in tell(queries, *arguments, **options)
        ]

    monkeypatch.setattr(Collection, "match_batch", lossy)
    monkeypatch.setattr(Collection, "found_all", shifted)
    duel = Duel(3, 4)
    duel.round(7)
    reported = capsys.readouterr().out
    assert reported.count("round 7: missed: ") >= 5
    assert "round 7: shown " in reported
    assert duel.differences == len(reported.splitlines())


@pytest.mark.soak
@pytest.mark.timeout(0)
def test_a_library_answers_as_the_reference_for_long() -> None:
    seed = int(os.environ.get("CEP_SEED", "1"))
    duel, number = Duel(seed, 10), 0
    while duel.pairs < examples(1_000_000):
        duel.round(number)
        number += 1
    print(f"seeds from {seed}: {duel.pairs:,} pairs, {duel.hits:,} hits, {duel.differences} differ")
    assert duel.differences == 0
