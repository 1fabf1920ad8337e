"""Rules that look back: at the events before a candidate (`prev`), or for a time without some (`absent`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cep.operators.patterns.compile.space_tables import SpaceTables
from cep.operators.patterns.runtime import history, last_seen
from cep.operators.patterns.runtime.history import History, back, look_back
from cep.operators.patterns.runtime.kinds import HISTORIES, LAST_SEEN
from cep.operators.patterns.runtime.last_seen import Inputs, LastSeen, times_before
from cep.operators.patterns.runtime.outside_conditions import Lookups
from cep.operators.patterns.runtime.predicate_bits import AtomEvents, Columns
from cep.state.keyed_rows import RULE, FlatRows, Kept, of_kind

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Past:
    """Events that no run took and that rules, by number, may look back at."""

    histories: Mapping[int, History]
    last_seen: Mapping[int, LastSeen]

    @classmethod
    def of(cls, tables: SpaceTables, kept: Kept) -> Past:
        """From the rows that are kept."""
        return cls(
            {n: History.of(rows, len(back(tables.rules[n]))) for n, rows in _by_rule(kept, HISTORIES)},
            {n: LastSeen.of(rows) for n, rows in _by_rule(kept, LAST_SEEN)},
        )

    @property
    def kept(self) -> Kept:
        """The rows to be kept."""
        return {
            HISTORIES: history.kept_rows(self.histories),
            LAST_SEEN: last_seen.kept_rows(self.last_seen),
        }

    def rules(self) -> set[int]:
        """The rules that remember something."""
        return self.histories.keys() | self.last_seen.keys()


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
    by_atom: AtomEvents
    constants: Ints
    ranks: Ints


def looking_back(
    tables: SpaceTables, rules: Ints, past: Past, events: Events, columns: Columns, lookups: Lookups
) -> tuple[Columns, Past]:
    """The columns with what some rules see when they look back, and what they remember after.

    The columns of such a rule become its own; those that follow say when each of its look backs last saw an
    event (cep.operators.patterns.compile.tables).
    """
    histories: dict[int, History] = {}
    seen_before: dict[int, LastSeen] = {}
    values, nulls, first_of_rule = [columns.values], [columns.nulls], columns.first_of_rule.copy()
    count = len(columns.values)
    for number in rules.tolist():
        rule, of_rule = tables.rules[number], tables.tables(number)
        places = events.by_atom.places(number, len(rule.places), len(events.keys))
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
            seen, unseen, left = times_before(
                rule,
                past.last_seen.get(number, LastSeen.none()),
                Inputs(
                    events.keys, events.times, places, known, unknown,
                    events.constants[slice(*constants.tolist())], events.ranks, lookups,
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
