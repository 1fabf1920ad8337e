"""The search finds what dies, in few trials, and blames nobody for what is no fault of an event."""

from __future__ import annotations

import math
import os
import signal

import numpy as np
import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cep.errors import OutsideError
from cep.job.poison.search import SINGLE, Dies, Indices, blamed
from cep.job.poison.trial import CannotTellError, Death, tried

SEGMENT = Death("was ended by SIGSEGV")
KILLED = Death("was ended by SIGKILL", killed=True)


def counting(dies: Dies) -> tuple[Dies, list[int]]:
    tries: list[int] = []

    def counted(chosen: Indices) -> Death | None:
        tries.append(len(chosen))
        return dies(chosen)

    return counted, tries


@given(
    st.integers(1, 5_000).flatmap(
        lambda count: st.tuples(
            st.just(count), st.sets(st.integers(0, count - 1), max_size=min(count, SINGLE))
        )
    ),
    st.booleans(),
    st.sampled_from([SEGMENT, KILLED]),
)
def test_what_dies_by_itself_is_found_and_nothing_else(
    given_: tuple[int, set[int]], independent: bool, death: Death
) -> None:
    count, poison = given_
    dies, tries = counting(lambda chosen: death if poison & set(chosen.tolist()) else None)
    found = blamed(count, dies, independent=independent)
    assert found is not None
    assert [one.events.tolist() for one in found] == [[event] for event in sorted(poison)]
    assert len(tries) <= 1 + len(poison) * (math.ceil(math.log2(count + 1)) + 7)


@given(st.integers(2, 2_000), st.data())
def test_what_dies_only_after_another_is_found(count: int, data: st.DataObject) -> None:
    first = data.draw(st.integers(0, count - 2))
    second = data.draw(st.integers(first + 1, count - 1))
    both = {first, second}
    dies, _ = counting(lambda chosen: SEGMENT if both <= set(chosen.tolist()) else None)
    found = blamed(count, dies, independent=False)
    assert found is not None
    assert [one.events.tolist() for one in found] == [[second]]


@given(st.integers(1, 3_000), st.integers(1, 3_000))
def test_many_events_that_need_too_much_memory_together_are_not_to_blame(count: int, room: int) -> None:
    def dies(chosen: Indices) -> Death | None:
        return KILLED if len(chosen) > room else None

    assert blamed(count, dies, independent=True) in ([], None)
    assert blamed(count, dies, independent=False) in ([], None)


def test_what_dies_without_any_event_is_no_event_s_fault() -> None:
    assert blamed(10, lambda _: SEGMENT, independent=False) is None


@given(st.integers(1, 500), st.sets(st.integers(0, 200), max_size=6), st.sets(st.integers(0, 60), max_size=3))
def test_a_kill_from_outside_in_the_search_blames_nobody(
    count: int, poison: set[int], kills: set[int]
) -> None:
    """Some trials, whichever they are, end by somebody's hand: what is blamed is poison all the same."""
    tries = iter(range(100_000))

    def dies(chosen: Indices) -> Death | None:
        if next(tries) in kills:
            return KILLED
        return SEGMENT if poison & set(chosen.tolist()) else None

    for one in blamed(count, dies, independent=True) or ():
        assert set(one.events.tolist()) <= poison


@given(st.integers(SINGLE + 1, 5_000))
def test_where_everything_dies_the_search_ends_soon(count: int) -> None:
    dies, tries = counting(lambda chosen: SEGMENT if len(chosen) else None)
    found = blamed(count, dies, independent=True)
    assert found is not None
    assert np.concatenate([one.events for one in found]).tolist() == list(range(count))
    assert len(tries) < 40 * (math.log2(count) + 5)


def _ends(how: str) -> bytes:
    match how:
        case "segmentation fault":
            os.kill(os.getpid(), signal.SIGSEGV)
        case "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        case "exit":
            os._exit(3)
        case "exception":
            raise ValueError("no such\nvalue")
        case "interpreter":
            raise SystemExit(5)
        case "memory":
            raise MemoryError
        case "disk":
            raise OSError(28, "No space left on device")
        case "ours":
            raise OutsideError("a sentence")
    return b"x" * 1_000_000


@pytest.mark.parametrize(
    ("how", "death"),
    [
        ("segmentation fault", SEGMENT),
        ("killed", KILLED),
        ("exit", Death("ended with exit code 3")),
        ("exception", Death("raised ValueError: no such value")),
        ("interpreter", Death("ended with exit code 1")),
    ],
)
def test_a_trial_tells_how_its_child_ended(how: str, death: Death) -> None:
    assert tried(lambda: _ends(how)) == death


@pytest.mark.parametrize("how", ["memory", "disk", "ours"])
def test_what_is_no_event_s_fault_is_told_apart(how: str) -> None:
    with pytest.raises(CannotTellError):
        tried(lambda: _ends(how))


def test_a_child_whose_answer_cannot_be_told_does_not_go_on_in_its_parent_s_place() -> None:
    mine = os.getpid()
    assert tried(lambda: lambda: b"") == Death("ended with exit code 1")  # type: ignore[arg-type,return-value]
    assert os.getpid() == mine


def test_a_child_that_does_not_end_is_ended_and_blames_nobody() -> None:
    before = psutil.Process().children()
    with pytest.raises(CannotTellError, match="longer than 0 s"):
        tried(lambda: bytes(signal.pause() or 0), seconds=0.2)
    assert psutil.Process().children() == before


def test_a_trial_gives_back_what_its_child_made() -> None:
    assert tried(lambda: _ends("not at all")) == b"x" * 1_000_000
