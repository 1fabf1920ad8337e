"""Episodes as `cep episodes` prints them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from alerts.notation import plain
from alerts.receivers.console import text_line
from alerts.shown import shown

SHORT = 12
"""Digits of an id in a table."""


def table(some: Sequence[Mapping[str, Any]]) -> str:
    """Episodes, as the API tells them, a line each."""
    rows = [("id", "state", "severity", "rule", "key", "alerts", "began", "ended")] if some else []
    for one in some:
        rows.append(
            (
                one["id"][:SHORT],
                _state(one),
                one["severity"],
                one["rule"],
                _key(one),
                f"{one['alerts']:,}",
                one["began"],
                one["ended"],
            )
        )
    return aligned(rows)


def _key(one: Mapping[str, Any]) -> str:
    return ", ".join(map(plain, one["key"].values()))


def _state(one: Mapping[str, Any]) -> str:
    verdict = f" {one['verdict']}" if one["verdict"] else ""
    return f"{one['state']}{verdict}{' quiet' if one['quiet'] else ''}"


def page(one: Mapping[str, Any], alerts: Iterable[dict[str, Any]], more: int) -> str:
    """An episode and its alerts, without `more` older ones."""
    lines = [
        f"episode {one['id']}",
        f"rule {one['rule']} of pack {one['pack']}, key {_key(one) or '(none)'}",
        f"{_state(one)}, worst severity {one['severity']}, alerts: {one['alerts']:,}",
    ]
    if one["at"] is not None:
        lines.append(f"changed by {one['by']} at {one['at']}")
    if one["note"]:
        lines.append(f"note: {one['note']}")
    if more:
        lines.append(f"  older alerts of it that are not shown: {more:,}")
    lines += [f"  {str(alert['id'])[:SHORT]} {text_line(alert)}" for alert in alerts]
    return "".join(f"{shown(line)}\n" for line in lines)


def told_to(some: Iterable[Mapping[str, Any]]) -> str:
    """A line for each attempt to tell a receiver that follows episodes of one."""
    lines = []
    for one in some:
        more = f", is to be told more (attempts: {one['attempts']})" if one["pending"] else ""
        lines += [f"{one['receiver']} knows of it{more}", *(f"  {line}" for line in one["trace"])]
    return "".join(f"{shown(line)}\n" for line in lines)


def precision_table(found: Iterable[Mapping[str, Any]]) -> str:
    """The verdicts of rules, as the API tells them, a line each."""
    rows: list[tuple[str, ...]] = [("pack", "rule", "precision", "true", "false", "benign", "duplicate")]
    for one in found:
        share = "-" if one["precision"] is None else f"{one['precision']:.0%}"
        counts = (one[name] for name in ("true_positive", "false_positive", "benign", "duplicate"))
        rows.append((one["pack"], one["rule"], share, *(f"{count:,}" for count in counts)))
    return aligned(rows)


def aligned(rows: Sequence[Sequence[str]]) -> str:
    """Rows in columns as wide as their widest cell."""
    from wcwidth import wcswidth

    cells = [[shown(cell) for cell in row] for row in rows]
    widths = [max(max(wcswidth(cell), 0) for cell in column) for column in zip(*cells, strict=True)]
    lines = (
        "  ".join(
            cell + " " * (width - max(wcswidth(cell), 0)) for cell, width in zip(row, widths, strict=True)
        )
        for row in cells
    )
    return "".join(f"{line.rstrip()}\n" for line in lines)
