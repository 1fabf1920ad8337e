"""Each time that a window of a rule was judged, as a record of a trace."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from alerts.notation import json_value
from cep.batch.decisions import EventColumns
from cep.batch.payload import ID
from cep.batch.trace import Key, Kind, Record, Trace, TracedEvent, TracedWindow
from cep.expressions.held import python
from cep.hashing.rows import rising
from cep.operators.operator import BatchContext
from cep.operators.windows.compile.readings import aggregates_in
from cep.operators.windows.compile.window_plan import Reads, WindowPlan
from cep.operators.windows.runtime.deciding import Deciding
from cep.operators.windows.runtime.evaluations import AT_ITS_END
from cep.state.keyed_rows import Bools, Ints
from rules.typed import Over


def write(deciding: Deciding, raised: Bools, holds: Bools) -> None:
    """Add a record for each evaluation, of one rule alone, to the context's trace.

    Where the trace asks for one run there are none: windows have no numbers.
    """
    rule, advanced, context = deciding.rules.plan, deciding.advanced, deciding.context
    trace = context.trace
    if trace is None or trace.selection.run is not None or not trace.selection.has(rule.rule.name):
        return
    asked = advanced.evaluations()
    rows = _chosen(asked.times, trace)
    first, events = advanced.newest(rows)
    at = asked.at[rows]
    numbers = rising(np.concatenate((events, at[at != AT_ITS_END])))
    columns = EventColumns(len(numbers), [one[1:] for one in context.book.sources(numbers)])
    ids = dict(zip(numbers.tolist(), columns.column(ID).tolist(), strict=True))
    keys, said = _keys(rule, asked.keys[rows], context), _readings(deciding, rows)
    stream = rule.rule.streams[0]
    assert isinstance(rule.rule.body, Over)
    for place, row in enumerate(rows.tolist()):
        time, event = int(asked.times[row]), int(at[place])
        held = events[first[place] : first[place + 1]].tolist()
        trace.records.append(
            Record(
                rule.pack,
                rule.rule.name,
                keys[int(asked.keys[row])],
                _kind(bool(raised[row]), bool(holds[row])),
                time,
                event=None if event == AT_ITS_END else TracedEvent(stream, ids[event], time, {}),
                place=rule.rule.body.span,
                condition=rule.rule.body.having.span.text,
                window=TracedWindow(
                    int(asked.starts[row]),
                    int(asked.ends[row]),
                    tuple(ids[number] for number in held),
                    tuple((text, values[place]) for text, values in said.items()),
                ),
            )
        )


def _kind(raised: bool, holds: bool) -> Kind:
    if raised:
        return "matched"
    return "repeated" if holds else "refused"


def _chosen(times: Ints, trace: Trace) -> Ints:
    """Of a trace with a bound no more evaluations than that, the first by time."""
    if trace.most is None or len(times) <= trace.most:
        return np.arange(len(times))
    order = np.argsort(times, kind="stable")
    trace.leave_out(int(times[order[trace.most]]))
    chosen: Ints = np.sort(order[: trace.most])
    return chosen


def _keys(rule: WindowPlan, numbers: Ints, context: BatchContext) -> dict[int, Key]:
    """The keys with these numbers, as alerts show them."""
    by = rule.rule.by
    found = context.keys.python(np.unique(numbers).tolist())
    names, types = ((), ()) if by is None else (by.names, by.types)
    return {
        number: tuple(
            (name, json_value(value, of)) for name, value, of in zip(names, values, types, strict=False)
        )
        for number, values in found.items()
    }


def _readings(deciding: Deciding, rows: Ints) -> Mapping[str, list[object]]:
    """By the text of each aggregate its values, as alerts show them."""
    rule, found = deciding.rules.plan, {}
    assert isinstance(rule.rule.body, Over)
    expressions = [rule.rule.body.having, *(item.value for item in rule.rule.emit)]
    table = deciding.read(Reads.of_all((rule.asked, rule.told)), rows).table
    for ref in aggregates_in(*expressions):
        values = python(table.column(f"@{rule.readings.number(ref)}"))
        found[" ".join(ref.span.text.split())] = [json_value(value, ref.type) for value in values]
    return found
