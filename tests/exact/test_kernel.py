"""The kernel's accumulators read as sums of plain values do, in whatever order and by whatever panes."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cep.exact.kernel.layout import ADDED, BITS, CEILING, DOWN, HEAD, LEAST_EXPONENT, MOST_ADDED, SUM, UP
from cep.exact.kernel.packed import VERSION
from cep.exact.sums import Number, Sums, deviation_of, mean_of, total_of
from kernels import loader
from tests.exact.accumulators import KERNEL, MARGIN, Accumulator, Functions
from tests.exact.values import LARGEST, LEAST, MOST, UNIT, decimals, doubles, longs, powers, samples


@pytest.fixture(scope="module")
def compiled() -> Functions:
    return loader.load(KERNEL)


@pytest.fixture(scope="module", params=["compiled", "as it stands"])
def functions(request: pytest.FixtureRequest) -> Iterator[Functions]:
    if request.param == "compiled":
        yield loader.load(KERNEL)
        return
    with np.errstate(over="ignore"):
        yield KERNEL.interpreted()


def reads_as(found: Accumulator, values: Sequence[Number]) -> None:
    assert found.count == len(values)
    assert found.total() == total_of(values)
    assert found.mean() == mean_of(values)
    assert found.deviation() == deviation_of(values)
    less, again = Accumulator(found.functions, found.type_), Accumulator(found.functions, found.type_)
    less.put_packed(found.packed(), found.count, -1)
    again.put_packed(less.packed(), less.count, -1)
    assert (again.packed(), again.count) == (found.packed(), found.count)


@pytest.mark.slow
@given(values=samples)
@settings(max_examples=300)
def test_readings_are_those_of_plain_values(values: list[Number], compiled: Functions) -> None:
    reads_as(Accumulator.of(compiled, values), values)


@given(values=samples)
@settings(max_examples=30)
def test_the_kernel_runs_as_it_stands(values: list[Number]) -> None:
    with np.errstate(over="ignore"):
        reads_as(Accumulator.of(KERNEL.interpreted(), values), values)


@pytest.mark.parametrize(
    "values",
    [
        [-(2**63), -(2**63), -1], [-(2**63), -1], [-(2**63), -1, 1], [2**63 - 1, 1], [2**63 - 1, 1, -1],
        [2**63 - 1] * 3, [-(2**63)] * 2, [-(2**63)], [0], [1, -1],
        [MOST, UNIT], [MOST, UNIT, -UNIT], [MOST] * 4, [-MOST, -UNIT], [-MOST], [-UNIT, UNIT],
        [UNIT, 0 * UNIT], [-UNIT, 0 * UNIT], [UNIT, UNIT, -UNIT, 0 * UNIT], [MOST, -MOST, MOST],
        [2**62, 2**62], [2**62, 2**62, -1], [2**63 - 1, 2**63 - 1, 1],
    ],
)  # fmt: skip
def test_bounds_of_longs_and_decimals(values: list[Number], functions: Functions) -> None:
    reads_as(Accumulator.of(functions, values), values)


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize(
    "values",
    [
        [2.0**53, 1.0], [2.0**53 + 2, 1.0], [2.0**53, 1.0, LEAST], [2.0**53 + 2, 1.0, -LEAST],
        [1.0, 2.0**-53], [1.0, 2.0**-53, LEAST], [1.0, -(2.0**-54)], [1.0, -(2.0**-54), -LEAST],
        [LARGEST, math.ulp(LARGEST) / 2], [LARGEST, math.ulp(LARGEST) / 2, -LEAST], [LARGEST] * 3,
        [LARGEST, LARGEST, -LARGEST], [LARGEST, -LARGEST, LEAST], [LEAST, LEAST], [LEAST, -LEAST],
        [2.0**-1022, -LEAST], [2.0**-1022, LEAST], [1e300, 1e-300, -1e300], [-0.0, -0.0], [0.1] * 10,
        [2.0**1023, -(2.0**-1074)], [2.0**32, -1.0], [2.0**64, -(2.0**32)], [2.0**-1042, -LEAST],
        [2.0**-1011], [2.0**14, -LEAST], [2.0**13, -LEAST],
    ],
)  # fmt: skip
def test_ties_and_edges(values: list[float], sign: float, functions: Functions) -> None:
    values = [sign * value for value in values]
    found = Accumulator.of(functions, values)
    reads_as(found, values)
    assert math.copysign(1.0, float(found.total() or 0.0)) == (-1.0 if (found.total() or 0.0) < 0 else 1.0)


@pytest.mark.slow
@given(data=st.data(), kind=st.sampled_from([doubles, powers, longs, decimals]))
@settings(max_examples=150)
def test_equal_values_are_equal_state_however_they_came(
    data: st.DataObject, kind: st.SearchStrategy[Number], compiled: Functions
) -> None:
    """Values are added and taken away, panes merged, subtracted, cleared, packed: state depends on nothing
    but the values that are left."""
    type_ = type(data.draw(kind))
    panes = [Accumulator(compiled, type_) for _ in range(3)]
    held: list[Counter[Number]] = [Counter() for _ in panes]
    for step in data.draw(st.lists(st.sampled_from("aaattmscp"), max_size=30)):
        one, two = data.draw(st.permutations(range(3)))[:2]
        if step == "a":
            value = data.draw(kind)
            panes[one].put(value, 1)
            held[one][value] += 1
        elif step == "t" and held[one].total():
            value = data.draw(st.sampled_from(sorted(held[one].elements())))
            panes[one].put(value, -1)
            held[one][value] -= 1
        elif step == "m":
            panes[one].merge(panes[two], 1)
            held[one] += held[two]
        elif step == "s" and all(held[one][value] >= count for value, count in held[two].items()):
            panes[one].merge(panes[two], -1)
            held[one] -= held[two]
        elif step == "c":
            panes[one].clear()
            held[one].clear()
        elif step == "p":
            panes[one].put_packed(panes[two].packed(), panes[two].count, 1)
            held[one] += held[two]
    for pane, values in zip(panes, held, strict=True):
        left = sorted(values.elements())
        if left:
            assert pane.packed() == Accumulator.of(compiled, left).packed()
            reads_as(pane, left)
        else:
            assert pane.packed() == ((0,), (0,))


def exact(sums: np.ndarray, at: int) -> int:
    """The units that an accumulator's limbs are, carries propagated or not."""
    limbs = sums[at + HEAD : at + SUM].tolist()
    return sum(limb << BITS * place for place, limb in enumerate(limbs))


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("limb", [1, -1])
def test_no_limb_overflows_before_its_carry(limb: int, sign: int, functions: Functions) -> None:
    """The greatest limbs that so many deposits can make take one deposit more, or another such pane."""
    most = (MOST_ADDED + 1) * 2**BITS - 1
    pairs = []
    for of in (limb, limb * sign):
        pane = Accumulator(functions, float)
        pane.sums[MARGIN + HEAD : MARGIN + HEAD + 66] = of * most
        pane.sums[[MARGIN + DOWN, MARGIN + UP, MARGIN + ADDED]] = CEILING, 66, MOST_ADDED
        pairs.append(pane)
    one, two = pairs
    expected = exact(one.sums, MARGIN) + sign * exact(two.sums, MARGIN)
    one.merge(two, sign)
    assert exact(one.sums, MARGIN) == expected
    assert one.sums[MARGIN + ADDED] == 0
    value = limb * LARGEST
    two.put(value * sign, 1)
    assert two.sums[MARGIN + ADDED] == 0
    assert exact(two.sums, MARGIN) == sign * (
        limb * sum(most << BITS * place for place in range(66)) + int(Fraction(value) * 2**-LEAST_EXPONENT)
    )


@pytest.mark.slow
def test_a_million_doubles_of_all_sizes(compiled: Functions) -> None:
    random = np.random.default_rng(0)
    bits = random.integers(-(2**63), 2**63 - 1, 1_000_000)
    values = bits.view(np.float64)
    bits = bits[np.isfinite(values)]
    forwards, backwards = Accumulator(compiled, float), Accumulator(compiled, float)
    for pane, column in ((forwards, bits), (backwards, bits[::-1])):
        for one in column.tolist():
            compiled["put_double"](pane.sums, MARGIN, one, 1)
    fields, digits = (bits >> 52) & 0x7FF, (bits & (2**52 - 1)) + (2**52) * ((bits >> 52) & 0x7FF != 0)
    digits *= np.where(bits < 0, -1, 1)
    units = sum(n << max(e - 1, 0) for n, e in zip(digits.tolist(), fields.tolist(), strict=True))
    assert forwards.packed() == backwards.packed()
    assert exact(forwards.sums, MARGIN) == units
    assert forwards.total() == Sums(1, Fraction(units, 2**1074)).double()


@pytest.mark.slow
@given(values=samples, doublings=st.integers(1, 31))
@settings(max_examples=100)
def test_deviations_of_many_values(values: list[Number], doublings: int, compiled: Functions) -> None:
    """Up to four thousand million values: as many panes of the same ones."""
    pane, whole = Accumulator.of(compiled, values), Sums.of(values)
    for _ in range(doublings):
        if 2 * pane.count < 2**32:
            pane.put_packed(pane.packed(), pane.count, 1)
            whole += whole
    assert pane.count == whole.count
    assert pane.deviation() == whole.deviation()


@pytest.mark.parametrize(
    ("values", "sums", "squares"),
    [
        ([], (0,), (0,)),
        ([1.0], ((16 << 8) | 1, 1 << 50), ((33 << 8) | 1, 1 << 36)),
        ([-1.0], ((16 << 8) | 1, -(1 << 50)), ((33 << 8) | 1, 1 << 36)),
        ([16.0, 4.0, -5e-324], (17, *[-1] * 16, (20 << 50) - 1), ()),
        ([2**63 - 1, 1], (2, -(2**63), 0), ()),
        ([Decimal("-0.000000000000000001")], (1, -1), (1, 1)),
    ],
)
def test_the_words_of_state_stay_what_they_are(
    values: list[Number], sums: tuple[int, ...], squares: tuple[int, ...], compiled: Functions
) -> None:
    pane = Accumulator.of(compiled, values) if values else Accumulator(compiled, float)
    found = pane.packed()
    assert VERSION == 1
    assert (found[0], found[1] if squares else ()) == (sums, squares)
