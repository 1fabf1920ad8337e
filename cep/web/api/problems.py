"""Errors as JSON objects: RFC 9457, with our code and fix. What was sent is repeated in part only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from alerts.outbox import OutboxError
from alerts.shown import shown
from cep.config import SecretError
from cep.web.desk.errors import DeskError, GoneError, MissingError, NotYetError, UnfitError

if TYPE_CHECKING:
    from cep.web.access.callers import Refusal

MEDIA_TYPE = "application/problem+json"
_LONGEST = 500
"""Characters of a message or a fix."""


@dataclass(frozen=True, slots=True)
class Problem:
    """An error: `type` is where its page lies, `status` that of HTTP, `title` a sentence."""

    type: str
    status: int
    code: str
    title: str
    help: str


def problem(status: int, code: str, message: str, help_: str) -> Problem:
    """The problem of a sentence and what to do."""
    return Problem(f"docs/errors/{code}.md", status, code, _capped(message), _capped(help_))


def refused(refusal: Refusal) -> Problem:
    """The problem of a request that may not do what it asks for."""
    return problem(refusal.status, refusal.code, refusal.message, refusal.help)


def headers(refusal: Refusal) -> dict[str, str]:
    """The headers that go with it."""
    found = {"www-authenticate": 'Bearer realm="cep"'} if refusal.status == 401 else {}
    if refusal.wait is not None:
        found["retry-after"] = str(refusal.wait)
    return found


def of(error: Exception) -> Problem:
    """The problem of an error that an operation raised."""
    match error:
        case MissingError():
            return problem(404, error.code, error.message, error.help)
        case GoneError():
            return problem(410, error.code, error.message, error.help)
        case UnfitError():
            return problem(409, error.code, error.message, error.help)
        case NotYetError():
            return problem(503, error.code, error.message, error.help)
        case DeskError():
            return problem(400, error.code, error.message, error.help)
        case OutboxError():
            return problem(503, error.code, error.message, error.help)
        case SecretError():
            return problem(409, "CEP0708", str(error), error.help)
        case _:
            said = f"this should not have happened: {type(error).__name__}"
            return problem(500, "CEP0999", said, "logs/python.log of the state folder has its traceback")


def _capped(text: str) -> str:
    return shown(text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…")
