"""Windows that are compared with peers mean the same to both, and a difference ends the run."""

from __future__ import annotations

import atexit
import gc
import json
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EVENTS = 20_000
atexit.register(gc.unfreeze)  # of what the engine froze, DuckDB would tell at the end that it leaks


@pytest.fixture(autouse=True)
def _importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "benchmarks")


@pytest.mark.slow
@pytest.mark.parametrize("disorder", [False, True])
@pytest.mark.parametrize("work", ["sliding", "filters"])
def test_our_engine_and_duckdb_tell_the_same_of_every_turn(work: str, disorder: bool, tmp_path: Path) -> None:
    from peers import window_alerts
    from peers.duck import Commands
    from peers.ours.engine import Engine
    from peers.payments import Feed, pack

    engine, duck, feed = Engine(pack(work, disorder)), Commands(), Feed(EVENTS, 5, disorder)
    duck.set_up(work)
    for turn in (0, 1):
        path, ours, theirs = (tmp_path / f"{name}-{turn}.jsonl" for name in ("payments", "ours", "theirs"))
        made = feed.write(path, turn)
        with ours.open("wb") as lines:
            for events in engine.batches(path, batch=1 << 20):
                engine.advance(events, lines)
        duck.load(str(path))
        duck.parsed(str(theirs))
        found = window_alerts.of_file(work, ours)
        told = window_alerts.theirs(work, [theirs], made)
        count = window_alerts.expected(work, made)
        assert count > 50
        assert window_alerts.verdict(work, found, told) == f"{count} alerts, the same"
        with pytest.raises(SystemExit, match=rf"1 of {count} alerts differ"):
            window_alerts.verdict(work, found[1:], told)
        with pytest.raises(SystemExit, match=rf"1 of {count} alerts differ"):
            window_alerts.verdict(work, found.assign(s=found.s.where(found.index > 0, found.s + 0.01)), told)


def test_payments_come_out_of_order_and_none_is_late(tmp_path: Path) -> None:
    from peers.payments import DISORDER, EVERY, Feed

    path = tmp_path / "payments.jsonl"
    turns = [Feed(2_000, 5, disorder=True).write(path, turn) for turn in (0, 1)]
    assert turns[0].ends < turns[1].payments.ms.min()
    events = [json.loads(line) for line in path.read_text("ascii").splitlines()]
    of = dict(zip(turns[1].payments.eid, turns[1].payments.ms, strict=True))
    times = [of[event["eid"]] for event in events[:-10]]
    assert len(set(times)) == 2_000
    newest, behind = 0, []
    for time in times:
        newest = max(newest, time)
        behind.append(newest - time)
    assert 1_000 * EVERY // 2 < max(behind) < DISORDER
    assert [event["kind"] for event in events[-10:]] == [f"k{kind}" for kind in range(10)]
    assert len(events) == Feed(2_000, 5).lines
