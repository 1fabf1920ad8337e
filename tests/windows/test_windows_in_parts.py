"""Evaluations that are many are made key by key: the same alerts and the same state as of all at once."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from duel import plan_of
from event_tables import tables
from random_packs import header
from random_streams import SECOND, Arrival, long_stream

from alerts.raised import Raised
from cep.inprocess.session import Session
from cep.operators.windows.runtime import run_windows
from cep.operators.windows.runtime.deciding import Deciding

WINDOWS = (
    "tumbling 5s",
    'tumbling 1 day zone "America/Sao_Paulo"',
    "hopping 60s every 1s",
    "hopping 60s every 20s early",
    "sliding 1h",
    "sliding 30s; limit 2 events",
    "session gap 5s",
    "session gap 20s max 90s early",
    "last 3 events within 1h; limit 6 events",
)
RULE = """
rule r {{
  by g  over e {}  having count() > 1 or previous(count()) > 0
  emit n = count(), s = sum(w), l = last(k), d = distinct(k), p = percentile(v, 0.5), b = previous(sum(v))  {}
}}
"""
YEAR = 366 * 86_400


def came(keys: int) -> list[Arrival]:
    """Events of so many keys."""
    return [
        replace(one, stream="e", partition="0", values={**one.values, "g": f"g{n * 7 % keys}"})
        for n, one in enumerate(long_stream(3, 240, keys, 120))
    ]


def fed(text: str, keys: int) -> tuple[list[Raised], bytes]:
    """The alerts of a session in which time leaps, and what it remembers then."""
    plan = plan_of(header(0) + text)
    session, events = Session(plan, shards=2), came(keys)
    raised = session.feed(tables(plan.packs[0], events[:150]))
    raised += session.feed(tables(plan.packs[0], events[150:], 150))
    state = session.snapshot()
    return raised + session.feed([], YEAR * SECOND), state


@pytest.mark.parametrize("window", WINDOWS)
def test_parts_find_the_same(window: str, monkeypatch: pytest.MonkeyPatch) -> None:
    window, *limit = window.split("; ")
    text = RULE.format(window, *limit or [""])
    at_once = fed(text, 7)
    assert at_once[0]
    monkeypatch.setattr(run_windows, "AT_ONCE", 3)
    assert fed(text, 7) == at_once


def test_a_leap_of_time_ends_no_more_windows_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of thirty keys with a thousand open windows each, those of a few at a time."""
    text = "rule r { by g  over e hopping 1000s every 1s  having count() > 99  emit s = sum(w) }"
    found: list[tuple[int, int]] = []
    holds = Deciding.holds

    def told(deciding: Deciding) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        truth = holds(deciding)
        found.append((len(truth), len(np.unique(deciding.advanced.keys()))))
        return truth

    monkeypatch.setattr(Deciding, "holds", told)
    fed(text, 30)
    total = sum(count for count, _ in found)
    assert max(count for count, _ in found) > 10_000
    found.clear()
    monkeypatch.setattr(run_windows, "AT_ONCE", 3_000)
    fed(text, 30)
    assert sum(count for count, _ in found) == total > 30_000
    assert all(count <= 3_000 or keys == 1 for count, keys in found)
