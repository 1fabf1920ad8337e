"""Callers of the job's port, and refusals of what they ask for."""

from __future__ import annotations

from dataclasses import dataclass

from cep.config.job import SCOPES, Scope

_INCLUDED: dict[Scope, tuple[Scope, ...]] = {
    "read": ("read",),
    "operate": ("read", "operate"),
    "deploy": ("read", "deploy"),
    "ingest": ("ingest",),
}
"""The scopes that each scope allows: who changes something reads it, too; who brings events sees nothing."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls: the name of a token; empty: somebody who showed none."""

    name: str
    scopes: frozenset[Scope]

    def may(self, scope: Scope) -> bool:
        """True if the caller may do what asks for a scope."""
        return scope in self.scopes


def caller(name: str, scopes: tuple[Scope, ...]) -> Caller:
    """The caller with a token of these scopes and what they include."""
    return Caller(name, frozenset(one for scope in scopes for one in _INCLUDED[scope]))


NOBODY = Caller("", frozenset())
READER = Caller("", frozenset(SCOPES[:1]))
"""Somebody on this machine, who needs no token to read."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a request is not answered: an HTTP status, a code, a sentence, and what to do.

    `wait` is how many seconds to stay away.
    """

    status: int
    code: str
    message: str
    help: str
    wait: int | None = None
