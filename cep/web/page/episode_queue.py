"""/episodes: the queue that a desk works through."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from alerts.episodes.episode import STATES
from cep.web.desk.episodes import EpisodeFilter, episodes_page
from cep.web.desk.filters import Page, states_of
from cep.web.page.forms import query_of
from cep.web.page.rendering import MOST, up_to
from cep.web.page.site import Site

_CHOICES = (("", "open and acknowledged"), *((state, state) for state in STATES))


def episode_queue(site: Site, request: Request) -> Response:
    """Episodes, open ones first, then by severity and age."""
    given = {name: request.query_params.get(name, "").strip() for name in ("state", "rule", "pack")}
    wanted = EpisodeFilter(
        states_of([given["state"]] if given["state"] else []), given["pack"] or None, given["rule"] or None
    )
    found = episodes_page(site.desk, wanted, Page(cursor=request.query_params.get("cursor")), MOST)
    counts = ", ".join(f"{up_to(count)} {state}" for state, count in found.states.items())
    return site.answer(
        request,
        "episodes.html",
        states=_CHOICES,
        filters=given,
        caption=f"of all episodes {counts}",
        rows=found.episodes,
        older=f"/episodes{query_of({**given, 'cursor': found.next})}" if found.next else None,
    )
