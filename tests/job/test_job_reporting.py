"""The counters of a batch are in the metrics; what rules lost is reported once for each rule and batch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from job_folder import JobFolder

from cep.batch.clock import Seen
from cep.counters import (
    AlternativesDropped,
    Count,
    Overflows,
    RecordBytes,
    RecordEvents,
    RecordFailures,
    RunsDropped,
    StreamEvents,
    UndecidedDocuments,
)
from cep.job.batches.driver import FinishedBatch
from cep.job.running import lifecycle
from cep.job.running.reporting import MetricsReporter
from cep.job.state_folder.manifest import Manifest
from cep.job.workers.outcome import BatchOutcome
from cep.packs.compile import compile_plan
from cep.web.metrics import Metrics
from rules.packs import load_texts

PACK = """pack p version "1"
stream e { n: long  at: timestamp  id n  time at }
rule late { match a: e -> b: e[n < 0] within 1 hour limit 2 runs }
rule calm { match a: e -> b: e[n < 0] within 1 hour }
"""


AS_USUAL = "alerts are raised as usual, and are shown without them"


def batch(number: int, counts: Mapping[Count, int]) -> FinishedBatch:
    plan = compile_plan([load_texts([("p.rules", PACK)]).need()])
    outcome = BatchOutcome(0, Seen(), (), (), (), counts, {("p", "late"): 2}, 10, {})
    return FinishedBatch(
        number, plan, Manifest(number, {}, 1, 0), outcome, {}, {"late": 7}, False, 0.1, {}, 0
    )


def test_what_rules_lose_is_counted_and_told() -> None:
    metrics, told = Metrics(), list[str]()
    reporter = MetricsReporter(metrics, told.append)
    lost = {
        RunsDropped("p", "late", "limit"): 1_290,
        RunsDropped("p", "calm", "dropped"): 4,
        RunsDropped("p", "calm", "limit"): 12,
        AlternativesDropped("p", "calm"): 1_000,
        Overflows("rule", "p", "late"): 3,
        Overflows("stream", "", "e"): 2,
        UndecidedDocuments("article", "w", "q1"): 6,
        StreamEvents("e", "late"): 5,
    }
    for number in (3, 4):
        reporter.take(batch(number, lost))
    text = metrics.text().decode()
    for line in (
        'cep_runs_dropped_total{pack="p",reason="limit",rule="late"} 2580.0',
        'cep_runs_dropped_total{pack="p",reason="dropped",rule="calm"} 8.0',
        'cep_alternatives_dropped_total{pack="p",rule="calm"} 2000.0',
        'cep_overflows_total{kind="rule",name="late",pack="p"} 6.0',
        'cep_overflows_total{kind="stream",name="e",pack=""} 4.0',
        'cep_events_total{outcome="late",stream="e"} 10.0',
        'cep_rule_matches_total{rule="late"} 14.0',
        'cep_runs{rule="late"} 2.0',
        'cep_runs{rule="calm"} 0.0',
    ):
        assert f"\n{line}\n" in text, line
    over = [one for one in told if "over its `limit 2 runs`" in one]
    assert [one.partition(":")[0] for one in over] == ["batch 3", "batch 4"]
    assert "rule late of pack p dropped 1,290 runs" in over[0]
    default = [one for one in told if "rule calm of pack p dropped 12 runs over the default" in one]
    assert [one.partition(":")[0] for one in default] == ["batch 3", "batch 4"]
    assert "write `limit 10000 runs`; what they waited for is not found" in default[0]
    assert len([one for one in told if "query q1 of w" in one]) == 1
    given_up = [one for one in told if "rule calm of pack p gave up 1,000 alternatives" in one]
    assert [one.partition(":")[0] for one in given_up] == ["batch 3", "batch 4"]
    assert len(told) == 7


def test_what_is_not_recorded_is_told_once_and_when_it_is_again() -> None:
    metrics, told = Metrics(), list[str]()
    reporter = MetricsReporter(metrics, told.append)
    full = {RecordEvents("e", "lost"): 4, RecordFailures("e", "no space left on device"): 4}
    gone = {RecordEvents("e", "lost"): 1, RecordFailures("e", "permission denied"): 1}
    good = {RecordEvents("e", "written"): 7, RecordBytes("e"): 70}
    both = {**good, **full}
    for number, counts in enumerate((good, full, full, {}, both, gone, {}, good, good, full)):
        reporter.take(batch(number, counts))
    assert told == [
        f"batch 1: events of e are not recorded: no space left on device; {AS_USUAL}",
        f"batch 5: events of e are not recorded: permission denied; {AS_USUAL}",
        "batch 7: events of e are recorded again",
        f"batch 9: events of e are not recorded: no space left on device; {AS_USUAL}",
    ]
    text = metrics.text().decode()
    assert '\ncep_record_events_total{outcome="lost",stream="e"} 17.0\n' in text
    assert '\ncep_record_bytes_total{stream="e"} 280.0\n' in text


@pytest.mark.spark
def test_a_match_that_two_batches_decide_is_counted_once(
    spark: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That of card x is raised, that of card y withheld."""
    counted: list[dict[str, int]] = []

    class Seen(MetricsReporter):
        def take(self, batch: FinishedBatch) -> None:
            counted.append(dict(batch.matches))
            super().take(batch)

    monkeypatch.setattr(lifecycle, "MetricsReporter", Seen)
    # two rounds of one end at the second b; one round of two waits for another until `within` is over
    rule = """rule r {
  match a: e[k == "a"] -> (b: e[k == "b"]{1,2} each){1,2}
  within 10 seconds
  by card
  emit same = 1
  suppress 1 hour by same
}"""
    stream = "stream e { n: long  k: string  card: string  at: timestamp  id n  time at }"
    folder = JobFolder(tmp_path / "job", f'pack p version "1"\n{stream}\n{rule}\n', ("e",))
    for batch in ([(0, "a"), (1, "b"), (2, "b")], [(30, "c")]):
        folder.put(
            "e",
            [
                {"n": 2 * at + place, "k": k, "card": card, "at": f"2026-01-01T00:00:{at:02}Z"}
                for at, k in batch
                for place, card in enumerate("xy")
            ],
        )
        folder.once(spark)
    assert counted[0] == {"r": 2}
    assert sum(one.get("r", 0) for one in counted) == 2
