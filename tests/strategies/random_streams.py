"""Random streams: few keys, few values, many equal times, redeliveries, disorder; and cuts into batches."""

from __future__ import annotations

import random
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


@st.composite
def _values(draw: st.DrawFn, number: int) -> dict[str, Any]:
    return {
        "id_": f"{number}",
        "at": draw(st.sampled_from((0, 1, 2, 2, 3, 3, 4, 5, 5, 6, 8, 11))) * SECOND,
        "g": draw(st.sampled_from(("x", "x", "x", "x", "y", None))),
        "h": draw(st.sampled_from(("x", "x", "y", None))),
        "n": draw(st.sampled_from((1, 1, 2))),
        "k": draw(st.sampled_from("aaabbc")),
        "v": draw(st.sampled_from((0, 1, 1, 1, 2, 2, 2, 3, -1, 2**62, None))),
        "w": draw(st.sampled_from((0.0, 0.5, 0.5, 1.5, 1.5, 2.0, -2.5, 1e308, None))),
        "t": draw(st.sampled_from((None, "", "red car", "a red house", "Car, red!", "the car"))),
        **draw(random_values.drawn()),
    }


@st.composite
def arrivals(draw: st.DrawFn, most: int = 12) -> list[Arrival]:
    """Events in order of arrival.

    Most are behind what came before them by less than the lateness, some by more; some are redelivered.
    """
    timed: list[tuple[int, int, str, dict[str, Any]]] = []
    for number in range(draw(st.sampled_from((most, most, most - 2, most - 4, most // 2, 3, 0)))):
        values = draw(_values(number))
        stream = draw(st.sampled_from("eeeeef"))
        delay = draw(st.sampled_from((0, 0, 0, 0, 1, 2, 2, LATENESS + 3)))
        timed.append((values["at"] + delay * SECOND, number, stream, values))
        if draw(st.integers(0, 7)) == 0:
            again = draw(st.sampled_from((0, 0, 1, 2, LATENESS)))
            timed.append((values["at"] + (delay + again) * SECOND, number + most, stream, values))
    timed.sort(key=lambda item: item[:2])
    partitions = draw(st.sampled_from((("0",), ("0", "0", "0", "1"))))
    return [
        Arrival(
            stream,
            draw(st.sampled_from(partitions)),
            draw(st.sampled_from(("one", "one", "two"))),
            values,
        )
        for _, _, stream, values in timed
    ]


@st.composite
def cuts(draw: st.DrawFn, length: int) -> list[int]:
    """Where batches end, in order; a batch may be empty."""
    return sorted(draw(st.lists(st.integers(0, length), min_size=1, max_size=5)))


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
