"""The watermark: by source partition, less the lateness, the least of the streams that some rule reads."""

from __future__ import annotations

import pytest

from cep.events import MAX_TIME, MIN_TIME
from cep.watermark import progress, watermark

LATENESS = {"a": 10, "b": 0, "unread": 0}


def test_it_trails_each_partition_by_its_streams_lateness() -> None:
    assert watermark(0, {("a", "p"): 100, ("b", "p"): 95}, LATENESS, ["a", "b"]) == 90
    assert watermark(0, {("a", "p"): 100, ("b", "p"): 85}, LATENESS, ["a", "b"]) == 85


def test_the_slowest_partition_decides() -> None:
    assert watermark(0, {("a", "0"): 100, ("a", "1"): 50}, LATENESS, ["a"]) == 40


def test_it_never_falls() -> None:
    assert watermark(70, {("a", "0"): 50}, LATENESS, ["a"]) == 70
    assert watermark(70, {("a", "0"): 50}, LATENESS, ["a"], forced=60) == 70


def test_a_stream_that_no_rule_reads_holds_nothing_back() -> None:
    assert watermark(0, {("b", "p"): 100, ("unread", "p"): 3}, LATENESS, ["b"]) == 100


def test_a_stream_that_never_delivered_holds_it_back() -> None:
    assert watermark(MIN_TIME, {("b", "p"): 100}, LATENESS, ["a", "b"]) == MIN_TIME
    assert watermark(MIN_TIME, {("b", "p"): 100}, LATENESS, ["a", "b"], silent=[("a", "")]) == 100


def test_a_silent_partition_holds_nothing_back() -> None:
    greatest = {("a", "0"): 100, ("a", "1"): 50}
    assert watermark(0, greatest, LATENESS, ["a"], silent=[("a", "1")]) == 90
    assert watermark(20, greatest, LATENESS, ["a"], silent=[("a", "0"), ("a", "1")]) == 20


def test_a_silent_partition_of_one_stream_excuses_no_other_stream() -> None:
    assert watermark(0, {("b", "p"): 100}, LATENESS, ["a", "b"], silent=[("b", "p")]) == 0


def test_drain_ends_time() -> None:
    assert watermark(5, {}, LATENESS, ["a"], drain=True) == MAX_TIME


@pytest.mark.parametrize("greatest", [MIN_TIME, MIN_TIME + 3])
def test_the_beginning_of_time_is_no_overflow(greatest: int) -> None:
    assert watermark(MIN_TIME, {("a", "p"): greatest}, LATENESS, ["a"]) == MIN_TIME


def test_progress_is_the_greatest_of_all_mappers() -> None:
    before = {("a", "0"): 7, ("a", "1"): 9}
    assert progress(before, [{("a", "0"): 8}, {("a", "0"): 5, ("b", "0"): 1}]) == {
        ("a", "0"): 8,
        ("a", "1"): 9,
        ("b", "0"): 1,
    }
