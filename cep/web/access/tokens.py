"""Tokens as the port keeps them: digests, so that no dump of memory or message shows a secret."""

from __future__ import annotations

import hmac
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256

from cep.config.job import Token
from cep.web.access.callers import Caller, caller


@dataclass(frozen=True, slots=True, repr=False)
class Tokens:
    """Callers by the digest of their secret."""

    all: tuple[tuple[bytes, Caller], ...] = ()

    @classmethod
    def of(cls, tokens: Sequence[Token], environ: Mapping[str, str]) -> Tokens:
        """The tokens of a job file. Raises SecretError."""
        return cls(
            tuple((_digest(one.secret.reveal(environ)), caller(one.name, one.scopes)) for one in tokens)
        )

    def shown(self, secret: str) -> Caller | None:
        """The caller who shows a secret; None for a wrong one. Takes as long for each."""
        digest, found = _digest(secret), None
        for known, one in self.all:
            if hmac.compare_digest(known, digest):
                found = one
        return found

    def named(self, name: str) -> Caller | None:
        """The caller of that name, as one who has signed in before is known."""
        return next((one for _, one in self.all if one.name == name), None)

    def mark(self, name: str) -> str:
        """A text that is another as soon as the secret of that name is another; empty where there is none."""
        found = next((known for known, one in self.all if one.name == name), None)
        return "" if found is None else sha256(b"mark " + found).hexdigest()[:32]


def _digest(secret: str) -> bytes:
    return sha256(secret.encode("utf-8", "replace")).digest()
