"""The lease of a job: one process has it, and whoever lost it writes nothing, in no transaction."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest
from some_alerts import SECOND, raised
from stores import outbox_url

from alerts.outbox import BatchRecord, Outbox, OutboxError, Settled
from alerts.outbox.leases import Held
from alerts.routing import Route
from cep.errors import ConfigurationError
from cep.job.running.leadership import Leadership, Process
from cep.job.running.stopping import Stop

pytestmark = pytest.mark.usefixtures("store")
ROUTES = [Route("desk")]


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[tuple[Outbox, Outbox]]:
    """One outbox as two processes have it."""
    url = outbox_url(tmp_path)
    with closing(Outbox.open(url)) as one, closing(Outbox.open(url)) as other:
        yield one, other


def test_one_has_it_until_it_ends(pair: tuple[Outbox, Outbox]) -> None:
    one, other = pair
    assert one.job_lease() is None
    assert one.take_job("process 1 on a", None, 60) == 1
    assert other.take_job("process 2 on b", None, 60) is None, "it saw none, and there is one now"
    held = other.job_lease()
    assert held is not None
    assert (held.holder, held.epoch, 50 < held.left <= 60) == ("process 1 on a", 1, True)
    one.renew_job("process 1 on a", 1, 120)
    assert other.take_job("process 2 on b", held, 60) is None, "it was renewed since it was seen"
    later = other.job_lease()
    assert later is not None
    assert later.renewed_since(held)
    assert not held.renewed_since(later)
    assert other.take_job("process 2 on b", later, 60) == 2
    with pytest.raises(OutboxError, match="process 2 on b has taken over the job") as caught:
        one.renew_job("process 1 on a", 1, 60)
    assert caught.value.code == "CEP0832"


def test_who_lost_it_writes_nothing(pair: tuple[Outbox, Outbox]) -> None:
    one, other = pair
    one.take_job("process 1 on a", None, 60)
    one.record(BatchRecord(0, "d0", {}), [raised(1)], ROUTES)
    assert other.take_job("process 2 on b", other.job_lease(), 60) == 2
    late = [
        lambda: one.record(BatchRecord(1, "d1", {}), [raised(2)], ROUTES),
        lambda: one.settle([Settled("desk", 1, "delivered", 1, "204", None, SECOND)]),
        lambda: one.hasten("desk", SECOND),
        lambda: one.resume("desk"),
        lambda: one.redeliver("desk"),
    ]
    for write in late:
        with pytest.raises(OutboxError) as caught:
            write()
        assert caught.value.code == "CEP0832"
    assert [one.number for one in other.alerts()] == [1]
    assert [one.state for one in other.deliveries(raised(1).id)] == ["pending"]
    assert len(other.record(BatchRecord(1, "e1", {}), [raised(3)], ROUTES).alerts) == 1


def gone() -> Process:
    """A process of this machine that has ended."""
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    return Process(Process.own().host, child.pid)


@pytest.mark.parametrize("standby", [True, False])
def test_a_lease_of_a_process_that_is_gone_is_taken_at_once(
    pair: tuple[Outbox, Outbox], standby: bool
) -> None:
    one, other = pair
    one.take_job(str(gone()), None, 3_600)
    leadership = Leadership(other, Stop(), lambda _: None)
    assert leadership.take(standby)
    assert other.job_lease() is not None


def test_who_does_not_stand_by_waits_only_for_a_lease_that_is_not_renewed(
    pair: tuple[Outbox, Outbox],
) -> None:
    one, other = pair
    one.take_job("process 1 on elsewhere", None, 0.5)
    told: list[str] = []
    assert Leadership(other, Stop(), told.append).take(standby=False)
    assert told == [
        "waiting for the end of a lease: process 1 on elsewhere runs the job",
        "takes over the job from process 1 on elsewhere",
    ]


def test_a_lease_that_is_renewed_is_refused(pair: tuple[Outbox, Outbox]) -> None:
    one, other = pair
    with ExitStack() as stack:
        kept = Leadership(one, Stop(), lambda _: None, seconds=0.8)
        assert kept.take(standby=False)
        kept.keep(stack)
        with pytest.raises(ConfigurationError, match="runs the job of this outbox") as caught:
            Leadership(other, Stop(), lambda _: None).take(standby=False)
        assert caught.value.code == "CEP0833"
        kept.assure()
    ended = other.job_lease()
    assert isinstance(ended, Held)
    assert ended.left <= 0, "it was given back"
    assert Leadership(other, Stop(), lambda _: None).take(standby=True)


def test_who_lost_it_ends(pair: tuple[Outbox, Outbox]) -> None:
    one, other = pair
    stop = Stop()
    with ExitStack() as stack:
        kept = Leadership(one, stop, lambda _: None, seconds=0.4)
        assert kept.take(standby=False)
        kept.keep(stack)
        while other.take_job("process 2 on b", other.job_lease(), 60) is None:
            pass  # it was renewed in between
        assert stop.wait(30)
        assert stop.abandoned
        assert "process 2 on b has taken over the job" in str(stop.why)
