"""A failure is reported in one sentence; one that is not foreseen leaves its traceback in a file."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from job_folder import JobFolder
from rules_of_tests import pack, payments

from alerts.outbox import OutboxError
from cep.buckets import Bucket, StoreError
from cep.errors import ConfigurationError, JobError, OutsideError, from_text
from cep.job.batches.attempts import Attempts
from cep.job.running.retries import Retries
from cep.job.spark.failures import explained, of_worker, worker_late
from cep.job.state_folder.folder import StateFolder

FULL = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.fixture
def state(tmp_path: Path) -> StateFolder:
    folder = StateFolder(tmp_path / "state")
    folder.make()
    return folder


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (FULL, "there is no space left for the state folder"),
        (RuntimeError("Job aborted: java.io.IOException: No space left on device"), "there is no space left"),
        (OutboxError("CEP0802", "there is no room left", "free space"), "there is no room left"),
        (ConnectionRefusedError("py4j"), "Spark's Java process ended"),
        (ConfigurationError("as it is", "do this"), "as it is"),
        (
            OSError(errno.EACCES, os.strerror(errno.EACCES), "/state/manifests/7.json"),
            "7.json: permission denied",
        ),
        (
            OSError(errno.EROFS, os.strerror(errno.EROFS), "/state/manifests/7.json"),
            "7.json: read-only file sys",
        ),
        (OSError(errno.EIO, os.strerror(errno.EIO), "/inbox/a.jsonl"), "/inbox/a.jsonl: input/output error"),
    ],
)
def test_what_is_foreseen_needs_no_log(state: StateFolder, error: Exception, said: str) -> None:
    told = explained(error, state, 0)
    assert said in told.message
    assert not list(state.logs.iterdir())


def test_what_is_not_foreseen_names_its_last_cause_and_a_file(state: StateFolder) -> None:
    text = "Job aborted\n at x\nCaused by: java.lang.Foo: first\nCaused by: org.a.BarException: it is broken."
    told = explained(RuntimeError(text), state, 0)
    assert told.message == "the job stopped: BarException: it is broken"
    (kept,) = state.logs.iterdir()
    assert str(kept) in told.help
    assert "Traceback" in kept.read_text() or "RuntimeError" in kept.read_text()


IN_WORKER = """Job aborted: org.apache.spark.api.python.PythonException: Traceback (most recent call last):
  File "worker.py", line 1, in main
    process()
{error}

\tat org.apache.spark.api.python.BasePythonRunner
"""


ABORTED = """An error occurred while calling o235.collectToPython.
: org.apache.spark.SparkException: Job aborted due to stage failure: A shuffle map stage with \
indeterminate output was failed and retried. However, Spark cannot rollback the ResultStage 12 to re-process \
the input data, and has to fail this job. Please eliminate the indeterminacy by checkpointing the RDD before \
repartition and try again.
\tat org.apache.spark.scheduler.DAGScheduler.$anonfun$abortStage$3(DAGScheduler.scala:3318)
"""


def test_a_batch_whose_executor_was_lost_is_run_again() -> None:
    """Spark's words where one ended after some tasks had read what it had for the others."""
    failure = RuntimeError(ABORTED)
    assert of_worker(failure) == "was lost with its executor"
    told: list[str] = []
    attempts = Attempts(Path("manifests"), told.append)
    attempts.begin(1)
    assert attempts.again(failure, {})
    assert told == ["batch 1: a process that worked on it was lost with its executor; it is run again"]


@pytest.mark.parametrize(
    ("error", "may_be_events"),
    [
        (StoreError(None, "the store of s3://states does not answer", "s3://states/fraud/a"), False),
        ("botocore.exceptions.EndpointConnectionError: Could not connect to the endpoint URL", False),
        ("s3fs.errors.TooSlow: slow down", False),
        ("OSError: [Errno 5] Input/output error", False),
        ("ValueError: what an event may do", True),
    ],
)
def test_a_store_that_a_worker_does_not_reach_is_not_for_its_events(
    tmp_path: Path, error: object, may_be_events: bool
) -> None:
    if isinstance(error, StoreError):
        error = f"cep.buckets.StoreError: {error}"
    failure = RuntimeError(IN_WORKER.format(error=error))
    assert (of_worker(failure) is not None) == may_be_events
    folder = StateFolder(tmp_path / "state", bucket=Bucket("s3a://states/fraud"))
    folder.make()
    if "StoreError" in str(error):
        told = explained(failure, folder, 0)
        assert (told.code, told.message) == ("CEP0757", "the store of s3://states does not answer")


LATE = {
    # as Spark 4.2.0 told: the process that it starts for the schema of the state did not come up
    "Python worker failed to connect back.\n=== Streaming Query ===\nIdentifier: cep [id = ce05ce55]": (
        "Python worker failed to connect back"
    ),
    "org.apache.spark.SparkException: Timed out while waiting for the Python worker to connect back": (
        "waiting for the Python worker to connect back"
    ),
    "java.io.EOFException: Python daemon failed to launch worker with code -1": (
        "Python daemon failed to launch worker"
    ),
}


@pytest.mark.parametrize(("text", "said"), LATE.items())
def test_a_worker_that_did_not_come_up_is_told_apart(text: str, said: str) -> None:
    assert worker_late(RuntimeError(text)) == said


@pytest.mark.parametrize(
    "error",
    [
        RuntimeError("Job aborted: java.io.IOException: No space left on device"),
        ConnectionRefusedError("py4j"),
        OutsideError("as it is"),
        OutboxError("CEP0802", "there is no room left", "free space"),
        RuntimeError(
            "Python worker exited unexpectedly\nTraceback (most recent call last):\n  x\n"
            "cep.errors.ConfigurationError: the file a.jsonl is missing = help: put it back"
        ),
    ],
)
def test_another_failure_is_not_tried_again(error: Exception) -> None:
    assert worker_late(error) is None


def test_a_batch_is_run_again_three_times_and_the_next_one_has_its_own() -> None:
    retries = Retries()
    assert [retries.allow(None) for _ in range(4)] == [True, True, True, False]
    assert [retries.allow(7) for _ in range(4)] == [True, True, True, False]
    assert retries.allow(8)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "Query failed.\nCaused by: a.FSError: Checksum error: file:{0}/offsets/2 at 0 exp: 1 got: 2",
            "Checksum error: file:{0}/offsets/2 at 0",
        ),
        (
            "CANNOT_LOAD_STATE_STORE: {0}/state/0/0/3.changelog\nCaused by: java.io.EOFException",
            "{0}/state/0/0/3.changelog: java",
        ),
        (
            "Caused by: a.b.C: File file:{0}/state/0/0/3.changelog does not exist",
            "{0}/state/0/0/3.changelog does not exist",
        ),
        ("Caused by: a.b.C: batch 1 doesn't exist", "batch 1 doesn't exist"),
        ("[STREAMING_CHECKPOINT_MISSING_METADATA_FILE] x", "MISSING_METADATA_FILE"),
    ],
)
def test_damage_that_spark_comes_across_is_the_state_folder_s(
    state: StateFolder, text: str, said: str
) -> None:
    told = explained(RuntimeError(text.format(state.checkpoint)), state, 0)
    assert type(told) is ConfigurationError
    assert "is damaged: " in told.message
    assert said.format(state.checkpoint) in told.message


@pytest.mark.parametrize(
    "text",
    [
        "Python worker exited\nCaused by: java.io.EOFException",
        "Caused by: a.b.C: Path does not exist: file:/inbox",
    ],
)
def test_other_failures_are_not(state: StateFolder, text: str) -> None:
    assert type(explained(RuntimeError(text), state, 0)) is OutsideError


@pytest.mark.parametrize(
    "error", [JobError("a", "b"), ConfigurationError("a"), OutsideError("a", "b; c = d")]
)
def test_an_error_of_ours_crosses_from_a_worker_as_text(error: JobError) -> None:
    back = from_text(f"cep.errors.{type(error).__name__}", str(error))
    assert type(back) is type(error)
    assert (back.message, back.help) == (error.message, error.help)  # type: ignore[union-attr]
    assert from_text("builtins.ValueError", str(error)) is None


@pytest.mark.spark
def test_our_error_inside_a_worker_reaches_the_user(spark: Callable[..., Any], state: StateFolder) -> None:
    from pyspark.errors import PythonException

    def fails(_: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        raise ConfigurationError("the state of shard 3 cannot be used", "restore it")
        yield

    with spark() as session, pytest.raises(PythonException) as caught:
        session.range(2).mapInArrow(fails, "id long").collect()
    told = explained(caught.value, state, 0)
    assert type(told) is ConfigurationError
    assert (told.message, told.help) == ("the state of shard 3 cannot be used", "restore it")


@pytest.mark.spark
def test_files_of_any_name_are_read(spark: Callable[..., Any], tmp_path: Path) -> None:
    folder = JobFolder(tmp_path / "a job", pack(), ("payment",))
    names = ["a b.jsonl", "100%25.jsonl", "c#d?.jsonl", "ü€.jsonl", "[x]{y}.jsonl"]
    for number, name in enumerate(names):
        path = folder.put("payment", payments(number, 20))
        path.rename(path.with_name(name))
    folder.once(spark, drain=True)
    read = {str(alert["emit"]["payment_id"])[0] for alert in folder.alerts() if alert["rule"] == "whale"}  # type: ignore[index]
    assert read == {"0", "1", "2", "3", "4"}
