"""Windows over trades that come out of order have the values that DuckDB computes from the whole table."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.windows.beside_duckdb import SAMPLE, compared, recording
from tests.windows.duckdb_windows import WINDOWS, AtEachTrade

TRADES = 2_500


@pytest.mark.slow
@pytest.mark.parametrize("name", WINDOWS)
def test_every_value_of_every_window_is_that_of_duckdb(name: str) -> None:
    trades = recording(SAMPLE, TRADES)
    assert (trades.ms < trades.ms.cummax()).any()
    found = compared(trades, batch=701, windows={name: WINDOWS[name]})[name]
    assert found.differences == []
    assert found.estimated == 0
    assert found.windows > 40
    assert found.known > found.values / 2


@pytest.mark.slow
def test_a_frame_as_sql_reads_it_has_other_values() -> None:
    sliding = WINDOWS["sliding_one_instant"]
    assert isinstance(sliding, AtEachTrade)
    closed = replace(sliding, frame="ms RANGE BETWEEN 1 PRECEDING AND CURRENT ROW")
    trades = recording(SAMPLE, 500)
    found = compared(trades, batch=500, windows={"sliding_one_instant": closed})["sliding_one_instant"]
    assert found.windows == len(trades)
    assert any("count()" in difference for difference in found.differences)
