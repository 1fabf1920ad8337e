# ruff: noqa: E501
"""`cep explain RULE` and `cep eval --trace` tell of windows what the engine keeps and what it judged."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from duel import Program, pack_of, plan_of, programs, taken_in_time
from effort import examples
from event_tables import tables
from hypothesis import HealthCheck, given, settings
from random_windows import window_packs

from alerts.notation import json_value
from cep.batch.trace import Record, Trace
from cep.cli.main import main
from cep.events import MAX_TIME, MIN_TIME
from cep.explanation.explanation_text import as_dict, text
from cep.explanation.rule_facts import facts
from cep.inprocess.session import Session
from cep.reference.alternatives import Event
from cep.reference.text_conditions import text_predicate
from cep.reference.windows.aggregates import Surroundings
from cep.reference.windows.judged import Judged, Revision, windows
from cep.shard.advance import MatchOptions
from rules.packs import load_texts

PACK = """pack p version "1"
stream payment { id: string  at: timestamp  card: string  amount: double  ok: boolean  id id  time at }
rule fast { by card  over payment sliding 5 minutes
  having count() >= 3 and max(amount) > previous(max(amount), 2) }
rule late { by card  over payment[ok] hopping 1 hour every 5 minutes
  having count() > 2 * ago(count(), 1 day)  emit m = avg(amount * 2) }
rule trip { by card  over payment session gap 5 minutes
  having count() >= 3  emit before = previous(count(), 4) }
rule turn { by card  over payment last 3 events  having percentile(amount, 0.5) > 3  limit 3 events }
"""


def told(name: str) -> str:
    pack = load_texts([("p.rules", PACK)]).need()
    (rule,) = (rule for rule in pack.rules if rule.name == name)
    found = facts(pack, rule)
    assert json.loads(json.dumps(as_dict(found, None)))["windows"]["kind"] in text(found, None)
    return text(found, None)


@pytest.mark.parametrize(
    ("rule", "lines"),
    [
        (
            "fast",
            [
                "  judged           at each event; raised where `having` is true and was not at the key's event before",
                "  previous         10 minutes back: previous(max(amount), 2)",
                "  limit            100,000 events of a key (the default); beyond it the oldest is dropped and counted",
                "  a key keeps events, at most 100,000",
                "    those of the last 5 minutes",
                "    and of 10 minutes before, for earlier windows",
                "  a key is forgotten 15 minutes after its last event",
            ],
        ),
        (
            "late",
            [
                "  judged           once, when the watermark comes to its end; its time is that end",
                "  ago              1 day back: ago(count(), 1 day)",
                "  a key keeps panes, at most 300",
                "    of each window that is open the events, in panes of 5 minutes: 12 panes a window",
                "    and 288 panes behind it",
                "  amount * 2",
            ],
        ),
        (
            "trip",
            [
                "  judged           once, when the watermark is 5 minutes past its last event; its time is then",
                "  previous         4 sessions back: previous(count(), 4)",
                "  a key keeps sessions, at most 5",
                "  a key is never forgotten: the sessions before stay, however old",
            ],
        ),
        (
            "turn",
            [
                "  limit            3 events of a key; beyond it the oldest is dropped and counted",
                "  a key keeps events, at most 3",
                "  a key is never forgotten: `within` would bound it",
            ],
        ),
    ],
)
def test_a_rule_over_windows_is_told_with_what_it_keeps(rule: str, lines: list[str]) -> None:
    found = told(rule).splitlines()
    assert [line for line in lines if line not in found] == []


@settings(max_examples=examples(40), deadline=None, suppress_health_check=list(HealthCheck))
@given(programs(texts=window_packs()))
def test_a_trace_tells_every_judgement_of_the_reference(program: Program) -> None:
    trace = Trace()
    session = Session(
        plan_of(program.text), program.shards, options=MatchOptions(compiled=False, trace=trace)
    )
    offset = 0
    for batch in program.batches:
        session.feed(tables(session.plan.packs[0], batch, offset))
        offset += len(batch)
        trace.settle()
    if program.drain:
        session.drain()
        trace.settle()
    expected = sorted(by_reference(program))
    assert sorted(map(of_record, trace.records)) == expected, str(program)


def of_record(record: Record) -> str:
    window = record.window
    assert window is not None
    event = None if record.event is None else record.event.id
    said = dict(window.readings)
    return json.dumps(
        [record.kind, record.time, dict(record.key), window.start, window.end, event, window.events, said],
        sort_keys=True,
    )


def by_reference(program: Program) -> Sequence[str]:
    pack = pack_of(program.text)
    (rule,) = pack.rules
    came = taken_in_time(pack, program)
    events = [
        Event("e", one.values["id_"], one.time, one.values, place)
        for place, (_, one) in enumerate(came.in_time)
        if one.stream == "e"
    ]
    events.sort(key=lambda event: (event.time, event.place))
    until = MAX_TIME if program.drain else came.marks[-1]
    found = windows([Revision(rule, MIN_TIME)], events, until, Surroundings("e", text_predicate(pack)))
    return [of_judged(one) for one in found if not one.open]


def of_judged(one: Judged) -> str:
    from cep.operators.windows.compile.readings import aggregates_in

    seen, by = one.seen, one.rule.by
    types = {} if by is None else dict(zip(by.names, by.types, strict=True))
    refs = list(aggregates_in(one.rule.body.having, *one.rule.emit))  # type: ignore[union-attr]
    said = {" ".join(ref.span.text.split()): json_value(seen.window(ref), ref.type) for ref in refs}
    kind = "matched" if one.raised else "repeated" if one.holds else "refused"
    key: dict[str, Any] = {name: json_value(value, types[name]) for name, value in seen.key_}
    view, at = seen.of.view, seen.of.at
    ids = [event.id for event in view.events[-100:]]
    return json.dumps(
        [kind, seen.of.time, key, view.start, view.end, None if at is None else at.id, ids, said],
        sort_keys=True,
    )


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "p.rules").write_text(PACK)
    rows = [
        {"id": f"p{n}", "at": f"2026-01-05T08:{n:02}:00Z", "card": "ab"[n % 2], "amount": n, "ok": True}
        for n in range(5)
    ]
    (tmp_path / "p.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def traced(capsys: pytest.CaptureFixture[str], *more: str) -> tuple[int, list[str], str]:
    code = main(["eval", "p.rules", "--events", "payment=p.jsonl", "--trace", *more])
    out, err = capsys.readouterr()
    return code, out.splitlines(), err


@pytest.mark.usefixtures("folder")
def test_a_trace_of_windows_says_what_they_held_and_why_not(capsys: pytest.CaptureFixture[str]) -> None:
    code, lines, _ = traced(capsys, "rule=turn,key=a")
    assert code == 0
    having = "`percentile(amount, 0.5) > 3`"
    at = "2026-01-05T08:"
    assert lines == [
        'rule turn, card "a"',
        "  windows",
        f"    {at}00:00Z  {at}00:00Z to {at}00:00Z at p0, p0: percentile(amount, 0.5) 0: {having} is not true",
        f"    {at}02:00Z  {at}00:00Z to {at}02:00Z at p2, p0 p2: percentile(amount, 0.5) 1: {having} is not true",
        f"    {at}04:00Z  {at}00:00Z to {at}04:00Z at p4, p0 p2 p4: percentile(amount, 0.5) 2: {having} is not true",
    ]
    code, lines, _ = traced(capsys, "rule=turn,key=b", "--format", "json")
    found = [json.loads(line) for line in lines]
    assert (code, [one["kind"] for one in found]) == (0, ["refused", "refused"])
    assert found[-1]["window"] == {
        "start": f"{at}01:00Z",
        "end": f"{at}03:00Z",
        "events": ["p1", "p3"],
        "values": {"percentile(amount, 0.5)": 2.0},
    }


@pytest.mark.usefixtures("folder")
def test_windows_have_no_runs_to_trace(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = traced(capsys, "rule=turn,key=a,run=1")
    assert code == 2
    assert "windows have no runs" in err
