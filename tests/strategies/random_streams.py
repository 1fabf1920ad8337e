"""Random streams: few keys, few values, many equal times, redeliveries, disorder; and cuts into batches."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import random_values
from hypothesis import strategies as st
from random_packs import LATENESS

SECOND = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Arrival:
    """An event as it comes in: from which source partition, in which file."""

    stream: str
    partition: str
    file: str
    values: dict[str, Any]

    @property
    def time(self) -> int:
        """Event time in nanoseconds."""
        time = self.values["at"]
        assert isinstance(time, int)
        return time


Pick = Callable[[Sequence[Any]], Any]
"""Chooses one of several, by Hypothesis or by a generator of random numbers."""


def _values(pick: Pick, number: int) -> dict[str, Any]:
    return {
        "id_": f"{number}",
        "at": pick((0, 1, 2, 2, 3, 3, 4, 5, 5, 6, 8, 11)) * SECOND,
        "g": pick(("x", "x", "x", "x", "y", None)),
        "h": pick(("x", "x", "y", None)),
        "n": pick((1, 1, 2)),
        "k": pick("aaabbc"),
        "v": pick((0, 1, 1, 1, 2, 2, 2, 3, -1, 2**62, None)),
        "w": pick((0.0, 0.5, 0.5, 1.5, 1.5, 2.0, -2.5, 1e308, None)),
        "t": pick((None, "", "red car", "a red house", "Car, red!", "the car")),
    }


def some_events(pick: Pick, nested: Callable[[], dict[str, Any]], most: int = 12) -> list[Arrival]:
    """Events in order of arrival; `nested` gives an event's decimals, lists and records.

    Most are behind what came before them by less than the lateness, some by more; some are redelivered.
    """
    timed: list[tuple[int, int, str, dict[str, Any]]] = []
    for number in range(pick((most, most, most - 2, most - 4, most // 2, 3, 0))):
        values = {**_values(pick, number), **nested()}
        stream = pick("eeeeef")
        delay = pick((0, 0, 0, 0, 1, 2, 2, LATENESS + 3))
        timed.append((values["at"] + delay * SECOND, number, stream, values))
        if pick(range(8)) == 0:
            again = pick((0, 0, 1, 2, LATENESS))
            timed.append((values["at"] + (delay + again) * SECOND, number + most, stream, values))
    timed.sort(key=lambda item: item[:2])
    partitions = pick((("0",), ("0", "0", "0", "1")))
    return [
        Arrival(stream, pick(partitions), pick(("one", "one", "two")), values)
        for _, _, stream, values in timed
    ]


def arrivals(most: int = 12) -> st.SearchStrategy[list[Arrival]]:
    """Events as `some_events` gives them, drawn by Hypothesis."""
    nested = random_values.drawn()
    return st.composite(
        lambda draw: some_events(lambda of: draw(st.sampled_from(of)), lambda: draw(nested), most)
    )()


def in_batches(pick: Pick, came: Sequence[Arrival]) -> tuple[tuple[Arrival, ...], ...]:
    """The events in two to six batches; one may be empty."""
    cuts = sorted(pick(range(len(came) + 1)) for _ in range(pick(range(1, 6))))
    return tuple(tuple(came[a:b]) for a, b in itertools.pairwise((0, *cuts, len(came))))


def long_stream(seed: int, events: int, keys: int, seconds: int) -> list[Arrival]:
    """Many events of many keys over so many seconds, in order of arrival, disordered within the lateness."""
    chance = random.Random(seed)
    timed = []
    for number in range(events):
        time = chance.randrange(seconds)
        values = {
            "id_": f"{number}",
            "at": time * SECOND,
            "g": f"key {chance.randrange(keys)}",
            "h": f"key {chance.randrange(keys)}",
            "n": chance.randrange(keys),
            "k": chance.choice("aaabbc"),
            "v": chance.choice((0, 1, 2, 3, None)),
            "w": chance.choice((0.0, 0.5, 1.5, 2.0, None)),
            "t": chance.choice((None, "red car", "a red house")),
            **random_values.values(chance),
        }
        stream = chance.choice("eeef")
        timed.append((time + chance.choice((0, 0, 1, LATENESS)), number, stream, values))
    timed.sort(key=lambda item: item[:2])
    return [Arrival(stream, chance.choice("01"), "one", values) for _, _, stream, values in timed]
