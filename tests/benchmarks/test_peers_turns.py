"""How turns alternate, what a table says of them, and what differing results come to."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def _importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "benchmarks")


def test_the_sides_alternate_on_new_inputs_and_the_first_turns_do_not_count() -> None:
    from peers.turns import Pair, Taken, measured

    seen: list[str] = []

    class Contest:
        def prepare(self) -> None:
            seen.append("new")

        def ours(self) -> Taken:
            seen.append("ours")
            return Taken(len(seen), 1)

        def theirs(self) -> Taken:
            seen.append("theirs")
            return Taken(len(seen), 2)

        def check(self) -> str:
            seen.append("check")
            return f"checked {seen.count('check')}"

    pairs, same = measured(Contest(), warm_up=1, turns=2)
    ours_first, theirs_first = ["new", "ours", "theirs", "check"], ["new", "theirs", "ours", "check"]
    assert seen == [*ours_first, *theirs_first, *ours_first]
    assert pairs == [Pair(Taken(7, 1), Taken(6, 2)), Pair(Taken(10, 1), Taken(11, 2))]
    assert same == "checked 3"


def test_the_table_has_medians_of_turns_and_what_was_looked_for() -> None:
    from peers.table import table
    from peers.turns import Comparison, Latency, Pair, Taken

    pairs = [Pair(Taken(2.0, 1.0), Taken(t, p)) for t, p in ((9.0, 4.0), (8.0, 5.5), (30.0, 12.0))]
    latencies = (Latency.of([1.0, 2.0, 3.0]), Latency.of([50_000.0]))
    full = Comparison("strict", "events", 1_000_000, pairs, 11, (2_000_000, 3_100_000_000), latencies, "same")
    bare = Comparison("mix", "docs", 100, pairs[:1])
    strict, mix = table([full, bare]).splitlines()[2:]
    assert strict.startswith(
        "| strict | 500,000 events/s | 111,000 events/s | 5.50 (4.00 to 12.0) | 4.50 | 11 |"
    )
    assert strict.endswith("| 11 | 2.00 us / 2.98 us | 50.0 ms / 50.0 ms | 2, 3,100 | same |")
    assert mix == "| mix | 50.0 docs/s | 11.1 docs/s | 4.00 (4.00 to 4.00) | 4.50 |  |  |  |  |  |"


def test_every_line_of_the_table_has_as_many_cells_as_its_head() -> None:
    from peers.table import HEAD, table
    from peers.turns import Comparison, Pair, Taken

    row = Comparison("mix", "docs", 100, [Pair(Taken(1, 1), Taken(1, 1))])
    assert {line.count(" | ") for line in table([row]).splitlines()} == {len(HEAD) - 1}


def test_alerts_of_both_sides_are_read_alike(tmp_path: Path) -> None:
    from peers import alerts

    ours, theirs, files = tmp_path / "ours", tmp_path / "theirs", tmp_path / "files"
    ours.write_text(
        '{"rule":"r","time":"2026-01-01T00:00:06.940Z","key":{"k":"k1"},"events":{"a":["x"],"b":["y"],"c":["z"]}}\n'
    )
    theirs.write_text('{"rule":"r","k":"k1","time":1767225606940,"a":"x","b":"y","c":"z","low":1.5}\n')
    files.write_text('{"rule":"r","k":"k1","time":"2026-01-01T00:00:06.94Z","a":"x","b":"y","c":"z"}\n')
    expected = Counter([("r", "k1", 1767225606940, "x", "y", "z")])
    assert alerts.ours(ours) == expected
    assert alerts.theirs([theirs]) == alerts.theirs([files]) == expected
    assert alerts.verdict(expected, expected) == "1 alerts, the same"


def test_results_that_differ_end_the_comparison(tmp_path: Path) -> None:
    from peers import alerts, lucene

    one, two = ("r", "k1", 1, "a", "b", "c"), ("r", "k1", 2, "a", "b", "d")
    with pytest.raises(SystemExit, match="1 alerts are ours alone, 2 are theirs alone"):
        alerts.verdict(Counter([one]), Counter([two, two]))
    for name, rows in (("ours", [[0, 1], [2, 3]]), ("theirs", [[2, 3]]), ("turned", [[2, 3], [0, 1]])):
        (tmp_path / name).write_bytes(np.array(rows, ">i4").tobytes())
    with pytest.raises(SystemExit, match="1 pairs are ours alone, 0 theirs alone"):
        lucene.same_rows(tmp_path / "ours", tmp_path / "theirs", 2, "pairs")
    assert lucene.same_rows(tmp_path / "ours", tmp_path / "turned", 2, "pairs") == "2 pairs, the same"


def test_a_program_answers_command_after_command_and_its_end_is_told(tmp_path: Path) -> None:
    from peers.process import conversation

    program = (
        "from peers.ours.answering import hold\n"
        "def fail(): raise SystemExit('gone wrong')\n"
        "hold({'twice': lambda n: {'n': 2 * n}, 'fail': fail})\n"
    )
    path = {"PYTHONPATH": str(ROOT / "benchmarks")}
    with conversation([sys.executable, "-c", program], tmp_path / "log", 1, path) as process:
        assert process.ask("twice", n=4) == {"n": 8}
        assert process.ask("twice", n=5) == {"n": 10}
        assert process.peak() > 1_000_000
        with pytest.raises(SystemExit, match=r"(?s)ended at 'fail'.*gone wrong"):
            process.ask("fail")
