"""Errors that stop a job, in its user's terms.

JobError            a sentence, what helps, and the exit code's kind
├── ConfigurationError    the job's description or state folder cannot be right (exit code 2)
├── OutsideError          Java, a port, a disk, another process (exit code 3)
└── PoisonError           what a careful run of a batch found (cep.job.poison.events): the batch is run again

They cross from Python workers to the driver as text, so that `str` of one says everything.
"""

from __future__ import annotations

_HELP, _CODE = " = help: ", " = code: "

PORT_TAKEN, JAVA_ENDED = "CEP0958", "CEP0959"
NO_STANDBY = "CEP0873"

RESTORE = "restore the state folder from a backup together with the outbox, or name a new [job] state"
"""The last resort: the help of an error that no smaller repair mends."""


class JobError(Exception):
    """`message` is one sentence without a full stop; `help` says what to do; it and `code` may be empty."""

    def __init__(self, message: str, help: str = "", code: str = "") -> None:  # noqa: A002  the word users see
        super().__init__(message + (_HELP + help if help else "") + (_CODE + code if code else ""))
        self.message = message
        self.help = help
        self.code = code


class ConfigurationError(JobError):
    """job.toml, a pack or the state folder cannot be used as they are."""


class OutsideError(JobError):
    """Something outside of the program failed."""


class PoisonError(JobError):
    """Its message is for the driver."""


def from_text(kind: str, text: str) -> JobError | None:
    """The error whose class is named `kind` and whose `str` is `text`; None if that is none of ours."""
    known = {c.__name__: c for c in (JobError, ConfigurationError, OutsideError, PoisonError)}
    found = known.get(kind.rpartition(".")[2])
    if found is None or not kind.startswith("cep.errors."):
        return None
    text, _, code = text.partition(_CODE)
    message, _, help_ = text.partition(_HELP)
    return found(message, help_, code)
