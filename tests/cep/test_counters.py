"""A counter is declared in one place: what is not declared there cannot be counted."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from cep.counters import KINDS, Counts, RunsDropped, StreamEvents, labels, of_kind, values
from cep.web.metrics import Metrics

WIRE = {
    "cep_events": ("Events by what became of them", {"stream", "outcome"}),
    "cep_poison_events": ("Events that ended what worked on them", {"stream", "stage"}),
    "cep_queries": ("Documents asked, hits, and what is not known", {"stream", "queries", "outcome"}),
    "cep_runs_dropped": ("Partial matches given up", {"pack", "rule", "reason"}),
    "cep_window_events_dropped": ("Events of windows given up", {"pack", "rule"}),
    "cep_alternatives_dropped": (
        "Alternatives of partial matches, given up",
        {"pack", "rule"},
    ),
    "cep_record_events": ("Events of the record", {"stream", "outcome"}),
    "cep_record_bytes": ("Bytes written to the record", {"stream"}),
    "cep_overflows": ("Results that became null for want of room", {"kind", "pack", "name"}),
}
"""Name, help and labels as dashboards know them."""
UNKNOWN: list[Any] = [("events", "e", "late"), "events", ("e", "late"), None, RunsDropped]


def test_names_help_and_labels_on_the_wire_are_those_of_the_contract() -> None:
    found = {k.metric.name: (k.metric.help, set(labels(k))) for k in KINDS if k.metric is not None}
    assert found == WIRE
    text = Metrics().text().decode()
    for name, (help_, _) in WIRE.items():
        assert f"# HELP {name}_total {help_}\n# TYPE {name}_total counter\n" in text


@pytest.mark.parametrize("unknown", UNKNOWN)
def test_what_is_no_counter_cannot_be_counted(unknown: Any) -> None:
    counts = Counts()
    with pytest.raises(TypeError, match=r"is no counter of cep\.counters"):
        counts[unknown] += 1
    with pytest.raises(TypeError, match=r"is no counter of cep\.counters"):
        counts.update([unknown])
    assert not counts
    with pytest.raises(KeyError):
        Metrics().count({unknown: 1})


def test_a_label_that_does_not_exist_cannot_be_counted() -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'strem'"):
        StreamEvents(strem="e", outcome="late")  # type: ignore[call-arg]


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_goes_from_a_worker_into_the_metrics(kind: Any) -> None:
    """Counters of two kinds with equal labels are two."""
    one = kind(*labels(kind))
    counts = pickle.loads(pickle.dumps(Counts({one: 2}), protocol=5))
    counts.update(Counts({one: 3}))
    assert isinstance(counts, Counts)
    assert list(of_kind(counts, kind)) == [(one, 5)]
    assert [other for other in KINDS if other is not kind and list(of_kind(counts, other))] == []
    assert values(one) == labels(kind)
    metrics = Metrics()
    metrics.count(counts)
    if kind.metric is not None:
        given = ",".join(f'{name}="{name}"' for name in sorted(labels(kind)))
        assert f"\n{kind.metric.name}_total{{{given}}} 5.0\n" in metrics.text().decode()
