"""An entry takes what its signature says; machine code never sees another array."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import pytest

from kernels.family import Family
from kernels.loader import compiled

SOURCE = """
from typing import Annotated, NamedTuple
import numpy as np
import numpy.typing as npt
from kernels.family import READ_ONLY

Ints = npt.NDArray[np.int64]

class Part(NamedTuple):
    kept: Annotated[Ints, READ_ONLY]
    sums: Ints

class Whole(NamedTuple):
    part: Part
    letters: npt.NDArray[np.uint8]
    size: int
    twice: bool

def add_up(whole: Whole, places: npt.NDArray[np.int32], offset: int) -> int:
    total = offset + whole.size
    for n in range(len(places)):
        total += whole.part.kept[places[n]] + whole.letters[n]
    whole.part.sums[0] = 2 * total if whole.twice else total
    return total
"""


class Part(NamedTuple):
    kept: object
    sums: object


class Whole(NamedTuple):
    part: object
    letters: object
    size: object
    twice: object


@pytest.fixture(scope="module")
def add_up() -> Callable[..., Any]:
    module = ModuleType("whole_and_part")
    sys.modules[module.__name__] = module
    exec(SOURCE, vars(module))
    return compiled(Family("sums", (module,), ("add_up",)), None)["add_up"]


def longs(*shape: int) -> np.ndarray[Any, Any]:
    return np.ones(shape or (3,), np.int64)


def whole(**other: object) -> Whole:
    """Right arguments but for others by name."""
    given = {"kept": longs(), "sums": longs(), "letters": np.ones(3, np.uint8), "size": 1} | other
    return Whole(Part(given["kept"], given["sums"]), given["letters"], given["size"], True)


def read_only(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    array.flags.writeable = False
    return array


def unaligned() -> np.ndarray[Any, Any]:
    return np.zeros(25, np.uint8)[1:].view(np.int64)


PLACES = np.arange(3, dtype=np.int32)


RIGHT = (longs(), read_only(longs()), longs(6)[3:], np.ones(3, np.longlong), longs(3, 1)[:, 0])


@pytest.mark.slow
@pytest.mark.parametrize("kept", RIGHT)
@pytest.mark.parametrize("size", [1, np.int32(1), True])
def test_what_the_signature_says_is_taken(add_up: Callable[..., Any], kept: object, size: object) -> None:
    sums = longs()
    assert add_up(whole(kept=kept, sums=sums, size=size), PLACES, -2) == 5
    assert sums[0] == 10
    assert add_up(whole(kept=kept, size=size), PLACES[:0], 0) == 1


WRONG = (
    longs().astype(np.int32), longs().astype(np.uint64), longs().astype(np.float64), longs().astype(">i8"),
    np.zeros(3, "M8[ns]"), np.array([1, 2, 3], object), longs(6)[::2], longs(3, 3), longs(3, 3).T,
    np.zeros((), np.int64), longs(*[1] * 60), unaligned(), np.int64(1), [1, 2, 3], None, b"123",
)  # fmt: skip


@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: f"{type(wrong)} {getattr(wrong, 'dtype', '')}")
def test_another_array_is_refused(add_up: Callable[..., Any], wrong: object) -> None:
    with pytest.raises(TypeError, match=r"add_up: whole\.part\.kept is no contiguous array of int64"):
        add_up(whole(kept=wrong), PLACES, 0)
    with pytest.raises(
        TypeError, match=r"add_up: whole\.part\.sums is no writable contiguous array of int64"
    ):
        add_up(whole(sums=wrong), PLACES, 0)


def test_an_array_to_be_written_may_not_be_read_only(add_up: Callable[..., Any]) -> None:
    with pytest.raises(
        TypeError, match=r"add_up: whole\.part\.sums is no writable contiguous array of int64"
    ):
        add_up(whole(sums=read_only(longs())), PLACES, 0)
    with pytest.raises(TypeError, match="add_up: places is no writable contiguous array of int32"):
        add_up(whole(), read_only(PLACES.copy()), 0)


@pytest.mark.parametrize("given", [(), (whole(),), (whole(), PLACES), (whole(), PLACES, 0, 0)])
def test_another_number_of_arguments_is_refused(add_up: Callable[..., Any], given: tuple[Any, ...]) -> None:
    with pytest.raises(TypeError, match="add_up takes whole, places, offset"):
        add_up(*given)


@pytest.mark.parametrize("part", [None, [longs(), longs()], longs(), (), (longs(),), (longs(),) * 3])
def test_another_tuple_is_refused(add_up: Callable[..., Any], part: object) -> None:
    with pytest.raises(TypeError, match=r"add_up: whole\.part is no tuple of kept, sums"):
        add_up(whole()._replace(part=part), PLACES, 0)


@pytest.mark.parametrize("bad", [1.5, "12", None, np.float64(1), longs()])
def test_another_number_is_refused(add_up: Callable[..., Any], bad: object) -> None:
    with pytest.raises(TypeError):
        add_up(whole(size=bad), PLACES, 0)
    with pytest.raises(TypeError):
        add_up(whole(), PLACES, bad)


@pytest.mark.parametrize("bad", [2**63, -(2**63) - 1])
def test_a_number_of_more_than_64_bits_is_refused(add_up: Callable[..., Any], bad: int) -> None:
    with pytest.raises(OverflowError):
        add_up(whole(), PLACES, bad)


def test_no_reference_is_kept(add_up: Callable[..., Any]) -> None:
    kept, number = longs(), 10**6 + int(PLACES[1])
    given = whole(kept=kept)
    before = sys.getrefcount(kept), sys.getrefcount(given), sys.getrefcount(number)
    for _ in range(100):
        add_up(given, PLACES, number)
        with pytest.raises(TypeError):
            add_up(given, PLACES, None)
    assert (sys.getrefcount(kept), sys.getrefcount(given), sys.getrefcount(number)) == before
