"""`cep percolate` as users hold it in the hand: the published cases, files, what is told, exit codes."""

from __future__ import annotations

import gzip
import io
import json
import re
import threading
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cep_command import Outcome, cep

from cep.cli.progress import shown, speed, watched
from percolator.matching.matcher import COMPILE_AFTER

pytestmark = pytest.mark.slow

CASES = Path(__file__).parents[1] / "percolator" / "data" / "percolate.jsonl"


def written(path: Path, rows: list[Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def lines(text: str) -> list[Any]:
    return [json.loads(line) for line in text.splitlines()]


@pytest.mark.slow
def test_every_published_case_is_right() -> None:
    found = cep("percolate", "--cases", CASES)
    assert found.code == 0, found.err
    wanted = lines(CASES.read_text("utf-8"))
    results = lines(found.out)
    assert [result["id"] for result in results] == [case["id"] for case in wanted]
    for case, result in zip(wanted, results, strict=True):
        for step, one in zip(case["results"], result["results"], strict=True):
            if "error" in step:
                assert one["add"] == step["add"]
                assert one["error"]["position"] == step["error"]["position"]
                assert one["error"]["code"].startswith("PQ")
            elif "hits" in step:
                hits = [{key: hit[key] for key in hit.keys() - {"names"}} for hit in one["hits"]]
                assert {**one, "hits": hits} == step, case["id"]
            else:
                assert one == step


@pytest.mark.parametrize("read", ["q.jsonl", "d.jsonl", "schema.json"])
def test_what_is_read_is_never_written_over(tmp_path: Path, read: str) -> None:
    written(tmp_path / "q.jsonl", [{"id": "q", "query": "fire"}])
    written(tmp_path / "d.jsonl", [{"body": "fire"}])
    written(tmp_path / "schema.json", [{"schema": {"body": "text"}}])
    before = (tmp_path / read).read_bytes()
    found = cep(
        "percolate", "--queries", "q.jsonl", "--documents", "d.jsonl", "--schema", "schema.json",
        "--output", read, cwd=tmp_path,
    )  # fmt: skip
    assert (found.code, (tmp_path / read).read_bytes()) == (2, before)
    assert f"--output {read} would take the place of what is read" in found.err


def case(**parts: Any) -> dict[str, Any]:
    return {"id": "c", "schema": {"body": "text"}, "default": ["body"], "steps": [], **parts}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "the line is not JSON"),
        ("[]", "the line is not a JSON object"),
        (json.dumps(case(schema={"body": "txt"})), "'txt' is none of text"),
        (json.dumps(case(schema=None)), "`schema` must be an object"),
        (json.dumps(case(default=["title"])), "the default field title is not declared"),
        (json.dumps(case(steps=[{"add": {}, "remove": "q"}])), "`steps` must be a list"),
        (json.dumps(case(highlight=1)), "`highlight` must be true or false"),
    ],
)
def test_a_line_that_is_no_case_ends_only_itself(line: str, message: str) -> None:
    found = cep("percolate", "--cases", "-", feed=f"{line}\n\n{json.dumps(case())}\n")
    bad, good = lines(found.out)
    assert found.code == 0
    assert bad["diagnostics"][0]["code"] == "CEP0854"
    assert message in bad["diagnostics"][0]["message"]
    assert good == {"id": "c", "results": []}


@pytest.mark.slow
def test_steps_tell_what_is_wrong_with_them() -> None:
    steps = [
        {"add": {"id": "q", "query": "risk = (a) OR b", "version": 2, "expires": "2026-01-02"}},
        {"add": {"id": "q", "query": "c", "version": 1}},
        {"add": {"id": "x", "query": "(a"}},
        {"add": {"id": "y", "qery": "a"}},
        {"add": 3},
        {"remove": "nobody"},
        {"match": {"id": "d1", "fields": {"body": "a b"}, "time": "2026-01-01T23:59:59Z"}},
        {"match": {"id": "d2", "fields": {"body": "a b"}, "time": "2026-01-02T00:00:00Z"}},
        {"match": {"id": "d3", "fields": {"body": 7}}},
        {"match": {"id": "d4", "fields": {"body": "a"}, "metadata": {"x": 1}}},
    ]
    found = cep("percolate", "--cases", "-", feed=json.dumps(case(steps=steps, highlight=True)))
    (result,) = lines(found.out)
    codes = [one.get("error", {}).get("code") for one in result["results"]]
    assert codes == [None, "PQ22", "PQ03", "PQ21", "PQ21", None, None, None, "CEP0855", "CEP0855"]
    assert result["results"][2]["error"]["position"] == 0
    assert "did you mean `query`?" in result["results"][3]["error"]["message"]
    assert result["results"][5] == {"remove": "nobody", "ok": True}
    hit = {"query": "q", "names": ["risk"], "highlights": {"body": [[0, 1], [2, 3]]}}
    assert result["results"][6] == {"match": "d1", "hits": [hit]}
    assert result["results"][7] == {"match": "d2", "hits": []}


def test_a_case_tells_of_words_that_look_like_operators() -> None:
    steps = [
        {"add": {"id": "q", "query": "x a or b"}},
        {"add": {"id": "r", "query": "a OR b"}},
        {"add": {"id": "s", "query": "a or b", "dialect": "factiva"}},
        {"add": {"id": "t", "query": "NOT a"}},
    ]
    found = cep("percolate", "--cases", "-", feed=json.dumps(case(steps=steps)))
    first, *others = lines(found.out)[0]["results"]
    (warning,) = first.pop("warnings")
    assert first == {"add": "q", "ok": True}
    assert {key: warning[key] for key in ("code", "position")} == {"code": "PQ14", "position": 4}
    assert warning["message"]
    assert "`a OR b`" in warning["help"]
    assert others == [{"add": name, "ok": True} for name in "rst"]


QUERIES = [
    {"id": "fire", "query": "recall* AND fire", "tags": ["safety"], "priority": 3},
    {"id": "german", "query": "fire", "filter": {"lang": "de"}},
    {"id": "old", "query": "fire", "expires": "2026-01-01T00:00:00Z", "version": 7},
]
DOCUMENTS = [
    {
        "id": "d1",
        "fields": {"body": "a recalled car on fire"},
        "metadata": {"lang": "en"},
        "at": "2025-12-31",
    },
    {"id": "d2", "body": "fire", "lang": "de", "at": "2026-06-01"},
    {"id": "d3", "body": "water", "lang": "de", "at": "2026-06-01"},
]


def percolate(folder: Path, *more: object, documents: object = None, feed: str = "") -> Outcome:
    queries = folder / "queries.jsonl"
    if not queries.exists():
        written(queries, QUERIES)
    if documents is None:
        documents = written(folder / "documents.jsonl", DOCUMENTS)
    return cep(
        "percolate", "--queries", queries, "--documents", documents, "--field", "body=text english",
        *more, feed=feed,
    )  # fmt: skip


def row(document: str, query: str, version: int = 1, **more: Any) -> dict[str, Any]:
    return {
        "document": document, "query": query, "version": version, "priority": 0, "tags": [], "names": [],
        **more,
    }  # fmt: skip


@pytest.mark.slow
def test_hits_are_lines_in_order_of_documents_and_ids(tmp_path: Path) -> None:
    found = percolate(tmp_path, "--output", "-", "--time", "at")
    assert found.code == 0, found.err
    assert lines(found.out) == [
        row("d1", "fire", tags=["safety"], priority=3),
        row("d1", "old", 7),
        row("d2", "german"),
    ]
    assert found.err == "3 queries, 3 documents, 3 hits\n"


@pytest.mark.slow
def test_without_a_time_nothing_has_expired(tmp_path: Path) -> None:
    found = percolate(tmp_path, "--output", "-")
    assert [hit["query"] for hit in lines(found.out)] == ["fire", "old", "german", "old"]


@pytest.mark.slow
def test_highlights_are_code_points(tmp_path: Path) -> None:
    found = percolate(tmp_path, "--output", tmp_path / "hits.jsonl", "--highlight")
    first = lines((tmp_path / "hits.jsonl").read_text("utf-8"))[0]
    assert found.out == ""
    assert first["highlights"] == {"body": [[2, 10], [18, 22]]}


@pytest.mark.slow
def test_parquet_holds_the_same_as_json_lines(tmp_path: Path) -> None:
    out = tmp_path / "hits.parquet"
    assert percolate(tmp_path, "--output", out, "--highlight").code == 0
    as_lines = lines(percolate(tmp_path, "--output", "-", "--highlight").out)
    for one in as_lines:
        one["highlights"] = [
            {"field": name, "start": start, "end": end}
            for name, ranges in one["highlights"].items()
            for start, end in ranges
        ]
    assert pq.read_table(out).to_pylist() == as_lines


@pytest.mark.slow
def test_documents_may_be_parquet_or_compressed_or_stdin(tmp_path: Path) -> None:
    flat = [{"id": one["id"], "body": one.get("body", "a recalled car on fire")} for one in DOCUMENTS]
    pq.write_table(pa.Table.from_pylist(flat), tmp_path / "d.parquet")
    text = "".join(json.dumps(one) + "\n" for one in flat)
    (tmp_path / "d.jsonl.gz").write_bytes(gzip.compress(text.encode()))
    (tmp_path / "d.jsonl.zst").write_bytes(pa.compress(text.encode(), "zstd", asbytes=True))
    runs = [
        percolate(tmp_path, "--output", "-", documents=tmp_path / "d.parquet"),
        percolate(tmp_path, "--output", "-", documents=tmp_path / "d.jsonl.gz"),
        percolate(tmp_path, "--output", "-", documents="-", feed=text),
    ]
    assert {(run.out, run.code) for run in runs} == {(runs[0].out, 0)}
    assert len(lines(runs[0].out)) == 3


@pytest.mark.slow
def test_documents_of_a_file_that_is_cut_short_are_read_as_far_as_they_go(tmp_path: Path) -> None:
    flat = [{"id": f"d{number}", "body": "a recalled car on fire"} for number in range(2000)]
    text = "".join(json.dumps(one) + "\n" for one in flat).encode()
    (tmp_path / "d.jsonl.gz").write_bytes(gzip.compress(text)[:-20])
    found = percolate(tmp_path, "--output", "-", documents=tmp_path / "d.jsonl.gz")
    read = {hit["document"] for hit in lines(found.out)}
    assert 1900 < len(read) <= 2000
    assert "the file cannot be read to its end: it is cut short" in found.err
    (tmp_path / "d.jsonl.gz").write_bytes(gzip.compress(text) + b"rubbish")
    found = percolate(tmp_path, "--output", "-", documents=tmp_path / "d.jsonl.gz")
    assert {hit["document"] for hit in lines(found.out)} == {one["id"] for one in flat}
    assert "is not gzip" in found.err


@pytest.mark.slow
def test_a_document_that_is_too_long_is_rejected_and_the_next_is_read(tmp_path: Path) -> None:
    with gzip.open(tmp_path / "d.jsonl.gz", "wb", 1) as file:
        file.write(b"x" * (40 << 20) + b"\n" + json.dumps({"id": "d2", "body": "fire"}).encode() + b"\n")
    found = percolate(tmp_path, "--output", "-", documents=tmp_path / "d.jsonl.gz")
    assert {hit["document"] for hit in lines(found.out)} == {"d2"}
    assert "d.jsonl.gz:1: it has 41,943,040 bytes: more than 33,554,432 are not read" in found.err


def test_ids_from_a_file_cannot_drive_the_terminal(tmp_path: Path) -> None:
    written(tmp_path / "d.jsonl", [{"id": "d1", "body": 3, "\u001b[2J": "\u202e"}])
    written(tmp_path / "queries.jsonl", [*QUERIES, {"id": "\u001b[2J", "query": "a NEAR/x b"}])
    found = percolate(tmp_path, "--output", "-", documents=tmp_path / "d.jsonl")
    assert "\x1b" not in found.err
    assert r"\x1b[2J" in found.err


@pytest.mark.slow
def test_what_is_refused_is_told_and_the_rest_runs(tmp_path: Path) -> None:
    bad = [{"id": "bad", "query": "a NEAR/x b"}, {"id": "fire", "query": "b"}, {"query": "b"}]
    written(tmp_path / "queries.jsonl", [*QUERIES, *bad])
    documents = written(
        tmp_path / "d.jsonl", [*DOCUMENTS, {"id": "d4", "body": 3}, {"fields": {"x": "a"}}, 3]
    )
    found = percolate(tmp_path, "--output", "-", documents=documents)
    assert found.code == 1
    assert len(lines(found.out)) == 4
    name = tmp_path / "queries.jsonl"
    assert found.err.splitlines() == [
        "3 queries, 3 documents, 4 hits; 3 refused, 3 rejected",
        f"refused: {name}: line 4 (bad, at 7): PQ06: the distance of NEAR must be a whole number, as in 5",
        f"refused: {name}: line 5 (fire): PQ22: the id 'fire' stands in line 1 already",
        f"refused: {name}: line 6: PQ21: `id` is missing",
        f"rejected: {documents}:4: field body holds strings, not 3",
        f"rejected: {documents}:5: the schema has no field x",
        f"rejected: {documents}:6: a document is a JSON object",
    ]
    told = json.loads(percolate(tmp_path, "--output", "-", "--format", "json", documents=documents).err)
    assert told["refused"][0] == {
        "line": 4, "id": "bad", "code": "PQ06", "position": 7,
        "message": "the distance of NEAR must be a whole number, as in 5",
    }  # fmt: skip
    assert (told["queries"], told["documents"], told["hits"], told["rejected"]) == (3, 3, 4, 3)


@pytest.mark.slow
def test_a_dialect_is_read_as_its_authors_meant(tmp_path: Path) -> None:
    written(tmp_path / "queries.jsonl", [{"id": "f", "query": "car near2 fire"}])
    assert percolate(tmp_path, "--output", "-").out == ""
    found = percolate(tmp_path, "--output", "-", "--dialect", "factiva")
    assert [hit["query"] for hit in lines(found.out)] == ["f"]


@pytest.mark.slow
def test_a_query_that_is_checked_on_every_document_carries_a_warning(tmp_path: Path) -> None:
    written(tmp_path / "queries.jsonl", [{"id": "n", "query": "NOT fire"}])
    found = percolate(tmp_path, "--output", "-", "--slow", "1")
    assert found.code == 0
    assert "warning: " in found.err
    assert "line 1 (n): it asks for no word or value" in found.err
    assert "slow: n: " in found.err


@pytest.mark.slow
def test_a_word_that_looks_like_an_operator_is_told_and_fails_only_if_strict(tmp_path: Path) -> None:
    written(tmp_path / "queries.jsonl", [{"id": "n", "query": "fire or water"}, {"id": "o", "query": "fire"}])
    found = percolate(tmp_path, "--output", "-")
    assert found.code == 0
    name = tmp_path / "queries.jsonl"
    assert found.err.splitlines()[1].startswith(
        f"warning: {name}: line 1 (n, at 5): PQ14: `or` is searched as"
    )
    assert "`fire OR water`" in found.err
    strict = percolate(tmp_path, "--output", "-", "--strict", "--format", "json")
    assert (strict.code, strict.out) == (1, found.out)
    (warning,) = json.loads(strict.err)["warnings"]
    assert (warning["line"], warning["id"], warning["code"], warning["position"]) == (1, "n", "PQ14", 5)
    assert percolate(tmp_path, "--output", "-", "--dialect", "factiva", "--strict").code == 0


@pytest.mark.slow
def test_strict_fails_for_costly_queries_too(tmp_path: Path) -> None:
    written(tmp_path / "queries.jsonl", [{"id": "n", "query": "NOT fire"}])
    assert [percolate(tmp_path, "--output", "-", *more).code for more in ([], ["--strict"])] == [0, 1]


@pytest.mark.slow
def test_the_slow_list_tells_the_time_alone_and_among_all(tmp_path: Path) -> None:
    busy = "(a* NEAR/200 b*) NEAR/200 (a* NEAR/200 c*)"
    written(tmp_path / "queries.jsonl", [{"id": "busy", "query": busy}, {"id": "idle", "query": "frost"}])
    # The kernel is compiled after the first document, which is long enough for that.
    text = " ".join([f"a{n} b{n} c{n}" for n in range(100)] + ["x" * COMPILE_AFTER])
    documents = written(tmp_path / "d.jsonl", [{"id": f"d{n}", "body": text} for n in range(5)])
    told = percolate(tmp_path, "--output", "-", "--slow", "2", documents=documents).err
    first, second = told.splitlines()[-2:]
    assert re.fullmatch(
        r"slow: busy: [\d,]+\.\d µs a document alone \([\d,]+\.\d\d µs among all\), 5 hits", first
    )
    assert re.fullmatch(r"slow: idle: \d+\.\d µs a document alone, 0 hits", second)
    found = percolate(tmp_path, "--output", "-", "--slow", "2", "--format", "json", documents=documents)
    dear, idle = json.loads(found.err)["slow"]
    assert dear["microseconds"] > 10
    assert dear["among_all"] > 10
    assert idle["among_all"] == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "--queries, --documents, --output are missing"),
        (["--queries", "q", "--documents", "d", "--output", "-"], "which fields do the documents have?"),
        (["--cases", "c", "--queries", "q"], "--cases takes only"),
        (["--cases", "c", "--strict"], "--cases takes only"),
        (["--queries", "q", "--documents", "d", "--output", "-", "--field", "x"], "a name and a type"),
        (["--queries", "q", "--documents", "d", "--output", "-", "--field", "x=y"], "'y' is none of"),
        (["--queries", "q", "--documents", "d", "--output", "-", "--field", "x=text"], "no file `q`"),
        (
            ["--queries", "q", "--documents", "d", "--output", "-", "--schema", "s"],
            "there is no file `s`",
        ),
    ],
)
def test_a_command_that_cannot_be_right_exits_2(tmp_path: Path, arguments: list[str], message: str) -> None:
    found = cep("percolate", *arguments, cwd=tmp_path)
    assert found.code == 2
    assert message in found.err


@pytest.mark.slow
def test_a_schema_file_is_the_schema_of_a_case(tmp_path: Path) -> None:
    (tmp_path / "s.json").write_text('{"schema": {"title": "text", "body": "text"}, "default": ["title"]}')
    queries = written(tmp_path / "q.jsonl", [{"id": "q", "query": "fire"}])
    documents = written(tmp_path / "d.jsonl", [{"title": "fire", "id": 1}, {"body": "fire", "id": 2}])
    found = cep(
        "percolate", "--queries", queries, "--documents", documents, "--output", "-",
        "--schema", tmp_path / "s.json",
    )  # fmt: skip
    assert [hit["document"] for hit in lines(found.out)] == ["1"]


@pytest.mark.slow
def test_nothing_to_do_is_a_failure(tmp_path: Path) -> None:
    empty = written(tmp_path / "empty.jsonl", [])
    assert percolate(tmp_path, "--output", "-", documents=empty).code == 1
    written(tmp_path / "queries.jsonl", [{"id": "q", "query": "("}])
    found = percolate(tmp_path, "--output", "-")
    assert found.code == 1
    assert "there is not one query that can be used" in found.err
    assert cep("percolate", "--cases", empty).code == 1


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_is_told_on_a_terminal_and_cleared() -> None:
    """After two seconds, then five times a second; the thread that draws is asked to wait, not the clock."""
    out, pauses, drawn = _Terminal(), [], threading.Event()

    def wait(ended: threading.Event, seconds: float) -> bool:
        pauses.append(seconds)
        if len(pauses) < 4:
            return False
        drawn.set()
        return ended.wait(60)

    clock = iter(range(100))
    with shown(lambda s: speed(6, s, "documents"), False, out, lambda: float(next(clock)), wait):
        assert drawn.wait(60)
    assert out.getvalue().split("\r\x1b[K")[1:] == [
        "6 documents, 6 a second",
        "6 documents, 3 a second",
        "6 documents, 2 a second",
        "",
    ]
    assert pauses == [2.0, 0.2, 0.2, 0.2]


@pytest.mark.parametrize("busy", [True, False])
def test_no_progress_goes_into_a_file_nor_between_results(busy: bool) -> None:
    out = _Terminal() if busy else io.StringIO()
    with shown(lambda _: "far", busy, out, wait=lambda ended, _: ended.is_set()):
        assert list(watched("abc", lambda *_: "")) == ["a", "b", "c"]
    assert out.getvalue() == ""


def test_work_that_is_soon_done_shows_no_progress() -> None:
    out = _Terminal()
    with shown(lambda _: "far", stream=out, wait=lambda ended, _: ended.wait(60)):
        pass
    assert out.getvalue() == ""
