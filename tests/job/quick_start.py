"""An archive of Spark's classes for the jobs of tests, as a job's second start has one.

A JVM then needs half the time to start. The archive is kept in pytest's cache folder from one run to the
next; the one in the user's own cache is left alone.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from job_folder import JobFolder, command
from rules_of_tests import pack, payments

from cep.job.spark.class_archive import VARIABLE, Pace, class_archive, made_later
from cep.job.spark.java import require_java
from cep.job.spark.session import classes_of


def make_archive(cache: Path, scratch: Path) -> None:
    """Makes the archive in a folder, of the classes that a small job loads, unless a process has made it."""
    environ = {**os.environ, VARIABLE: str(cache)}
    folder = JobFolder(scratch / "job", pack(), ("payment",))
    archive = class_archive(require_java(environ), classes_of(folder.state), environ)
    if archive is None:
        return  # a folder that others may write to: jobs start as they would the first time
    with (cache / "making.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if archive.there() is not None:
            return
        folder.put("payment", payments(1, 200))
        ended = command("run", folder.description, "--once", "--drain", environ=environ)
        assert ended.returncode == 0, ended.stderr
        pace = Pace(0, os.getpriority(os.PRIO_PROCESS, 0))  # all tests with a JVM wait for it
        listed = folder.state.scratch / "classes"
        with made_later(archive, listed, scratch / "log", pace=pace) as making:
            assert making is not None
            making.join()
        assert archive.there() is not None, (scratch / "log").read_text("utf-8")
