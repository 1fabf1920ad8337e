"""Standing queries in the job: compiled once beside it, changed by a deploy, the same again in a replay."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from job_folder import JobFolder, in_process

from cep.errors import ConfigurationError
from cep.job.shipping import task
from cep.job.state_folder.deploy_requests import Request, answered, new_id, submit
from cep.job.state_folder.manifest import read
from cep.plan.plan import hit_streams
from cep.resources.resource import CANNOT_BE_OPENED, Pin
from cep.standing.store import QueryStore
from rules.packs import load
from rules.query_files import contents_of

pytestmark = pytest.mark.spark
Spark = Callable[..., Any]

PACK = """pack news version "1"
stream article {
  url: string  title: text  source: string  seen_at: timestamp  id url  time seen_at  lateness 1 hour
}
queries watchlist { from "watchlist.jsonl" }
rule watched { on article matching watchlist  emit query, tags }
rule recall {
  match  hit: article matching watchlist["recall" in tags]{3,}? having distinct(hit.source) >= 2
  within 1 hour
  emit   found = list(hit.query)
}
"""


def _line(id_: str, query: str, *tags: str) -> str:
    return json.dumps({"id": id_, "query": query, "tags": tags})


def _articles(first: int, *titles: str) -> list[dict[str, object]]:
    return [
        {"url": f"u{n}", "title": title, "source": f"s{n % 2}", "seen_at": f"2026-01-05T09:{n:02}:00Z"}
        for n, title in enumerate(titles, first)
    ]


@pytest.fixture
def folder(tmp_path: Path) -> JobFolder:
    made = JobFolder(tmp_path / "job", PACK, ("article",))
    _write(made, _line("q1", "recall", "recall"), _line("q2", "acme", "name"), '{"id": "q3"}')
    return made


def _write(folder: JobFolder, *lines: str) -> None:
    (folder.root / "packs" / "watchlist.jsonl").write_text("\n".join(lines), "utf-8")


def _deploy(folder: JobFolder) -> str:
    """The request that `cep deploy` leaves for the job."""
    pack = load([folder.root / "packs"]).need()
    for hits in hit_streams(pack):
        QueryStore(folder.state.queries).put(hits)
    queries = tuple(contents_of(pack).items())
    request = Request(new_id(), pack.name, pack.revision, pack.files, queries)
    submit(folder.state, request)
    return request.id


def _hits(alerts: list[dict[str, Any]], batch: int | None = None) -> list[tuple[str, str]]:
    return [
        (alert["events"]["article"][0], alert["emit"]["query"])
        for alert in alerts
        if alert["kind"] == "hit" and batch in (None, alert["batch"])
    ]


def test_the_job_raises_what_the_engine_raises(folder: JobFolder, spark: Spark) -> None:
    titles = ["acme recall", "nothing", "recalls", "recall of recall", "acme", "ACME recall", "a recall"]
    paths = [
        folder.put("article", _articles(0, *titles[:3])),
        folder.put("article", _articles(3, *titles[3:])),
    ]
    folder.once(spark, drain=True)
    expected = in_process(folder, [[("article", path) for path in paths]])
    found = [{k: v for k, v in alert.items() if k != "batch"} for alert in folder.alerts()]
    assert sorted(found, key=str) == sorted(expected, key=str)
    assert len(_hits(folder.alerts())) == 7
    assert sum(alert["kind"] == "match" for alert in found) == 1


def test_a_deploy_changes_the_queries_between_two_batches_and_keeps_the_runs(
    folder: JobFolder, spark: Spark
) -> None:
    folder.put("article", _articles(0, "acme recall", "recall"))
    folder.once(spark)
    _write(folder, _line("q1", "recall", "recall"), _line("q9", "beta", "recall"))
    request = _deploy(folder)
    (folder.root / "packs" / "watchlist.jsonl").unlink()
    folder.put("article", _articles(2, "acme beta", "gamma"))
    folder.once(spark)
    answer = answered(folder.state, request)
    assert answer is not None
    assert [(rule.rule, rule.fate) for rule in answer.rules] == [("watched", "kept"), ("recall", "kept")]
    last = folder.commits()[-1]

    before = folder.alerts()
    for path in (last, last.with_name(f".{last.name}.crc")):
        path.unlink(missing_ok=True)
    folder.once(spark)
    assert folder.alerts() == before, "a batch that is run again uses the queries of its manifest"

    folder.once(spark, drain=True)
    assert _hits(folder.alerts()) == [("u0 q1", "q1"), ("u0 q2", "q2"), ("u1 q1", "q1"), ("u2 q9", "q9")]
    (match,) = (alert for alert in folder.alerts() if alert["kind"] == "match")
    assert match["emit"] == {"found": ["q1", "q1", "q9"]}, "the run began under the queries before"
    assert len(list(folder.state.queries.glob("*.jsonl"))) == 2


def test_a_deploy_without_its_file_of_queries_is_refused(folder: JobFolder, spark: Spark) -> None:
    folder.put("article", _articles(0, "recall"))
    folder.once(spark)
    pack = load([folder.root / "packs"]).need()
    request = Request(new_id(), pack.name, "x", pack.files, (("watchlist", "0" * 64),))
    submit(folder.state, request)
    folder.put("article", _articles(1, "recall"))
    told = folder.once(spark)
    answer = answered(folder.state, request.id)
    assert answer is not None
    assert "watchlist" in answer.refused
    assert [d["code"] for d in answer.diagnostics] == ["CEP0861"]
    assert "was refused" in told


def test_a_set_that_workers_do_not_find_ends_the_job_and_no_event_is_blamed(
    folder: JobFolder, spark: Spark, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder.put("article", _articles(0, "recall"))
    store, send = folder.state.queries, task.send

    def removing(*arguments: Any) -> None:
        for path in store.glob("*/0.segment"):
            path.unlink()
        send(*arguments)

    with monkeypatch.context() as patched:
        patched.setattr(task, "send", removing)
        with pytest.raises(ConfigurationError) as raised:
            folder.once(spark)
    assert raised.value.code == CANNOT_BE_OPENED
    assert str(store) in raised.value.message
    assert folder.alerts() == []

    folder.once(spark, drain=True)
    assert _hits(folder.alerts()) == [("u0 q1", "q1")], "a start compiles it anew, as the error says"
    found = read(folder.state.manifests, 0)
    assert found is not None
    content = load([folder.root / "packs"]).need().queries[0].content
    assert found.resources == (Pin("queries", "watchlist", content),)
    assert not found.poison
