"""A trace finds room for every run that ends, however many end at once."""

from __future__ import annotations

import pytest

from cep.batch.clock import BatchStart
from cep.batch.trace import Trace
from cep.inprocess.rows import line_events
from cep.inprocess.session import Session
from cep.packs.compile import compile_plan
from cep.shard.advance import MatchOptions
from rules.packs import load_texts

PACK = """pack p version "1"
stream e { id_: string  at: timestamp  k: string  v: long  id id_  time at }
rule r { by k  match a: e[v == 1] -> b: e[v == 2]  within 1 hour }
"""
RUNS = 200


@pytest.mark.slow
@pytest.mark.parametrize("compiled", [False, True])
def test_many_runs_expire_at_once(compiled: bool) -> None:
    pack = load_texts([("p.rules", PACK)]).need()
    one = '{"id_": "%d", "at": "2026-01-01T00:00:00Z", "k": "x", "v": 1}'
    lines = [(n, "e", (one % n).encode()) for n in range(RUNS)]
    events, rejected = line_events(pack, lines)
    assert not rejected
    trace = Trace()
    session = Session(
        compile_plan([pack]),
        start=BatchStart(one_partition=True),
        options=MatchOptions(trace=trace, compiled=compiled),
    )
    session.feed(events, 1_767_225_600_000_000_000)
    assert session.feed([], 1_767_225_600_000_000_000 + 2 * 3_600_000_000_000) == []
    assert sum(record.kind == "expired" for record in trace.records) == RUNS
