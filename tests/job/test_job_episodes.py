"""A running job assigns its alerts to episodes, by the rules that run, and sends them by its routes."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from job_folder import JobFolder

from alerts.outbox import Outbox
from alerts.outbox.episodes import read_episodes

PACK = """pack p version "1"
stream e { n: long  card: string  at: timestamp  id n  time at }
rule short { on e[n > 0] by card episode 20 seconds }
rule long  { on e[n > 2] by card }
"""
MORE = """[alerts]
episode = "2 minutes"
close_quiet = true
[receivers.screen]
kind = "console"
[[routes]]
matchers = ["rule = long", "card =~ x|z"]
receivers = ["screen"]
"""


@pytest.mark.spark
def test_alerts_of_a_job_are_episodes(spark: Callable[..., Any], tmp_path: Path) -> None:
    folder = JobFolder(tmp_path / "job", PACK, ("e",), more=MORE)
    at = [(0, "x"), (10, "x"), (29, "x"), (49, "x"), (50, "x"), (400, "y")]
    folder.put(
        "e",
        [{"n": n + 1, "card": card, "at": f"2026-01-01T00:{n // 60:02}:{n % 60:02}Z"} for n, card in at],
    )
    folder.once(spark)
    with closing(Outbox.open(f"sqlite:///{folder.outbox}", create=False)) as outbox:
        with outbox.reading() as connection:
            found = read_episodes(connection, ("open", "acknowledged", "closed"))
        sizes: dict[tuple[str, str], list[tuple[int, str]]] = {}
        for one in sorted(found, key=lambda one: one.first):
            place = one.rule, json.loads(one.key)["card"]
            sizes.setdefault(place, []).append((one.alerts, one.standing.state))
        assert sizes == {
            ("long", "x"): [(4, "closed")],
            ("long", "y"): [(1, "open")],
            ("short", "x"): [(3, "closed"), (2, "closed")],
            ("short", "y"): [(1, "open")],
        }
        sent = {one.alert["rule"] for one in outbox.alerts() if outbox.deliveries(str(one.alert["id"]))}
        assert sent == {"long"}
