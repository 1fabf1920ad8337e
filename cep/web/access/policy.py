"""The policy of the port: what a request may do, by the address that it came to and the token that it shows.

On an address of this machine alone reading needs no token, and everything else does; on any other everything
needs one. A page of another site cannot read through a browser here: without a token a request has to name
this machine in `Host`, which a name that was pointed at it does not (DNS rebinding).
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from alerts.shown import shown
from cep.config.job import Job, Scope
from cep.web.access.attempts import Attempts
from cep.web.access.callers import NOBODY, READER, Caller, Refusal
from cep.web.access.tokens import Tokens

_SHOW = "send `Authorization: Bearer TOKEN` with the secret of a [tokens.NAME] of job.toml"
_WRONG = Refusal(401, "CEP0961", "there is no such token", _SHOW)
_BEARER = re.compile(r"(?i)bearer +([A-Za-z0-9._~+/=-]{1,500}) *")
_HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^:\[\]]+)(?::[0-9]{1,5})?")


@dataclass(frozen=True, slots=True)
class Shown:
    """What a request shows of who sends it: headers `Authorization` and `Host`, the address of its client.

    `session` is the name of a token by which the client signed in before, as a cookie that was checked says.
    """

    authorization: str | None
    host: str | None
    client: str
    session: str | None = None


@dataclass(frozen=True, slots=True)
class Access:
    """The policy of a port; `open_reading`: on this machine alone, where reading needs no token."""

    tokens: Tokens
    open_reading: bool
    attempts: Attempts = field(default_factory=Attempts)

    @classmethod
    def of(cls, job: Job, environ: Mapping[str, str], address: str) -> Access:
        """That of a job which listens on an IP address. Raises SecretError."""
        return cls(Tokens.of(job.tokens, environ), ipaddress.ip_address(address).is_loopback)

    def caller(self, shown: Shown) -> Caller | Refusal:
        """Who sends a request, or the refusal of a token that is wrong."""
        if shown.authorization is not None:
            return self._with_token(shown.authorization, shown.client)
        if shown.session is not None and (known := self.tokens.named(shown.session)) is not None:
            return known
        return READER if self.open_reading and _of_this_machine(shown.host) else NOBODY

    def may(self, shown: Shown, scope: Scope) -> Caller | Refusal:
        """The caller, if the request may do what asks for a scope; else the refusal."""
        found = self.caller(shown)
        if isinstance(found, Refusal) or found.may(scope):
            return found
        if found.name:
            return lacking(found, scope)
        if scope == "read" and self.open_reading:
            host = _told(shown.host or "")
            said = f"without a token this port answers to names of this machine, and not to `{host}`"
            return Refusal(401, "CEP0961", said, f"call it localhost or by its number, or {_SHOW}")
        return Refusal(401, "CEP0961", f"this needs a token that may `{scope}`", _SHOW)

    def sign_in(self, secret: str, client: str) -> Caller | Refusal:
        """The caller who shows a secret; wrong ones are counted by client."""
        if (wait := self.attempts.wait(client)) is not None:
            said = "this client has shown too many wrong tokens"
            return Refusal(429, "CEP0963", said, f"try again in {wait} seconds", wait)
        found = self.tokens.shown(secret)
        if found is None:
            self.attempts.failed(client)
            return _WRONG
        return found

    def _with_token(self, authorization: str, client: str) -> Caller | Refusal:
        found = _BEARER.fullmatch(authorization)
        return self.sign_in(found[1] if found else "", client)


def lacking(one: Caller, scope: Scope) -> Refusal:
    """The refusal of a token that does not have a scope."""
    has = ", ".join(sorted(one.scopes))
    said = f"the token `{one.name}` may {has}, and this needs `{scope}`"
    return Refusal(403, "CEP0962", said, f'give it scopes = ["{scope}"] in job.toml, or use another')


def _of_this_machine(host: str | None) -> bool:
    """True for `localhost` and for numbers, whatever the port."""
    found = _HOST.fullmatch(host or "")
    if found is None:
        return False
    name = found[1].strip("[]").lower()
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return name == "localhost" or name.endswith(".localhost")
    return True


def _told(host: str) -> str:
    return shown(host if len(host) <= 80 else f"{host[:80]}…")
