"""The pages that are one table each, in the words of the CLI; and the page of one rule."""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response

from alerts.shown import shown
from cep.web.desk.alerts import alerts_page
from cep.web.desk.batches import batches_page
from cep.web.desk.dead_letters import letters_page, one_letter
from cep.web.desk.episodes import precision_of_rules
from cep.web.desk.feeds import feeds_now
from cep.web.desk.filters import Page, wanted
from cep.web.desk.packs import pack_at, packs_now
from cep.web.desk.receivers import receivers_now
from cep.web.desk.rules import one_rule, rules_now
from cep.web.desk.silences import silences_now
from cep.web.page.forms import query_of
from cep.web.page.rendering import cut
from cep.web.page.rule_text import WIDEST, rule_of, text_of
from cep.web.page.silencing import silence_address
from cep.web.page.site import Site
from cep.web.page.tally import STEPS

_SORTS = {
    "alerts": lambda one: -one.alerts_day,
    "runs": lambda one: -one.runs,
    "precision": lambda one: 2 if one.precision is None else one.precision,
    "name": lambda one: (one.pack, one.rule),
}


def rules(site: Site, request: Request) -> Response:
    """The rules that run, those that fire most first."""
    by = request.query_params.get("by", "alerts")
    day = site.tally.counted(STEPS).by_rule(site.desk.clock())
    found = sorted(rules_now(site.desk, day), key=lambda one: (one.pack, one.rule))
    return site.answer(
        request,
        "rules.html",
        rows=sorted(found, key=_SORTS.get(by, _SORTS["alerts"])),
        by=by,
        sorts=list(_SORTS),
    )


def rule(site: Site, request: Request) -> Response:
    """One rule: its text, what changed since another revision, verdicts, its last alerts."""
    pack_name, name = request.path_params["pack"], request.path_params["rule"]
    revision = request.query_params.get("revision") or None
    counted, clock = site.tally.counted(STEPS), site.desk.clock()
    found = one_rule(site.desk, pack_name, name, revision, counted.by_rule(clock))
    pack = pack_at(site.desk, pack_name, revision)
    there = rule_of(pack, name)
    assert there is not None
    text, steps = text_of(there)
    other = request.query_params.get("against") or None
    before = rule_of(pack_at(site.desk, pack_name, other), name) if other else None
    latest = alerts_page(site.desk, wanted({"pack": pack_name, "rule": name}), Page(20))
    verdicts = [one for one in precision_of_rules(site.desk) if (one.pack, one.rule) == (pack_name, name)]
    raised_by = dict.fromkeys(str(row.alert["revision"]) for row in latest.alerts)
    return site.answer(
        request,
        "rule.html",
        rule=found.rule,
        found=found,
        text=text,
        steps=steps,
        tests=[one.title for one in pack.tests if name in one.rules],
        against=other,
        difference=_difference(before.span.text, there.span.text) if before else None,
        revisions=[one for one in raised_by if one != found.revision],
        series=counted.hours(pack_name, name, clock),
        verdicts=verdicts[0] if verdicts else None,
        rows=latest.alerts,
        more=f"/alerts{query_of({'pack': pack_name, 'rule': name})}",
        silence=silence_address(pack_name, name, {}),
    )


def _difference(before: str, after: str) -> Markup:
    """The lines of a unified difference, each marked by its sign."""
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=3)
    return Markup("").join(_marked(list(lines)[2:]))


def _marked(lines: list[str]) -> Iterator[Markup]:
    kinds = {"+": "added", "-": "removed"}
    for line in lines or [" the rule's text is the same"]:
        yield Markup('<span class="{}">{}</span>').format(
            kinds.get(line[:1], "same"), shown(cut(line, WIDEST))
        )


def silences(site: Site, request: Request) -> Response:
    """The silences that go on, and a form for a new one."""
    every = request.query_params.get("all") == "1"
    matchers = request.query_params.get("matchers", "")
    return site.answer(
        request, "silences.html", rows=silences_now(site.desk, ended=every), all=every, matchers=matchers
    )


def receivers(site: Site, request: Request) -> Response:
    """The receivers and how they stand."""
    return site.answer(request, "receivers.html", rows=receivers_now(site.desk))


def feeds(site: Site, request: Request) -> Response:
    """The feeds and how far they are."""
    return site.answer(request, "feeds.html", rows=feeds_now(site.desk))


def packs(site: Site, request: Request) -> Response:
    """The packs that run."""
    return site.answer(request, "packs.html", rows=packs_now(site.desk))


def dead_letters(site: Site, request: Request) -> Response:
    """The page of what could not be read, the newest first."""
    feed = request.query_params.get("feed") or None
    found = letters_page(site.desk, feed, Page(cursor=request.query_params.get("cursor")))
    older = f"/deadletters{query_of({'feed': feed, 'cursor': found.next})}" if found.next else None
    feeds = [one.name for one in site.desk.job.feeds]
    return site.answer(
        request, "deadletters.html", rows=found.dead_letters, feed=feed, feeds=feeds, older=older
    )


def dead_letter(site: Site, request: Request) -> Response:
    """One dead letter with all of its bytes."""
    return site.answer(request, "deadletter.html", one=one_letter(site.desk, request.path_params["number"]))


def batches(site: Site, request: Request) -> Response:
    """The last batches."""
    found = batches_page(site.desk, Page(cursor=request.query_params.get("cursor")))
    older = f"/batches{query_of({'cursor': found.next})}" if found.next else None
    return site.answer(request, "batches.html", rows=found.batches, older=older)
