"""Failures of Spark, each as one sentence: our own error from inside a worker, or the last cause."""

from __future__ import annotations

import errno
import re
import time
import traceback
from pathlib import Path

from alerts.codes import TAKEN_OVER
from alerts.outbox import OutboxError
from cep.buckets import NO_STORE, of_store, said_of, silent
from cep.errors import JAVA_ENDED, JobError, OutsideError, PoisonError, from_text
from cep.job.spark.cluster import ended_by
from cep.job.state_folder.folder import StateFolder

_FULL = "free space on the disk of the state folder, then start the job again: it goes on where it stopped"
_AGAIN = "start the job again: it goes on where it stopped"
_RIGHTS = f"let the job's user read and write there, then {_AGAIN}"
_DISK = {
    errno.EACCES: _RIGHTS,
    errno.EPERM: _RIGHTS,
    errno.EROFS: f"see why this disk cannot be written any more, then {_AGAIN}",
    errno.EIO: f"see whether this disk is well, then {_AGAIN}",
    errno.ESTALE: f"mount this disk again, then {_AGAIN}",
}
_PYTHON_ERROR = re.compile(r"^((?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*)(?:: (.*))?$")
_JAVA_CAUSE = re.compile(r"^Caused by: ((?:[\w$]+\.)+[\w$]+)(?:: (.*))?$", re.MULTILINE)
# what Spark says of a checkpoint that was damaged after a start has looked it over (cep.job.start.inspection)
_STATE_BROKEN = (
    "CANNOT_LOAD_STATE_STORE",
    "CHECKPOINT_RESTORE",
    "INVALID_CHECKPOINT",
    "STATE_STORE_",
    "batch files are missing",
    "Incomplete log file",
    "Malformed log file",
    "Failed to read log file",
    "does not exist in the offset log",
    "assertion failed",
    "Checksum error",
    "MISSING_METADATA_FILE",
    "CONCURRENT_STREAM_LOG_UPDATE",  # a batch of which Spark has a part is begun again
)
# what Spark says of a Python process that did not come up in time (PythonWorkerFactory)
_NO_WORKER = re.compile(
    r"Python worker failed to connect back|waiting for the Python worker to connect back|"
    r"Python daemon failed to launch worker|Failed to open socket to Python daemon"
)
_WORKER_GONE = ("Python worker exited unexpectedly", "Python worker process terminated")
# what Spark says where an executor ended with what other tasks were to read, after some had read it: it does
# not know that our mappers give the same again (DAGScheduler)
_EXECUTOR_GONE = "shuffle map stage with indeterminate output was failed and retried"
_NOT_BY_EVENTS = (
    r"((aio)?botocore\.|aiohttp\.|s3fs\.)|"
    r"(OSError|MemoryError|KeyboardInterrupt|SystemExit|[\w.]*(ArrowMemoryError|Py4J\w+|StoreError)|"
    r"(File|Directory|IsA|NotA|Permission|Blocking|Child|Connection|BrokenPipe|Timeout|Interrupted|Process)\w*Error)\b"
)
_STORE_SAID = re.compile(r"software\.amazon\.awssdk\.|\.fs\.s3a\.|\b(aio)?botocore\.|\bcep\.buckets\.")
_STORE_SENTENCE = re.compile(
    r"\bcep\.buckets\.StoreError: (?:\[Errno \w+\] )?(.*?)(?:: '[^']*')?$", re.MULTILINE
)
_PART_MISSING = re.compile(r"\bbatch \d+ doesn't exist|/checkpoint/\S+ (does not|doesn't) exist")


def explained(error: BaseException, folder: StateFolder, now: float) -> JobError:
    """The error as its user should hear it. What is not one of ours leaves its traceback in a file.

    `now` is the wall clock in seconds since 1970; it names the file.
    """
    if isinstance(error, JobError):
        return error
    if isinstance(error, OutboxError):
        return OutsideError(error.message, error.help, error.code if error.code == TAKEN_OVER else "")
    text = _text(error)
    if text is None or type(error).__name__ in ("Py4JNetworkError", "Py4JError", "ConnectionRefusedError"):
        return ended_by(_messages(folder)) or OutsideError(
            "Spark's Java process ended or no longer answers",
            f"start the job again: it goes on where it stopped; Java's last words are in {folder.logs}",
            JAVA_ENDED,
        )
    if ours := _from_worker(text):
        return ours
    if (isinstance(error, OSError) and error.errno == errno.ENOSPC) or "No space left" in text:
        return OutsideError(f"there is no space left for the state folder {folder}", _FULL)
    if isinstance(error, OSError) and error.errno in _DISK and error.filename is not None:
        what = f"{error.filename}: {(error.strerror or str(error)).lower()}"
        return OutsideError(what, _DISK[error.errno])
    if of_store(error) or (folder.bucket is not None and _STORE_SAID.search(text)):
        url = str(folder)
        if of_store(error):
            said = said_of(url, error)
        elif sentence := _STORE_SENTENCE.search(text):  # in a worker
            said = sentence[1]
        elif "Unable to execute HTTP request" in text:
            said = silent(url)
        else:
            said = f"the bucket of {url} failed: {_cause(error, text)}"
        return OutsideError(said, _AGAIN, NO_STORE)
    where = keep(error, folder, now)
    told = f"the traceback is in {where}" if where else "its traceback could not be written"
    if any(sign in text for sign in _STATE_BROKEN) or _PART_MISSING.search(text):
        cause, file = _cause(error, text), _file_of(text, folder)
        damaged = folder.damaged(cause if file is None or file in cause else f"{file}: {cause}")
        return type(damaged)(damaged.message, f"{damaged.help}; {told}")
    return OutsideError(f"the job stopped: {_cause(error, text)}", told)


def _text(error: BaseException) -> str | None:
    """The error as text; None where Java, which is gone, would have to say it."""
    try:
        return str(error)
    except OSError:
        return None


def _messages(folder: StateFolder) -> str:
    """The end of what Spark has written."""
    try:
        return (folder.logs / "spark-messages.log").read_text("utf-8", "replace")[-100_000:]
    except OSError:
        return ""


def worker_late(error: BaseException) -> str | None:
    """Spark's message where a Python process did not come up in time; None for another failure."""
    if isinstance(error, JobError | OutboxError) or _from_worker(text := str(error)):
        return None
    found = _NO_WORKER.search(text)
    return None if found is None else found[0]


def poison_of(error: BaseException) -> PoisonError | None:
    """The poison that a careful run of a batch found, if that is why it failed."""
    ours = _from_worker(str(error))
    return ours if isinstance(ours, PoisonError) else None


def of_worker(error: BaseException) -> str | None:
    """The end of a worker within a batch, if events may be the reason; None if they cannot be."""
    text = str(error)
    if isinstance(error, JobError | OutboxError) or _from_worker(text) or "No space left" in text:
        return None
    if any(sign in text for sign in _STATE_BROKEN) or _PART_MISSING.search(text):
        return None
    if any(sign in text for sign in _WORKER_GONE):
        return "was ended"
    if _EXECUTOR_GONE in text:
        return "was lost with its executor"
    raised = next((line for line in reversed(_worker_lines(text)) if _PYTHON_ERROR.match(line)), None)
    if raised is None or re.match(_NOT_BY_EVENTS, raised):
        return None
    return f"raised {_short(raised)}"


def _file_of(text: str, folder: StateFolder) -> str | None:
    """The first file of the checkpoint that Spark names."""
    checkpoint = re.escape(folder.checkpoint_name)
    found = re.search(rf"{checkpoint}/[^\s:;,'\")\]]+", text)
    return found[0] if found else None


def _from_worker(text: str) -> JobError | None:
    """Our own error at the end of a Python worker's traceback within Spark's message."""
    for line in reversed(_worker_lines(text)):
        found = _PYTHON_ERROR.match(line)
        if found and (ours := from_text(found[1], found[2] or "")):
            return ours
    return None


def _worker_lines(text: str) -> list[str]:
    """The lines of a Python traceback that are not indented: its errors, the last one last."""
    begin = text.find("Traceback (most recent call last)")
    if begin < 0:
        return []
    lines = text[begin:].splitlines()
    return [line for line in lines if line and not line[0].isspace()]


def _cause(error: BaseException, text: str) -> str:
    """The last cause in a few words."""
    for line in reversed(_worker_lines(text)):
        found = _PYTHON_ERROR.match(line)
        if found and found[1].rpartition(".")[2].endswith(("Error", "Exception", "Interrupt")):
            return _short(line)
    causes = _JAVA_CAUSE.findall(text)
    if causes:
        kind, message = causes[-1]
        return _short(f"{kind.rpartition('.')[2]}: {message}" if message else kind)
    first = next((line for line in text.splitlines() if line.strip()), "")
    return _short(f"{type(error).__name__}: {first}" if first else type(error).__name__)


def _short(text: str) -> str:
    text = " ".join(text.split()).rstrip(".")
    return text if len(text) <= 300 else text[:299] + "…"


def keep(error: BaseException, folder: StateFolder, now: float) -> Path | None:
    """The file with the error's traceback, named by `now`; None if it cannot be written."""
    moment = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(now))
    path = folder.logs / f"failure-{moment}.txt"
    try:
        with path.open("w", encoding="utf-8", errors="backslashreplace") as file:
            traceback.print_exception(error, file=file)
    except OSError:
        return None
    return path
