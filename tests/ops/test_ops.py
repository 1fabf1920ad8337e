"""`ops/`: its rules fire when they should, and name no metric or label that a job does not have."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cep.counters import KINDS, labels
from cep.web.metrics import Metrics

ROOT = Path(__file__).parents[2]
OPS = ROOT / "ops"
TOOL = ROOT / "build" / "tools" / "promtool"
OF_PROMETHEUS = {"instance", "job", "le"}


@pytest.fixture(scope="module")
def metrics() -> dict[str, set[str]]:
    """Every sample that /metrics can have: its name, and its labels."""
    found: dict[str, set[str]] = {}
    registry = Metrics()._registry
    for family in registry.collect():
        collector = registry._names_to_collectors[family.name]
        own = set(getattr(collector, "_labelnames", ()))
        endings = {"counter": ["_total"], "histogram": ["_bucket", "_sum", "_count"]}.get(family.type, [""])
        found |= {family.name + ending: own for ending in endings}
    found |= {"cep_outbox_pending": {"receiver"}, "cep_outbox_oldest_age_seconds": set()}
    found |= {"cep_outbox_up": set()}
    found |= {"cep_receiver_state": {"receiver", "state"}}
    for kind in KINDS:
        if kind.metric is not None:
            assert found[f"{kind.metric.name}_total"] == set(labels(kind))
    return found


def expressions() -> Iterator[tuple[str, str]]:
    """Every expression of the rules and of the dashboard, and where it stands."""
    text = (OPS / "alerts.yml").read_text("utf-8")
    for name, body in re.findall(r"- alert: (\w+)\n(.*?)(?=\n\n|\Z)", text, re.DOTALL):
        yield name, re.search(r"expr: (.*?)\n +(?:for|labels):", body, re.DOTALL)[1]  # type: ignore[index]
    board = json.loads((OPS / "grafana.json").read_text("utf-8"))
    for panel in board["panels"]:
        for target in panel["targets"]:
            yield panel["title"], target["expr"]
    for variable in board["templating"]["list"]:
        yield variable["name"], variable["query"]


def test_only_metrics_and_labels_that_there_are_are_asked_for(metrics: dict[str, set[str]]) -> None:
    used = set()
    for where, expression in expressions():
        for name, conditions in re.findall(r"\b(cep_\w+)(?:\{([^}]*)\})?", expression):
            assert name in metrics, f"{where}: there is no metric {name}"
            used.add(name)
            asked = set(re.findall(r"(\w+)\s*(?:=~|!~|!=|=)", conditions))
            assert asked <= metrics[name] | OF_PROMETHEUS, f"{where}: {name} has no label of {asked}"
        named = {name for name, _ in re.findall(r"\b(cep_\w+)(\{[^}]*\})?", expression)}
        for grouped in re.findall(r"\bby \(([^)]*)\)", expression):
            has = set.intersection(*(metrics[name] for name in named)) if named else set()
            assert set(re.split(r",\s*", grouped)) <= has | OF_PROMETHEUS, f"{where}: by ({grouped})"
    families = {re.sub(r"_(bucket|sum|count)$", "", name) for name in used}
    shown = {re.sub(r"_(bucket|sum|count)$", "", name) for name in metrics}
    assert shown - families <= {"cep_overflows_total", "cep_pack_info"}, "a metric that nobody looks at"


def test_every_rule_is_tried() -> None:
    tried = (OPS / "alerts_test.yml").read_text("utf-8")
    for name in re.findall(r"- alert: (\w+)", (OPS / "alerts.yml").read_text("utf-8")):
        assert re.search(rf"alertname: {name}\n +exp_alerts:", tried), f"no test says when {name} fires"


def promtool(*arguments: object, feed: str = "") -> subprocess.CompletedProcess[str]:
    """What promtool says. Where it is missing the test is skipped, but not in continuous integration."""
    program = shutil.which("promtool") or (str(TOOL) if TOOL.exists() else None)
    if program is None:
        said = "promtool is missing: run `make tools`, or on Debian `apt-get install prometheus`"
        assert "CEP_TOOLS" not in os.environ, said
        pytest.skip(said)
    line = [program, *map(str, arguments)]
    return subprocess.run(line, input=feed, capture_output=True, text=True, check=False, timeout=120)


def test_rules_fire_when_they_should() -> None:
    checked = promtool("check", "rules", OPS / "alerts.yml")
    assert checked.returncode == 0, checked.stdout + checked.stderr
    told = promtool("test", "rules", OPS / "alerts_test.yml")
    assert told.returncode == 0, told.stdout + told.stderr


def test_metrics_are_as_prometheus_wants_them() -> None:
    metrics = Metrics()
    metrics.batch(0.5, {"decode": 0.1}, 1000)
    metrics.lags({"payment": 3.0})
    metrics.rules({"r": 1}, {"r": 2})
    metrics.alerts({"high": 1})
    metrics.packs({"p": "0123456789abcdef"})
    told = promtool("check", "metrics", feed=metrics.text().decode())
    assert (told.returncode, told.stdout + told.stderr) == (0, "")


def test_the_dashboard_has_its_panels_in_place() -> None:
    board: dict[str, Any] = json.loads((OPS / "grafana.json").read_text("utf-8"))
    taken: set[tuple[int, int]] = set()
    for panel in board["panels"]:
        at = panel["gridPos"]
        cells = {(x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])}
        assert not cells & taken, panel["title"]
        assert max(x for x, _ in cells) < 24
        taken |= cells
    assert len({panel["id"] for panel in board["panels"]}) == len(board["panels"])
