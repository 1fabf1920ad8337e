"""Writes very many alerts at once, of one rule or of rules that tell alike: `Writer.by_column`, in Arrow from
values to bodies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from json.encoder import encode_basestring
from typing import NamedTuple

from alerts.alert import Kind
from alerts.arrow_columns import Array, Ints, Texts, timestamps
from alerts.joining import Part, digests, of_rows, one_of
from alerts.lazy_texts import LazyTexts
from alerts.notation_columns import digits
from alerts.patience import count_alerts
from alerts.raised import ApartTexts, Writer, columns_apart
from alerts.raised_columns import BODY, KEY, PLACE, WITHHOLDING, RaisedColumns, Raising
from alerts.ranks import END


@dataclass(frozen=True, slots=True)
class Content:
    """The values of alerts of one kind, which name the same keys, values and steps; a row for one or more.

    `time` in ns since 1970 UTC. `summary` are the values that summaries show, as `Texts.shown` has them;
    `events` has for each step the ids taken, as JSON strings with commas between; `orders` are as
    `alerts.ranks.decided` gives them. `withholding` are the parts of the keys that suppression goes by, for
    a rule without it of an empty text.
    """

    kind: Kind
    time: Ints
    key: Mapping[str, Texts]
    summary: Sequence[Part]
    emit: Mapping[str, Texts]
    events: Sequence[tuple[str, Part]]
    orders: Array
    withholding: Sequence[Part] = ("",)
    apart: ApartTexts[Array] | None = None


class Writing(NamedTuple):
    """A rule that raises alerts; `summary` are the texts around the values that its summaries show, one more
    than these."""

    writer: Writer
    raising: Raising
    summary: Sequence[str]


def written(rules: Sequence[Writing], of: Ints, row: Ints | None, content: Content) -> RaisedColumns:
    """The alerts of rules, as `Writer.by_column` writes them; `of` has the place in `rules` of each one's,
    `row` its row of the content. None: each has its own.

    Raises ValueError for NaN and infinity, UnicodeEncodeError where a lone surrogate stands in something.
    """
    steps = tuple(step for step, _ in content.events)
    named = content.kind, tuple(content.key), tuple(content.emit), steps
    forms = [one.writer.forms(*named, one.summary) for one in rules]
    identity, alert = (
        [one_of(texts, of) for texts in zip(*of_each, strict=True)] for of_each in zip(*forms, strict=True)
    )
    size = len(of)
    count_alerts(size)
    key = list(content.key.values())
    taken = [ids for _, ids in content.events]
    by, estimates = columns_apart(content.apart, content.kind, "")
    steps_told = taken if content.kind != "window" else []
    told = _between(identity, of_rows([*(one.canonical for one in key), *steps_told, *by], row))
    ids = digests(told, size)
    emitted = [one.json for one in content.emit.values()]
    shown = [*(one.json for one in key), *content.summary]
    said = [timestamps(content.time), *shown, *emitted, *taken, *estimates]
    texts = {
        BODY: _between(alert, [digits(ids), *of_rows(said, row)]),
        PLACE: of_rows([*(one.ranked for one in key), END, content.orders, END], row),
        WITHHOLDING: of_rows(content.withholding, row),
        KEY: of_rows(_object(content.key), row),
    }
    return RaisedColumns(
        tuple(one.raising for one in rules),
        of,
        content.time if row is None else content.time[row],
        ids,
        LazyTexts.of_parts(texts, size),
    )


def _object(fields: Mapping[str, Texts]) -> list[Part]:
    """JSON objects of these fields, in parts."""
    parts: list[Part] = []
    for name, values in fields.items():
        parts += (f"{',' if parts else '{'}{encode_basestring(name)}:", values.json)
    return [*parts, "}"] if parts else ["{}"]


def _between(form: Sequence[Part], columns: Sequence[Part]) -> list[Part]:
    """The parts of the form, and the columns between them."""
    parts = chain.from_iterable(zip_longest(form, columns))
    return [part for part in parts if part is not None]
