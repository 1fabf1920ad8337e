"""A pack over events, in memory or in files, with the alerts as objects."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING

from alerts.alert import Alert
from alerts.notation import duration
from cep.api.errors import DataError, PackError, refusal
from rules.diagnostics import DiagnosticsError
from rules.instants import parse_instant
from rules.suggest import did_you_mean
from rules.typed import Pack

if TYPE_CHECKING:
    from alerts.raised import Raised
    from cep.inprocess.listed import Times
    from cep.inprocess.report import Report
    from cep.resources.resource import Resources


@dataclass(frozen=True, slots=True)
class Rejected:
    """Something that is no event: `place` is its number in the list, from 0, or where in `file` it stands.

    In a file that is a byte offset, of Parquet a row.
    """

    stream: str
    file: str | None
    place: int
    reason: str


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The alerts by time, rule, key and order of decision, and what became of the events.

    `events` could be read; of these `late` ones reach no rule, `duplicates` came before under the same id.
    `withheld` counts alerts that `suppress` kept back. `rejected` counts what is no event; of files `reasons`
    has the first five. `losses` are sentences about what rules could not do: runs beyond a `limit`,
    alternatives given up, results that overflowed to null, standing queries that came to their budget.
    """

    alerts: tuple[Alert, ...]
    events: int
    late: int
    duplicates: int
    withheld: int
    rejected: int
    reasons: tuple[Rejected, ...]
    losses: tuple[str, ...]


def of_events(
    pack: Pack,
    events: Iterable[tuple[str, Mapping[str, object]]],
    times: Times,
    resources: Resources,
) -> Evaluation:
    """The result that `Pack.evaluate` returns. Raises TypeError, PackError."""
    from cep.inprocess.listed import of_list
    from cep.inprocess.report import Report

    streams: list[str] = []
    with _as_pack_errors():
        found = of_list("compiled", pack, _lines(events, streams), times, resources)
    report = Report(
        events=found.events, alerts=len(found.alerts), withheld=found.withheld, rejected=len(found.rejected)
    )
    report.count([pack], found.counts)
    reasons = tuple(Rejected(streams[place], None, place, reason) for place, reason in found.rejected)
    return _evaluation(found.alerts, report, reasons)


def of_files(
    pack: Pack,
    files: Mapping[str, str | os.PathLike[str] | Sequence[str | os.PathLike[str]]],
    times: Times,
    resources: Resources,
) -> Evaluation:
    """The result that `Pack.evaluate_files` returns. Raises DataError, PackError."""
    from cep.inprocess.engines import engine
    from cep.inprocess.replay import in_step, replay, streams_read
    from cep.inprocess.report import Report
    from cep.inprocess.sources import of_files as input_of
    from cep.sources.files.reading import check_file

    named = {name: [os.fspath(one) for one in _several(of)] for name, of in files.items()}
    declared = [stream.name for stream in pack.fed]
    for name in (one for one in named if one not in declared):
        hint = did_you_mean(name, declared) or f"its streams are {', '.join(declared)}"
        raise DataError(f"pack {pack.name} has no stream `{name}`: {hint}")
    problems = [problem for of in named.values() for file in of for problem in check_file(file)]
    if problems:
        raise refusal(DataError, problems)
    report = Report()
    running = engine("compiled", [pack], False, resources)
    inputs = [input_of(pack.stream(name), of) for name, of in named.items()]
    batches = in_step(inputs, streams_read([pack]), report, times.clock)
    with _as_pack_errors():
        found = replay([pack], batches, running, times.watermark, times.drain, report)
        raised = [one for some in found for one in some]
    reasons = tuple(Rejected(one.feed, one.file, one.offset, one.reason) for one in report.first)
    return _evaluation(raised, report, reasons)


@contextmanager
def _as_pack_errors() -> Iterator[None]:
    """Raises PackError where a file that the pack names was changed or removed after it was loaded."""
    try:
        yield
    except DiagnosticsError as error:
        raise refusal(PackError, error.diagnostics) from error


def _evaluation(raised: Sequence[Raised], report: Report, reasons: tuple[Rejected, ...]) -> Evaluation:
    return Evaluation(
        alerts=tuple(one.alert for one in raised),
        events=report.events,
        late=report.counts["late"],
        duplicates=report.counts["duplicate"],
        withheld=report.withheld,
        rejected=report.rejected,
        reasons=reasons,
        losses=tuple(report.losses()),
    )


def _several(
    given: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
) -> Sequence[str | os.PathLike[str]]:
    return [given] if isinstance(given, str | os.PathLike) else given


def times(watermark: datetime | str | None, drain: bool, clock: datetime | str | None) -> Times:
    """The times that a program gives. Raises ValueError."""
    from cep.inprocess.listed import Times

    if drain and watermark is not None:
        raise ValueError("a watermark and drain exclude one another")
    return Times(_instant("watermark", watermark), drain, _instant("clock", clock))


def _instant(name: str, given: datetime | str | None) -> int | None:
    """A time in ns since 1970 UTC; None where it is not given. Raises ValueError."""
    if isinstance(given, datetime):
        if given.utcoffset() is None:
            raise ValueError(f"a {name} needs a time zone: datetime(..., tzinfo=UTC)")
        given = given.isoformat()
    return None if given is None else parse_instant(given)


def _lines(
    events: Iterable[tuple[str, Mapping[str, object]]], streams: list[str]
) -> Iterator[tuple[int, str, bytes]]:
    """Number, stream and JSON of every event; `streams` gets the names by number."""
    for number, (stream, event) in enumerate(events):
        streams.append(stream)
        try:
            text = json.dumps(dict(event), default=_written, ensure_ascii=True)
        except (TypeError, ValueError) as problem:
            raise TypeError(f"event {number} of stream {stream}: {problem}") from None
        yield number, stream, text.encode()


def _written(value: object) -> object:
    """A Python value as feeds write it. Raises TypeError."""
    match value:
        case datetime():
            return value.isoformat()
        case timedelta():
            return duration((value // timedelta(microseconds=1)) * 1000)
        case Decimal():
            return format(value, "f")
        case Mapping():
            return dict(value)
    raise TypeError(f"a value of type {type(value).__name__} has no form in an event")
