"""An alert as engines hand it on: written already, with what the outbox must know of it.

It is made where it is decided, in a worker; the driver only sorts, suppresses and inserts.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Generic, NamedTuple, TypeVar

from alerts.alert import Alert, Kind
from alerts.columns import Column
from alerts.forms import GAP, filled
from alerts.identity import alert_id, digests
from alerts.notation import timestamp, timestamps
from alerts.ranks import rank, ranks

_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode
Forms = tuple[list[str], list[str]]
Of = TypeVar("Of", covariant=True)
Rows = TypeVar("Rows")
_NOT_SUPPRESSED, _SUPPRESSED = '"suppressed":0,"approximate":[', '"suppressed":{},"approximate":['
"""Stands once in a body: in a string quotation marks are escaped."""


@dataclass(frozen=True, slots=True)
class Apart:
    """Parts of an alert's identity beside rule, key and events: the query of a hit; the bounds of a window,
    and the event at which it was evaluated (as `alert_id` takes them). `approximate`: the emitted names whose
    values are estimates."""

    query: str | None = None
    window: Sequence[str] | None = None
    approximate: Sequence[str] = ()


NOTHING_APART = Apart()


@dataclass(frozen=True, slots=True)
class ApartTexts(Generic[Of]):
    """The same for many alerts of one kind, as JSON: the query, or the bounds; the names of estimates with
    commas between, None where there are none."""

    by: Of
    approximate: Of | None


def columns_apart(apart: ApartTexts[Rows] | None, kind: Kind, none: Rows) -> tuple[list[Rows], list[Rows]]:
    """Texts for the last gaps of a kind's forms (`Writer.forms`), of ids and of alerts. `none`: the names of
    no estimate."""
    if apart is None:
        return [], []
    estimates = none if apart.approximate is None else apart.approximate
    return [apart.by], [estimates] if kind == "window" else []


class Withholding(NamedTuple):
    """A rule's suppression as it concerns one alert: equal `key` and less than `duration` ns apart."""

    key: str
    duration: int


class Raised(NamedTuple):
    """An alert as an engine decides it, before suppression.

    `rank` sorts the alerts of a batch (alerts.ranks). `time` is event time in nanoseconds since 1970 UTC,
    `body` the alert's JSON, byte for byte what receivers get.
    """

    rank: bytes
    id: str
    pack: str
    rule: str
    severity: str
    time: int
    body: str
    withholding: Withholding | None = None

    @classmethod
    def of(
        cls, alert: Alert, time: int, order: Sequence[int], withholding: Withholding | None = None
    ) -> Raised:
        """From an alert; `order` ranks those of one batch that have the same time, rule and key."""
        place = rank(time, alert.rule, alert.pack, alert.key.values(), order, alert.id)
        return cls(
            place, alert.id, alert.pack, alert.rule, alert.severity, time, alert.to_json(), withholding
        )

    @classmethod
    def rows(cls, *columns: Sequence[object]) -> list[Raised]:
        """Alerts from their parts by column, in the order of the fields."""
        # Twice as quick as _make, which looks at the length of every row.
        return list(map(partial(tuple.__new__, cls), zip(*columns, strict=True)))

    @property
    def alert(self) -> Alert:
        """The alert that is written in `body`."""
        return Alert(**json.loads(self.body))

    def speaking_for(self, suppressed: int) -> Raised:
        """The same alert with the number of those that were withheld before it."""
        if not suppressed:
            return self
        return self._replace(body=speaking(self.body, suppressed))


def speaking(body: str, suppressed: int) -> str:
    """The JSON of an alert before suppression, telling of so many that were withheld."""
    before, found, after = body.rpartition(_NOT_SUPPRESSED)
    assert found
    return f"{before}{_SUPPRESSED.format(suppressed)}{after}"


def storable(text: str) -> bool:
    """False where a lone surrogate stands in a text: it has no UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


class Writer:
    """Writes the alerts of one rule in one revision of its pack, the parts that are always the same once."""

    def __init__(
        self,
        pack: str,
        revision: str,
        rule: str,
        structure: str,
        severity: str,
        tags: Sequence[str],
        runbook: str | None,
    ) -> None:
        self._pack, self._rule, self._structure, self._severity = pack, rule, structure, severity
        self._revision, self._tags, self._runbook = revision, list(tags), runbook
        self._heads: dict[Kind, str] = {}
        self._forms: dict[tuple[object, ...], Forms] = {}
        self._tail = f',"tags":{_encode(list(tags))},"runbook":{_encode(runbook)},{_NOT_SUPPRESSED}'

    def raised(
        self,
        kind: Kind,
        time: int,
        key: dict[str, object],
        summary: str,
        emit: dict[str, object],
        events: Sequence[tuple[str, list[str]]],
        order: Sequence[int],
        withholding: Withholding | None,
        apart: Apart = NOTHING_APART,
    ) -> Raised:
        """One alert; `key` and `emit` are JSON values, `events` in the pattern's order.

        Raises ValueError for NaN and infinity, and for a time outside the years 1 to 9999.
        """
        named = (self._pack, self._rule, self._structure, kind, list(key.values()))
        steps = events if apart.window is None else ()
        id_ = alert_id(*named, steps, apart.query, apart.window)
        said = _encode({"key": key, "summary": summary, "emit": emit, "events": dict(events)})
        estimates = _encode(list(apart.approximate))[1:]
        head = f'{{"id":"{id_}",{self._head(kind)}"time":"{timestamp(time)}",'
        body = f"{head}{said[1:-1]}{self._tail}{estimates}}}"
        if not body.isascii():
            body = self._storable(body)
        place = rank(time, self._rule, self._pack, key.values(), order, id_)
        return Raised(place, id_, self._pack, self._rule, self._severity, time, body, withholding)

    def by_column(
        self,
        kind: Kind,
        times: Sequence[int],
        key: Mapping[str, Column],
        summary: Column,
        emit: Mapping[str, Column],
        events: Sequence[tuple[str, Sequence[str]]],
        orders: Sequence[bytes],
        withholding: Sequence[Withholding] | None,
        apart: ApartTexts[Sequence[str]] | None = None,
    ) -> list[Raised]:
        """As `raised`, for many alerts of one kind, which name the same keys, values and steps.

        `events` has for each of these steps the ids of every alert, as JSON strings with commas between;
        `orders` are as `alerts.ranks.decided` gives them.
        """
        taken = [ids for _, ids in events]
        identity, alert = self.forms(kind, tuple(key), tuple(emit), tuple(step for step, _ in events))
        size = len(times)
        keys, emitted = [one.json for one in key.values()], [one.json for one in emit.values()]
        canonical = [one.canonical for one in key.values()]
        by, estimates = columns_apart(apart, kind, [""] * size)
        ids = digests(filled(identity, [*canonical, *(taken if kind != "window" else ()), *by], size))
        parts = [ids, timestamps(times), *keys, summary.json, *emitted, *taken, *estimates]
        bodies = filled(alert, parts, size)
        if not all(map(str.isascii, bodies)):
            bodies = [body if body.isascii() else self._storable(body) for body in bodies]
        places = ranks(times, self._rule, self._pack, [one.ranked for one in key.values()], orders, ids)
        same = [self._pack] * size, [self._rule] * size, [self._severity] * size
        given = [None] * size if withholding is None else withholding
        return Raised.rows(places, ids, *same, times, bodies, given)

    def forms(
        self,
        kind: Kind,
        key: Sequence[str],
        emit: Sequence[str],
        steps: Sequence[str],
        summary: Sequence[str] = (),
    ) -> Forms:
        """The texts that ids are digests of, and those of alerts, without the parts that differ: of summaries
        what is between `summary`, which is the same in every call; without it, whole ones, as JSON."""
        name = (kind, bool(summary), *steps)
        found = self._forms.get(name)
        if found is None:
            found = self._forms[name] = self._forms_of(kind, key, emit, steps, summary)
        return found

    def _forms_of(
        self,
        kind: Kind,
        key: Sequence[str],
        emit: Sequence[str],
        steps: Sequence[str],
        summary: Sequence[str],
    ) -> Forms:
        names = ",".join(_encode(name) for name in (self._pack, self._rule, self._structure, kind))
        keys = ",".join(GAP for _ in key)
        taken = ",".join(f"[{_encode(step)},[{GAP}]]" for step in steps)
        identity = f"[{names},[{keys}],[{taken}],{GAP if kind == 'hit' else 'null'},null]"
        if kind == "window":
            identity = f"[{names},[{keys}],[],null,{GAP}]"
        events = ",".join(f"{_encode(step)}:[{GAP}]" for step in steps)
        shown = f'"{GAP.join(_encode(text)[1:-1] for text in summary)}"' if summary else GAP
        estimates = GAP if kind == "window" else ""
        alert = (
            f'{{"id":"{GAP}",{self._head(kind)}"time":"{GAP}","key":{{{_members(key)}}},"summary":{shown},'
            f'"emit":{{{_members(emit)}}},"events":{{{events}}}{self._tail}{estimates}]}}'
        )
        return identity.split(GAP), alert.split(GAP)

    def _head(self, kind: Kind) -> str:
        head = self._heads.get(kind)
        if head is None:
            fixed = {
                "pack": self._pack,
                "revision": self._revision,
                "rule": self._rule,
                "kind": kind,
                "severity": self._severity,
            }
            head = self._heads[kind] = _encode(fixed)[1:-1] + ","
        return head

    def _storable(self, body: str) -> str:
        """The body, in ASCII where a lone surrogate, which has no UTF-8, stands in it."""
        return body if storable(body) else Alert(**json.loads(body)).to_json()


def _members(names: Iterable[str]) -> str:
    return ",".join(f"{_encode(name)}:{GAP}" for name in names)
