"""All checks in the order in which a start comes to them."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from cep.doctor.disk import check_disk
from cep.doctor.finding import Finding
from cep.doctor.job import check_job
from cep.doctor.machine import check_clock, check_kernels, check_memory, check_packages, check_python
from cep.doctor.spark import check_java, check_spark


def examined(job: Path | None, environ: Mapping[str, str], *, start: bool) -> Iterator[Finding]:
    """The findings about this machine, and about a job file on it; without `start` Spark is not started."""
    yield from check_python()
    yield from check_packages()
    yield from check_kernels()
    yield from check_memory()
    yield from check_clock()
    yield from check_disk(Path(tempfile.gettempdir()), "disk of temporary files")
    yield from check_java(environ)
    if start:
        yield from check_spark(environ)
    if job is not None:
        yield from check_job(job, environ)
