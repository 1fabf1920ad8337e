"""The line that a running job shows: what it says, as a person would, and what fits a terminal."""

from __future__ import annotations

import io

import pytest
from terminal import terminal

from cep.batch.clock import Seen
from cep.counters import StreamEvents
from cep.job.batches.driver import FinishedBatch
from cep.job.running.progress import Progress, span
from cep.job.state_folder.manifest import Manifest
from cep.job.workers.outcome import BatchOutcome
from cep.packs.compile import compile_plan
from rules.packs import load_texts

PACK = 'pack p version "1"\nstream e { n: long  at: timestamp  id n  time at }\nrule r { on e emit n }\n'
SECOND = 1_000_000_000
BEGIN = 1_767_600_000 * SECOND


def _batch(number: int, ended: int, events: int = 0, alerts: int = 0) -> FinishedBatch:
    plan = compile_plan([load_texts([("p.rules", PACK)]).need()])
    counts = {StreamEvents("e", "accepted"): events, StreamEvents("e", "dead"): 3}
    outcome = BatchOutcome(BEGIN, Seen({("e", ""): BEGIN}), (), (), (), counts, {}, 0, {})
    return FinishedBatch(
        number, plan, Manifest(number, {}, 1, 0), outcome, {"high": alerts}, {}, False, 0.25, {}, ended
    )


@pytest.mark.parametrize(
    ("columns", "text"),
    [
        (
            160,
            (
                "batch 7 (0.25 s); since the start 12,345 events, 3 malformed, 67 alerts, "
                "watermark 2026-01-05T08:00:00Z, 9.0 s behind the clock"
            ),
        ),
        (90, "batch 7 (0.25 s): 12,345 events, 3 malformed, 67 alerts, 9.0 s behind the clock"),
        (40, "batch 7 (0.25 s): 12,345 events, 3..."),
    ],
)
def test_a_narrow_terminal_gets_the_short_form(
    columns: int, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    with terminal(columns) as shown, shown.open() as err:
        Progress(err).batch(_batch(7, BEGIN + 9 * SECOND, 12_345, 67))
        assert shown.read().lines() == [text]


def test_what_is_told_goes_above_the_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    with terminal(100) as shown, shown.open() as err:
        progress = Progress(err)
        progress.batch(_batch(7, BEGIN + 9 * SECOND, 5))
        progress.tell("stopping after this batch; again to stop now")
        above, line = shown.read().lines()
        progress.end()
        assert shown.read().lines()[-1] == ""
    assert above == "stopping after this batch; again to stop now"
    assert line.startswith("batch 7 (0.25 s)")


def test_a_file_gets_a_line_now_and_then() -> None:
    out = io.StringIO()
    progress = Progress(out)
    for number in range(25):
        progress.batch(_batch(number, BEGIN + number * SECOND, 10))
    lines = out.getvalue().splitlines()
    assert [line.split()[1] for line in lines] == ["0", "10", "20"]
    assert "since the start 110 events (10/s), 33 malformed" in lines[1]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.04, "0.0 s"),
        (119.9, "119.9 s"),
        (120, "2 min"),
        (7_199, "120 min"),
        (7_200, "2 h"),
        (172_799, "48 h"),
        (172_800, "2 days"),
        (27_612_226.2, "320 days"),
    ],
)
def test_a_lag_is_told_in_the_unit_that_suits_it(seconds: float, text: str) -> None:
    assert span(seconds) == text
