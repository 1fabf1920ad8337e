"""Delivery to real servers: at least once, under one id, with one body, and nobody holds up another."""

from __future__ import annotations

import io
import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import pytest
from ports import free_port
from some_alerts import SECOND, raised
from sqlalchemy import text
from stores import outbox_url
from wayward_server import PATIENCE, Answer, WaywardServer

from alerts.dispatch import Dispatcher
from alerts.lane import Schedule
from alerts.listeners import Attempt, Listeners
from alerts.outbox import BatchRecord, Outbox
from alerts.receivers.console import ConsoleReceiver
from alerts.receivers.receiver import Outcome, Receiver
from alerts.receivers.slack import SlackReceiver
from alerts.receivers.webhook import Limits, WebhookReceiver
from alerts.routing import Route

pytestmark = pytest.mark.usefixtures("store")

SECRET = "whsec_" + "A" * 32
SOON = Schedule(first=0.01, longest=0.05, attempts=1_000, probe=0.05)
Deliver = Callable[..., Dispatcher]


@pytest.fixture
def outbox(tmp_path: Path) -> Iterator[Outbox]:
    box = Outbox.open(outbox_url(tmp_path), wait=0.2, durable=False)
    yield box
    box.close()


@pytest.fixture
def server() -> Iterator[WaywardServer]:
    with WaywardServer() as wayward:
        yield wayward


@pytest.fixture
def deliver(outbox: Outbox) -> Iterator[Deliver]:
    """Starts a dispatcher; the test's end stops it."""
    started: list[Dispatcher] = []

    def start(*receivers: Receiver, **how: object) -> Dispatcher:
        how = {"schedule": SOON, "poll": 0.05, "random": Random(1)} | how
        dispatcher = Dispatcher(outbox, receivers, **how)  # type: ignore[arg-type]
        started.append(dispatcher)
        dispatcher.start()
        return dispatcher

    yield start
    for dispatcher in started:
        dispatcher.stop(PATIENCE)
        assert dispatcher.failure is None


def fill(outbox: Outbox, count: int, *receivers: str) -> list[str]:
    """Records a batch; the ids in the order raised."""
    last = outbox.last_batch()
    number = last.number + 1 if last else 0
    some = [raised(number * 10_000 + n) for n in range(count)]
    recorded = outbox.record(BatchRecord(number, "d", {}), some, [Route(r) for r in receivers or ("desk",)])
    return [alert.id for alert in recorded.alerts]


def desk(server: WaywardServer, name: str = "desk", **how: object) -> WebhookReceiver:
    return WebhookReceiver(name, server.url, [SECRET], **how)  # type: ignore[arg-type]


def ids(server: WaywardServer) -> list[str]:
    return [call.id for call in server.calls]


@pytest.mark.slow
def test_every_alert_is_delivered_once_if_nothing_goes_wrong(
    outbox: Outbox, server: WaywardServer, deliver: Deliver
) -> None:
    expected = fill(outbox, 300)
    dispatcher = deliver(desk(server))
    assert dispatcher.drain(PATIENCE)
    assert Counter(ids(server)) == Counter(expected)
    assert {d.state for id_ in expected for d in outbox.deliveries(id_)} == {"delivered"}


def test_one_at_a_time_keeps_the_order(outbox: Outbox, server: WaywardServer, deliver: Deliver) -> None:
    expected = fill(outbox, 60)
    assert deliver(desk(server, in_flight=1)).drain(PATIENCE)
    assert ids(server) == expected


def test_new_alerts_are_delivered_when_the_dispatcher_is_woken(
    outbox: Outbox, server: WaywardServer, deliver: Deliver
) -> None:
    dispatcher = deliver(desk(server), poll=3600.0)
    server.wait_for(lambda _: True)
    for _ in range(5):
        expected = fill(outbox, 3)
        dispatcher.wake()
        server.wait_for(lambda calls, last=expected[-1]: any(call.id == last for call in calls))


def test_every_attempt_has_the_same_id_and_the_same_bytes(
    outbox: Outbox, server: WaywardServer, deliver: Deliver
) -> None:
    answers = [
        Answer(500),
        Answer(drop=True),
        Answer(302, {"location": "/x"}),
        Answer(404),
        Answer(429),
        Answer(),
    ]
    server.behave = lambda call: answers[call.nth]
    fill(outbox, 5)
    assert deliver(desk(server)).drain(PATIENCE)
    assert set(Counter(ids(server)).values()) == {6}
    assert len({(call.id, call.body) for call in server.calls}) == 5


def test_attempts_after_a_restart_have_the_same_id_and_the_same_bytes(
    outbox: Outbox, server: WaywardServer, deliver: Deliver
) -> None:
    server.behave = lambda _: Answer(500)
    expected = fill(outbox, 5)
    first = deliver(desk(server))
    server.wait_for(lambda calls: len({c.id for c in calls if c.nth >= 2}) == 5)
    assert first.stop(PATIENCE)
    before = len(server.calls)
    attempts = {id_: outbox.deliveries(id_)[0].attempts for id_ in expected}
    assert attempts == Counter(ids(server)), "what was attempted is what is written down"
    server.behave = lambda _: Answer()
    assert deliver(desk(server)).drain(PATIENCE)
    assert len(server.calls) == before + 5
    assert len({(call.id, call.body) for call in server.calls}) == 5


def test_retry_after_is_kept(outbox: Outbox, server: WaywardServer, deliver: Deliver) -> None:
    fill(outbox, 1)
    start = time.time_ns()
    now = [start]
    settled = threading.Event()
    server.behave = lambda call: Answer(503, {"retry-after": "600"}) if call.nth == 0 else Answer()
    dispatcher = deliver(
        desk(server),
        schedule=Schedule(first=0.001, longest=3600),
        poll=0.01,
        clock=lambda: now[0],
        listeners=Listeners(attempted=lambda _: settled.set()),
    )
    assert settled.wait(PATIENCE)
    now[0] = start + 599 * SECOND
    assert not dispatcher.drain(0.2)
    assert len(server.calls) == 1
    now[0] = start + 601 * SECOND
    assert dispatcher.drain(PATIENCE)
    assert len(server.calls) == 2


@pytest.mark.slow
def test_what_waits_for_a_channel_goes_out_together(
    outbox: Outbox, server: WaywardServer, deliver: Deliver
) -> None:
    server.behave = lambda call: (
        Answer(429, {"retry-after": "0"}) if call.nth == 0 else Answer(200, body=b"ok")
    )
    expected = fill(outbox, 60)
    attempts: list[Attempt] = []
    assert deliver(SlackReceiver("desk", server.url), listeners=Listeners(attempted=attempts.append)).drain(
        PATIENCE
    )
    assert json.loads(server.calls[0].body)["text"].startswith("60 alerts:")
    assert Counter(a.alert for a in attempts if a.outcome.result == "delivered") == Counter(expected)
    assert {outbox.deliveries(id_)[0].state for id_ in expected} == {"delivered"}


def test_waiting_for_deliveries_can_be_given_up(
    outbox: Outbox, server: WaywardServer, deliver: Deliver
) -> None:
    fill(outbox, 1)
    server.behave = lambda _: Answer(503)
    asked = iter([False, False, True])
    assert not deliver(desk(server)).drain(3_600, lambda: next(asked))
    assert outbox.pending("desk") == 1


def test_a_slow_receiver_is_tried_again(outbox: Outbox, server: WaywardServer, deliver: Deliver) -> None:
    server.behave = lambda call: Answer(first=server.closing if call.nth == 0 else None)
    expected = fill(outbox, 3)
    assert deliver(desk(server, limits=Limits(read=0.2))).drain(PATIENCE)
    assert set(ids(server)) == set(expected)


@pytest.mark.slow
def test_a_dead_receiver_holds_up_nobody(outbox: Outbox, server: WaywardServer, deliver: Deliver) -> None:
    with WaywardServer() as silent:
        silent.behave = lambda _: Answer(first=silent.closing)
        expected = fill(outbox, 200, "live", "dead", "silent")
        deliver(
            desk(server, "live"),
            WebhookReceiver("dead", f"http://127.0.0.1:{free_port()}/", [SECRET]),
            desk(silent, "silent", limits=Limits(read=0.3)),
        )
        server.wait_for(lambda calls: len(calls) == 200)
        assert set(ids(server)) == set(expected)
        assert (outbox.pending("dead"), outbox.pending("silent")) == (200, 200)


@pytest.mark.slow
def test_a_receiver_that_comes_back_gets_everything(outbox: Outbox, deliver: Deliver) -> None:
    port = free_port()
    attempts: list[Attempt] = []
    expected = fill(outbox, 200)
    dispatcher = deliver(
        WebhookReceiver("desk", f"http://127.0.0.1:{port}/", [SECRET]),
        listeners=Listeners(attempted=attempts.append),
    )
    while len(attempts) < 20:
        dispatcher._thread.join(0.01)
    with WaywardServer(port=port) as server:
        assert dispatcher.drain(PATIENCE)
        assert set(ids(server)) == set(expected)


@pytest.mark.slow
def test_a_poisoned_alert_blocks_none_behind_it(
    outbox: Outbox, server: WaywardServer, deliver: Deliver
) -> None:
    expected = fill(outbox, 100)
    poison = set(expected[:3])
    server.behave = lambda call: Answer(500) if call.id in poison else Answer()
    reports: list[str] = []
    schedule = Schedule(first=0.01, longest=0.02, attempts=5)
    assert deliver(desk(server), schedule=schedule, listeners=Listeners(report=reports.append)).drain(
        PATIENCE
    )
    counts = Counter(ids(server))
    assert counts == {id_: 5 if id_ in poison else 1 for id_ in expected}
    assert {id_ for id_ in expected if outbox.deliveries(id_)[0].state == "failed"} == poison
    assert outbox.status()["desk"].failed == 3
    assert len(reports) == 3
    assert all("given up after 5 attempts" in report for report in reports)


@pytest.mark.slow
def test_a_receiver_that_is_gone_is_reported_and_left_alone(
    outbox: Outbox, server: WaywardServer, deliver: Deliver
) -> None:
    server.behave = lambda _: Answer(410, body=b"closed for good")
    reports: list[str] = []
    fill(outbox, 100)
    dispatcher = deliver(desk(server, in_flight=1), listeners=Listeners(report=reports.append))
    assert not dispatcher.drain(PATIENCE)
    assert dispatcher.stop(PATIENCE)
    status = outbox.status()["desk"]
    assert (status.pending + status.failed, len(reports)) == (100, 1)
    assert status.failed == len(server.calls) <= 2
    assert "410 Gone: closed for good" in reports[0]
    server.behave = lambda _: Answer()
    again = deliver(desk(server), listeners=Listeners(report=reports.append))
    assert not again.drain(PATIENCE)
    assert (len(server.calls), len(reports)) == (status.failed, 2), "a restart forgets no pause"
    assert outbox.resume("desk").state == "paused"
    server.wait_for(lambda calls: len(calls) == 100)
    assert again.drain(PATIENCE)
    assert reports[2] == "desk is no longer paused: what waits is sent"
    assert outbox.standings() == {}


def test_metrics_see_every_attempt(outbox: Outbox, server: WaywardServer, deliver: Deliver) -> None:
    server.behave = lambda call: Answer(500) if call.nth == 0 else Answer()
    attempts: list[Attempt] = []
    expected = fill(outbox, 4)
    dispatcher = deliver(desk(server), listeners=Listeners(attempted=attempts.append))
    assert dispatcher.drain(PATIENCE)
    seen = Counter((a.receiver, a.alert, a.outcome.result, a.number) for a in attempts)
    assert seen == Counter(
        ("desk", i, r, n) for i in expected for r, n in (("rejected", 1), ("delivered", 2))
    )
    assert all(0 < a.seconds < 20 and 0 < a.age < 60 for a in attempts)


def test_a_mistake_in_a_receiver_costs_no_alert(outbox: Outbox, deliver: Deliver) -> None:
    class Flawed:
        name, in_flight = "desk", 2
        calls = 0

        def send(self, id_: str, body: str, now: int) -> Outcome:  # noqa: ARG002
            self.calls += 1
            if self.calls < 4:
                raise RuntimeError("a mistake")
            return Outcome("delivered", "yes")

        def close(self) -> None:
            """Nothing to close."""

    fill(outbox, 3)
    assert deliver(Flawed()).drain(PATIENCE)


@pytest.mark.slow
def test_outcomes_are_written_as_soon_as_the_outbox_can_be_written_again(
    outbox: Outbox, server: WaywardServer, deliver: Deliver, store: str, tmp_path: Path
) -> None:
    reports: list[str] = []
    locked = threading.Event()
    expected = fill(outbox, 20)
    other = Outbox.open(outbox_url(tmp_path))

    def report(sentence: str) -> None:
        reports.append(sentence)
        locked.set()

    with other.writing() as connection:  # which locks all of SQLite
        if store == "postgresql":
            connection.execute(text("LOCK TABLE outbox_deliveries IN EXCLUSIVE MODE"))
        dispatcher = deliver(desk(server), listeners=Listeners(report=report))
        assert locked.wait(PATIENCE)
    other.close()
    assert dispatcher.drain(PATIENCE)
    assert "locked by another process" in reports[0]
    assert sorted(ids(server)) == sorted(expected), "nothing was sent twice meanwhile"


@pytest.mark.slow
def test_stopping_loses_nothing_and_repeats_nothing(
    outbox: Outbox, server: WaywardServer, deliver: Deliver
) -> None:
    expected = fill(outbox, 400)
    for part in (50, 150, 300):
        dispatcher = deliver(desk(server))
        server.wait_for(lambda calls, part=part: len(calls) >= part)
        assert dispatcher.stop(PATIENCE)
    assert deliver(desk(server)).drain(PATIENCE)
    assert Counter(ids(server)) == Counter(expected)


def test_a_console_prints_no_more_once_it_is_to_stop_and_the_rest_after_the_next_start(
    outbox: Outbox, deliver: Deliver
) -> None:
    lines: list[str] = []
    asked = threading.Event()

    class Terminal:
        def write(self, text: str) -> None:
            lines.append(text)
            if len(lines) == 5:
                dispatcher.cease()
                asked.set()

        def flush(self) -> None:
            """Is never behind."""

    expected = fill(outbox, 100)
    dispatcher = deliver(ConsoleReceiver("desk", Terminal(), "json"))
    assert asked.wait(PATIENCE)
    dispatcher._thread.join(PATIENCE)
    assert not dispatcher.alive
    assert len(lines) == 5
    assert outbox.pending("desk") == 95
    assert deliver(ConsoleReceiver("desk", Terminal(), "json")).drain(PATIENCE)
    assert [json.loads(line)["id"] for line in lines] == expected


def test_stopping_does_not_wait_for_ever(outbox: Outbox, server: WaywardServer) -> None:
    server.behave = lambda _: Answer(first=server.closing)
    fill(outbox, 1)
    dispatcher = Dispatcher(outbox, [desk(server)])
    dispatcher.start()
    server.wait_for(lambda calls: len(calls) == 1)
    assert not dispatcher.stop(0.2), "it waited for the answer, which comes half a minute later"
    assert outbox.pending("desk") == 1
    server.closing.set()


def test_a_dispatcher_that_never_started_can_be_stopped(outbox: Outbox, server: WaywardServer) -> None:
    assert Dispatcher(outbox, [desk(server)]).stop(1)


def test_the_console_gets_a_line_for_every_alert(outbox: Outbox, deliver: Deliver) -> None:
    text, lines = io.StringIO(), io.StringIO()
    fill(outbox, 2, "text", "json")
    outbox.record(
        BatchRecord(1, "d", {}),
        [
            raised(5, time=9, key="k", suppress=5, summary="two\nlines \x1b[31m"),
            raised(6, time=10, key="k", suppress=5),
            raised(7, time=15, key="k", suppress=5, severity="critical", summary="again"),
        ],
        [Route("text")],
    )
    assert deliver(ConsoleReceiver("text", text), ConsoleReceiver("json", lines, "json")).drain(PATIENCE)
    assert text.getvalue().splitlines() == [
        "1970-01-01T00:00:00Z high     card_testing 3 probes, then 900 in NG",
        "1970-01-01T00:00:01Z high     card_testing 3 probes, then 900 in NG",
        r"1970-01-01T00:00:09Z high     card_testing two\x0alines \x1b[31m",
        "1970-01-01T00:00:15Z critical card_testing again (+1 withheld)",
    ]
    assert lines.getvalue() == "".join(raised(n).alert.to_json() + "\n" for n in range(2))


def test_a_console_that_is_closed_keeps_its_alerts(outbox: Outbox, deliver: Deliver) -> None:
    closed = io.StringIO()
    closed.close()
    attempts: list[Attempt] = []
    fill(outbox, 1)
    dispatcher = deliver(ConsoleReceiver("desk", closed), listeners=Listeners(attempted=attempts.append))
    while not attempts:
        dispatcher._thread.join(0.01)
    assert attempts[0].outcome.result == "unreachable"
    assert outbox.pending("desk") == 1


@pytest.mark.slow
def test_the_clock_is_the_one_given(tmp_path: Path, server: WaywardServer) -> None:
    now = [1_000_000 * SECOND]
    (tmp_path / "other").mkdir()
    outbox = Outbox.open(outbox_url(tmp_path / "other"), durable=False, clock=lambda: now[0])
    fill(outbox, 1)
    server.behave = lambda call: Answer(500) if call.nth == 0 else Answer()
    dispatcher = Dispatcher(
        outbox, [desk(server)], clock=lambda: now[0], schedule=Schedule(first=7200, longest=7200), poll=0.02
    )
    dispatcher.start()
    server.wait_for(lambda calls: len(calls) == 1)
    assert not dispatcher.drain(0.3)
    now[0] += 7200 * SECOND
    dispatcher.wake()
    assert dispatcher.drain(PATIENCE)
    assert [call.headers["webhook-timestamp"] for call in server.calls] == ["1000000", "1007200"]
    assert dispatcher.stop(PATIENCE)
