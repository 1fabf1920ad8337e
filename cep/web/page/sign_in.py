"""Signing in with a token of the job, and out."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from cep.web.access.callers import Refusal
from cep.web.access.policy import lacking
from cep.web.page.forms import Form, local
from cep.web.page.site import Site


def ask(site: Site, request: Request, problem: str = "", status: int = 200) -> Response:
    """The form to sign in with."""
    session = site.sessions(request)
    session.guard()
    after = local(request.query_params.get("next", "/"))
    tokens = bool(session.access.tokens.all)
    return site.answer(request, "sign_in.html", status, problem=problem, next=after, tokens=tokens)


def sign_in(site: Site, request: Request, form: Form) -> Response:
    """Sign in whoever shows a token that may read: with another one nothing could be seen."""
    session = site.sessions(request)
    found = session.access.sign_in(form.one("token"), session.shown.client)
    if not isinstance(found, Refusal) and not found.may("read"):
        found = lacking(found, "read")
    if isinstance(found, Refusal):
        said = f"{found.message}."
        return ask(site, request, said[0].upper() + said[1:], found.status)
    session.sign_in(found)
    return RedirectResponse(local(form.one("next")), 303)


def sign_out(site: Site, request: Request, _: Form) -> Response:
    """Forget who it was."""
    site.sessions(request).sign_out()
    return RedirectResponse("/", 303)
