"""Counters and measures of the job, under the names of the product's contract, for /metrics.

Labels are streams, rules, severities, receivers, outcomes, packs and revisions: never a key, an alert or a
URL. Counters begin at zero with the process; the outbox is asked when the metrics are read.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from cep.counters import KINDS, Count, labels, values

if TYPE_CHECKING:
    from prometheus_client.metrics_core import Metric

    from alerts.listeners import Attempt
    from alerts.outbox import Outbox

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

_STATE = "1 for the state that a receiver's breaker has, 0 for the others"
_UP = "Whether the outbox's database answers"
_RECEIVED = "Events that came by HTTP and were not read yet"
_SECONDS = (0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300)
_DELIVERY = (0.01, 0.05, 0.1, 0.5, 1, 5, 30, 60, 600, 3600, 86400)


class Metrics:
    """The job's metrics in a registry of their own. Every method may be called from any thread."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        r = self._registry
        self._counters = {
            kind: Counter(kind.metric.name, kind.metric.help, labels(kind), registry=r)
            if kind.metric is not None
            else None
            for kind in KINDS
        }
        self._lag = Gauge(
            "cep_watermark_lag_seconds", "Clock minus watermark of a stream", ["stream"], registry=r
        )
        self._waiting = Gauge(
            "cep_feed_waiting_records", "Records of topics that no batch has read yet", ["stream"], registry=r
        )
        self._batch = Histogram(
            "cep_batch_duration_seconds", "Batches from manifest to outbox", buckets=_SECONDS, registry=r
        )
        self._stages = Counter(
            "cep_stage_seconds", "Time by stage of a batch, summed over tasks", ["stage"], registry=r
        )
        self._matches = Counter(
            "cep_rule_matches", "What a rule matched, once each, withheld or not", ["rule"], registry=r
        )
        self._runs = Gauge("cep_runs", "Partial matches that live", ["rule"], registry=r)
        self._state = Gauge("cep_state_bytes", "Size of all shards' state", registry=r)
        self._alerts = Counter("cep_alerts", "Alerts raised", ["severity"], registry=r)
        self._attempts = Counter(
            "cep_delivery_attempts", "Attempts to deliver an alert", ["receiver", "outcome"], registry=r
        )
        self._latency = Histogram(
            "cep_delivery_latency_seconds",
            "From the outbox to the receiver's success",
            buckets=_DELIVERY,
            registry=r,
        )
        self._held = Counter(
            "cep_notifications_held", "What was held back on its way to a receiver", ["reason"], registry=r
        )
        self._packs = Gauge("cep_pack_info", "Packs that run", ["pack", "revision"], registry=r)
        self._deploy = Gauge("cep_pack_last_deploy_successful", "Whether the last deploy was", registry=r)
        self._deploy.set(1)  # nothing has failed yet

    def text(self) -> bytes:
        """All metrics in Prometheus' text format."""
        return generate_latest(self._registry)

    def watch_outbox(self, outbox: Outbox, receivers: Collection[str], failed: Callable[[str], None]) -> None:
        """Has the outbox asked at every reading; `failed` is told why, where it cannot be asked.

        What waits is told of every receiver; the age is that of these `receivers`, which the job serves:
        others get nothing, and would let the age grow for ever.
        """
        self._registry.register(_OutboxCollector(outbox, receivers, failed))

    def watch_intakes(self, waiting: Callable[[], Mapping[str, int]]) -> None:
        """Has the bytes that wait in the logs of feeds over HTTP asked for at every reading, by stream."""
        self._registry.register(_IntakeCollector(waiting))

    def count(self, counts: Mapping[Count, int]) -> None:
        """Add what was counted. Raises KeyError for what is no counter."""
        for counter, number in counts.items():
            metric = self._counters[type(counter)]
            if metric is not None:
                metric.labels(*values(counter)).inc(number)

    def batch(self, seconds: float, stages: Mapping[str, float], state_bytes: int) -> None:
        """A batch is in the outbox; `stages` are seconds by stage."""
        self._batch.observe(seconds)
        for stage, spent in stages.items():
            self._stages.labels(stage).inc(spent)
        self._state.set(state_bytes)

    def lags(self, seconds: Mapping[str, float]) -> None:
        """The distance of each stream's watermark from the clock."""
        for stream, lag in seconds.items():
            self._lag.labels(stream).set(lag)

    def waiting(self, records: Mapping[str, int]) -> None:
        """Set the backlog of topics by stream; nothing is told of those that are left out."""
        self._waiting.clear()
        for stream, number in records.items():
            self._waiting.labels(stream).set(number)

    def rules(self, matches: Mapping[str, int], runs: Mapping[str, int]) -> None:
        """New matches, and the runs that live, by rule's name; rules that are gone lose their gauge."""
        for rule, number in matches.items():
            self._matches.labels(rule).inc(number)
        self._runs.clear()
        for rule, number in runs.items():
            self._runs.labels(rule).set(number)

    def alerts(self, by_severity: Mapping[str, int]) -> None:
        """Alerts newly in the outbox."""
        for severity, number in by_severity.items():
            self._alerts.labels(severity).inc(number)

    def attempted(self, attempt: Attempt) -> None:
        """One attempt to deliver."""
        self._attempts.labels(attempt.receiver, attempt.outcome.result).inc()
        if attempt.outcome.result == "delivered":
            self._latency.observe(attempt.age)

    def held(self, _receiver: str, reason: str) -> None:
        """An alert was held back on its way to a receiver."""
        self._held.labels(reason).inc()

    def packs(self, revisions: Mapping[str, str]) -> None:
        """The revision of every pack that runs."""
        self._packs.clear()
        for pack, revision in revisions.items():
            self._packs.labels(pack, revision).set(1)

    def deployed(self, successful: bool) -> None:
        """Note the outcome of a deploy."""
        self._deploy.set(1 if successful else 0)


class _IntakeCollector(Collector):
    """Asks what came by HTTP and was not read yet, when metrics are read."""

    def __init__(self, waiting: Callable[[], Mapping[str, int]]) -> None:
        self._waiting = waiting

    def collect(self) -> Iterator[Metric]:
        """The bytes by stream."""
        family = GaugeMetricFamily("cep_received_waiting_bytes", _RECEIVED, labels=["stream"])
        for stream, octets in self._waiting().items():
            family.add_metric([stream], octets)
        if family.samples:
            yield family


class _OutboxCollector(Collector):
    """Asks the outbox what waits, when metrics are read and not before."""

    def __init__(self, outbox: Outbox, receivers: Collection[str], failed: Callable[[str], None]) -> None:
        self._outbox = outbox
        self._receivers = receivers
        self._failed = failed
        self._missed: str | None = None

    def describe(self) -> Iterator[Metric]:
        """The families without values, so that registering does not ask the outbox."""
        yield GaugeMetricFamily("cep_outbox_up", _UP)
        yield GaugeMetricFamily("cep_outbox_pending", "Deliveries that wait", labels=["receiver"])
        yield GaugeMetricFamily("cep_outbox_oldest_age_seconds", "Age of the oldest delivery that waits")
        yield GaugeMetricFamily("cep_receiver_state", _STATE, labels=["receiver", "state"])

    def collect(self) -> Iterator[Metric]:
        """Metrics of what waits now."""
        from alerts.outbox import OutboxError
        from alerts.standing import SHOWN, Standing

        pending = GaugeMetricFamily("cep_outbox_pending", "Deliveries that wait", labels=["receiver"])
        age = GaugeMetricFamily("cep_outbox_oldest_age_seconds", "Age of the oldest delivery that waits")
        states = GaugeMetricFamily("cep_receiver_state", _STATE, labels=["receiver", "state"])
        try:
            waiting = {name: status.pending for name, status in self._outbox.status().items()}
            for receiver, number in sorted((dict.fromkeys(self._receivers, 0) | waiting).items()):
                pending.add_metric([receiver], number)
            age.add_metric([], self._outbox.oldest_age(self._receivers))
            standings, now = self._outbox.standings(), time.time_ns()
            for receiver in sorted(self._receivers):
                own = standings.get(receiver, Standing()).shown(now)
                for state in SHOWN:
                    states.add_metric([receiver, state], state == own)
        except OutboxError as error:
            if self._missed != error.code:  # said once, not at every reading
                self._failed(str(error))
            self._missed = error.code
            yield GaugeMetricFamily("cep_outbox_up", _UP, 0)
            return
        self._missed = None
        yield GaugeMetricFamily("cep_outbox_up", _UP, 1)
        yield pending
        yield age
        yield states
