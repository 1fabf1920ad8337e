"""/metrics says how many alerts wait, of every receiver, and how long, of those that the job serves."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families
from stores import outbox_url

from alerts.alert import Alert
from alerts.outbox import BatchRecord, Outbox, Settled
from alerts.raised import Raised
from alerts.routing import Route
from alerts.standing import Standing
from cep.web.metrics import Metrics

SECOND = 1_000_000_000


def raised(id_: str) -> Raised:
    alert = Alert(id_, "p", "r", "rule", "event", "high", "1970-01-01T00:00:00Z", {}, "s", {}, {}, [], None)
    return Raised.of(alert, 0, (0,))


def samples(metrics: Metrics) -> dict[str, float]:
    """Those of the outbox, by receiver; the age under its own name."""
    return {
        sample.labels.get("receiver", sample.name): sample.value
        for family in text_string_to_metric_families(metrics.text().decode())
        for sample in family.samples
        if sample.name.startswith("cep_outbox")
    }


@pytest.mark.usefixtures("store")
def test_a_receiver_that_the_job_no_longer_serves_does_not_age(tmp_path: Path) -> None:
    now = [0]
    outbox = Outbox.open(outbox_url(tmp_path), durable=False, clock=lambda: now[0])
    outbox.record(BatchRecord(0, "d", {}), [raised("a" * 64)], [Route("old")])
    now[0] = 60 * SECOND
    outbox.record(BatchRecord(1, "d", {}), [raised("b" * 64)], [Route("desk"), Route("old")])
    now[0] = 100 * SECOND
    metrics = Metrics()
    metrics.watch_outbox(outbox, ["desk", "new"], lambda _: None)
    age = "cep_outbox_oldest_age_seconds"
    assert samples(metrics) == {"cep_outbox_up": 1.0, "desk": 1, "new": 0, "old": 2, age: 40.0}
    outbox.settle([Settled("desk", 2, "delivered", 1, "204", None, now[0])])
    assert samples(metrics) == {"cep_outbox_up": 1.0, "desk": 0, "new": 0, "old": 2, age: 0.0}
    outbox.close()


@pytest.mark.usefixtures("store")
def test_the_state_of_every_receiver_is_told(tmp_path: Path) -> None:
    outbox = Outbox.open(outbox_url(tmp_path), durable=False)
    outbox.settle([], {"desk": Standing("paused", "410 Gone", 1, None), "old": Standing("open", "500", 1, 2)})
    metrics = Metrics()
    metrics.watch_outbox(outbox, ["desk", "new"], lambda _: None)
    states = {
        (sample.labels["receiver"], sample.labels["state"]): sample.value
        for family in text_string_to_metric_families(metrics.text().decode())
        for sample in family.samples
        if sample.name == "cep_receiver_state"
    }
    assert {place for place, value in states.items() if value} == {("desk", "paused"), ("new", "closed")}
    assert len(states) == 8
    outbox.close()


def test_an_outbox_that_cannot_be_read_is_told_and_its_metrics_are_left_out(tmp_path: Path) -> None:
    outbox = Outbox.open(f"sqlite:///{tmp_path}/outbox.db", durable=False)
    told: list[str] = []
    metrics = Metrics()
    metrics.watch_outbox(outbox, ["desk"], told.append)
    outbox.close()
    with closing(sqlite3.connect(tmp_path / "outbox.db")) as connection, connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    (tmp_path / "outbox.db").write_bytes(b"this was a database " * 1_000)
    assert samples(metrics) == {"cep_outbox_up": 0.0}
    assert len(told) == 1
    assert "is damaged or is no database" in told[0]
    assert b"cep_pack_last_deploy_successful" in metrics.text()
