"""The names of the metrics are a contract, and what they count is what happened."""

from __future__ import annotations

from pathlib import Path

from alerts.listeners import Attempt
from alerts.outbox import Outbox
from alerts.receivers.receiver import Outcome
from cep.counters import Counts, QueryDocuments, StreamEvents
from cep.web.metrics import Metrics
from cep.web.server import Health, application

NAMES = {
    "cep_events_total", "cep_watermark_lag_seconds", "cep_batch_duration_seconds", "cep_rule_matches_total",
    "cep_runs", "cep_state_bytes", "cep_alerts_total", "cep_outbox_pending", "cep_outbox_oldest_age_seconds",
    "cep_delivery_attempts_total", "cep_delivery_latency_seconds", "cep_pack_info",
    "cep_pack_last_deploy_successful", "cep_queries_total", "cep_runs_dropped_total",
    "cep_overflows_total",
}  # fmt: skip


def _samples(metrics: Metrics) -> dict[str, float]:
    lines = [line for line in metrics.text().decode().splitlines() if not line.startswith("#")]
    return {line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in lines}


def test_all_names_of_the_contract_are_there(tmp_path: Path) -> None:
    metrics = Metrics()
    outbox = Outbox.open(f"sqlite:///{tmp_path}/outbox.db")
    metrics.watch_outbox(outbox, ["desk"], lambda _: None)
    text = metrics.text().decode()
    outbox.close()
    for name in NAMES:
        assert f"# TYPE {name} " in text, name


def test_metrics_count_what_happened() -> None:
    metrics = Metrics()
    counts = Counts({StreamEvents("payment", "accepted"): 7, StreamEvents("payment", "late"): 2})
    metrics.count(counts)
    metrics.count(Counts({QueryDocuments("article", "watchlist", "hits"): 5}))
    metrics.batch(0.3, {"match": 0.1}, 1234)
    metrics.alerts({"high": 3})
    metrics.rules({"a": 4}, {"a": 5, "b": 0})
    metrics.rules({}, {"b": 6})
    metrics.packs({"desk": "r1"})
    metrics.packs({"desk": "r2"})
    metrics.lags({"payment": 1.5})
    metrics.attempted(Attempt("desk", "id", Outcome("delivered", "204"), 1, 0.1, 0.2))
    metrics.attempted(Attempt("desk", "id", Outcome("rejected", "500"), 1, 0.1, 0.2))
    found = _samples(metrics)
    assert found['cep_events_total{outcome="accepted",stream="payment"}'] == 7
    assert found['cep_events_total{outcome="late",stream="payment"}'] == 2
    assert found['cep_queries_total{outcome="hits",queries="watchlist",stream="article"}'] == 5
    assert found["cep_state_bytes"] == 1234
    assert found['cep_alerts_total{severity="high"}'] == 3
    assert found['cep_rule_matches_total{rule="a"}'] == 4
    assert 'cep_runs{rule="a"}' not in found
    assert found['cep_runs{rule="b"}'] == 6
    assert [name for name in found if name.startswith("cep_pack_info")] == [
        'cep_pack_info{pack="desk",revision="r2"}'
    ]
    assert found["cep_pack_last_deploy_successful"] == 1
    assert found["cep_delivery_latency_seconds_count"] == 1
    assert found['cep_delivery_attempts_total{outcome="rejected",receiver="desk"}'] == 1


def test_health_is_503_when_the_job_is_not_well() -> None:
    from starlette.testclient import TestClient

    state = Health(True, {"status": "running"})
    client = TestClient(application(Metrics(), lambda: state))
    assert (client.get("/healthz").status_code, client.get("/healthz").json()) == (200, {"status": "running"})
    state = Health(False, {"status": "stuck"})
    assert client.get("/healthz").status_code == 503
    assert client.get("/metrics").headers["content-type"].startswith("text/plain; version=0.0.4")
