"""`cep check`, `test`, `eval` and `explain` on packs with standing queries."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cep.cli.main import main

PACK = """pack news version "1"
stream article { url: string  title: text  source: string  seen_at: timestamp  id url  time seen_at }
queries watchlist { from "lists/watchlist.jsonl" }
rule watched { on article matching watchlist  emit url, query }
rule recall {
  by     source
  match  hit: article matching watchlist["recall" in tags]{2}
  within 1 hour
  emit   q = list(hit.query)
}
test watched "two queries" {
  at 0s article { url: "u", title: "acme recall" }
  expect { query: "q1", kind: "hit", events: { article: "u q1" } }
  expect { query: "q2" }
}
test recall "two hits" {
  at 0s  article { title: "recall" }
  at 5m  article { title: "a recall" }
  expect at 5m { q: ["q1", "q1"] }
}
test recall "one hit" { at 0s article { title: "a recall" } expect nothing }
"""
LINES = [
    {"id": "q1", "query": "recall", "tags": ["recall"]},
    {"id": "q2", "query": "acme"},
    {"id": "q3", "query": "acme AND"},
]


@pytest.fixture
def pack(tmp_path: Path) -> Path:
    (tmp_path / "lists").mkdir()
    (tmp_path / "lists" / "watchlist.jsonl").write_text("\n".join(map(json.dumps, LINES)), "utf-8")
    (tmp_path / "news.rules").write_text(PACK, "utf-8")
    return tmp_path / "news.rules"


EVENTS = [
    {"url": "a", "title": "acme recall", "source": "s", "seen_at": "2026-01-05T09:00:00Z"},
    {"url": "b", "title": "a recall", "source": "s", "seen_at": "2026-01-05T09:10:00Z"},
    {"url": "c", "title": "nothing", "source": "s", "seen_at": "2026-01-05T09:20:00Z"},
]


def test_check_tells_of_a_refused_line_and_does_not_fail(
    pack: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", str(pack), "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)["diagnostics"]
    (refused,) = (d for d in found if d["code"].startswith("PQ"))
    assert (refused["level"], Path(refused["file"]).name, refused["line"]) == (
        "warning",
        "watchlist.jsonl",
        3,
    )
    assert main(["check", "--strict", str(pack)]) == 1
    assert "watchlist.jsonl:3:" in capsys.readouterr().out


def test_a_word_that_looks_like_an_operator_fails_a_strict_check(
    pack: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [{"id": "q1", "query": "recall or defect"}, {"id": "q2", "query": 'acme "or" apex'}]
    (pack.parent / "lists" / "watchlist.jsonl").write_text("\n".join(map(json.dumps, lines)), "utf-8")
    rule = 'rule soccer { on article[title matches "football W/5 \\"or\\""] }\n'
    pack.write_text(pack.read_text("utf-8") + rule, "utf-8")
    assert main(["check", str(pack), "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)["diagnostics"]
    words = [(d["code"], d["line"], d["note"]) for d in found if d["level"] == "warning"]
    assert words == [("PQ14", 1, ""), ("CEP0318", PACK.count("\n") + 1, "PQ15")]
    assert main(["check", "--strict", str(pack)]) == 1


def test_a_pack_whose_file_is_missing_is_refused(pack: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (pack.parent / "lists" / "watchlist.jsonl").unlink()
    assert main(["check", str(pack)]) == 1
    out = capsys.readouterr().out
    assert "CEP0505" in out
    assert 'from "lists/watchlist.jsonl"' in out


def test_tests_meet_the_queries_of_the_pack(pack: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["test", str(pack)]) == 0
    told = capsys.readouterr()
    assert "3 passed, 0 failed" in told.out
    assert "this query is not taken in" in told.err


def test_a_failing_test_and_coverage_tell_of_hits(pack: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = pack.read_text("utf-8").replace('expect at 5m { q: ["q1", "q1"] }', "expect nothing")
    pack.write_text(text, "utf-8")
    assert main(["test", "--coverage", str(pack)]) == 1
    out = capsys.readouterr().out
    assert 'alert recall (match) { q: ["q1", "q1"] } was not expected' in out
    assert "refused no event" in out


def test_both_engines_give_the_same_lines(pack: Path, tmp_path: Path) -> None:
    events = tmp_path / "articles.jsonl"
    events.write_text("\n".join(map(json.dumps, EVENTS)), "utf-8")
    out = []
    for name in ("compiled", "reference"):
        written = tmp_path / f"{name}.jsonl"
        command = ["eval", str(pack), "--events", f"article={events}", "--output", str(written), "--drain"]
        assert main([*command, "--engine", name]) == 0
        out.append(written.read_text("utf-8"))
    assert out[0] == out[1]
    alerts = [json.loads(line) for line in out[0].splitlines()]
    assert [(a["rule"], a["kind"], a["emit"]) for a in alerts] == [
        ("watched", "hit", {"url": "a", "query": "q1"}),
        ("watched", "hit", {"url": "a", "query": "q2"}),
        ("recall", "match", {"q": ["q1", "q1"]}),
        ("watched", "hit", {"url": "b", "query": "q1"}),
    ]
    assert len({a["id"] for a in alerts}) == len(alerts)


@pytest.mark.usefixtures("pack")
def test_a_case_finds_its_queries_beside_the_file_of_cases(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    events = [{"stream": "article", "event": event} for event in EVENTS]
    missing = PACK.replace("watchlist.jsonl", "none.jsonl")
    cases = [{"id": n, "rules": rules, "events": events} for n, rules in enumerate((PACK, missing))]
    (tmp_path / "cases.jsonl").write_text("\n".join(map(json.dumps, cases)), "utf-8")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert main(["eval", "--cases", str(tmp_path / "cases.jsonl"), "--output", "-"]) == 0
    good, bad = (json.loads(line) for line in capsys.readouterr().out.splitlines())
    assert [alert["rule"] for alert in good["alerts"]] == ["watched", "watched", "recall", "watched"]
    assert [d["code"] for d in bad["diagnostics"]] == ["CEP0505"]


def test_explain_shows_the_set(pack: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "recall", str(pack)]) == 0
    out = capsys.readouterr().out
    assert "standing queries watchlist, asked of article\n  2 queries, 1 refused" in out
    assert main(["explain", "recall", str(pack), "--format", "json"]) == 0
    (told,) = json.loads(capsys.readouterr().out)["queries"]
    assert (told["number"], told["refused"]) == (2, 1)
    assert {one["query"] for one in told["costly"]} == {"q1", "q2"}


def test_without_drain_the_watermark_is_that_of_the_documents(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also where no rule reads them but as hits."""
    (tmp_path / "w.jsonl").write_text('{"id": "q", "query": "acme"}\n')
    (tmp_path / "n.rules").write_text(PACK[: PACK.index("rule recall")].replace("lists/watchlist", "w"))
    (tmp_path / "e.jsonl").write_text("".join(json.dumps(e) + "\n" for e in EVENTS))
    files = ("--events", f"article={tmp_path}/e.jsonl")
    assert main(["eval", str(tmp_path / "n.rules"), *files, "--output", "-"]) == 0
    assert [json.loads(line)["emit"]["url"] for line in capsys.readouterr().out.splitlines()] == ["a"]
