"""The body of Alertmanager's webhooks, version 4, so that what people have for Alertmanager takes our alerts.

https://prometheus.io/docs/alerting/latest/configuration/#webhook_config

Labels say which alert it is: `alertname` (the rule), `pack`, `kind`, `severity`, and the key by its names.
Annotations say what happened: `summary`, `runbook_url`, `tags`, `alert_id`, and what the rule emits.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from alerts.notation import plain

MOST = 100
"""Alerts that one body carries; `truncatedAlerts` counts the older ones."""

_NO_NAME = re.compile(r"[^A-Za-z0-9_]")
_NEVER = "0001-01-01T00:00:00Z"  # Go's zero time: Alertmanager's end of what has not ended
_SEPARATOR = b"\xff"

Texts = dict[str, str]


def alertmanager_body(receiver: str, alerts: Sequence[Mapping[str, Any]], count: int | None = None) -> bytes:
    """The body that tells a receiver of alerts, at least one, oldest first: equal bytes for equal alerts.
    `count` is how many it is about, where it does not get all of them.

    Every alert fires: none of ours ends. What all of them have in common is their group. Links are empty.
    """
    shown = [_alert(one) for one in alerts[-MOST:]]
    group = _common(one["labels"] for one in shown)
    body = {
        "version": "4",
        "groupKey": f"{{}}:{{{', '.join(f'{name}={json.dumps(group[name])}' for name in sorted(group))}}}",
        "truncatedAlerts": (len(alerts) if count is None else count) - len(shown),
        "status": "firing",
        "receiver": receiver,
        "groupLabels": group,
        "commonLabels": group,
        "commonAnnotations": _common(one["annotations"] for one in shown),
        "externalURL": "",
        "alerts": shown,
    }
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def labels(alert: Mapping[str, Any]) -> Texts:
    """The labels of an alert: names as Prometheus allows them; a name of the key that is taken has `key_`
    before it."""
    found = {
        "alertname": alert["rule"],
        "pack": alert["pack"],
        "kind": alert["kind"],
        "severity": alert["severity"],
    }
    return _with(found, alert["key"], "key_")


def notes(alert: Mapping[str, Any]) -> Texts:
    """The annotations of an alert; a name that is emitted and taken has `emit_` before it."""
    found = {"summary": alert["summary"], "alert_id": alert["id"]}
    if alert["runbook"] is not None:
        found["runbook_url"] = alert["runbook"]
    if alert["tags"]:
        found["tags"] = ", ".join(alert["tags"])
    return _with(found, alert["emit"], "emit_")


def fingerprint(labels: Mapping[str, str]) -> str:
    """Alertmanager's number of a set of labels, in 16 hexadecimal digits: FNV-1a of 64 bits over names and
    values in order of names, each with a byte 255 behind it (model.LabelSet.Fingerprint)."""
    digest = 0xCBF29CE484222325
    for name in sorted(labels):
        for byte in name.encode() + _SEPARATOR + labels[name].encode("utf-8", "replace") + _SEPARATOR:
            digest = (digest ^ byte) * 0x100000001B3 & 0xFFFF_FFFF_FFFF_FFFF
    return f"{digest:016x}"


def _alert(alert: Mapping[str, Any]) -> dict[str, Any]:
    own = labels(alert)
    return {
        "status": "firing",
        "labels": own,
        "annotations": notes(alert),
        "startsAt": alert["time"],
        "endsAt": _NEVER,
        "generatorURL": "",
        "fingerprint": fingerprint(own),
    }


def _with(found: Texts, values: Mapping[str, Any], prefix: str) -> Texts:
    for name, value in values.items():
        allowed = _NO_NAME.sub("_", name)
        if not allowed or allowed[0].isdigit() or allowed in found:
            allowed = prefix + allowed
        while allowed in found:
            allowed += "_"
        found[allowed] = plain(value)
    return found


def _common(every: Iterable[Texts]) -> Texts:
    first, *others = every
    return {name: text for name, text in first.items() if all(one.get(name) == text for one in others)}
