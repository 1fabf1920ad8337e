"""Conformance cases: read as `cep eval --cases` reads them, answered by the reference, compared."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from alerts.identity import canonical
from alerts.notation import json_value
from alerts.stages.order import in_order
from cep.batch.clock import BatchStart
from cep.cli.cases import Case, read_case
from cep.events import ID, MAX_TIME, MIN_TIME, OFFSET, TIME, Events
from cep.inprocess.rows import line_events
from cep.inprocess.session import Session
from cep.packs.compile import compile_plan
from cep.reference import Decided, decided
from cep.reference.text_conditions import text_predicate
from cep.shard.advance import MatchOptions
from rules.instants import parse_instant
from rules.packs import load_texts
from rules.typed import Match, Pack, Rule

FOLDER = Path(__file__).parent.parent / "conformance"
FILES = (
    "cases.jsonl",
    "found.jsonl",
    "own/sql_row_pattern.jsonl",
    "own/sase.jsonl",
    "own/literature.jsonl",
    "own/other_engines.jsonl",
    "own/language.jsonl",
    "own/windows.jsonl",
    *filter(None, os.environ.get("CEP_CASES", "").split(os.pathsep)),
)
"""Those of the conformance folder, and others that CEP_CASES names."""

PROJECTS = {
    "flink": "tests of Apache Flink CEP",
    "siddhi": "tests of Siddhi",
    "trino": "tests of Trino",
    "own": "language page",
}
"""Where the cases come from that do not say it themselves, by the first part of their names."""


@dataclass(frozen=True, slots=True)
class Given:
    """A case with the alerts that it expects, and where it is from: a sentence, a publication, a project."""

    case: Case
    alerts: tuple[Mapping[str, Any], ...]
    source: str

    @property
    def name(self) -> str:
        """Its id."""
        return str(self.case.id)

    def pack(self) -> Pack:
        """Its rules, checked. Raises DiagnosticsError."""
        return load_texts([("case.rules", self.case.rules)]).need()


def read(file: str) -> list[Given]:
    """The cases of a file, of the conformance folder if the path is not absolute."""
    lines = (FOLDER / file).read_bytes().splitlines()
    return [_given(line) for line in lines if line.strip()]


def _given(line: bytes) -> Given:
    case, plain = read_case(line), json.loads(line)
    project = str(case.id).partition("/")[0]
    return Given(case, tuple(plain["alerts"]), plain.get("source") or plain.get("note") or PROJECTS[project])


def events_of(pack: Pack, case: Case) -> list[Events]:
    """The case's events, decoded; every one of them must be one."""
    events, refused = line_events(pack, case.events)
    assert not refused, refused
    return events


def watermark_of(events: Iterable[Events], case: Case) -> int:
    """Where the watermark stands after the case."""
    if case.drain:
        return MAX_TIME
    if case.watermark is not None:
        return case.watermark
    return max((t for e in events for t in e.table.column(TIME).to_pylist()), default=MIN_TIME)


def by_reference(given: Given) -> list[dict[str, Any]]:
    """The answers of the reference engine, as an alert says them."""
    pack = given.pack()
    events = events_of(pack, given.case)
    placed = [(row[OFFSET], event.stream, row[ID], row) for event in events for row in _rows(event)]
    arrivals = [(stream, id_, row) for _, stream, id_, row in sorted(placed, key=lambda item: item[0])]
    alerts = decided(pack, arrivals, watermark_of(events, given.case), text_predicate(pack))
    return [shown(pack, alert) for alert in alerts]


def by_engine(given: Given, compiled: bool = False) -> list[dict[str, Any]]:
    """The answers of the running engine, in one of its two forms."""
    pack = given.pack()
    session = Session(
        compile_plan([pack]), start=BatchStart(one_partition=True), options=MatchOptions(compiled=compiled)
    )
    events = events_of(pack, given.case)
    until = watermark_of(events, given.case)
    raised = session.feed(events, min(until, MAX_TIME - 1))
    if given.case.drain:
        raised = in_order([*raised, *session.drain()])
    return [one.alert.as_dict() for one in raised]


def _rows(events: Events) -> list[dict[str, Any]]:
    """Rows with times as the language holds them, in nanoseconds."""
    table = events.table
    for place, field in enumerate(table.schema):
        if str(field.type).startswith(("timestamp", "duration")):
            table = table.set_column(place, field.name, table.column(place).cast("int64"))
    return list(table.to_pylist())


def shown(pack: Pack, alert: Decided) -> dict[str, Any]:
    """The compared parts of an alert: `time` in nanoseconds, values as JSON."""
    rule = next(rule for rule in pack.rules if rule.name == alert.rule)
    types = dict(zip(rule.by.names, rule.by.types, strict=True)) if rule.by else {}
    emitted = {item.name: item.value.type for item in _emits(rule)}
    return {
        "rule": alert.rule,
        "kind": alert.kind,
        "key": {name: json_value(value, types[name]) for name, value in alert.key},
        "time": alert.time,
        "events": {step: list(ids) for step, ids in alert.events},
        "emit": {name: json_value(value, emitted[name]) for name, value in alert.emit},
    }


def _emits(rule: Rule) -> tuple[Any, ...]:
    timeout = rule.body.on_timeout if isinstance(rule.body, Match) else None
    return (*rule.emit, *(timeout or ()))


def compared(alert: Mapping[str, Any]) -> dict[str, Any]:
    """An alert in JSON, cut down to what is compared."""
    time = alert["time"]
    return {
        "rule": alert["rule"],
        "kind": alert["kind"],
        "key": dict(alert["key"]),
        "time": parse_instant(time) if isinstance(time, str) else time,
        "events": {step: list(ids) for step, ids in alert["events"].items()},
        "emit": dict(alert["emit"]),
    }


def difference(expected: Iterable[Mapping[str, Any]], got: Iterable[Mapping[str, Any]]) -> str:
    """Empty where they agree, else both lists for a person to read.

    An expected time of null stands for any. Order counts, but not among what has one time, rule and key.
    """
    wanted, found = [compared(alert) for alert in expected], [compared(alert) for alert in got]
    for want, have in zip(wanted, found, strict=False):
        if want["time"] is None:
            have["time"] = None
    if _ordered(wanted) == _ordered(found):
        return ""
    return "\n".join(["expected", *map(_line, wanted), "got", *map(_line, found)])


def _ordered(alerts: list[dict[str, Any]]) -> list[Any]:
    """The alerts in groups of one time, rule and key, each sorted; 30 and 30.0 are one number."""
    groups: list[tuple[Any, list[str]]] = []
    for alert in alerts:
        name = (alert["time"], alert["rule"], alert["key"])
        if not groups or groups[-1][0] != name:
            groups.append((name, []))
        groups[-1][1].append(canonical(alert))
    return [(name, sorted(lines)) for name, lines in groups]


def _line(alert: dict[str, Any]) -> str:
    return "  " + json.dumps(alert, ensure_ascii=False)
