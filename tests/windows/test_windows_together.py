"""Rules that keep and read the same windows run together: the same alerts and state as of each alone."""

from __future__ import annotations

from typing import Any

import pytest
from duel import plan_of
from event_tables import tables
from random_packs import header
from random_streams import SECOND, long_stream

from alerts.raised import Raised
from cep.counters import Counts
from cep.inprocess.session import Session
from cep.operators.windows.runtime import run_windows

WINDOWS = (
    "tumbling 5s",
    'tumbling 1 day zone "America/Sao_Paulo"',
    "hopping 60s every 20s early",
    "sliding 30s; limit 4 events",
    "session gap 5s",
    "session gap 20s max 90s early",
    "last 3 events within 1h; limit 6 events",
)
RULE = """
rule {name} {{
  by g  over {chosen} {window}  having {having}
  emit n = count(), s = sum(w), l = last(l), d = distinct(k), p = percentile(v, 0.5), g, b = previous(sum(v))
  {limit}
}}
"""
ALIKE = (
    ("r1", "e[v > 0]", "count() > 1"),
    ("r2", "e", 'count() > 2 or g == "key 1"'),
    ("r3", "e[v is not null]", "count() > 0 and previous(sum(v)) is not null"),
    ("r4", 'e[k == "nobody"]', "count() > 0"),
    ("r5", "e[v > 0]", "count() * 4611686018427387904 > 0"),
    ("r6", "f[v > 0]", "count() > 1"),
)
"""Of which one takes nothing, one has a `having` without room for its result, and one another stream."""
YEAR = 366 * 86_400
Told = tuple[list[Raised], bytes, Counts]


def text(window: str) -> str:
    window, *limit = window.split("; ")
    return header(0) + "".join(
        RULE.format(name=name, chosen=chosen, window=window, having=having, limit="".join(limit))
        for name, chosen, having in ALIKE
    )


def fed(window: str) -> Told:
    """The alerts, the state before the last batch, and the counts of a session in which time leaps."""
    plan = plan_of(text(window))
    session, events = Session(plan, shards=2), long_stream(3, 240, 9, 120)
    raised = session.feed(tables(plan.packs[0], events[:100]))
    raised += session.feed(tables(plan.packs[0], events[100:180], 100))
    raised += session.feed(tables(plan.packs[0], events[180:], 180))
    state = session.snapshot()
    return raised + session.feed([], YEAR * SECOND), state, session.counts


@pytest.mark.parametrize("window", WINDOWS)
def test_rules_find_together_what_each_finds_alone(window: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where evaluations are made key by key."""
    advanced: list[int] = []
    advance = run_windows.advance

    def counted(*given: Any) -> Any:
        advanced.append(len(given[2].keys))
        return advance(*given)

    monkeypatch.setattr(run_windows, "advance", counted)
    together = fed(window)
    assert {one.rule for one in together[0]} >= {"r1", "r2", "r6"}
    calls = len(advanced)
    monkeypatch.setattr(run_windows, "MOST", 0)
    assert fed(window) == together
    assert len(advanced) - calls > 2 * calls
    monkeypatch.setattr(run_windows, "MOST", 60)
    assert fed(window) == together
    monkeypatch.setattr(run_windows, "MOST", 1 << 20)
    monkeypatch.setattr(run_windows, "AT_ONCE", 3)
    assert fed(window) == together
