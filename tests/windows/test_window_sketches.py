"""Of many values `distinct` and `percentile` are estimates: near the truth, and whatever batches are cut."""

from __future__ import annotations

import struct
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest

from cep.hashing.shards import hashes
from cep.operators.windows.runtime.lists import EXACT_VALUES
from cep.operators.windows.runtime.sketches import REGISTERS, Ordered, different, percentile, put_hashes
from cep.reference.alternatives import Event
from tests.windows.window_batches import SECOND, Rule, Run, events_of, pack_of

ORDERS = {
    "rising": np.arange(200_000.0),
    "falling": np.arange(200_000.0)[::-1],
    "chance": np.random.default_rng(1).random(200_000),
    "both ends": np.arange(200_000.0) * np.where(np.arange(200_000) % 2, 1, -1),
    "saw": np.arange(200_000.0) % 997 + np.arange(200_000.0) / 1e6,
    "mostly one": np.where(np.arange(200_000) % 3, 5.0, np.arange(200_000.0)),
}
RANK_ERROR, DIFFERENT_ERROR = 0.017, 0.008


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(ORDERS))
def test_ranks_are_near_and_depend_on_the_values_alone(name: str) -> None:
    values = ORDERS[name]
    whole, cut = Ordered(), Ordered()
    whole.put(values)
    for first in range(0, len(values), 777):
        cut = Ordered.of(cut.words())
        cut.put(values[first : first + 777])
    assert whole.words().tolist() == cut.words().tolist()
    assert sum(len(of) * weight for of, weight in whole.weighted()) == len(values)
    assert len(whole.words()) < 800
    every = np.concatenate([of for of, _ in whole.weighted()])
    weights = np.concatenate([np.full(len(of), weight) for of, weight in whole.weighted()])
    order = np.argsort(every)
    for part in np.linspace(0.01, 0.99, 99):
        found = percentile(every[order], weights[order], float(part))
        ordered = np.sort(values)
        low, high = (np.searchsorted(ordered, found, side=side) / len(values) for side in ("left", "right"))
        assert low - RANK_ERROR <= part <= high + RANK_ERROR


def test_few_values_have_their_percentile() -> None:
    values = np.array([1.0, 2.0, 4.0])
    assert percentile(values, np.ones(3, np.int64), 0.75) == 3.0
    assert percentile(values, np.array([1, 2, 1]), 0.5) == 2.0


@pytest.mark.slow
@pytest.mark.parametrize("count", [0, 1, 100, 20_000, 300_000])
def test_different_values_are_counted_nearly(count: int) -> None:
    errors = []
    for seed in range(40):
        registers = np.zeros(REGISTERS, np.uint8)
        values = np.arange(count) + seed * 10**9
        put_hashes(registers, hashes(pa.array(np.concatenate((values, values[::-3])))))
        errors.append(different(registers) / max(count, 1) - (count > 0))
    assert np.sqrt(np.mean(np.square(errors))) <= 1.3 * DIFFERENT_ERROR


def stream(counts: Sequence[int]) -> list[Event]:
    """Events of two keys; so many in each second."""
    random = np.random.default_rng(3)
    rows = []
    for second, count in enumerate(counts):
        for place in range(count):
            number = len(rows)
            values = {"k": "b" if place % 50 == 0 else "a", "s": f"t{number % 11_000}", "v": number % 13_000}
            rows.append(
                (
                    second * SECOND + place * SECOND // count,
                    {**values, "w": float(np.round(random.lognormal(), 3)), "d": None, "b": None, "m": None},
                )
            )
    return events_of(rows)


def doubles(found: object) -> float:
    assert isinstance(found, bytes)
    return float(struct.unpack("<d", found)[0])


def ranks_of(values: npt.NDArray[np.float64], found: float) -> tuple[float, float]:
    ordered = np.sort(values)
    return (
        float(np.searchsorted(ordered, found, side="left")) / len(values),
        float(np.searchsorted(ordered, found, side="right")) / len(values),
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("window", "counts"),
    [
        ("tumbling 4s", (6_000, 6_000, 10, 10, 6_000, 300)),
        ("hopping 4s every 2s", (6_000, 6_000, 10, 10, 6_000, 300)),
        ("session gap 1s", (6_000, 6_000, 0, 0, 6_000, 300)),
        ("tumbling 4s early", (9_000, 1_800, 10, 10, 10, 10)),
    ],
)
def test_large_panes_and_sessions_are_estimated_alike(window: str, counts: tuple[int, ...]) -> None:
    body = f"{window} having count() > 1 emit a = distinct(s), b = distinct(v), c = percentile(w, 0.9)"
    rule = Rule(pack_of(f"{body}, e = previous(percentile(w, 0.5)), f = percentile(w, 0.2)"))
    events, until = stream(counts), 30 * SECOND
    runs = []
    for marks in (
        (until,),
        (SECOND // 3, SECOND + 7, 5 * SECOND // 2, 4 * SECOND + 1, 9 * SECOND // 2, until),
    ):
        run, before = Run(rule, 0, True), -1
        for mark in marks:
            run.batch([event for event in events if before < event.time <= mark], mark)
            before = mark
        runs.append(run)
    whole, cut = runs
    assert whole.told() == cut.told()
    assert whole.state.same() == cut.state.same()
    assert sorted(whole.approximate) == sorted(cut.approximate)
    names = {rule.plan.readings.names[n] for n in {number for _, _, number in whole.approximate}}
    assert len(names) >= 3
    assert not any(key == "b" for key, _, _ in whole.approximate)
    near(rule, whole, events)


@pytest.mark.slow
@pytest.mark.parametrize("window", ["sliding 3s", "last 11_000 events", "last 90_000 events within 3s"])
def test_windows_whose_events_are_kept_have_exact_values(window: str) -> None:
    body = f"{window} having count() > 10_900 emit a = distinct(v), c = percentile(w, 0.9)"
    rule = Rule(pack_of(body))
    events = [event for event in stream((11_300,)) if event.values["k"] == "a"]
    run = Run(rule, 0, True)
    run.batch(events, SECOND)
    numbers = zip(sorted(rule.refs), run.told()[-1].values, strict=True)
    value = {rule.refs[number].function: value for number, value in numbers}
    held = events[-11_000:] if window.endswith("000 events") else events
    assert value["distinct"] == len({event.values["v"] for event in held}) > EXACT_VALUES
    low, high = ranks_of(np.array([event.values["w"] for event in held]), doubles(value["percentile"]))
    assert low - 1 / len(held) <= 0.9 <= high + 1 / len(held)
    assert run.approximate == []


def near(rule: Rule, run: Run, events: Sequence[Event]) -> None:
    """What was estimated of this window is near the truth; what was not is it."""
    estimated, numbers = set(run.approximate), sorted(rule.refs)
    for one in run.told()[:: max(len(run.found) // 40, 1)]:
        held = [
            event.values
            for event in events
            if event.values["k"] == one.key and one.start <= event.time < one.end
            and (one.at < 0 or event.place <= one.at)
        ]  # fmt: skip
        for number, value in zip(numbers, one.values, strict=True):
            ref = rule.refs[number]
            is_estimate = (one.key, one.time, number) in estimated
            if ref.which != "this" or ref.argument is None:
                continue
            values = [of[ref.argument.span.text] for of in held]
            if ref.function == "distinct":
                right = len(set(values))
                assert isinstance(value, int)
                assert abs(value / right - 1) <= (5 * DIFFERENT_ERROR if is_estimate else 0)
                assert is_estimate or right <= 2 * EXACT_VALUES
            else:
                assert ref.parameter is not None
                low, high = ranks_of(np.array(values, np.float64), doubles(value))
                error = RANK_ERROR if is_estimate else 1 / len(values)
                assert low - error <= ref.parameter <= high + error
