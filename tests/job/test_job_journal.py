"""Logs, warnings, stderr and failed threads of libraries are kept in a file, not shown."""

from __future__ import annotations

import logging
import sys
import threading
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cep.job.batches.outage import StoppedError
from cep.job.running import journal


def _fails() -> None:
    raise ValueError("broken in a thread")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "python.log"


def test_nothing_of_it_reaches_the_user(path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    told: list[str] = []
    with warnings.catch_warnings(), journal.kept(path, told.append):
        warnings.simplefilter("always")
        logging.exception("Exception while sending command.")
        warnings.warn("unable to shut down", RuntimeWarning, stacklevel=1)
        print("-" * 8, file=sys.stderr)
        thread = threading.Thread(target=_fails, name="http")
        thread.start()
        thread.join()
    print("shown again", file=sys.stderr)
    assert capfd.readouterr().err == "shown again\n"
    kept = path.read_text("utf-8")
    for part in (
        "ERROR root: Exception while sending command.",
        "RuntimeWarning: unable to shut down",
        "stderr: --------",
        "ERROR cep: thread http failed",
        "ValueError: broken in a thread",
    ):
        assert part in kept, kept
    assert told == [
        f"a part of the job, http, failed (ValueError: broken in a thread); its traceback is in {path}"
    ]


def test_what_a_library_logs_when_the_job_has_ended_is_not_shown(
    path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As py4j does, by functions that make a handler for stderr where there is none."""
    root = logging.getLogger()
    monkeypatch.setattr(root, "handlers", [])
    with journal.kept(path, lambda _: None):
        pass
    try:
        raise ConnectionRefusedError("py4j")
    except ConnectionRefusedError:
        logging.info("Exception while sending command.", exc_info=True)
        logging.exception("Exception while sending command.")
        logging.getLogger("py4j.clientserver").error("no answer")
    assert capfd.readouterr() == ("", "")


def test_a_job_without_such_things_has_no_such_file(path: Path) -> None:
    with journal.kept(path, lambda _: None):
        logging.getLogger("quiet").info("nothing to see")
    assert not path.exists()


def test_a_file_that_cannot_be_written_is_not_told_of(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with journal.kept(tmp_path / "absent" / "python.log", lambda _: None):
        logging.error("lost")
    assert capfd.readouterr().err == ""


@pytest.mark.spark
@pytest.mark.parametrize(
    ("failure", "kept"), [(StoppedError, ""), (ValueError, "ValueError: a batch fails")], ids=["stop", "fail"]
)
def test_a_batch_that_may_not_begin_any_more_is_no_failure(
    spark: Callable[..., Any], path: Path, tmp_path: Path, failure: type[Exception], kept: str
) -> None:
    """Spark may have a batch ready while the job stops."""
    from pyspark.errors import StreamingQueryException

    def batch(_frame: object, _number: int) -> None:
        raise failure("a batch fails")

    with spark() as session, journal.kept(path, lambda _: None):
        frame = session.readStream.format("rate-micro-batch").option("rowsPerBatch", 1).name("one").load()
        writer = frame.writeStream.foreachBatch(batch).option("checkpointLocation", str(tmp_path / "spark"))
        with pytest.raises(StreamingQueryException, match="a batch fails"):
            writer.trigger(availableNow=True).start().awaitTermination()
    logged = path.read_text("utf-8") if path.exists() else ""
    assert kept in logged
    assert bool(logged) == bool(kept), logged
