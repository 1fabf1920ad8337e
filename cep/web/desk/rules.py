"""Rules: how often each fired, what it keeps, what verdicts say of it; one with its text and its series."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, assert_never

from alerts.outbox.counts import counted_since
from alerts.outbox.episodes import precisions
from alerts.outbox.stored import read_batch, recorded_at
from cep.job.state_folder.manifest import result_of
from cep.web.desk.desk import JobDesk, moment
from cep.web.desk.errors import MissingError
from cep.web.desk.filters import told
from cep.web.desk.packs import pack_at, running
from rules.suggest import meant
from rules.typed import Match, On, Over

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from alerts.outbox.counts import RuleCount
    from rules.typed import Pack, Rule

HOUR = 3_600 * 10**9
DAY = 24 * HOUR


@dataclass(frozen=True, slots=True)
class RuleView:
    """A rule that runs. `alerts_day` were recorded in the last 24 hours, `last_alert` is the moment of the
    last one; `runs` are partial matches, or keys with open windows; `precision` is that of its verdicts."""

    pack: str
    rule: str
    revision: str
    kind: str
    severity: str
    streams: tuple[str, ...]
    tags: tuple[str, ...]
    runbook: str | None
    alerts_day: int
    last_alert: str | None
    runs: int
    precision: float | None


@dataclass(frozen=True, slots=True)
class HourOfAlerts:
    """The alerts of a rule that were recorded in the hour that begins then."""

    begins: str
    alerts: int


@dataclass(frozen=True, slots=True)
class RuleText:
    """A rule at a revision: its text, with the place of its first line; `series` is by hour, the oldest
    first."""

    rule: RuleView
    revision: str
    file: str
    line: int
    text: str
    series: tuple[HourOfAlerts, ...]


@dataclass(frozen=True, slots=True)
class _Known:
    """The numbers of rules in the outbox, by pack and rule."""

    alerts: Mapping[tuple[str, str], int]
    last: Mapping[tuple[str, str], str]
    runs: Mapping[tuple[str, str], int]
    precision: Mapping[tuple[str, str], float | None]


def rules_now(desk: JobDesk, day: Mapping[tuple[str, str], int] | None = None) -> tuple[RuleView, ...]:
    """The rules of the packs that run, by pack in the order of the text. Raises OutboxError.

    `day` has the alerts of the last 24 hours by pack and rule, where they are counted already.
    """
    packs = running(desk)
    known = _known(desk, day)
    return tuple(_view(pack, rule, known) for _, pack in sorted(packs.items()) for rule in pack.rules)


def one_rule(
    desk: JobDesk,
    pack_name: str,
    name: str,
    revision: str | None = None,
    day: Mapping[tuple[str, str], int] | None = None,
) -> RuleText:
    """A rule as its text is at a revision; None: that which runs. Raises MissingError and OutboxError.

    With the alerts of a `day`, as for `rules_now`, the series is left to whoever counted them.
    """
    pack = pack_at(desk, pack_name, revision)
    rules = {rule.name: rule for rule in pack.rules}
    if name not in rules:
        fix = meant(name[:100], rules, "rules")
        raise MissingError(f"pack `{told(pack_name)}` has no rule `{told(name)}`", fix)
    rule = rules[name]
    span = rule.span
    return RuleText(
        _view(pack, rule, _known(desk, day)),
        pack.revision,
        span.file.name,
        span.file.text.count("\n", 0, span.start) + 1,
        span.text,
        tuple(_series(desk, (pack_name, name))) if day is None else (),
    )


def _known(desk: JobDesk, day: Mapping[tuple[str, str], int] | None = None) -> _Known:
    with desk.outbox.reading() as connection:
        counts = counted_since(connection, desk.clock() - DAY if day is None else None)
        judged = {(one.pack, one.rule): one.share for one in precisions(connection)}
        last = _last(connection, counts)
        record = read_batch(connection, None)
    alerts: dict[tuple[str, str], int] = {}
    for one in counts:
        alerts[one.pack, one.rule] = alerts.get((one.pack, one.rule), 0) + one.alerts
    try:
        runs = {} if record is None else result_of(record.result).runs
    except ValueError:
        runs = {}
    return _Known(alerts if day is None else day, last, runs, judged)


def _last(connection: Connection, counts: list[RuleCount]) -> dict[tuple[str, str], str]:
    numbers: dict[tuple[str, str], int] = {}
    for one in counts:
        if one.last is not None:
            numbers[one.pack, one.rule] = max(one.last, numbers.get((one.pack, one.rule), 0))
    at = recorded_at(connection, list(numbers.values()))
    return {name: moment(at[number]) for name, number in numbers.items() if number in at}


def _series(desk: JobDesk, of: tuple[str, str]) -> Iterator[HourOfAlerts]:
    """The hours of the last day, from whole hours of the clock."""
    first = (desk.clock() // HOUR - 23) * HOUR
    with desk.outbox.reading() as connection:
        since = [
            sum(
                one.alerts
                for one in counted_since(connection, first + n * HOUR)
                if (one.pack, one.rule) == of
            )
            for n in range(25)
        ]
    for n in range(24):
        yield HourOfAlerts(moment(first + n * HOUR), since[n] - since[n + 1])


def _view(pack: Pack, rule: Rule, known: _Known) -> RuleView:
    name = (pack.name, rule.name)
    return RuleView(
        pack=pack.name,
        rule=rule.name,
        revision=pack.revision,
        kind=_kind(rule),
        severity=rule.severity,
        streams=rule.streams,
        tags=rule.tags,
        runbook=rule.runbook,
        alerts_day=known.alerts.get(name, 0),
        last_alert=known.last.get(name),
        runs=known.runs.get(name, 0),
        precision=known.precision.get(name),
    )


def _kind(rule: Rule) -> str:
    match rule.body:
        case On():
            return "on"
        case Match():
            return "match"
        case Over():
            return "over"
        case _:
            assert_never(rule.body)
