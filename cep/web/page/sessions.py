"""Who looks at the page: whoever signed in with a token, as a signed cookie says, or nobody.

The cookie has the token's name, a mark of its secret and what forms have to carry; the token itself is not in
it. A token that is taken out of job.toml, or has another secret since, signs in nobody any more.
"""

from __future__ import annotations

import hmac
import secrets
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request

from cep.config.job import Scope
from cep.web.access.callers import Caller, Refusal
from cep.web.access.policy import Access, Shown

COOKIE = "cep_session"
LASTS = 12 * 3_600
"""Seconds."""
_LONGEST = 600
"""Characters of a message: a cookie has 4 KiB."""
_MOST = 3


@dataclass(frozen=True, slots=True)
class Session:
    """One request's session. `data` is what the cookie has, which changes with it."""

    data: dict[str, Any]
    access: Access
    shown: Shown

    @property
    def name(self) -> str | None:
        """The name of the token that was signed in with."""
        return self.shown.session

    @property
    def operates(self) -> bool:
        """True for somebody who may change something."""
        return self.name is not None and isinstance(self.may("operate"), Caller)

    def may(self, scope: Scope) -> Caller | Refusal:
        """Who asks, if that is allowed; else the refusal."""
        return self.access.may(self.shown, scope)

    @property
    def csrf(self) -> str:
        """The text that a form of this session carries; empty where nothing can be sent."""
        return str(self.data.get("csrf", ""))

    def guard(self) -> None:
        """Give the session such a text."""
        self.data.setdefault("csrf", secrets.token_urlsafe(24))

    def sent(self, text: str) -> bool:
        """True if a form with this text is one of this session."""
        return bool(self.csrf) and hmac.compare_digest(text.encode(), self.csrf.encode())

    def sign_in(self, caller: Caller) -> None:
        """Begin anew, as this caller."""
        self.data.clear()
        self.data.update(name=caller.name, mark=self.access.tokens.mark(caller.name))
        self.guard()

    def sign_out(self) -> None:
        """Forget who it is."""
        self.data.clear()

    def tell(self, text: str, well: bool) -> None:
        """Keep a message for the next page."""
        kept = [*self.data.get("messages", []), [text[:_LONGEST], well]]
        self.data["messages"] = kept[-_MOST:]

    def told(self) -> list[tuple[str, bool]]:
        """The messages that wait; they are told once."""
        found = self.data.pop("messages", []) if self.data else []
        return [(str(text), bool(well)) for text, well in found]


def session_of(access: Access, request: Request) -> Session:
    """The session of a request."""
    data = request.session
    name, mark = str(data.get("name", "")), str(data.get("mark", ""))
    known = access.tokens.mark(name) if name else ""
    signed_in = bool(known) and hmac.compare_digest(known.encode(), mark.encode())
    if name and not signed_in:
        data.clear()
    headers = request.headers
    client = request.client.host if request.client else ""
    shown = Shown(headers.get("authorization"), headers.get("host"), client, name if signed_in else None)
    return Session(data, access, shown)
