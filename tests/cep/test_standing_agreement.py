"""Standing queries in rules: the engine that runs and the reference raise the same alerts."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from duel import as_alert
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from standing_programs import SECOND, Standing, standing_programs

from alerts.stages.order import in_order
from cep.decode import decode_values
from cep.decode.formats import FeedFormat
from cep.events import Events
from cep.inprocess.session import Session
from cep.packs.compile import compile_plan
from cep.reference import decided
from cep.reference.hits import hit_lookup
from cep.reference.text_conditions import text_predicate
from cep.shard.advance import MatchOptions
from rules.typed import Pack


def batches_of(program: Standing, pack: Pack) -> list[list[Events]]:
    found = []
    offset = 0
    for batch in program.batches:
        parts = []
        for stream in pack.fed:
            rows = [
                (offset + place, {**values, "at": at * SECOND})
                for place, (name, at, values) in enumerate(batch)
                if name == stream.name
            ]
            if rows:
                offsets, values = zip(*rows, strict=True)
                decoded = decode_values(
                    stream, values, offsets=offsets, feed=FeedFormat(timestamps="epoch_ns")
                )
                assert not decoded.dead
                parts.append(decoded.events)
        found.append(parts)
        offset += len(batch)
    return found


def by_engine(program: Standing, pack: Pack) -> list[dict[str, Any]]:
    session = Session(compile_plan([pack]), program.shards, options=MatchOptions(compiled=program.compiled))
    raised = []
    for number, batch in enumerate(batches_of(program, pack)):
        raised += session.feed(batch)
        if number in program.restarts:
            snapshot = session.snapshot()
            session = Session(
                compile_plan([pack]), program.shards, options=MatchOptions(compiled=program.compiled)
            )
            session.restore(snapshot)
    raised += session.drain()
    return [one.alert.as_dict() for one in in_order(raised)]


def by_reference(program: Standing, pack: Pack) -> list[dict[str, Any]]:
    arrivals = []
    for batch in batches_of(program, pack):
        for part in batch:
            for row in part.table.to_pylist():
                values = {name: tuple(v) if isinstance(v, list) else v for name, v in row.items()}
                arrivals.append((part.stream, row["@id"], {**values, "at": row["@time"]}))
    found = decided(pack, arrivals, text=text_predicate(pack), hits=hit_lookup(pack))
    return [as_alert(pack, one) for one in found]


def assert_agree(program: Standing) -> None:
    with TemporaryDirectory() as folder:
        pack = program.pack(Path(folder))
        engine, reference = by_engine(program, pack), by_reference(program, pack)
    names = ("rule", "kind", "key", "emit", "events", "id")
    ours = [{name: alert[name] for name in names} for alert in engine]
    theirs = [{name: alert[name] for name in names} for alert in reference]
    assert ours == theirs, json.dumps(ours, indent=1, default=str)


@pytest.mark.slow
@settings(max_examples=examples(300), deadline=None)
@given(st.integers(0, 10).flatmap(lambda form: standing_programs(compiled=form > 0)))
def test_both_engines_raise_the_same_alerts(program: Standing) -> None:
    assert_agree(program)
