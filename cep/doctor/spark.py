"""Java, and Spark: started as a job starts it, with one row through a Python worker."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from cep.doctor.finding import Finding
from cep.errors import JobError
from cep.job.spark.java import require_java, version_of
from cep.job.state_folder.folder import StateFolder


def check_java(environ: Mapping[str, str]) -> Iterator[Finding]:
    """The Java that Spark would run on."""
    try:
        program = require_java(environ)
    except JobError as error:
        yield Finding("Java", "error", error.message, error.help, error.code)
    else:
        yield Finding("Java", "ok", f"{version_of(program)}, {program}")


def check_spark(environ: Mapping[str, str]) -> Iterator[Finding]:
    """Spark, started for a moment; nothing where there is no Java, which `check_java` tells."""
    try:
        require_java(environ)
    except JobError:
        return
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        folder = StateFolder(Path(name))
        folder.make()
        try:
            version = _tried(folder, environ)
        except JobError as error:
            yield Finding("Spark", "error", f"{error.message}: {_last_line(folder)}", error.help, error.code)
        except Exception as error:
            said = (
                f"it did not pass a row through a Python worker: {type(error).__name__}: {_last_line(folder)}"
            )
            yield Finding("Spark", "error", said, "reinstall pyspark, grpcio and protobuf, or another Java")
        else:
            took = time.monotonic() - begun
            yield Finding("Spark", "ok", f"{version}; started, ran a Python worker and ended in {took:.1f} s")


def _tried(folder: StateFolder, environ: Mapping[str, str]) -> str:
    """The version of a Spark that has passed rows through a Python worker."""
    from cep.job.spark.session import running

    log = os.open(folder.logs / "spark.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        with running(folder, 1, 1, log, environ) as spark:
            rows = spark.range(3).mapInArrow(lambda batches: batches, "id long").count()
            assert rows == 3, f"{rows} rows of 3 came back"
            return spark.version
    finally:
        os.close(log)


def _last_line(folder: StateFolder) -> str:
    """The last line of Java or Spark, which is where the reason stands."""
    try:
        lines = (folder.logs / "spark.log").read_text("utf-8", "replace").splitlines()
    except OSError:
        lines = []
    return next((line.strip() for line in reversed(lines) if line.strip()), "it said nothing")
