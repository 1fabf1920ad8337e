"""The operations that read."""

from __future__ import annotations

from cep.web.api import bodies
from cep.web.api.operation import Asked, Operation, Parameter
from cep.web.desk.acting import ActPage, acts_page
from cep.web.desk.alerts import AlertPage, AlertView, alerts_page, one_alert
from cep.web.desk.batches import BatchPage, batches_page
from cep.web.desk.dead_letters import LetterPage, LetterView, letters_page, one_letter
from cep.web.desk.episodes import (
    EpisodeAlerts,
    EpisodeFilter,
    EpisodePage,
    RulePrecision,
    episodes_page,
    one_episode,
    precision_of_rules,
)
from cep.web.desk.evidence import AlertEvents, alert_events
from cep.web.desk.feeds import FeedView, feeds_now
from cep.web.desk.filters import FILTERS, states_of, wanted
from cep.web.desk.packs import PackView, packs_now
from cep.web.desk.queries import (
    DocumentTried,
    QueryFilter,
    QueryPage,
    queries_page,
    query_filter,
    try_document,
)
from cep.web.desk.receivers import ReceiverView, receivers_now
from cep.web.desk.rules import RuleText, RuleView, one_rule, rules_now
from cep.web.desk.silences import SilenceView, silences_now
from cep.web.desk.status import JobStatus, status_now

_PAGE = (
    Parameter("limit", "how many at most, 1 to 500; 50 if absent"),
    Parameter("cursor", "`next` of the answer before"),
)
_SAYS = {
    "pack": "of this pack",
    "rule": "of this rule",
    "severity": "of this severity: critical, high, medium, low, info",
    "since": "of this event time and later, such as 2026-01-05T09:00:00Z",
    "until": "before this event time",
    "key": "of this key: `card_id=c1`, or a JSON object as alerts have it",
}
_OF_RULES = tuple(Parameter(name, _SAYS[name]) for name in ("pack", "rule"))


def filters(asked: Asked) -> dict[str, str]:
    """The filters of alerts that the query gives. Raises MistakenError."""
    found = {name: asked.one(name) for name in FILTERS}
    return {name: text for name, text in found.items() if text is not None}


def _episodes(asked: Asked) -> EpisodePage:
    of = EpisodeFilter(states_of(asked.query.get("state", [])), asked.one("pack"), asked.one("rule"))
    return episodes_page(asked.desk, of, asked.page)


def _queries(asked: Asked) -> QueryFilter:
    return query_filter(asked.one("set"), asked.one("text"), asked.one("by"))


def _rule(asked: Asked) -> RuleText:
    return one_rule(asked.desk, asked.path["pack"], asked.path["rule"], asked.one("revision"))


READING = (
    Operation(
        "status", "GET", "/status", "read", "How the job is, in a few numbers", JobStatus,
        lambda asked: status_now(asked.desk),
    ),
    Operation(
        "alerts", "GET", "/alerts", "read", "Alerts, the newest first", AlertPage,
        lambda asked: alerts_page(asked.desk, wanted(filters(asked)), asked.page),
        (*(Parameter(name, _SAYS[name]) for name in FILTERS), *_PAGE),
    ),
    Operation(
        "alert", "GET", "/alerts/{id}", "read",
        "One alert, its episode, its deliveries with what the stages said of them", AlertView,
        lambda asked: one_alert(asked.desk, asked.path["id"]),
    ),
    Operation(
        "alert_events", "GET", "/alerts/{id}/events", "read", "The events of an alert, from the job's record",
        AlertEvents, lambda asked: alert_events(asked.desk, asked.path["id"]),
    ),
    Operation(
        "episodes", "GET", "/episodes", "read", "Episodes by state, then the worst, then the oldest first",
        EpisodePage, _episodes,
        (
            Parameter("state", "open, acknowledged or closed; the first two if absent", many=True),
            *_OF_RULES, *_PAGE,
        ),
    ),
    Operation(
        "precision", "GET", "/episodes/precision", "read", "Verdicts and precision by rule",
        tuple[RulePrecision, ...], lambda asked: precision_of_rules(asked.desk), in_list="rules",
    ),
    Operation(
        "episode", "GET", "/episodes/{id}", "read", "One episode with its newest alerts", EpisodeAlerts,
        lambda asked: one_episode(asked.desk, asked.path["id"], asked.page.limit), _PAGE[:1],
    ),
    Operation(
        "silences", "GET", "/silences", "read", "Silences that go on or are to begin",
        tuple[SilenceView, ...], lambda asked: silences_now(asked.desk, ended=asked.flag("ended")),
        (Parameter("ended", "`true`: those that have ended, too"),), in_list="silences",
    ),
    Operation(
        "receivers", "GET", "/receivers", "read", "Receivers and how they stand",
        tuple[ReceiverView, ...], lambda asked: receivers_now(asked.desk), in_list="receivers",
    ),
    Operation(
        "rules", "GET", "/rules", "read", "The rules that run, and how often each fired",
        tuple[RuleView, ...], lambda asked: rules_now(asked.desk), in_list="rules",
    ),
    Operation(
        "rule", "GET", "/rules/{pack}/{rule}", "read", "A rule's text, its alerts by hour", RuleText, _rule,
        (Parameter("revision", "the text at this revision of its pack; the one that runs if absent"),),
    ),
    Operation(
        "packs", "GET", "/packs", "read", "The packs that run", tuple[PackView, ...],
        lambda asked: packs_now(asked.desk), in_list="packs",
    ),
    Operation(
        "feeds", "GET", "/feeds", "read", "Feeds, and how far each is", tuple[FeedView, ...],
        lambda asked: feeds_now(asked.desk), in_list="feeds",
    ),
    Operation(
        "deadletters", "GET", "/deadletters", "read", "What became no event, the newest first", LetterPage,
        lambda asked: letters_page(asked.desk, asked.one("feed"), asked.page),
        (Parameter("feed", "of this feed"), *_PAGE),
    ),
    Operation(
        "deadletter", "GET", "/deadletters/{number}", "read", "One dead letter with all of its bytes",
        LetterView, lambda asked: one_letter(asked.desk, asked.path["number"]),
    ),
    Operation(
        "queries", "GET", "/queries", "read", "Standing queries: what each hits and costs", QueryPage,
        lambda asked: queries_page(asked.desk, _queries(asked), asked.page),
        (
            Parameter("set", "of this set; of the first if absent"),
            Parameter("text", "whose id, text, tags or filter hold this"),
            Parameter("by", "hits, cost or id: which come first; hits if absent"), *_PAGE,
        ),
    ),
    Operation(
        "try_queries", "POST", "/queries/try", "read", "The standing queries that a document hits",
        DocumentTried,
        lambda asked: try_document(asked.desk, asked.body.set, asked.body.document), body=bodies.Document,
    ),
    Operation(
        "batches", "GET", "/batches", "read", "Batches, the newest first", BatchPage,
        lambda asked: batches_page(asked.desk, asked.page), _PAGE,
    ),
    Operation(
        "audit", "GET", "/audit", "operate", "Who did what, the newest first", ActPage,
        lambda asked: acts_page(asked.desk, asked.page), _PAGE,
    ),
)  # fmt: skip
