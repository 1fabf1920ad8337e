"""The page of standing queries at 100,000 of them: lists in every order, found by a word, a text tried.

    python benchmarks/queries_page.py [--queries N]

Prints p50 and p99 in milliseconds of wall clock, in this process, of what answers a request. Hits are counted
for every query, as after a day.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random

from alerts.outbox import BatchRecord, Outbox
from cep.config import load_job
from cep.counters import Counts, QueryHits
from cep.job.running.health import Standing
from cep.job.running.stopping import Stop
from cep.job.shipping import packs as stored_packs
from cep.job.state_folder.folder import StateFolder
from cep.job.state_folder.manifest import Result
from cep.plan.plan import hit_streams
from cep.standing.store import QueryStore
from cep.web.desk.desk import JobDesk
from cep.web.desk.filters import Page
from cep.web.desk.queries import QueryFilter, queries_page, query_filter, try_document
from rules.packs import load

PACK = """pack news version "1"
stream article { url: string  title: text  at: timestamp  id url  time at }
queries watchlist { from "watchlist.jsonl" }
rule watched { on article matching watchlist  emit query }
"""
JOB = """[job]
name = "n"
packs = "packs/"
state = "state/"
[feeds.article]
source = "files"
path = "in/*.jsonl"
"""
ROUNDS = 200


def made(folder: Path, number: int) -> JobDesk:
    """A desk of a job with so many queries, each of which has hit something."""
    random = Random(1)
    (folder / "packs").mkdir()
    (folder / "job.toml").write_text(JOB, "utf-8")
    (folder / "packs" / "news.rules").write_text(PACK, "utf-8")
    words = [f"word{n}" for n in range(20_000)]
    with (folder / "packs" / "watchlist.jsonl").open("w", encoding="utf-8") as file:
        for n in range(number):
            asked = " AND ".join(random.sample(words, 2))
            file.write(json.dumps({"id": f"query-{n}", "query": asked, "tags": ["a"]}) + "\n")
    job = load_job(folder / "job.toml", {}).need()
    state = StateFolder(job.state)
    state.make()
    pack = load([folder / "packs" / "news.rules"]).need()
    stored_packs.store(state.packs, pack)
    for hits in hit_streams(pack):
        QueryStore(state.queries).put(hits)
    outbox = Outbox.open(job.outbox_url({}), durable=False)
    result = Result({"news": pack.revision}, 0, {}, {}, 0, 0, None, {}, {}, False)
    outbox.record(BatchRecord(0, "d", result.as_dict()), [], [])
    standing = Standing(job, Stop(print))
    hit = (
        (QueryHits("article", "watchlist", f"query-{n}"), random.randrange(1, 1_000)) for n in range(number)
    )
    standing.queries.take(Counts(dict(hit)))
    return JobDesk(outbox, job, os.environ, standing)


def timed(what: str, work: Callable[[int], object]) -> None:
    """Print how long a request takes, after the first."""
    begun = time.perf_counter()
    work(0)
    first, spent = (time.perf_counter() - begun) * 1e3, []
    for number in range(ROUNDS):
        begun = time.perf_counter()
        work(number)
        spent.append((time.perf_counter() - begun) * 1e3)
    spent.sort()
    p50, p99 = spent[ROUNDS // 2], spent[ROUNDS * 99 // 100]
    print(f"{what:32} first {first:7.1f}  p50 {p50:6.1f}  p99 {p99:6.1f} ms")


def first_page(desk: JobDesk, wanted: QueryFilter, _: int) -> None:
    """Asks for the first page of queries."""
    queries_page(desk, wanted, Page())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queries", type=int, default=100_000)
    number = parser.parse_args().queries
    with tempfile.TemporaryDirectory() as folder:
        desk = made(Path(folder), number)
        for by in ("hits", "cost", "id"):
            wanted = query_filter(None, None, by)
            timed(f"by {by}", partial(first_page, desk, wanted))
        deep = Page(cursor=str(number // 2))
        timed("by hits, half way", lambda _: queries_page(desk, query_filter(None, None, None), deep))
        timed(
            "found by a word",
            lambda n: queries_page(desk, query_filter(None, f"word{n * 7}", "hits"), Page()),
        )
        text = " ".join(f"word{n}" for n in range(0, 20_000, 100))
        timed("a text of 200 words tried", lambda _: try_document(desk, None, {"title": text}))
        desk.outbox.close()


if __name__ == "__main__":
    main()
