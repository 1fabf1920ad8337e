"""The watermark: by source partition, less the lateness, the least of the streams that some rule reads."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import pytest

from cep.batch.clock import BatchStart, Partition, Seen, watermark_after
from cep.events import MAX_TIME, MIN_TIME
from cep.packs.compile import compile_plan
from cep.plan.plan import Plan
from rules.packs import load_texts

SECOND = 1_000_000_000
LATENESS = {"a": 10, "b": 0, "unread": 0}


@cache
def plan(*read: str) -> Plan:
    """A plan of which some rules read these streams."""
    streams = [
        f"stream {name} {{ n: long  at: timestamp  id n  time at  lateness {seconds} seconds }}"
        for name, seconds in LATENESS.items()
    ]
    rules = [f"rule of_{name} {{ on {name} emit n }}" for name in read]
    return compile_plan(
        [load_texts([("p.rules", "\n".join(['pack p version "1"', *streams, *rules]))]).need()]
    )


def watermark(before: int, seen: Mapping[Partition, int], *read: str, **start: Any) -> int:
    """The watermark in seconds after a batch that saw so much, or that comes after such batches."""
    seen = {partition: seconds * SECOND for partition, seconds in seen.items()}
    now, later = (
        watermark_after(BatchStart(3, before * SECOND, so_far, **start), plan(*read), in_batch)
        for so_far, in_batch in ((Seen(), Seen(seen)), (Seen(seen), Seen()))
    )
    assert now == later, "a batch that saw it, and one after it"
    return later // SECOND


def test_it_trails_each_partition_by_its_streams_lateness() -> None:
    assert watermark(0, {("a", "p"): 100, ("b", "p"): 95}, "a", "b") == 90
    assert watermark(0, {("a", "p"): 100, ("b", "p"): 85}, "a", "b") == 85


def test_the_slowest_partition_decides() -> None:
    assert watermark(0, {("a", "0"): 100, ("a", "1"): 50}, "a") == 40


def test_it_never_falls() -> None:
    assert watermark(70, {("a", "0"): 50}, "a") == 70
    assert watermark(70, {("a", "0"): 50}, "a", forced=60 * SECOND) == 70


def test_it_stands_where_it_is_forced_to() -> None:
    assert watermark(0, {("a", "0"): 50}, "a", forced=60 * SECOND) == 60


def test_a_stream_that_no_rule_reads_holds_nothing_back() -> None:
    assert watermark(0, {("b", "p"): 100, ("unread", "p"): 3}, "b") == 100


def test_a_stream_that_never_delivered_holds_it_back() -> None:
    assert watermark(0, {("b", "p"): 100}, "a", "b") == 0
    assert watermark(0, {("b", "p"): 100}, "a", "b", idle=[("a", "")]) == 100


def after(before: int, so_far: Seen, in_batch: Seen, *read: str, **start: Any) -> int:
    return watermark_after(BatchStart(3, before, so_far, **start), plan(*read), in_batch)


def test_an_idle_partition_holds_nothing_back_until_it_delivers() -> None:
    so_far = Seen({("a", "0"): 100 * SECOND, ("a", "1"): 50 * SECOND})
    assert after(0, so_far, Seen(), "a", idle=[("a", "1")]) == 90 * SECOND
    assert after(20 * SECOND, so_far, Seen(), "a", idle=[("a", "0"), ("a", "1")]) == 20 * SECOND
    again = Seen({("a", "1"): 60 * SECOND})
    assert after(20 * SECOND, so_far, again, "a", idle=[("a", "1")]) == 50 * SECOND


def test_an_idle_partition_of_one_stream_excuses_no_other_stream() -> None:
    assert after(0, Seen({("b", "p"): 100}), Seen(), "a", "b", idle=[("b", "p")]) == 0


def test_the_clock_paces_it_only_while_no_stream_that_is_read_delivers() -> None:
    so_far, idle = Seen({("b", "p"): 5}), [("b", "p")]
    assert after(5, so_far, Seen(), "b", idle=idle, paced=30) == 30
    assert after(5, so_far, Seen({("unread", "p"): 99}), "b", idle=idle, paced=30) == 30
    assert after(5, so_far, Seen({("b", "p"): 7}), "b", idle=idle, paced=30) == 7


def test_drain_ends_time() -> None:
    assert after(5, Seen(), Seen(), "a", drain=True) == MAX_TIME


@pytest.mark.parametrize("greatest", [MIN_TIME, MIN_TIME + 3])
def test_the_beginning_of_time_is_no_overflow(greatest: int) -> None:
    assert after(MIN_TIME, Seen({("a", "p"): greatest}), Seen(), "a") == MIN_TIME


def test_what_all_mappers_saw_is_the_greatest_of_each_partition_and_the_first_of_each_stream() -> None:
    before = Seen({("a", "0"): 7, ("a", "1"): 9}, {"a": 3})
    parts = [Seen({("a", "0"): 8}, {"a": 5}), Seen({("a", "0"): 5, ("b", "0"): 1}, {"a": 2, "b": 1})]
    assert before.joined(parts) == Seen({("a", "0"): 8, ("a", "1"): 9, ("b", "0"): 1}, {"a": 2, "b": 1})
    assert before == Seen({("a", "0"): 7, ("a", "1"): 9}, {"a": 3})
