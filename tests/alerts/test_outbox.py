"""A batch comes into the outbox once and whole, whatever is replayed, cut or restarted."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from random import Random
from unittest.mock import patch

import pytest
from effort import examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from some_alerts import SECOND, raised
from sqlalchemy import Connection, text
from sqlalchemy.dialects import postgresql
from sqlalchemy.schema import CreateIndex, CreateTable
from stores import outbox_url

from alerts.outbox import BatchRecord, Outbox, OutboxError, Settled, Status, Wanted, insert, memory
from alerts.outbox import record as recording
from alerts.outbox.schema import metadata
from alerts.raised import Raised
from alerts.routing import Route
from alerts.stages.decided import InProcess
from alerts.stages.order import in_order
from alerts.stages.suppress import Suppress

pytestmark = pytest.mark.usefixtures("store")

ALL = [Route("desk")]


def batch(number: int, digest: str = "d") -> BatchRecord:
    return BatchRecord(number, f"{digest}{number}", {"watermark": number})


@pytest.fixture
def outbox(tmp_path: Path) -> Iterator[Outbox]:
    box = Outbox.open(outbox_url(tmp_path), durable=False, clock=lambda: 5_000)
    yield box
    box.close()


def test_a_batch_is_recorded_once(outbox: Outbox) -> None:
    calls: list[int] = []
    first = outbox.record(batch(0), [raised(1), raised(2)], ALL, lambda _: calls.append(1))
    again = outbox.record(batch(0), [raised(1), raised(2), raised(3)], ALL, lambda _: calls.append(2))
    assert not first.already
    assert again.already
    assert len(again.alerts) == len(again.withheld) == 0
    assert calls == [1]
    assert [s.alert["emit"] for s in outbox.alerts()] == [{"n": 1}, {"n": 2}]
    assert outbox.pending("desk") == 2


def test_a_batch_of_another_run_is_refused(outbox: Outbox) -> None:
    outbox.record(batch(0), [raised(1)], ALL)
    with pytest.raises(OutboxError, match="belongs to another run") as caught:
        outbox.record(batch(0, "other"), [raised(2)], ALL)
    assert caught.value.code == "CEP0807"
    assert len(outbox.alerts()) == 1


def test_batches_are_remembered_with_their_results(outbox: Outbox) -> None:
    assert outbox.last_batch() is None
    for number in (0, 1):
        outbox.record(batch(number), [], ALL)
    assert outbox.last_batch() == batch(1)
    assert outbox.batch(0) == batch(0)
    assert outbox.batch(7) is None


def test_old_batches_are_forgotten_and_then_refused(outbox: Outbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recording, "REMEMBERED", 3)
    for number in range(6):
        outbox.record(batch(number), [raised(number)], ALL)
    assert outbox.batch(2) is None
    assert outbox.record(batch(3), [raised(3)], ALL).already
    with pytest.raises(OutboxError, match="no longer remembers batch 2") as caught:
        outbox.record(batch(2), [raised(2)], ALL)
    assert caught.value.code == "CEP0808"
    assert len(outbox.alerts()) == 6


def test_an_id_is_delivered_once_and_its_repetition_counted(outbox: Outbox) -> None:
    outbox.record(batch(0), [raised(1), raised(2)], ALL)
    second = outbox.record(batch(1), [raised(2), raised(3), raised(3)], ALL)
    assert [one.alert.emit for one in second.alerts] == [{"n": 3}]
    assert second.repeated == 2
    assert outbox.pending("desk") == 3


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=examples(20)
)
@given(
    st.lists(
        st.lists(
            st.builds(
                lambda number, summary, suppress: raised(
                    number, rule=f"r{suppress}", summary=summary, suppress=suppress
                ),
                st.integers(0, 9),
                st.sampled_from("xyz"),
                st.sampled_from([None, 0]),
            ),
            max_size=12,
        ),
        max_size=4,
    ),
    st.sampled_from((1, 3, insert.AT_ONCE)),
)
def test_of_alerts_with_one_id_the_first_is_kept(
    tmp_path_factory: pytest.TempPathFactory, batches: list[list[Raised]], at_once: int
) -> None:
    """With rules that suppress and without, some rows at a time: the oracle is a dictionary."""
    outbox = Outbox.open(outbox_url(tmp_path_factory.mktemp("outbox")), durable=False)
    first: dict[str, Raised] = {}
    for number, alerts in enumerate(batches):
        new = {one.id: one for one in reversed(in_order(alerts)) if one.id not in first}
        with patch.object(insert, "AT_ONCE", at_once):
            recorded = outbox.record(batch(number), alerts, ALL)
        assert list(recorded.alerts) == in_order(new.values())
        assert recorded.repeated == len(alerts) - len(new)
        first |= {one.id: one for one in recorded.alerts}
    assert [one.alert for one in outbox.alerts()] == [one.alert.as_dict() for one in first.values()]
    assert outbox.pending("desk") == len(first)
    outbox.close()


def test_a_repeated_alert_withholds_nothing(outbox: Outbox) -> None:
    outbox.record(batch(0), [raised(1, key="c", time=0, suppress=10)], ALL)
    later = [raised(1, key="c", time=50, suppress=10), raised(2, key="c", time=51, suppress=10)]
    assert [one.alert.emit for one in outbox.record(batch(1), later, ALL).alerts] == [{"n": 2}]


def test_what_belongs_to_the_batch_is_written_with_it_or_not_at_all(outbox: Outbox) -> None:
    def dead_letters(connection: Connection) -> None:
        connection.execute(text("CREATE TABLE IF NOT EXISTS letters (n INTEGER)"))
        connection.execute(text("INSERT INTO letters VALUES (1)"))

    def breaks(connection: Connection) -> None:
        dead_letters(connection)
        raise KeyError("a mistake of the caller")

    outbox.record(batch(0), [raised(1)], ALL, dead_letters)
    with pytest.raises(KeyError):
        outbox.record(batch(1), [raised(2)], ALL, breaks)
    with outbox.reading() as connection:
        assert connection.scalar(text("SELECT count(*) FROM letters")) == 1
    assert len(outbox.alerts()) == 1
    assert outbox.batch(1) is None


def test_alerts_are_kept_in_their_documented_order(outbox: Outbox) -> None:
    unordered = [
        raised(3, time=9),
        raised(2, rule="b", time=1),
        raised(1, rule="a", time=1),
        raised(4, time=9),
    ]
    outbox.record(batch(0), unordered, ALL)
    stored = outbox.alerts()
    assert [s.alert["emit"] for s in stored] == [{"n": 1}, {"n": 2}, {"n": 3}, {"n": 4}]
    assert [s.number for s in stored] == [1, 2, 3, 4]
    assert [due.number for due in outbox.due("desk", 5_000, 10)] == [1, 2, 3, 4]


def test_an_alert_is_stored_byte_for_byte(outbox: Outbox) -> None:
    alert = raised(1, summary="ü \u2028 \ud800 \N{PILE OF POO}")
    outbox.record(batch(0), [alert], ALL)
    assert outbox.due("desk", 5_000, 1)[0].body == alert.alert.to_json()
    assert outbox.alerts()[0].alert == alert.alert.as_dict()
    stored = outbox.alert(alert.alert.id)
    assert stored is not None
    assert (stored.time, stored.batch, stored.recorded_at) == (SECOND, 0, 5_000)
    assert outbox.alert("none") is None


def test_alerts_can_be_selected(outbox: Outbox) -> None:
    outbox.record(
        batch(0), [raised(n, rule="ab"[n % 2], severity=("low", "high")[n // 4]) for n in range(8)], ALL
    )
    outbox.record(batch(1), [raised(20)], ALL)

    def found(wanted: Wanted, **how: object) -> list[object]:
        return [s.alert["emit"]["n"] for s in outbox.alerts(wanted, **how)]  # type: ignore[index, arg-type]

    assert found(Wanted(rule="a")) == [0, 2, 4, 6]
    assert found(Wanted(rule="b", severity="high")) == [5, 7]
    assert found(Wanted(since=2 * SECOND, until=4 * SECOND)) == [2, 3]
    assert found(Wanted(batch=1)) == [20]
    assert found(Wanted(after=7), limit=1) == [7]
    assert found(Wanted(), limit=2, newest_first=True) == [20, 7]


def test_receivers_get_what_they_are_to_get(outbox: Outbox) -> None:
    routes = [
        Route("all"),
        Route("two", rules=frozenset({"a", "c"})),
        Route("grave", severity="high"),
        Route("none", rules=frozenset()),
    ]
    alerts = [
        raised(1, rule="a", severity="low"),
        raised(2, rule="b", severity="critical"),
        raised(3, rule="c"),
    ]
    outbox.record(batch(0), alerts, routes)
    got = {r.receiver: [due.number for due in outbox.due(r.receiver, 5_000, 10)] for r in routes}
    assert got == {"all": [1, 2, 3], "two": [1, 3], "grave": [2, 3], "none": []}
    assert [d.receiver for d in outbox.deliveries(alerts[0].alert.id)] == ["all", "two"]


def test_a_severity_that_there_is_none_of_is_refused() -> None:
    with pytest.raises(ValueError, match="severity is one of critical, high"):
        Route("desk", severity="urgent")


def test_the_oldest_pending_delivery_tells_its_age(tmp_path: Path) -> None:
    now = [0]
    (tmp_path / "o").mkdir()
    outbox = Outbox.open(outbox_url(tmp_path / "o"), durable=False, clock=lambda: now[0])
    assert outbox.oldest_age() == 0.0
    for number in (0, 1):
        now[0] = number * 10 * SECOND
        outbox.record(batch(number), [raised(number)], [Route(f"r{number}")])
    now[0] = 30 * SECOND
    assert outbox.oldest_age() == 30.0
    assert outbox.oldest_age(["r1"]) == 20.0
    assert outbox.status() == {"r0": Status(1, 0, 0), "r1": Status(1, 0, 10 * SECOND)}


def test_deliveries_to_a_receiver_that_is_no_more_are_counted_apart(outbox: Outbox) -> None:
    outbox.record(batch(0), [raised(1), raised(2)], [Route("desk"), Route("old"), Route("none", frozenset())])
    assert outbox.unserved(["desk", "none"]) == {"old": Status(2, 0, 5_000)}
    settled = [Settled("old", number, "delivered", 1, "204", None, 6_000) for number in (1, 2)]
    outbox.settle(settled)
    assert outbox.unserved(["desk"]) == {}


RAISED = st.lists(
    st.builds(
        lambda number, key, time, rule: raised(
            number, key=key, time=time, rule=rule, suppress={"a": 5, "b": 20, "c": None}[rule]
        ),
        st.integers(0, 10**6),
        st.sampled_from(["x", "y"]),
        st.integers(0, 60),
        st.sampled_from(["a", "b", "c"]),
    ),
    max_size=30,
    unique_by=lambda r: r.alert.id,
)


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=examples(20)
)
@given(RAISED, st.lists(st.tuples(st.integers(0, 30), st.booleans()), max_size=5), st.randoms())
def test_suppression_survives_batches_restarts_and_replays(
    tmp_path_factory: pytest.TempPathFactory,
    all_raised: list[Raised],
    cuts: list[tuple[int, bool]],
    random: Random,
) -> None:
    """The oracle is suppression of everything at once, in memory. A cut may be a restart."""
    url = outbox_url(tmp_path_factory.mktemp("outbox"))
    ordered = in_order(all_raised)
    at_once = InProcess().decide(ordered)
    found: list[Raised] = []
    missing: list[Raised] = []
    edges = [(0, False), *sorted((min(cut, len(ordered)), restart) for cut, restart in cuts)]
    outbox = Outbox.open(url, durable=False)
    for number, ((start, restart), (end, _)) in enumerate(pairwise([*edges, (len(ordered), False)])):
        part = ordered[start:end]
        random.shuffle(part)
        if restart:
            outbox.close()
            outbox = Outbox.open(url, durable=False)
        recorded = outbox.record(batch(number), part, ALL)
        found += recorded.alerts
        missing += recorded.withheld
        assert outbox.record(batch(number), part, ALL).already
    outbox.close()
    assert found == list(at_once.on)
    assert missing == list(at_once.held.get(Suppress.name, ()))
    outbox = Outbox.open(url, create=False, durable=False)
    assert [s.alert for s in outbox.alerts()] == [one.alert.as_dict() for one in at_once.on]
    outbox.close()


def test_suppression_memory_forgets(outbox: Outbox) -> None:
    for number in range(5):
        some = [raised(number * 10 + i, key=f"k{number}-{i}", time=number * 10, suppress=5) for i in range(4)]
        outbox.record(batch(number), some, ALL)
    with outbox.reading() as connection:
        assert connection.scalar(text("SELECT count(*) FROM outbox_suppression")) == 4


def test_endless_suppression_fits_the_database(outbox: Outbox) -> None:
    huge = raised(1, key="k", suppress=1)
    assert huge.withholding is not None
    huge = huge._replace(withholding=huge.withholding._replace(duration=2**70))
    outbox.record(batch(0), [huge], ALL)
    assert outbox.record(batch(1), [raised(2, key="k", suppress=10**6)], ALL).withheld


@pytest.mark.parametrize("chunk", [100, pytest.param(2_000, marks=pytest.mark.slow)])
def test_a_large_batch_with_many_known_ids(
    outbox: Outbox, chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Larger than one query asks for, with small chunks and with the real ones."""
    if chunk == 100:
        monkeypatch.setattr(memory, "_CHUNK", chunk)
    assert chunk == memory._CHUNK
    some = [raised(n, suppress=5) for n in range(2 * chunk + 50)]
    outbox.record(batch(0), some[: chunk + 50], ALL)
    second = outbox.record(batch(1), some[50:], ALL)
    assert (len(second.alerts), second.repeated) == (chunk, chunk)


def test_a_key_without_utf_8_can_be_remembered(outbox: Outbox) -> None:
    outbox.record(batch(0), [raised(1, key="\ud800", suppress=5)], ALL)
    assert outbox.record(batch(1), [raised(2, key="\ud800", suppress=5)], ALL).withheld


def test_the_tables_are_those_of_postgresql_too() -> None:
    """Without a server: every statement that makes them has a form there."""
    for table in metadata.sorted_tables:
        assert str(CreateTable(table).compile(dialect=postgresql.dialect()))
        for index in table.indexes:
            assert str(CreateIndex(index).compile(dialect=postgresql.dialect()))
