"""The stages of a decision come to the same over tables and in a process, replayed or in old outboxes."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from some_alerts import raised
from sqlalchemy import Connection, text
from stores import outbox_url

from alerts.outbox import BatchRecord, Outbox, Recorded
from alerts.raised import Raised
from alerts.raised_columns import RaisedColumns
from alerts.routing import Route
from alerts.stages.already_raised import AlreadyRaised
from alerts.stages.decided import DECIDED, InProcess
from alerts.stages.order import in_order
from alerts.stages.outgoing import Outgoing
from alerts.stages.stage import through
from alerts.stages.suppress import Suppress
from alerts.stages.to_receiver import stages_to

pytestmark = pytest.mark.usefixtures("store")

OLD = Path(__file__).with_name("outbox_version_2.sql")
SUPPRESSES = {"quick": 5, "slow": 20, "endless": 10**6}


def batch(number: int) -> BatchRecord:
    return BatchRecord(number, f"digest {number}", {"watermark": number})


def one(number: int, rule: str, key: str, time: int) -> Raised:
    """An alert of a rule that suppresses."""
    return raised(number, rule=rule, key=key, time=time, suppress=SUPPRESSES[rule])


SOME = st.lists(
    st.builds(
        one,
        st.integers(0, 12),
        st.sampled_from(sorted(SUPPRESSES)),
        st.sampled_from("ab"),
        st.integers(0, 60),
    ),
    max_size=30,
)


class ProcessDiedError(Exception):
    pass


def dies(_: Connection) -> None:
    raise ProcessDiedError


@pytest.mark.slow
@settings(deadline=None, max_examples=examples(60))
@given(SOME, st.lists(st.tuples(st.integers(0, 30), st.booleans()), max_size=5))
def test_outbox_and_process_decide_alike(
    tmp_path_factory: pytest.TempPathFactory, some: Sequence[Raised], cuts: list[tuple[int, bool]]
) -> None:
    """Ids come again within batches and in later ones. After a cut the process may die with its batch done
    but for the commit: the replay finds what the stages knew before."""
    ordered = in_order(some)
    outbox = Outbox.open(outbox_url(tmp_path_factory.mktemp("outbox")), durable=False)
    process = InProcess()
    edges = [(0, False), *sorted((min(cut, len(ordered)), died) for cut, died in cuts), (len(ordered), False)]
    for number, ((start, died), (end, _)) in enumerate(pairwise(edges)):
        part = ordered[start:end]
        if died:
            with pytest.raises(ProcessDiedError):
                outbox.record(batch(number), part[::-1], [], dies)
        recorded = outbox.record(batch(number), part[::-1], [])
        passed = process.decide(part)
        assert list(recorded.alerts) == list(passed.on)
        assert list(recorded.withheld) == list(passed.held.get(Suppress.name, ()))
        assert recorded.repeated == passed.count(AlreadyRaised.name)
    outbox.close()


@given(SOME)
def test_every_alert_goes_on_or_is_held_back_by_one_stage(some: Sequence[Raised]) -> None:
    passed = InProcess().decide(some)
    assert [stage.name for stage in DECIDED] == ["order", "already raised", "suppress"]
    assert passed.held.keys() <= {AlreadyRaised.name, Suppress.name}
    came_out = [*passed.on, *(held for of_stage in passed.held.values() for held in of_stage)]
    assert sorted(one.id for one in came_out) == sorted(one.id for one in some)


def test_a_batch_without_alerts_leaves_everything_as_it_is() -> None:
    process = InProcess()
    assert process.decide([one(1, "endless", "a", 0)]).on
    assert not process.decide([]).on
    assert process.decide([one(2, "endless", "a", 1)]).count(Suppress.name) == 1


@pytest.fixture
def old(tmp_path: Path) -> Outbox:
    """An outbox as an earlier program wrote it. Of key a one alert was raised (1) and three were withheld, of
    which two could be decided again (6 until second 60, 2 until 90); of key c one was raised (5)."""
    with closing(sqlite3.connect(tmp_path / "outbox.db")) as connection, connection:
        connection.executescript(OLD.read_text("utf-8"))
    connection.close()
    return Outbox.open(f"sqlite:///{tmp_path}/outbox.db", durable=False)


def numbers(recorded: Recorded) -> tuple[list[object], list[object], int]:
    """The numbers of the alerts raised and of those withheld, and how many were repeated."""
    on, held = ([one.alert.emit["n"] for one in some] for some in (recorded.alerts, recorded.withheld))
    return on, held, recorded.repeated


def test_an_outbox_of_before_goes_on(old: Outbox) -> None:
    """An alert that was withheld and is decided again counts no second time; then it is forgotten."""

    def of_a(number: int, time: int) -> Raised:
        return raised(number, key="a", time=time, suppress=100)

    assert old.record(batch(1), [of_a(9, 55)], []).already
    came = [of_a(2, 55), of_a(6, 56), of_a(7, 57), of_a(1, 58)]
    assert numbers(old.record(batch(2), came, [Route("desk")])) == ([], [7], 3)
    after = [of_a(8, 100), raised(5, key="c", time=101, suppress=10)]
    recorded = old.record(batch(3), after, [Route("desk")])
    assert numbers(recorded) == ([8], [], 1)
    assert recorded.alerts[0].alert.suppressed == 4
    assert [due.number for due in old.due("desk", 2**62, 9)] == [1, 2, 3, 4]
    with old.reading() as connection:
        assert connection.scalar(text("SELECT count(*) FROM outbox_withheld")) == 0
    old.close()


ROUTES = st.builds(
    Route,
    st.just("desk"),
    st.none() | st.frozensets(st.sampled_from("abc")),
    st.sampled_from(["critical", "high", "medium", "low", "info"]),
)


@settings(deadline=None, max_examples=examples(30))
@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(["critical", "medium", "info"])), max_size=20),
    ROUTES,
    st.sets(st.integers(0, 19)),
)
def test_a_delivery_waits_for_every_alert_that_goes_to_a_receiver(
    tmp_path_factory: pytest.TempPathFactory,
    some: list[tuple[str, str]],
    route: Route,
    known: set[int],
) -> None:
    """The oracle asks alert by alert. Some are there already, so that numbers have gaps."""
    came = [raised(n, rule=rule, severity=severity) for n, (rule, severity) in enumerate(some)]
    outbox = Outbox.open(outbox_url(tmp_path_factory.mktemp("outbox")), durable=False, clock=lambda: 7)
    outbox.record(batch(0), [one for n, one in enumerate(came) if n in known], [])
    outbox.record(batch(1), came, [route])
    wanted = [
        one.id
        for n, one in enumerate(came)
        if n not in known
        and one.severity in route.severities
        and (route.rules is None or one.rule in route.rules)
    ]
    assert [due.id for due in outbox.due("desk", 7, 99)] == wanted
    assert outbox.next_due("desk", 7) is None
    outbox.close()


def test_the_way_to_a_receiver_begins_with_its_route() -> None:
    came = RaisedColumns.of([raised(n, rule=rule) for n, rule in enumerate("aab")])
    coming = Outgoing(np.arange(3), came, np.full(3, 5))
    stages = stages_to(Route("desk", frozenset("a")))
    assert [stage.name for stage in stages] == ["route"]
    assert through(stages, coming, None, 5).on.numbers.tolist() == [0, 1]
