"""Rules that look back: at the events before a candidate (`prev`), or for a time without some (`absent`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cep.operators.patterns.compile.space_tables import SpaceTables
from cep.operators.patterns.runtime import history
from cep.operators.patterns.runtime import last_seen as sightings
from cep.operators.patterns.runtime.history import History, back, look_back
from cep.operators.patterns.runtime.kinds import HISTORIES, SIGHTINGS
from cep.operators.patterns.runtime.last_seen import Inputs, Sightings, last_seen
from cep.operators.patterns.runtime.predicate_bits import Columns, Hits
from cep.operators.patterns.runtime.whole_events import Evidence
from cep.state.keyed_rows import RULE, FlatRows, Kept, of_kind

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Past:
    """What rules, by number, remember of events that no run took."""

    histories: Mapping[int, History]
    sightings: Mapping[int, Sightings]

    @classmethod
    def of(cls, tables: SpaceTables, kept: Kept) -> Past:
        """What is kept of it."""
        return cls(
            {n: History.of(rows, len(back(tables.rules[n]))) for n, rows in _by_rule(kept, HISTORIES)},
            {n: Sightings.of(rows) for n, rows in _by_rule(kept, SIGHTINGS)},
        )

    @property
    def kept(self) -> Kept:
        """The rows to be kept."""
        return {
            HISTORIES: history.kept_rows(self.histories),
            SIGHTINGS: sightings.kept_rows(self.sightings),
        }

    def rules(self) -> set[int]:
        """The rules that remember something."""
        return self.histories.keys() | self.sightings.keys()


def _by_rule(kept: Kept, kind: str) -> Iterator[tuple[int, Ints]]:
    rows = of_kind(kept, kind, FlatRows).rows
    for number in np.unique(rows[:, RULE]).tolist():
        yield number, rows[rows[:, RULE] == number]


@dataclass(frozen=True, slots=True)
class Events:
    """A shard's events in key order, up to the watermark, and what programs need besides their columns."""

    keys: Ints
    times: Ints
    watermark: int
    hits: Hits
    constants: Ints
    ranks: Ints


def looking_back(
    tables: SpaceTables, rules: Ints, past: Past, events: Events, columns: Columns, evidence: Evidence
) -> tuple[Columns, Past]:
    """The columns with what some rules see when they look back, and what they remember after.

    The columns of such a rule become its own; those that follow say when each of its look backs last saw an
    event (cep.operators.patterns.compile.tables).
    """
    histories: dict[int, History] = {}
    seen_before: dict[int, Sightings] = {}
    values, nulls, first_of_rule = [columns.values], [columns.nulls], columns.first_of_rule.copy()
    count = len(columns.values)
    for number in rules.tolist():
        rule, of_rule = tables.rules[number], tables.tables(number)
        places = events.hits.places(number, len(rule.places), len(events.keys))
        mine = slice(first := int(columns.first_of_rule[number]), first + len(rule.columns))
        known, unknown = columns.values[mine].copy(), columns.nulls[mine].copy()
        if any(column.back for column in of_rule.columns):
            before = past.histories.get(number, History.none(rule))
            after = look_back(
                rule, before, events.keys, events.times, places[-1], known, unknown, events.watermark
            )
            if len(after.keys):
                histories[number] = after
        values.append(known)
        nulls.append(unknown)
        if of_rule.look_backs:
            constants = tables.first_constants[number : number + 2]
            seen, unseen, left = last_seen(
                rule,
                past.sightings.get(number, Sightings.none()),
                Inputs(
                    events.keys, events.times, places, known, unknown,
                    events.constants[slice(*constants.tolist())], events.ranks, evidence,
                ),
                events.watermark,
            )  # fmt: skip
            values.append(seen)
            nulls.append(unseen)
            if len(left.keys):
                seen_before[number] = left
        first_of_rule[number] = count
        count += len(rule.columns) + len(of_rule.look_backs)
    return (
        Columns(np.concatenate(values), np.concatenate(nulls), first_of_rule),
        Past(histories, seen_before),
    )
