"""Windows as segments remember them: as bytes, from which every key comes back as it was."""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from cep.events import MAX_TIME
from cep.operators.windows.runtime import compact_windows
from cep.operators.windows.runtime.compact_windows import CompactWindows
from cep.operators.windows.runtime.engines import INTERPRETED
from cep.operators.windows.runtime.entry_points import Engine
from cep.operators.windows.runtime.window_rows import (
    DUE,
    FEW,
    HEAD,
    ITEMS,
    JUDGED,
    NUMBERS,
    WORDS,
    WindowRows,
)
from cep.state.keyed_rows import KEY, RULE, Ints

KEYS = 6
FIRST = 1_767_225_600 * 10**9
WORD = st.one_of(
    st.integers(-(2**63), 2**63 - 1),
    st.integers(0, 300),
    st.integers(0, 63).map(lambda bit: (1 << bit) - 1),
    st.integers(0, 62).map(lambda bit: 1 << bit),
    st.integers(-(2**33), 2**33),
    st.integers(-70_000, 2**34).map(lambda steps: FIRST + steps * 10**6),
    st.tuples(st.integers(0, 300), st.integers(0, 5), st.integers(0, 120)).map(
        lambda count: count[0] | count[1] << 34 | count[2] << 56
    ),
    st.floats(allow_nan=False).map(lambda value: int(np.float64(value).view(np.int64))),
    st.just(MAX_TIME),
)


@pytest.fixture(scope="module", params=["as it stands", pytest.param("compiled", marks=pytest.mark.slow)])
def engine(request: pytest.FixtureRequest) -> Engine:
    if request.param == "as it stands":
        return INTERPRETED
    from cep.operators.windows.runtime.compiled import load

    return load()


@st.composite
def windows(draw: st.DrawFn) -> WindowRows:
    """Heads of some keys and rules, with words and numbers of any size behind them."""
    named = sorted(draw(st.sets(st.tuples(st.integers(0, KEYS - 1), st.integers(0, 3)), max_size=7)))
    heads = np.zeros((len(named), HEAD), np.int64)
    for head, (key, rule) in zip(heads, named, strict=True):
        head[[KEY, RULE, ITEMS]] = key, rule, draw(WORD)
        head[[WORDS, NUMBERS]] = draw(st.integers(0, 7)), draw(st.integers(0, 4))
        head[DUE:] = [draw(WORD) for _ in range(HEAD - DUE)]
    words, numbers = (
        np.array([draw(WORD) for _ in range(int(heads[:, column].sum()))], np.int64)
        for column in (WORDS, NUMBERS)
    )
    return WindowRows(heads, words, numbers)


def told(rows: WindowRows) -> Sequence[list[int]]:
    return [part.ravel().tolist() for part in (rows.heads, rows.words, rows.numbers)]


@settings(max_examples=examples(150), deadline=None)
@given(windows(), st.sets(st.integers(0, KEYS - 1)))
def test_every_key_comes_back_as_it_was(engine: Engine, rows: WindowRows, keys: set[int]) -> None:
    chosen = np.array(sorted(keys), np.int64)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compact_windows, "engine", lambda _: engine)
        compact = CompactWindows.of(rows, KEYS, WindowRows)
        index = rows.indexed(KEYS)
        assert told(compact.cut(chosen, 7 + 2 * chosen)) == told(index.cut(chosen, 7 + 2 * chosen))
        assert told(compact.renumbered(np.arange(KEYS) * 3)) == told(rows.renumbered(np.arange(KEYS) * 3))
        assert compact.weight_of(chosen) == index.weight_of(chosen)
        assert set(compact.keys.tolist()) == set(rows.keys.tolist())
        stored: list[Ints] = []
        entry = json.loads(json.dumps(compact.written(lambda array: stored.append(array) or len(stored) - 1)))
        again = WindowRows.read(entry, lambda place: stored[place].copy())
        assert isinstance(again, CompactWindows)
        assert told(again.cut(chosen, chosen)) == told(index.cut(chosen, chosen))


def of_prices(keys: int) -> WindowRows:
    """A pane of each of so many keys, as a rule over a count, a sum and a maximum of prices keeps it."""
    random = np.random.default_rng(1)
    count = random.integers(1, 90, keys)
    price = np.round(random.lognormal(3, 1.2, keys), 2)
    heads = np.zeros((keys, HEAD), np.int64)
    heads[:, KEY], heads[:, [ITEMS, WORDS, NUMBERS]] = np.arange(keys), (1, 8, 1)
    heads[:, DUE], heads[:, JUDGED] = FIRST + 60 * 10**9, FIRST // (60 * 10**9)
    words = np.zeros((keys, 8), np.int64)
    words[:, 0] = FIRST + random.integers(0, 60_000, keys) * 10**6
    words[:, 1] = count | 2 << 34 | count << 56
    words[:, 2], words[:, 3], words[:, 4] = 5, count, price.view(np.int64)
    words[:, 5], words[:, 6] = 16 << 8 | 2, random.integers(-(2**63), 2**63, keys)
    words[:, 7] = random.integers(0, 200, keys)
    return WindowRows(heads, words.ravel(), random.permutation(keys) + 10**12)


def test_a_pane_takes_few_bytes_and_few_panes_stay_as_they_are() -> None:
    rows = of_prices(5_000)
    compact = rows.compacted(5_000)
    assert isinstance(compact, CompactWindows)
    assert compact.bytes < 50 * 5_000 < 8 * rows.size // 2
    assert compact.compacted(5_000) is compact
    few = of_prices(FEW // 17)
    assert few.compacted(FEW // 17) is few
