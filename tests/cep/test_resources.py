"""A resource is the same wherever it is opened, at the version that is pinned, and closed in the end."""

from __future__ import annotations

import gc
import json
import pickle
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

import cep
from cep.errors import ConfigurationError
from cep.events import MAX_TIME
from cep.inprocess.rows import line_events
from cep.inprocess.session import Session
from cep.packs.compile import compile_plan
from cep.plan.plan import HitStream, Plan, hit_streams
from cep.resources.resource import CANNOT_BE_OPENED, Pin, Places, Resources
from cep.resources.searches import TextSearches
from cep.resources.standing import StandingQueries, pins
from cep.standing import compiled as compiling
from cep.standing.store import QueryStore
from rules.diagnostics import DiagnosticsError
from rules.packs import load, load_texts
from rules.typed import Pack

STREAM = "stream article { url: string  title: text  at: timestamp  id url  time at }\n"
PACK = f"""pack p version "1"
{STREAM}queries w {{ from "w.jsonl" }}
rule r {{ on article matching w  emit query }}
"""
SEARCHES = f"""pack p version "1"
{STREAM}rule r {{ on article[title matches "recall OR acme"]  emit url }}
"""


@pytest.fixture(autouse=True)
def _no_compiled_sets() -> Iterator[None]:
    """Forgets what the process compiled for other tests, or for a pack's findings."""
    compiling._compiled.cache_clear()
    yield
    compiling._compiled.cache_clear()


def pack_in(folder: Path, *queries: str) -> Pack:
    """A pack of queries with ids from q0 on, each of one word."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps({"id": f"q{n}", "query": query}) for n, query in enumerate(queries)]
    (folder / "w.jsonl").write_text("\n".join(lines), "utf-8")
    (folder / "p.rules").write_text(PACK, "utf-8")
    return load([folder]).need()


def hits_of(pack: Pack) -> HitStream:
    (found,) = hit_streams(pack)
    return found


def stored(folder: Path, *packs: Pack) -> Resources:
    """Resources of a job that has the query sets of these packs."""
    store = QueryStore(folder)
    for pack in packs:
        store.put(hits_of(pack))
    return Resources(Places(queries=folder))


def hits(plan: Plan, resources: Resources, title: str) -> list[str]:
    """The queries that hit a document."""
    event = json.dumps({"url": "u", "title": title, "at": "2026-01-05T09:00:00Z"}).encode()
    events, refused = line_events(plan.packs[0], [(0, "article", event)])
    assert not refused
    raised = Session(plan, resources=resources).feed(events, MAX_TIME)
    return [str(one.alert.emit["query"]) for one in raised]


def test_a_set_is_the_same_wherever_it_is_opened(tmp_path: Path) -> None:
    pack = pack_in(tmp_path / "pack", "acme", "recall", "beta")
    plan, job = compile_plan([pack]), stored(tmp_path / "queries", pack)
    for resources in (Resources(), job, job.at(pins(plan)), Resources().at(pins(plan))):
        assert hits(plan, resources, "a recall of acme") == ["q0", "q1"]
        assert hits(plan, resources, "nothing") == []
    program = cep.load(tmp_path / "pack").evaluate(
        [("article", {"url": "u", "title": "a recall of acme", "at": "2026-01-05T09:00:00Z"})], drain=True
    )
    assert [alert.emit["query"] for alert in program.alerts] == ["q0", "q1"]


def test_a_pinned_version_goes_before_that_of_the_pack(tmp_path: Path) -> None:
    before, after = pack_in(tmp_path / "a", "acme"), pack_in(tmp_path / "b", "acme", "recall")
    job, plan = stored(tmp_path / "queries", before, after), compile_plan([after])
    (pinned,) = pins(compile_plan([before]))
    assert pinned == Pin("queries", "w", before.queries[0].content)
    assert hits(plan, job.at([pinned]), "acme recall") == ["q0"]
    assert hits(plan, job, "acme recall") == ["q0", "q1"]


def test_a_compiled_set_that_is_gone_is_told_with_its_place_and_what_to_do(tmp_path: Path) -> None:
    pack = pack_in(tmp_path / "pack", "acme")
    resources = stored(tmp_path / "queries", pack)
    (place,) = (path for path in (tmp_path / "queries").iterdir() if path.is_dir())
    (place / "0.segment").unlink()
    with pytest.raises(ConfigurationError) as raised:
        resources.open(StandingQueries(hits_of(pack)))
    assert raised.value.code == CANNOT_BE_OPENED
    assert str(place) in raised.value.message
    assert "`w`" in raised.value.message
    assert raised.value.help.startswith("start the job again")


def test_a_changed_file_of_queries_is_told_where_the_pack_names_it(tmp_path: Path) -> None:
    pack = pack_in(tmp_path, "acme")
    program = cep.load(tmp_path)
    compiling._compiled.cache_clear()
    (tmp_path / "w.jsonl").write_text('{"id": "q", "query": "other"}', "utf-8")
    with pytest.raises(DiagnosticsError) as raised:
        Resources().open(StandingQueries(hits_of(pack)))
    (found,) = raised.value.diagnostics
    assert found.code == CANNOT_BE_OPENED
    assert found.span is not None
    assert found.span.text == '"w.jsonl"'
    assert "rename it in" in found.help
    event: Mapping[str, object] = {"url": "u", "title": "acme", "at": "2026-01-05T09:00:00Z"}
    with pytest.raises(cep.PackError, match=CANNOT_BE_OPENED):
        program.evaluate([("article", event)], drain=True)


def mapped(folder: Path) -> set[str]:
    """The sets of which this process has a file mapped."""
    lines = Path("/proc/self/maps").read_text("utf-8").splitlines()
    paths = [Path(line.split(maxsplit=5)[5]) for line in lines if str(folder) in line]
    return {path.parent.name for path in paths}


@pytest.mark.slow
def test_no_more_sets_stay_open_than_may_and_their_files_are_let_go(tmp_path: Path) -> None:
    folder, names = tmp_path / "queries", []
    resources = Resources(Places(queries=folder))
    for number in range(StandingQueries.most + 3):
        pack = pack_in(tmp_path / str(number), f"word{number}", f"other{number}")
        hits_ = hits_of(pack)
        QueryStore(folder).put(hits_)
        names.append(compiling.name_of(hits_))
        assert resources.open(StandingQueries(hits_)) is resources.open(StandingQueries(hits_))
    gc.collect()
    assert mapped(folder) == set(names[-StandingQueries.most :])
    del resources
    gc.collect()
    assert mapped(folder) == set()


def test_the_one_used_last_is_the_last_to_go(tmp_path: Path) -> None:
    packs = [pack_in(tmp_path / str(n), f"word{n}") for n in range(StandingQueries.most + 1)]
    resources = Resources()
    first, *others = [StandingQueries(hits_of(pack)) for pack in packs]
    opened = resources.open(first)
    for one in others[:-1]:
        resources.open(one)
    assert resources.open(first) is opened
    resources.open(others[-1])
    assert resources.open(first) is opened


def test_a_copy_has_nothing_open_and_opens_the_same(tmp_path: Path) -> None:
    pack = pack_in(tmp_path / "pack", "acme")
    plan, resources = compile_plan([pack]), stored(tmp_path / "queries", pack)
    assert hits(plan, resources, "acme") == ["q0"]
    copy = pickle.loads(pickle.dumps(resources))
    assert copy == resources
    wanted = StandingQueries(hits_of(pack))
    assert copy.open(wanted) is not resources.open(wanted)
    assert hits(plan, copy, "acme") == ["q0"]


def test_text_searches_are_compiled_once_for_all_sessions_of_an_owner() -> None:
    plan, resources = compile_plan([load_texts([("p.rules", SEARCHES)]).need()]), Resources()
    event = b'{"url": "u", "title": "a recall", "at": "2026-01-05T09:00:00Z"}'
    wanted = TextSearches(plan.stream("article"), plan.searches["article"])
    opened = resources.open(wanted)
    for owner in (resources, Resources()):
        events, _ = line_events(plan.packs[0], [(0, "article", event)])
        assert len(Session(plan, resources=owner).feed(events, MAX_TIME)) == 1
        assert (owner.open(wanted) is opened) == (owner is resources)


def test_what_stands_in_the_texts_of_packs_needs_no_pin(tmp_path: Path) -> None:
    plan = compile_plan([load_texts([("p.rules", SEARCHES)]).need()])
    assert pins(plan) == ()
    assert [pin.kind for pin in pins(compile_plan([pack_in(tmp_path, "a")]))] == ["queries"]
