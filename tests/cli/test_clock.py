"""`future` of a stream can be tried where its rules can: in tests, `cep eval`, its cases, from a program."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cep_command import cep
from hypothesis import given, settings
from hypothesis import strategies as st

import cep as library
from rules.format import formatted
from rules.source import SourceFile

RULES = """pack cards version "1"

stream payment {
  pid:    string
  at:     timestamp
  amount: double
  id      pid
  time    at
  future  1 hour
}

stream plain { pid: string  at: timestamp  id pid  time at }

rule large { on payment[amount > 100] emit amount }

rule any_plain { on plain }
"""
HOUR = 3600


def outcome(*lines: str, rule: str = "large") -> tuple[bool, str]:
    body = "\n".join(lines)
    pack = library.load_text(f'{RULES}\ntest {rule} "t" {{\n{body}\n}}\n')
    (found,) = pack.run_tests()
    return found.passed, found.text


def test_a_test_shows_that_an_event_of_the_future_is_refused() -> None:
    passed, text = outcome(
        "at 0s future payment { amount: 200, at: 61m }",
        "at 2h payment { amount: 300 }",
        "expect at 2h { amount: 300 }",
    )
    assert passed, text


@pytest.mark.parametrize(("ahead", "refused"), [(3600, False), (3601, True), (90 * 86400, True), (-5, False)])
def test_the_clock_of_a_test_stands_where_its_line_does(ahead: int, refused: bool) -> None:
    time = 200 * 86400
    at = datetime.fromtimestamp(time + ahead, UTC).isoformat()
    event = f'payment {{ amount: 200, at: "{at}" }}'
    late = "" if ahead >= 0 else "late "
    later = f"at {time + 100 * 86400}s watermark"
    raised = "expect nothing" if late or refused else "expect { amount: 200 }"
    assert outcome(f"at {time}s {late}{event}", later, raised)[0] is not refused
    assert outcome(f"at {time}s future {event}", later, "expect nothing")[0] is refused


def test_an_event_that_a_job_would_refuse_fails_its_test_and_says_so() -> None:
    passed, text = outcome("at 0s payment { amount: 200, at: 61m }", "at 2h watermark", "expect at 61m {}")
    assert not passed
    assert (
        "the event of line 19 is more than 1h ahead of its `at`, and a job refuses it (`future` of payment): "
        "give it a later `at`, or show that: `at T future payment`"
    ) in text
    assert "which is too far ahead of the clock and counts for nothing" in text
    assert "payment-1 is too far ahead of the clock" in text


def test_an_event_that_is_not_ahead_is_not_of_the_future() -> None:
    passed, text = outcome("at 0s future payment { at: 1h }", "expect nothing")
    assert not passed
    assert (
        "the event of line 19 is not too far in the future: its event time is not more than 1h "
        "(`future` of payment) after its `at`"
    ) in text


@pytest.mark.parametrize(("stream", "rule"), [("payment", "large"), ("plain", "any_plain")])
def test_an_event_of_the_future_that_does_not_say_when_is_just_too_far_ahead(stream: str, rule: str) -> None:
    passed, text = outcome(
        f"at 1h future {stream} {{}} x 3 every 1h", "at 9d watermark", "expect nothing", rule=rule
    )
    assert passed, text


def test_a_stream_may_still_be_called_future() -> None:
    text = RULES.replace("plain", "future") + 'test any_future "t" { at 0s future {} expect at 0s {} }'
    (found,) = library.load_text(text).run_tests()
    assert found.passed, found.text


def test_lines_of_the_future_have_one_layout() -> None:
    lines = "at  1s   future  payment { }\nat 10s payment { } expect nothing"
    text = f'{RULES}\ntest large "t" {{\n{lines} }}\n'
    laid, _ = formatted(SourceFile("p.rules", text))
    assert "  at 1s  future payment {}\n  at 10s payment {}\n" in (laid or "")


# --- events in files, cases and lists


BASE = datetime(2026, 1, 5, tzinfo=UTC)


def rows(*hours: float) -> list[dict[str, object]]:
    return [
        {"pid": f"p{n}", "at": (BASE + timedelta(hours=hour)).isoformat(), "amount": 200 + n}
        for n, hour in enumerate(hours)
    ]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "cards.rules").write_text(RULES)
    (tmp_path / "p.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows(0, 1, 1.5, 30)))
    return tmp_path


def alerts(folder: Path, *more: str) -> tuple[list[float], str]:
    arguments = ("cards.rules", "--events", "payment=p.jsonl", "--output", "-", "--drain", *more)
    told = cep("eval", *arguments, cwd=folder)
    assert told.code == 0, told.err
    return [json.loads(line)["emit"]["amount"] for line in told.out.splitlines()], told.err


def test_eval_refuses_what_is_ahead_of_its_clock(folder: Path) -> None:
    assert alerts(folder)[0] == [200, 201, 202, 203]
    assert alerts(folder, "--clock", "now")[0] == [200, 201, 202, 203], "all of that is past"
    found, told = alerts(folder, "--clock", "2026-01-05T01:00+01:00")
    assert found == [200, 201]
    assert "2 events, 2 alerts, 0 withheld; 2 rejected" in told
    ahead = "is more than PT1H ahead of the clock, 2026-01-05T00:00:00Z"
    assert f"p.jsonl:128: its time, 2026-01-05T01:30:00Z, {ahead}" in told


def test_eval_of_a_job_refuses_what_is_ahead_of_its_clock(folder: Path) -> None:
    (folder / "job.toml").write_text(
        '[job]\nname = "a"\npacks = "cards.rules"\nstate = "state/"\n'
        '[feeds.payment]\nsource = "files"\npath = "*.jsonl"\n'
        '[feeds.plain]\nsource = "files"\npath = "plain.csv"\n'
    )
    told = cep(
        "eval", "--job", "job.toml", "--output", "-", "--drain", "--clock", "2026-01-05T00:30Z", cwd=folder
    )
    assert [json.loads(line)["emit"]["amount"] for line in told.out.splitlines()] == [200, 201, 202]


def test_a_clock_that_is_none_is_told(folder: Path) -> None:
    told = cep(
        "eval", "cards.rules", "--events", "payment=p.jsonl", "--output", "-", "--clock", "noon", cwd=folder
    )
    assert told.code == 2
    assert "argument --clock: 'noon' is no point in time such as 2026-01-05T09:00:00Z, or now" in told.err


def test_a_case_has_a_clock_of_its_own(tmp_path: Path) -> None:
    events = [{"stream": "payment", "event": row} for row in rows(0, 1.5)]
    case = {"id": "c", "rules": RULES, "events": events, "drain": True}
    lines = [case, {**case, "clock": "2026-01-05T00:00Z"}, {**case, "clock": 5}]
    (tmp_path / "cases.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    told = cep("eval", "--cases", "cases.jsonl", cwd=tmp_path)
    free, held, wrong = (json.loads(line) for line in told.out.splitlines())
    assert (len(free["alerts"]), free["rejected"]) == (2, [])
    assert (len(held["alerts"]), [one["event"] for one in held["rejected"]]) == (1, [1])
    assert "`clock` must be a time" in wrong["diagnostics"][0]["message"]


@settings(deadline=None)
@given(st.lists(st.integers(-3 * HOUR, 5 * HOUR), max_size=6), st.integers(-3 * HOUR, 3 * HOUR))
def test_a_program_is_told_what_is_ahead_of_its_clock(seconds: list[int], clock: int) -> None:
    """Judged by a comparison of two numbers."""
    pack = library.load_text(RULES)
    events = [("payment", row) for row in rows(*(one / HOUR for one in seconds))]
    found = pack.evaluate(events, drain=True, clock=BASE + timedelta(seconds=clock))
    kept = [number for number, second in enumerate(seconds) if second <= clock + HOUR]
    assert sorted(alert.emit["amount"] for alert in found.alerts) == [200 + number for number in kept]
    assert [one.place for one in found.reasons] == [n for n in range(len(seconds)) if n not in kept]


def test_files_of_a_program_are_held_against_its_clock(folder: Path) -> None:
    pack = library.load(folder / "cards.rules")
    found = pack.evaluate_files({"payment": folder / "p.jsonl"}, drain=True, clock="2026-01-05T00:00Z")
    assert (found.events, found.rejected) == (2, 2)
    with pytest.raises(ValueError, match="a clock needs a time zone"):
        pack.evaluate([], clock=datetime(2026, 1, 5))
