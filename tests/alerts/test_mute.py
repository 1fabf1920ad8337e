"""Silences hold back what is about to be sent, and nothing is lost by them: timelines, and an oracle."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from effort import examples
from evenings import STEPS, Desk, DiedError, Evening
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from some_alerts import SECOND, raised
from stores import outbox_url

from alerts.dispatch import Dispatcher
from alerts.listeners import Listeners
from alerts.matchers import Labels, Matchers
from alerts.outbox import BatchRecord, Held, Outbox
from alerts.outbox.deliveries import redeliver_alert
from alerts.outbox.silences import add, expire, hold, read_silences
from alerts.routing import Branch, Branches, Route
from alerts.silences import Silence, reason_of
from alerts.stages.mute import Silences

pytestmark = pytest.mark.usefixtures("store")

NEVER = 10**9


@pytest.fixture
def evening(tmp_path: Path) -> Iterator[Evening]:
    one = Evening(tmp_path, None, Desk("desk"), Desk("pager"))
    yield one
    one.outbox.close()


S50, S80, S90 = ("s", 0, 50), ("s", 0, 80), ("s", 0, 90)
RAISE = (2, "record", (1,))
TIMELINES: list[tuple[str, list[tuple[int, str, tuple[object, ...]]], list[int]]] = [
    # at this second this is done; the seconds at which alerts go out until 100
    ("no silence", [RAISE], [3]),
    ("a silence in time", [(1, "silence", (*S50, "rule =~ card.*")), RAISE], [50]),
    ("one that matches another", [(1, "silence", (*S50, "rule = b")), RAISE], [3]),
    ("one that is to begin", [(1, "silence", ("s", 10, 50)), RAISE, (9, "record", (2,))], [3, 50]),
    ("one that is to end", [(1, "silence", ("s", 0, 9, "n = 1")), RAISE, (3, "record", (2,))], [4, 9]),
    ("taken back", [(1, "silence", S90), RAISE, (20, "expire", ("s",))], [21]),
    (
        "one of two taken back",
        [(1, "silence", S90), (1, "silence", ("t", 0, 50)), RAISE, (20, "expire", ("s",))],
        [50],
    ),
    (
        "the shorter of two taken back",
        [(1, "silence", S90), (1, "silence", ("t", 0, 50)), RAISE, (20, "expire", ("t",))],
        [90],
    ),
    ("one after the other", [(1, "silence", ("s", 0, 30)), RAISE, (20, "silence", ("t", 20, 60))], [60]),
    ("a restart in between", [(1, "silence", S50), RAISE, (20, "restart", ())], [50]),
    (
        "a restart, then taken back",
        [(1, "silence", S80), RAISE, (20, "restart", ()), (30, "expire", ("s",))],
        [31],
    ),
    (
        "taken back before it begins",
        [(1, "silence", ("s", 50, 80)), (2, "expire", ("s",)), (60, "record", (1,))],
        [61],
    ),
    ("longer than all", [(1, "silence", ("s", 0, NEVER)), RAISE], []),
]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("events", "wanted"), [row[1:] for row in TIMELINES], ids=[row[0] for row in TIMELINES]
)
def test_timeline(
    evening: Evening, events: list[tuple[int, str, tuple[object, ...]]], wanted: list[int]
) -> None:
    for second, action, arguments in events:
        evening.until(second)
        getattr(evening, action)(*arguments)
    evening.until(100)
    assert sent_at(evening) == wanted


def sent_at(evening: Evening) -> list[int]:
    """The seconds at which something was sent to the desk."""
    return [one.at for one in evening.desks["desk"].sent]


def test_what_is_held_is_shown_and_is_not_pending(evening: Evening) -> None:
    evening.silence("s", 0, 50, "n = 1")
    ids = [evening.record(n) for n in (1, 2)]
    evening.until(5)
    assert evening.held() == {("desk", "silence s"): 1}
    status = evening.outbox.status()["desk"]
    assert (status.pending, status.held, status.oldest_at) == (0, 1, None)
    assert not evening.outbox.waiting(["desk"]), "a job that runs once does not wait for it"
    (one,) = evening.outbox.deliveries(ids[0])
    assert (one.state, one.held, one.due_at, one.attempts) == ("pending", "silence s", 50 * SECOND, 0)
    assert one.trace == f"{SECOND} mute: silence s of ann holds it back until 1970-01-01T00:00:50Z\n"
    evening.until(10)
    assert evening.expire("s")
    assert not evening.expire("s"), "it has ended"
    assert evening.outbox.waiting(["desk"])
    evening.until(12)
    (one,) = evening.outbox.deliveries(ids[0])
    assert (one.state, one.held) == ("delivered", None)
    assert one.trace.splitlines()[1:] == [f"{10 * SECOND} mute: silence s was taken back by bob"]
    with evening.outbox.reading() as connection:
        (silence,) = read_silences(connection)
        assert read_silences(connection, 10 * SECOND) == []
    assert silence.ends_at == 10 * SECOND


def test_a_receiver_that_is_back_gets_nothing_that_is_silenced(evening: Evening) -> None:
    evening.silence("s", 0, 50)
    evening.record(1)
    evening.until(5)
    evening.outbox.hasten("desk", 5 * SECOND)
    assert evening.outbox.due("desk", 49 * SECOND, 9) == []


@pytest.mark.slow
def test_what_waits_for_another_attempt_is_silenced_too(evening: Evening) -> None:
    evening.fails(1)
    id_ = evening.record(1)
    evening.until(3)
    evening.silence("s", 3, 60)
    evening.fails()
    evening.until(59)
    assert sent_at(evening) == []
    assert evening.outbox.deliveries(id_)[0].attempts >= 1
    evening.until(60)
    assert sent_at(evening) == [60]


def test_one_that_was_taken_back_while_it_was_about_to_hold_holds_nothing(evening: Evening) -> None:
    """The job has read a silence that a person takes back before the job writes what it holds."""
    evening.silence("s", 0, 50)
    evening.record(1)
    evening.now = 5
    assert evening.expire("s")
    with evening.outbox.writing() as connection:
        hold(connection, [Held("desk", 1, reason_of("s"), "held", 50 * SECOND, 5 * SECOND)])
    assert evening.held() == {}
    evening.until(6)
    assert sent_at(evening) == [6]


def test_an_alert_is_sent_again_when_a_person_asks_for_it(evening: Evening) -> None:
    evening.routes = (Route("desk"), Route("pager"))
    ids = [evening.record(n) for n in (1, 2)]
    evening.until(3)
    with evening.outbox.writing() as connection:
        assert redeliver_alert(connection, 1, None, 3 * SECOND) == ["desk", "pager"]
        assert redeliver_alert(connection, 2, "pager", 3 * SECOND) == ["pager"]
        assert redeliver_alert(connection, 2, "nobody", 3 * SECOND) == []
    evening.until(5)
    for name, wanted in (("desk", [*ids, ids[0]]), ("pager", [*ids, *ids])):
        sent = evening.desks[name].sent
        assert [one.id for one in sent] == wanted
        assert len({(one.id, one.bodies) for one in sent}) == 2


ASKED = ["rule = a", "rule != a", "n =~ [0-4]", "card_id = c1", "severity = low"]
ACTIONS = ["record", "record", "silence", "expire", "time", "restart", "crash"]
WAYS = Branches((Branch(Matchers.of(["severity = low"]), ("pager",), True), Branch(Matchers(), ("desk",))))


@pytest.mark.slow
@settings(max_examples=examples(40), deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_every_alert_is_delivered_or_held_for_a_reason_or_pending(data: st.DataObject) -> None:
    """Random alerts, silences, steps of the clock, restarts, and ends before anything is written."""
    with TemporaryDirectory() as folder:
        evening, silences = Evening(Path(folder)), dict[str, Silence]()
        evening.routes = WAYS
        wanted: dict[str, set[str]] = {}
        for _ in range(data.draw(st.integers(1, 12))):
            match data.draw(st.sampled_from(ACTIONS)):
                case "record":
                    level, rule = (
                        data.draw(st.sampled_from(["high", "low"])),
                        data.draw(st.sampled_from("ab")),
                    )
                    key = f"c{len(wanted) % 2 + 1}"
                    id_ = evening.record(len(wanted), severity=level, rule=rule, key=key)
                    wanted[id_] = {"desk", "pager"} if level == "low" else {"desk"}
                case "silence":
                    start = evening.now + data.draw(st.integers(-3, 5))
                    end = max(start, evening.now) + data.draw(st.integers(1, 9))
                    matchers = data.draw(st.lists(st.sampled_from(ASKED), max_size=2))
                    id_ = f"s{len(silences)}"
                    evening.silence(id_, start, end, *matchers)
                    silences[id_] = Silence(id_, "", "", start, end, Matchers.of(matchers))
                case "expire" if silences:
                    id_ = data.draw(st.sampled_from(sorted(silences)))
                    if evening.expire(id_):
                        start = min(silences[id_].starts_at, evening.now)
                        silences[id_] = replace(silences[id_], starts_at=start, ends_at=evening.now)
                case "time":
                    evening.until(evening.now + data.draw(st.integers(1, 8)))
                case "restart":
                    evening.restart()
                case "crash":
                    with suppress(DiedError):
                        evening.deliver(data.draw(st.sampled_from(STEPS)))
                    evening.restart()
                case _:
                    pass
            check(evening, silences, wanted)
        evening.until(evening.now + 15)
        for id_, receivers in wanted.items():
            states = {one.receiver: one.state for one in evening.outbox.deliveries(id_)}
            assert states == dict.fromkeys(receivers, "delivered"), "every silence has ended"
        evening.outbox.close()


def check(evening: Evening, silences: dict[str, Silence], wanted: dict[str, set[str]]) -> None:
    now, bodies = evening.now, dict[str, tuple[str, ...]]()
    for stored in evening.outbox.alerts():
        id_, labels = str(stored.alert["id"]), Labels(stored.alert)
        deliveries = evening.outbox.deliveries(id_)
        assert {one.receiver for one in deliveries} == wanted[id_]
        for one in deliveries:
            sent = [each for each in evening.desks[one.receiver].sent if each.id == id_]
            if one.state == "delivered":
                assert sent
            elif one.held is not None and one.due_at is not None and one.due_at > now * SECOND:
                silence = silences[one.held.removeprefix("silence ")]
                assert silence.silences(labels, now), "the reason is true now"
                assert one.due_at == silence.ends_at * SECOND
            else:
                assert one.state == "pending"
    for desk in evening.desks.values():
        for each in desk.sent:
            assert bodies.setdefault(each.id, each.bodies) == each.bodies, "one body under an id"


def test_a_dispatcher_holds_back_and_lets_go(tmp_path: Path) -> None:
    outbox = Outbox.open(outbox_url(tmp_path), durable=False)
    counted: list[tuple[str, str]] = []
    with outbox.writing() as connection:
        add(connection, Silence("s", "ann", "noise", 0, 2**62, Matchers.of(["n =~ [0-7]"])))
    outbox.record(BatchRecord(0, "d", {}), [raised(n) for n in range(10)], [Route("desk")])
    desk = Desk("desk")
    dispatcher = Dispatcher(
        outbox,
        [desk],
        poll=0.05,
        listeners=Listeners(held=lambda *one: counted.append(one), report=pytest.fail),
    )
    dispatcher.start()
    assert dispatcher.drain(60)
    assert sorted(one.alerts for one in desk.sent) == [(8,), (9,)]
    assert counted == [("desk", "silenced")] * 8
    with outbox.writing() as connection:
        assert expire(connection, "s", "ann", 1)
    assert dispatcher.drain(60)
    assert len(desk.sent) == 10
    assert dispatcher.stop(60)
    outbox.close()


def test_of_several_silences_the_last_to_end_is_the_reason() -> None:
    labels = Labels(json.loads(raised(1).body))
    some = [Silence(str(end), "", "", 0, end, Matchers()) for end in (5, 9, 7)]
    found = Silences(some).mute(labels, 4)
    assert found is not None
    assert (found.reason, found.until) == ("silence 9", 9)
    assert Silences(some).mute(labels, 9) is None
    assert Silences().mute(labels, 0) is None
