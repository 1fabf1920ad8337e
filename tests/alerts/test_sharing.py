"""Several dispatchers on one outbox: each receiver is served by one, and by another when that one ends."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path

import pytest
import sharing_dispatcher
from sharing_dispatcher import RECEIVERS
from some_alerts import SECOND, raised
from stores import outbox_url
from wayward_server import WaywardServer

from alerts.dispatch import Dispatcher
from alerts.lane import Schedule
from alerts.outbox import BatchRecord, Outbox, OutboxError, Settled
from alerts.outbox.leases import Taken, fence, give_back, take
from alerts.receivers.webhook import WebhookReceiver
from alerts.routing import Route
from alerts.sharing import Holder, Share

pytestmark = pytest.mark.usefixtures("store")
SECRET = "whsec_" + "A" * 32
SOON = Schedule(first=0.01, longest=0.05, attempts=1_000, probe=0.05)


@pytest.fixture
def outbox(tmp_path: Path) -> Iterator[Outbox]:
    with closing(Outbox.open(outbox_url(tmp_path), durable=False)) as found:
        yield found


def fill(outbox: Outbox, batch: int, count: int) -> set[str]:
    """A batch of alerts to every receiver; their ids."""
    some = [raised(n) for n in range(batch * count, (batch + 1) * count)]
    outbox.record(BatchRecord(batch, f"d{batch}", {}), some, [Route(one) for one in RECEIVERS])
    return {one.id for one in some}


def test_a_lease_is_one_holders_until_it_ends(outbox: Outbox) -> None:
    def taken(holder: str, known: dict[str, int], now: int) -> dict[str, Taken]:
        with outbox.writing() as connection:
            return take(connection, ["a", "b"], holder, known, now, 10)

    assert taken("x", {}, 100) == {"a": Taken(1), "b": Taken(1)}
    assert taken("y", {}, 105) == {}
    assert taken("x", {"a": 1, "b": 1}, 108) == {"a": Taken(1), "b": Taken(1)}, "kept until 118"
    assert taken("y", {}, 117) == {}
    assert taken("y", {}, 118) == {"a": Taken(2, "x"), "b": Taken(2, "x")}
    assert taken("x", {"a": 1, "b": 1}, 119) == {}, "who was late has it no more"
    with outbox.writing() as connection:
        fence(connection, {"a": 2, "b": 2})
        with pytest.raises(OutboxError, match="taken over a;") as caught:
            fence(connection, {"a": 1, "b": 2})
        give_back(connection, {"a": 1, "b": 2})
    assert caught.value.code == "CEP0831"
    assert taken("x", {"a": 1}, 120) == {"b": Taken(3, "y")}, "only who holds it gives it back"
    assert taken("y", {}, 121) == {"a": Taken(3)}, "a process that begins goes on for one of its name"


def test_what_a_late_dispatcher_would_write_is_not_written(outbox: Outbox) -> None:
    fill(outbox, 0, 2)
    now = [0.0]
    late = Share(outbox, Holder("late", 0.0), RECEIVERS, lambda: now[0])
    other = Share(outbox, Holder("other", 60.0), RECEIVERS)
    gained, _ = late.renew()
    assert gained == dict.fromkeys(RECEIVERS)
    assert not late.has("desk"), "its time is over already"
    assert other.renew() == (dict.fromkeys(RECEIVERS, "late"), set())
    assert other.has("desk")
    some = [Settled("desk", 1, "delivered", 1, "204", None, SECOND)]
    with pytest.raises(OutboxError, match="another process has taken over receiver desk"):
        outbox.settle(some, fence=late.fence(["desk"]))
    assert [one.number for one in outbox.due("desk", 2**62, 9)] == [1, 2]
    outbox.settle(some, fence=other.fence(["desk"]))
    assert [one.number for one in outbox.due("desk", 2**62, 9)] == [2]
    now[0] = 1.0
    assert late.renew() == ({}, set(RECEIVERS))
    other.end()
    now[0] = 2.0
    assert late.renew()[0] == dict.fromkeys(RECEIVERS, "other")


@pytest.mark.slow
def test_dispatchers_share_an_outbox_and_send_everything_once(outbox: Outbox, tmp_path: Path) -> None:
    """Three at a time, which come and go; the outbox is written all the while."""
    with WaywardServer() as server, ExitStack() as stack:

        def begin(name: str) -> Dispatcher:
            box = Outbox.open(outbox_url(tmp_path), durable=False)
            stack.callback(box.close)
            hooks = [WebhookReceiver(one, f"{server.url}/{one}", [SECRET]) for one in RECEIVERS]
            found = Dispatcher(box, hooks, schedule=SOON, poll=0.02, holder=Holder(name, 30.0))
            found.start()
            return found

        running = [begin(f"d{n}") for n in range(3)]
        ids: set[str] = set()
        for batch in range(6):
            ids |= fill(outbox, batch, 20)
            if batch % 2:
                assert running.pop(0).stop(60), "it gives back what it has"
                running.append(begin(f"d{batch + 2}"))
        assert running[0].drain(60)
        for one in running:
            assert one.stop(60)
        sent = Counter((call.path, call.id) for call in server.calls)
    assert {id_ for _, id_ in sent} == ids
    assert len(sent) == len(ids) * len(RECEIVERS)
    assert set(sent.values()) == {1}


@contextmanager
def process(folder: Path, server: WaywardServer, name: str) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        [sys.executable, sharing_dispatcher.__file__, outbox_url(folder), server.url, SECRET, name],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={"PYTHONPATH": ":".join(sys.path)},
    ) as found:  # fmt: skip
        try:
            yield found
        finally:
            found.kill()


def line_of(one: subprocess.Popen[str], part: str) -> None:
    """Read what it prints until a line has the part."""
    assert one.stdout is not None
    while part not in (line := one.stdout.readline()):
        assert line, f"it ended before it said {part}"


def pause(one: subprocess.Popen[str], file: Path) -> None:
    """Stops it outside of a transaction: SQLite's lock stays with whoever is paused, where PostgreSQL ends a
    transaction that says nothing."""
    while True:
        one.send_signal(signal.SIGSTOP)
        if not file.exists():
            return
        with suppress(sqlite3.OperationalError), closing(sqlite3.connect(file, timeout=5)) as database:
            database.execute("BEGIN IMMEDIATE")
            return
        one.send_signal(signal.SIGCONT)
        time.sleep(0.01)


def wait_until_written(outbox: Outbox) -> None:
    """Returns when the outbox knows of every alert that it was delivered."""
    deadline = time.monotonic() + 60
    while any(one.pending for one in outbox.status().values()):
        assert time.monotonic() < deadline, outbox.status()
        time.sleep(0.02)


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGKILL, pytest.param(signal.SIGSTOP, marks=pytest.mark.soak)])
def test_another_takes_over_from_one_that_is_killed_or_paused(
    outbox: Outbox, tmp_path: Path, how: signal.Signals
) -> None:
    """What it had sent and not written down is sent again, under the same id with the same body; no more."""
    with WaywardServer() as server, process(tmp_path, server, "first") as first:
        line_of(first, "serving")
        ids = fill(outbox, 0, 200)
        server.wait_for(lambda calls: len(calls) >= 30)
        with process(tmp_path, server, "second") as second:
            line_of(second, "serving")
            if how == signal.SIGSTOP:
                pause(first, tmp_path / "outbox.db")
            else:
                first.send_signal(how)
            line_of(second, "taken over from first")
            ids |= fill(outbox, 1, 20)
            server.wait_for(lambda calls: len({(call.path, call.id) for call in calls}) == 3 * len(ids))
            wait_until_written(outbox)  # also what only the first had sent
            if how == signal.SIGSTOP:
                first.send_signal(signal.SIGCONT)
            line = second.communicate("end\n", timeout=60)[0]
            assert "Traceback" not in line
        if how == signal.SIGSTOP:
            assert "Traceback" not in first.communicate("end\n", timeout=60)[0]
        calls = server.calls
        sent = Counter((call.path, call.id) for call in calls)
    assert {id_ for _, id_ in sent} == ids
    assert len({(call.id, call.body) for call in calls}) == len(ids)
    again = sum(sent.values()) - len(sent)
    assert again <= len(RECEIVERS) * (128 + 16), "no more than what may wait to be written"
    assert {name: one.pending for name, one in outbox.status().items()} == dict.fromkeys(RECEIVERS, 0)
