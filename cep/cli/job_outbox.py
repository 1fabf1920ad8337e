"""The job file that a command names, and the outbox of that job, running or stopped."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from cep.cli.failure import OutsideError, UsageError

if TYPE_CHECKING:
    from alerts.outbox import Outbox
    from cep.config import Job


def job_of(path: Path) -> Job:
    """The job of a file; its receivers' secrets are not asked for. Raises DiagnosticsError."""
    from cep.config import load_job

    return load_job(path, None).need()


@contextmanager
def outbox_of(job: Job) -> Iterator[Outbox]:
    """The outbox of a job, which has to be there. Raises UsageError and OutsideError."""
    from alerts.outbox import Outbox, OutboxError
    from cep.config import SecretError

    try:
        url = job.outbox_url(os.environ)
    except SecretError as error:
        raise UsageError(str(error), error.help) from error
    try:
        outbox = Outbox.open(url, create=False)
        try:
            yield outbox
        finally:
            outbox.close()
    except OutboxError as error:
        raise OutsideError(error.message, error.help, error.code) from error
