"""Bounds of the engine that a run passed: told by rule, counted, and failed for with --strict."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cep_command import cep

from cep.counters import AlternativesDropped, Overflows, StreamEvents, UndecidedDocuments
from cep.inprocess.report import Report
from rules.packs import load_texts

PLAIN = 'pack p version "1"\nstream e { n: long  at: timestamp  time at }\nrule r { on e }'


@pytest.mark.slow
def test_what_rules_lost_is_told_by_rule(tmp_path: Path) -> None:
    (tmp_path / "p.rules").write_text(
        """pack p version "1"
stream e { n: long  k: string  at: timestamp  id n  time at }
rule late { match a: e -> b: e[n < 0] within 1 hour limit 2 runs }
rule keyed { by k  match a: e -> b: e[n < 0] within 1 hour limit 1 runs }
rule big { on e[n * n > 10] }
"""
    )
    numbers = (1, 2, 3, 4, 5_000_000_005)
    rows = [
        {"n": n, "k": "few" if n < 3 else "many", "at": f"2026-01-01T00:00:{n % 60:02}Z"} for n in numbers
    ]
    (tmp_path / "e.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    arguments = ["eval", "p.rules", "--events", "e=e.jsonl", "--output", "-", "--drain"]
    told = cep(*arguments, cwd=tmp_path)
    dropped = "3 runs dropped over its `limit {}`, the oldest ones of a key{}; `limit 10 runs` is enough"
    assert told.err.splitlines() == [
        "5 events, 1 alert, 0 withheld; 0 rejected, 0 late, 0 duplicates",
        "rule keyed: " + dropped.format("1 runs", ', 2 of them of k "many"'),
        "rule late: " + dropped.format("2 runs", ""),
        "stream e: 1 result became null (overflow or NaN)",
    ]
    report = json.loads(cep(*arguments, "--format", "json", cwd=tmp_path).err)
    assert (report["limit"], report["overflows"], report["late"]) == (
        {"p": {"keyed": 3, "late": 3}},
        {"rules": {}, "streams": {"e": 1}},
        0,
    )
    assert report["over_limit"][0] == {
        "pack": "p",
        "rule": "keyed",
        "runs": 3,
        "limit": 1,
        "default": False,
        "key": {"k": "many"},
        "of_key": 2,
        "help": "`limit 10 runs` is enough",
    }
    assert report["over_limit"][1]["key"] == {}


LOST = {
    "limit": "rule r { match a: e -> b: e[n < 0] within 1 hour  limit 1 runs }",
    "overflow": "rule r { on e[n * n > 10] }",
    "nothing": "rule r { match a: e -> b: e[n < 0] within 1 hour }",
}


@pytest.mark.slow
@pytest.mark.parametrize("what", LOST)
def test_a_strict_run_fails_where_alerts_may_be_missing(tmp_path: Path, what: str) -> None:
    head = 'pack p version "1"\nstream e { n: long  at: timestamp  id n  time at }\n'
    (tmp_path / "p.rules").write_text(head + LOST[what])
    rows = [{"n": n, "at": "2026-01-01T00:00:01Z"} for n in (5_000_000_001, 5_000_000_002)]
    (tmp_path / "e.jsonl").write_text("not JSON\n" + "".join(json.dumps(row) + "\n" for row in rows))
    arguments = ["eval", "p.rules", "--events", "e=e.jsonl", "--output"]
    plain, strict = (cep(*arguments, *more, cwd=tmp_path) for more in (["a"], ["b", "--strict"]))
    assert (plain.code, strict.code) == (0, int(what != "nothing"))
    assert plain.err == strict.err
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_what_a_strict_run_fails_for_is_told_by_the_report() -> None:
    pack = load_texts([("p", PLAIN)])
    for name in (
        AlternativesDropped("p", "r"),
        Overflows("rule", "p", "r"),
        UndecidedDocuments("e", "w", "q"),
    ):
        report = Report()
        assert not report.losses()
        report.count([pack.need()], {name: 1})
        assert report.losses()
    report = Report()
    report.count([pack.need()], {StreamEvents("e", "late"): 1, StreamEvents("e", "duplicate"): 1})
    assert not report.losses()


def test_alternatives_that_runs_gave_up_are_reported_by_rule() -> None:
    report = Report()
    pack = load_texts([("p", PLAIN)])
    report.count([pack.need()], {AlternativesDropped("p", "many"): 1_200})
    told = "rule many: 1,200 alternatives of its runs given up, the least preferred of more than 256"
    assert told in report.lines()
    assert report.as_dict()["alternatives"] == {"p": {"many": 1_200}}


def test_rules_of_one_name_in_two_packs_are_told_apart() -> None:
    packs = [load_texts([("p", PLAIN.replace("pack p", f"pack {name}"))]).need() for name in ("p", "q")]
    report = Report()
    report.count(
        packs,
        {
            AlternativesDropped("p", "r"): 1,
            AlternativesDropped("q", "r"): 20,
            Overflows("rule", "q", "r"): 3,
            Overflows("stream", "", "e"): 4,
        },
    )
    given_up = "of its runs given up, the least preferred of more than 256"
    assert report.losses() == [
        f"rule r of pack p: 1 alternative {given_up}",
        f"rule r of pack q: 20 alternatives {given_up}",
        "rule r of pack q: 3 results became null (overflow or NaN)",
        "stream e: 4 results became null (overflow or NaN)",
    ]
    told = report.as_dict()
    assert told["alternatives"] == {"p": {"r": 1}, "q": {"r": 20}}
    assert told["overflows"] == {"rules": {"q": {"r": 3}}, "streams": {"e": 4}}
