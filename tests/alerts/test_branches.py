"""Routes lead every alert to the receivers that reading them one after another does."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from some_alerts import raised
from stores import outbox_url

from alerts.matchers import Labels, Matchers
from alerts.outbox import BatchRecord, Outbox
from alerts.raised import Raised
from alerts.raised_columns import RaisedColumns
from alerts.routing import Branch, Branches
from alerts.stages.outgoing import Outgoing
from alerts.stages.to_receiver import sent

pytestmark = pytest.mark.usefixtures("store")

ASKED = [
    "rule = a",
    "rule != a",
    "severity = low",
    "severity =~ h.*",
    "pack = fraud",
    "card_id = c1",
    "n =~ [0-4]",
]
branch = st.builds(
    Branch,
    st.lists(st.sampled_from(ASKED), max_size=2).map(Matchers.of),
    st.lists(st.sampled_from(["desk", "pager", "log"]), max_size=2).map(tuple),
    st.booleans(),
)
some = st.lists(
    st.builds(
        raised,
        st.integers(0, 9),
        rule=st.sampled_from("abc"),
        severity=st.sampled_from(["high", "low"]),
        pack=st.sampled_from(["fraud", "other"]),
        key=st.sampled_from(["c1", "c2"]),
    ),
    max_size=8,
)


def one_after_another(branches: Branches, one: Raised) -> set[str]:
    found: set[str] = set()
    for branch in branches.all:
        if branch.matchers.matches(Labels(json.loads(one.body))):
            found.update(branch.receivers)
            if not branch.go_on:
                break
    return found


@given(st.lists(branch, min_size=1, max_size=4).map(lambda some: Branches(tuple(some))), some)
def test_each_alert_goes_where_the_routes_lead(branches: Branches, came: list[Raised]) -> None:
    coming = Outgoing(np.arange(len(came)), RaisedColumns.of(came), np.full(len(came), 5))
    got: dict[int, list[str]] = {}
    for way, going in sent(coming, branches, 5):
        assert way.branch is not None
        assert way.receiver in branches.all[way.branch - 1].receivers
        for number in going.numbers.tolist():
            got.setdefault(number, []).append(way.receiver)
    for number, one in enumerate(came):
        wanted = one_after_another(branches, one)
        assert sorted(got.get(number, [])) == sorted(wanted), "each receiver once"
        taken = [
            tried.number for tried in branches.tried(Labels(json.loads(one.body))) if tried.against is None
        ]
        assert tuple(taken) == branches.taken(Labels(json.loads(one.body)))


def test_the_outbox_says_which_route_led_an_alert_to_a_receiver(tmp_path: Path) -> None:
    outbox = Outbox.open(outbox_url(tmp_path), clock=lambda: 5)
    branches = Branches(
        (
            Branch(Matchers.of(["severity = high"]), ("pager",), True),
            Branch(Matchers.of(["card_id = c1"]), ("desk",)),
            Branch(Matchers.of(["card_id = c2"]), ()),
        )
    )
    came = [raised(1), raised(2), raised(3, severity="low", key="c1"), raised(4, severity="low")]
    outbox.record(BatchRecord(0, "d", {}), came, branches)
    outbox.record(BatchRecord(1, "d1", {}), [raised(5)], branches)
    assert [due.number for due in outbox.due("pager", 9, 9)] == [1, 2, 5]
    assert [due.number for due in outbox.due("desk", 9, 9)] == [1, 3]
    ways = {one.receiver: one.way for one in outbox.deliveries(came[0].id)}
    assert ways == {
        "pager": "route 1 of job.toml: severity = high",
        "desk": "route 2 of job.toml: card_id = c1",
    }
    assert outbox.deliveries(came[3].id) == []
    outbox.close()
