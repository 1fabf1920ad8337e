"""Standing queries on the desk: listed by what they did, and tried with what the job compiled."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from some_desk import JOB, NOW, TOKENS
from test_api import fits

from alerts.outbox import BatchRecord, Outbox
from cep.config import load_job
from cep.counters import Counts, QueryDocuments, QueryHits, UndecidedDocuments
from cep.job.running.health import Standing
from cep.job.running.stopping import Stop
from cep.job.shipping import packs as stored_packs
from cep.job.state_folder.folder import StateFolder
from cep.plan.plan import hit_streams
from cep.standing.store import QueryStore
from cep.web.api.answering import answer
from cep.web.api.known import OPERATIONS
from cep.web.api.operation import Asked
from cep.web.desk import queries as desk_queries
from cep.web.desk.acting import Actor
from cep.web.desk.desk import JobDesk
from cep.web.desk.errors import DeskError, MissingError, MistakenError, NotYetError
from cep.web.desk.filters import Page
from cep.web.desk.queries import QueryFilter, document_of, named, queries_page, query_filter, try_document
from cep.web.page.queries import pieces
from rules.packs import load

PACK = """pack news version "1"
stream article {
  url: string  title: text  body: text  source: string  seen_at: timestamp  n: long
  id url  time seen_at
}
queries watchlist { from "watchlist.jsonl" }
rule watched { on article matching watchlist  emit query }
"""
QUERIES = [
    {"id": "q1", "query": "recall*", "tags": ["safety"]},
    {"id": "q2", "query": "title:\"brake failure\""},
    {"id": "q3", "query": "tyre AND café", "filter": {"source": ["wire"]}},
    {"id": "broken", "query": "title:("},
    {"id": "<script>", "query": "markup"},
    {"id": "other", "query": "nothing"},
]  # fmt: skip


@dataclass
class Queries:
    desk: JobDesk
    standing: Standing


@pytest.fixture
def at(tmp_path: Path) -> Iterator[Queries]:
    (tmp_path / "job.toml").write_text(JOB, "utf-8")
    (tmp_path / "packs").mkdir()
    lines = [json.dumps(one) for one in QUERIES]
    (tmp_path / "packs" / "watchlist.jsonl").write_text("\n\n".join(lines), "utf-8")
    (tmp_path / "packs" / "news.rules").write_text(PACK, "utf-8")
    job = load_job(tmp_path / "job.toml", TOKENS).need()
    folder = StateFolder(job.state)
    folder.make()
    pack = load([tmp_path / "packs" / "news.rules"]).need()
    stored_packs.store(folder.packs, pack)
    for hits in hit_streams(pack):
        QueryStore(folder.queries).put(hits)
    outbox = Outbox.open(job.outbox_url(TOKENS), durable=False)
    result: dict[str, object] = {
        "revisions": {"news": pack.revision}, "watermark": 0, "greatest": [], "heard": [], "clock": 0,
        "elapsed": 0, "quiet": None, "since": [], "runs": [], "drained": False, "first": {},
    }  # fmt: skip
    outbox.record(BatchRecord(0, "d", result), [], [])
    standing = Standing(job, Stop(print), now=lambda: NOW)
    desk_queries._of_folder.cache_clear()
    yield Queries(JobDesk(outbox, job, TOKENS, standing, clock=lambda: NOW), standing)
    outbox.close()


def counted(at: Queries, **hits: int) -> None:
    counts = Counts({QueryHits("article", "watchlist", id_): number for id_, number in hits.items()})
    counts[QueryDocuments("article", "watchlist", "documents")] = 100
    counts[UndecidedDocuments("article", "watchlist", "other")] = 2
    at.standing.queries.take(counts)


def ids(at: Queries, wanted: QueryFilter = QueryFilter(), page: Page = Page()) -> list[str]:  # noqa: B008
    return [one.id for one in queries_page(at.desk, wanted, page).queries]


def test_sets_and_their_queries_are_listed_with_what_they_did(at: Queries) -> None:
    counted(at, q2=7, q1=1)
    counted(at, q1=1)
    found = queries_page(at.desk, QueryFilter(), Page())
    (one,) = found.sets
    assert (one.queries, one.pack, one.stream, one.count, one.refused, one.documents) == (
        "watchlist", "news", "article", 5, 1, 200,
    )  # fmt: skip
    assert [(one.id, one.hits) for one in found.queries[:3]] == [("q2", 7), ("q1", 2), ("q3", 0)]
    by_id = {one.id: one for one in found.queries}
    assert by_id["other"].undecided == 4
    assert (by_id["q1"].tags, dict(by_id["q3"].filter)) == (("safety",), {"source": ("wire",)})
    assert (found.since, found.matched, found.next) == ("2027-01-15T08:00:00Z", 5, None)


def test_of_a_job_that_does_not_run_nothing_is_counted(at: Queries) -> None:
    counted(at, q2=7)
    found = queries_page(replace(at.desk, live=None), QueryFilter(), Page())
    assert (found.since, {one.hits for one in found.queries}) == (None, {0})


def test_orders_and_cursors_lead_through_all(at: Queries) -> None:
    counted(at, other=3)
    for by in ("hits", "cost", "id"):
        wanted, cursor, seen = query_filter(None, None, by), None, []
        while True:
            page = queries_page(at.desk, wanted, Page(2, cursor))
            seen += page.queries
            if (cursor := page.next) is None:
                break
        assert sorted(one.id for one in seen) == ["<script>", "other", "q1", "q2", "q3"]
        key = {"hits": lambda one: -one.hits, "cost": lambda one: -one.cost, "id": lambda one: one.id}[by]
        assert seen == sorted(seen, key=key)


@pytest.mark.parametrize(
    ("text", "found"),
    [("RECALL", ["q1"]), ("CAFÉ", ["q3"]),
     ("safety", ["q1"]), ("café", ["q3"]), ("wire", ["q3"]), ("<SCRIPT", ["<script>"]),
     ('"brake', ["q2"]), ("nowhere", [])],
)  # fmt: skip
def test_queries_are_found_by_what_they_say(at: Queries, text: str, found: list[str]) -> None:
    assert ids(at, query_filter(None, text, "id")) == found


def test_a_document_is_tried_with_filters_and_shows_what_was_found(at: Queries) -> None:
    found = try_document(at.desk, None, {"title": "Brake failure: recalled", "body": "a Tyre, a CAFÉ"})
    assert [one.id for one in found.hits] == ["q1", "q2"]
    marks = {one.id: one.highlights for one in found.hits}
    assert marks["q2"] == {"title": ((0, 13),)} or marks["q2"] == {"title": ((0, 5), (6, 13))}
    assert marks["q1"] == {"title": ((15, 23),)}
    with_source = try_document(at.desk, "watchlist", {"body": "a tyre in a café", "source": "wire", "n": 3})
    assert [one.id for one in with_source.hits] == ["q3"]
    assert try_document(at.desk, None, {}).hits == ()


def test_a_plain_text_is_in_every_text_of_the_document(at: Queries) -> None:
    hits = named(at.desk, None)
    assert document_of(hits, "recall") == {"title": "recall", "body": "recall"}
    assert document_of(hits, '{"title": "x"}') == {"title": "x"}
    assert document_of(hits, "{recall") == {"title": "{recall", "body": "{recall"}


def test_answers_of_the_api_fit_their_description(at: Queries) -> None:
    counted(at, q2=7)
    asked = Asked(at.desk, Actor("ann", NOW), {}, {})
    tried = json.dumps({"document": {"title": "brake failure: recalled"}}).encode()
    for one in OPERATIONS:
        if one.name in ("queries", "try_queries"):
            found = answer(one, asked, tried if one.method == "POST" else b"")
            fits(json.loads(json.dumps(found)), one)
            assert len(found.get("queries") or found["hits"]) > 1


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ({"titel": "x"}, "documents have no field `titel`"),
        ({"n": "three"}, "the document is none of `article`"),
        ({"title": "x" * 100_001}, "more than 100,000 characters"),
        ({"title": ["x" * 60_000], "body": "x" * 60_000}, "more than 100,000 characters"),
        ({"seen_at": "yesterday"}, "the document is none of `article`"),
    ],
)
def test_what_is_no_document_is_told(at: Queries, document: dict[str, object], said: str) -> None:
    with pytest.raises(MistakenError, match=said) as error:
        try_document(at.desk, None, document)
    assert error.value.help


def test_what_is_not_there_is_told(at: Queries, tmp_path: Path) -> None:
    with pytest.raises(MissingError, match="there are no queries `wachlist`"):
        try_document(at.desk, "wachlist", {})
    with pytest.raises(MistakenError, match="no order `speed`"):
        query_filter(None, None, "speed")
    desk_queries._of_folder.cache_clear()
    for path in (tmp_path / "state" / "queries").glob("*-*"):
        path.rename(path.with_name("gone"))
    with pytest.raises(NotYetError, match="cannot be read"):
        queries_page(at.desk, QueryFilter(), Page())
    with pytest.raises(DeskError):
        try_document(at.desk, None, {"title": "x"})


@given(st.text(max_size=30), st.data())
def test_pieces_are_the_text_and_mark_its_ranges(text: str, data: st.DataObject) -> None:
    ends = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=6)))
    ranges = list(zip(ends[::2], ends[1::2], strict=False))
    found = pieces(text, ranges)
    assert "".join(one.text for one in found) == text
    assert "".join(one.text for one in found if one.marked) == "".join(text[a:b] for a, b in ranges)
