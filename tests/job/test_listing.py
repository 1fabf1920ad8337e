"""What Spark runs of a batch's sources: a task for each lane, whatever there is to read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from job_folder import JobFolder, in_process
from rules_of_tests import in_files, pack, payments
from topics_of_tests import without_batch

from cep.decode.formats import FeedFormat
from cep.errors import OutsideError
from cep.job.spark.listing import listing
from cep.job.state_folder import manifest
from cep.sources.checkpoint import Checkpoint
from cep.sources.files.files import Files
from cep.sources.http.http import Http
from cep.sources.source import Feed

pytestmark = pytest.mark.spark


class Job:
    """A query over files and events by HTTP, that ends when it has taken what is there.

    `batches` has the numbers of their partitions.
    """

    def __init__(self, session: Any, folder: Path) -> None:
        self._session, self._folder = session, folder
        self.inbox = folder / "inbox"
        self.inbox.mkdir()
        self.batches: list[list[int]] = []
        self.plans: list[str] = []

    def once(self, lanes: int, ticking: bool = True) -> None:
        """Takes what is there."""

        def partitions(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            from pyspark import TaskContext

            for _ in batches:
                pass
            task = TaskContext.get()
            yield pa.RecordBatch.from_pydict({"lane": [task and task.partitionId()]})

        sources = {"file": Files(f"{self.inbox}/*.jsonl"), "sent": Http()}
        feeds = [Feed(name, source, FeedFormat()) for name, source in sources.items()]
        lane = listing(self._session, feeds, lanes, ticking).mapInArrow(partitions, "lane long")
        query = (
            lane.writeStream.foreachBatch(self._batch)
            .option("checkpointLocation", str(self._folder / "checkpoint"))
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination()
        self.plans.append(query._jsq.explainInternal(False).partition("Initial Plan")[2])

    def _batch(self, frame: Any, number: int) -> None:
        assert number == len(self.batches)
        self.batches.append([row.lane for row in frame.collect()])


def test_there_is_a_partition_for_each_lane_and_none_for_what_a_source_lists(
    spark: Callable[..., Any], tmp_path: Path
) -> None:
    with spark() as session:
        job = Job(session, tmp_path)
        job.once(3)
        for name in "abcde":
            (job.inbox / f"{name}.jsonl").write_text("{}\n" * 100)
        job.once(3)
        (job.inbox / "f.jsonl").write_text("{}\n")
        job.once(2)
    assert job.batches == [[0, 1, 2], [0, 1, 2], [0, 1]]
    for plan in job.plans:
        assert "MapInArrow" in plan
        assert plan.count("MicroBatchScan") == 1
        assert "FileScan" not in plan
        assert "Union" not in plan


def test_in_a_batch_without_a_tick_files_have_a_partition_for_each_lane(
    spark: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cep.sources.files.files.BATCH_BYTES", 1)
    with spark() as session:
        job = Job(session, tmp_path)
        for name in "abc":
            (job.inbox / f"{name}.jsonl").write_text("{}\n")
        job.once(3, ticking=False)
    assert job.batches == [[0, 1, 2]] * 3
    (plan,) = job.plans  # of the last batch
    assert "FileScan" in plan
    assert "MicroBatchScan" not in plan


def test_what_was_begun_without_a_tick_is_run_again_by_a_job_that_goes_on(
    spark: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = JobFolder(tmp_path / "job", pack(), ("payment",))
    paths = [folder.put("payment", part) for part in in_files(list(payments(3, 300)), 3)]
    with monkeypatch.context() as patched:
        patched.setattr("cep.sources.files.files.BATCH_BYTES", 1)
        patched.setattr(manifest, "write", crash_after_the_second(manifest.write))
        with pytest.raises(OutsideError, match="a crash"):
            folder.once(spark)
    checkpoint = Checkpoint(folder.state.checkpoint)
    assert len(folder.commits()) == 1
    assert not checkpoint.ticked()
    with folder.running() as job:
        job.wait_for(lambda: len(folder.commits()) > 2, "more batches")
        job.stop()
    assert checkpoint.ticked()
    folder.once(spark, drain=True)
    raised = in_process(folder, [[("payment", path) for path in paths]])
    assert raised
    assert {alert["id"]: alert for alert in without_batch(folder.alerts())} == {
        one["id"]: one for one in raised
    }


def crash_after_the_second(real: Callable[..., None]) -> Callable[..., None]:
    """A function that raises when the real one has been called twice."""
    calls = iter(range(9))

    def write(*arguments: object, **more: object) -> None:
        real(*arguments, **more)
        if next(calls):
            raise OutsideError("a crash", "none")

    return write
