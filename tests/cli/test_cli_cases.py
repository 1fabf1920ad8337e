"""`cep eval --cases`: the contract of docs/cli.md, and the conformance cases through the command itself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cases import difference
from cep_command import cep

from cep.cli.cases import BadCaseError, read_case
from cep.cli.main import main
from cep.inprocess.engines import Compiled
from cep.packs.compile import compile_plan
from cep.resources.resource import Resources
from rules.typed import Pack

CASES = Path(__file__).parent.parent / "conformance" / "cases.jsonl"
RULES = (
    'pack p version "1"\n'
    "stream s { sid: string  at_: timestamp  k: string  v: long  d: double?  id sid  time at_ }\n"
    "stream t { at_: timestamp  time at_ }\n"
    "rule first { by k match a: s[v > 0] -> b: s[v > 1] within 1h emit v = b.v }\n"
    "rule silent { by k match a: s[v == 7] -> absent s[v == 8] for 10s }\n"
)


def event(seconds: float, v: object, k: str = "x", stream: str = "s") -> dict[str, Any]:
    return {"stream": stream, "event": {"sid": f"e{seconds}", "at_": at(seconds), "k": k, "v": v}}


def at(seconds: float) -> str:
    return (
        f"2026-01-01T00:00:{seconds:02}Z" if isinstance(seconds, int) else f"2026-01-01T00:00:{seconds:04}Z"
    )


def answers(tmp_path: Path, *lines: object, engine: str = "compiled") -> list[dict[str, Any]]:
    """The answers that `cep eval --cases` writes, in process."""
    file = tmp_path / "cases.jsonl"
    file.write_text("".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines))
    out = tmp_path / "out.jsonl"
    assert main(["eval", "--cases", str(file), "--output", str(out), "--engine", engine]) == 0
    return [json.loads(line) for line in out.read_text().splitlines()]


def case(*events: object, **more: object) -> dict[str, Any]:
    return {"id": "c", "rules": RULES, "events": list(events), **more}


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["compiled", "reference"])
def test_conformance_cases_through_the_command(engine: str) -> None:
    told = cep("eval", "--cases", CASES, "--engine", engine)
    assert (told.code, told.err) == (0, "")
    expected = [json.loads(line) for line in CASES.read_text().splitlines()]
    got = [json.loads(line) for line in told.out.splitlines()]
    assert [one["id"] for one in got] == [one["id"] for one in expected]
    answered = [(want, have) for want, have in zip(expected, got, strict=True) if "alerts" in have]
    wrong = [
        want["id"] + "\n" + found
        for want, have in answered
        if (found := difference(want["alerts"], have["alerts"]))
    ]
    assert not wrong, "\n".join(wrong)
    assert len(answered) >= (159 if engine == "reference" else 52)
    refused = {d["code"][:5] for have in got for d in have.get("diagnostics", ()) if d["level"] == "error"}
    assert refused <= {"CEP04", "CEP09"}


@pytest.mark.parametrize("engine", ["compiled", "reference"])
def test_events_are_taken_by_event_time_and_equal_times_as_given(tmp_path: Path, engine: str) -> None:
    same_time = event(1, 3)
    same_time["event"]["sid"] = "z"
    (told,) = answers(tmp_path, case(event(9, 2), event(1, 1), same_time), engine=engine)
    assert [a["events"] for a in told["alerts"]] == [{"a": ["e1"], "b": ["z"]}]
    assert told["rejected"] == []


@pytest.mark.parametrize("engine", ["compiled", "reference"])
@pytest.mark.parametrize(
    ("more", "times"),
    [
        ({}, []),
        ({"watermark": None, "drain": False}, []),
        ({"watermark": at(10)}, []),
        ({"watermark": at(11)}, [at(11)]),
        ({"watermark": "2026-01-01T01:00:11+01:00"}, [at(11)]),
        ({"drain": True}, [at(11)]),
        ({"drain": True, "watermark": at(2)}, [at(11)]),
        ({"watermark": "2025-12-31T00:00:00Z"}, []),
    ],
    ids=str,
)
def test_the_watermark_stands_where_the_case_says(
    tmp_path: Path, more: dict[str, Any], times: list[str], engine: str
) -> None:
    (told,) = answers(tmp_path, case(event(1, 7), **more), engine=engine)
    assert [a["time"] for a in told["alerts"]] == times


def test_events_that_are_none_are_rejected_by_number_and_the_others_count(tmp_path: Path) -> None:
    (told,) = answers(
        tmp_path,
        case(
            event(1, 1), event(2, "one"), {"stream": "nowhere", "event": {}}, {"event": {}}, 5, None,
            {"stream": "s"}, {"stream": "s", "event": []}, {"stream": "s", "event": {}}, event(3, 2),
            event(4, None),
            {"stream": "t", "event": {"at_": at(3), "unknown": [1]}}, {"stream": "t", "event": {"at_": 3}},
        ),
    )  # fmt: skip
    assert [r["event"] for r in told["rejected"]] == [1, 2, 3, 4, 5, 6, 7, 8, 10, 12]
    assert all(isinstance(r["reason"], str) and r["reason"] for r in told["rejected"])
    assert [a["events"] for a in told["alerts"]] == [{"a": ["e1"], "b": ["e3"]}]


def test_a_case_without_events_is_fine(tmp_path: Path) -> None:
    assert answers(tmp_path, case(), case(drain=True), {"id": 3, "rules": RULES}) == [
        {"id": "c", "alerts": [], "rejected": []},
        {"id": "c", "alerts": [], "rejected": []},
        {"id": 3, "alerts": [], "rejected": []},
    ]


def test_one_bad_case_does_not_end_the_run(tmp_path: Path) -> None:
    told = answers(
        tmp_path,
        "no JSON", "[1]", "{}", '{"id": "a", "rules": 3}', case(events=7) | {"id": "b", "events": 7},
        case(watermark="soon"), case(watermark=5), case(drain="yes"),
        '{"id": "n", "rules": "", "events": [NaN]}',
        {"id": "d", "rules": "pack p version", "events": []}, case(event(1, 1), event(2, 2)),
    )  # fmt: skip
    assert [one["id"] for one in told] == [None, None, None, "a", "b", "c", "c", "c", None, "d", "c"]
    assert all(one["diagnostics"] for one in told[:10])
    assert len(told[10]["alerts"]) == 1


def test_a_case_that_breaks_the_engine_ends_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def engine(_: str, packs: list[Pack], one_partition: bool, resources: Resources | None) -> Compiled:
        running = Compiled(compile_plan(packs), one_partition, resources=resources)
        if not calls:
            monkeypatch.setattr(running, "feed", lambda *_: 1 // 0)
        calls.append(packs)
        return running

    calls: list[Any] = []
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("cep.inprocess.listed.engine", engine)
    file, out = tmp_path / "cases.jsonl", tmp_path / "out.jsonl"
    file.write_text(f"{json.dumps(case(event(1, 1)))}\n" * 2)
    assert main(["eval", "--cases", str(file), "--output", str(out)]) == 3
    broken, whole = (json.loads(line) for line in out.read_text().splitlines())
    assert "ZeroDivisionError" in broken["diagnostics"][0]["message"]
    assert whole == {"id": "c", "alerts": [], "rejected": []}
    (report,) = tmp_path.glob("cep-report-*.txt")
    assert str(report) in capsys.readouterr().err


def test_refused_rules_give_their_diagnostics_in_the_documented_form(tmp_path: Path) -> None:
    (told,) = answers(
        tmp_path, {"id": "d", "rules": RULES.replace("v > 0", 'v > "x"'), "events": [event(1, 1)]}
    )
    (finding,) = told["diagnostics"]
    assert told.keys() == {"id", "diagnostics"}
    assert (finding["code"], finding["level"], finding["line"], finding["column"]) == (
        "CEP0207",
        "error",
        4,
        30,
    )


@pytest.mark.parametrize("engine", ["compiled", "reference"])
def test_what_no_engine_runs_yet_is_refused(tmp_path: Path, engine: str) -> None:
    counted = case(event(1, 1), event(2, 2))
    counted["rules"] = RULES + "rule maker { on s  emit k  into made }\nrule reader { on made }\n"
    (told,) = answers(tmp_path, counted, engine=engine)
    assert [found["code"] for found in told["diagnostics"]] == ["CEP0916"]


@pytest.mark.slow
def test_a_pattern_of_too_many_states_is_run_by_the_reference(tmp_path: Path) -> None:
    wide = case(event(1, 1), event(2, 2))
    parts = " & ".join(f"s{number}: s[v == {number}]" for number in range(13))
    wide["rules"] = RULES + f"rule wide {{ by k  match ({parts})  within 1h }}\n"
    (told,) = answers(tmp_path, wide)
    assert [found["code"] for found in told["diagnostics"]] == ["CEP0906"]
    (told,) = answers(tmp_path, wide, engine="reference")
    assert "alerts" in told


def test_numbers_reach_the_decoder_as_they_were_written(tmp_path: Path) -> None:
    text = json.dumps(case(event(1, 1), event(2, 2)))
    big = text.replace('"v": 2', '"v": 9223372036854775807')
    whole, fraction = answers(tmp_path, big, text.replace('"v": 2', '"v": 2.0'))
    assert whole["alerts"][0]["emit"] == {"v": 2**63 - 1}
    assert [r["event"] for r in fraction["rejected"]] == [1]


def test_a_field_twice_is_rejected_not_guessed(tmp_path: Path) -> None:
    (told,) = answers(tmp_path, json.dumps(case(event(1, 1))).replace('"v": 1', '"v": 1, "v": 2'))
    assert [r["event"] for r in told["rejected"]] == [0]


def test_any_spacing_of_the_line_gives_the_same_events() -> None:
    plain = json.dumps(case(event(1, 1), event(2, 2)), separators=(",", ":"))
    spaced = " " + plain.replace(":{", " :\t{ ").replace("[{", "[ { ").replace("},{", "} , {").replace(
        ",", " , "
    )
    read, also = read_case(plain.encode()), read_case(spaced.encode())
    assert [(n, s, json.loads(e)) for n, s, e in read.events] == [
        (n, s, json.loads(e)) for n, s, e in also.events
    ]
    with pytest.raises(BadCaseError):
        read_case(b"\xff")


def test_alerts_have_every_field(tmp_path: Path) -> None:
    (told,) = answers(tmp_path, case(event(1, 1), event(2, 2)))
    (alert,) = told["alerts"]
    assert list(alert) == [
        "id", "pack", "revision", "rule", "kind", "severity", "time", "key", "summary", "emit", "events",
        "tags", "runbook", "suppressed", "approximate",
    ]  # fmt: skip


def test_both_engines_write_the_same_alerts(tmp_path: Path) -> None:
    given = [case(event(1, 1), event(2, 2), event(3, 7), drain=True), case(event(1, 7, "y"), drain=True)]
    assert answers(tmp_path, *given) == answers(tmp_path, *given, engine="reference")


@pytest.mark.slow
def test_cases_come_from_stdin_and_go_to_stdout(tmp_path: Path) -> None:
    told = cep("eval", "--cases", "-", feed=json.dumps(case(event(1, 1))) + "\n\n", cwd=tmp_path)
    assert (told.code, told.out) == (0, '{"id":"c","alerts":[],"rejected":[]}\n')


def test_no_case_is_a_failure(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "none.jsonl"
    file.write_text("\n")
    assert main(["eval", "--cases", str(file)]) == 1
    assert "no case" in capsys.readouterr().err


def test_what_windows_raise_is_suppressed_as_everywhere(tmp_path: Path) -> None:
    """For a time less than d after an alert that was raised, by the whole key or an emitted name."""
    rules = (
        'pack p version "1"\n'
        "stream s { sid: string  at_: timestamp  k: string  v: long  id sid  time at_ }\n"
        "rule again { by k over s last 1 events within 1h having last(v) > 5 suppress 10s }\n"
        "rule tens { over s tumbling 10s having sum(v) > 5 emit n = count() suppress 20s by n }\n"
    )
    given = [(0, 9), (1, 1), (2, 9), (3, 1), (9.9, 9), (10, 1), (10.1, 9), (15, 1), (25, 9), (31, 9)]
    events = [event(seconds, v) for seconds, v in given]
    for engine in ("compiled", "reference"):
        (told,) = answers(
            tmp_path, {"id": "c", "rules": rules, "events": events, "drain": True}, engine=engine
        )
        assert [(a["rule"], a["time"][17:-1], a["suppressed"]) for a in told["alerts"]] == [
            ("again", "00", 0),
            ("tens", "10", 0),
            ("again", "10.100", 2),
            ("tens", "20", 0),
            ("again", "25", 0),
            ("tens", "30", 0),
        ]
