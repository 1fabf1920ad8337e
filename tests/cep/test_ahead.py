"""Places that are asked ahead answer in their order, so many at a time and no more."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cep.ahead import ahead


class _Asked:
    """Answers a number with its square, and counts; of `failing` it raises."""

    def __init__(self, failing: int | None = None) -> None:
        self._lock = threading.Lock()
        self._failing = failing
        self.now = self.most = self.times = 0

    def __call__(self, number: int) -> int:
        with self._lock:
            self.now += 1
            self.times += 1
            self.most = max(self.most, self.now)
        try:
            if number == self._failing:
                raise OSError(f"place {number}")
            return number * number
        finally:
            with self._lock:
                self.now -= 1


@given(st.lists(st.integers(0, 99), max_size=40), st.integers(1, 9))
def test_each_place_is_asked_once_and_answers_in_order(places: list[int], at_once: int) -> None:
    asked = _Asked()
    assert list(ahead(asked, iter(places), at_once)) == [(one, one * one) for one in places]
    assert asked.times == len(places)
    assert asked.most <= at_once


@pytest.mark.parametrize("at_once", [1, 3])
def test_an_error_comes_at_the_turn_of_its_place(at_once: int) -> None:
    found = ahead(_Asked(failing=5), range(9), at_once)
    assert [next(found)[0] for _ in range(5)] == [0, 1, 2, 3, 4]
    with pytest.raises(OSError, match="place 5"):
        next(found)


def test_as_many_are_asked_at_a_time_as_may_be() -> None:
    together = threading.Barrier(4)
    assert [one for one, _ in ahead(lambda _: together.wait(60), range(12), 4)] == list(range(12))


@pytest.mark.parametrize("at_once", [1, 4])
def test_who_stops_early_takes_no_more_places(at_once: int) -> None:
    taken = []

    def places() -> Iterator[int]:
        for one in range(100):
            taken.append(one)
            yield one

    with closing(ahead(_Asked(), places(), at_once)) as found:
        next(found)
    assert len(taken) == at_once
