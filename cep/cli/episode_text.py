"""Episodes as `cep episodes` prints them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence

from alerts.alert import SEVERITIES
from alerts.episodes.episode import Episode, Precision
from alerts.notation import duration, plain, timestamp
from alerts.receivers.console import text_line
from alerts.shown import shown

SHORT = 12
"""Digits of an id in a table."""


def as_dict(one: Episode, id_: str, now: int | None) -> dict[str, object]:
    """An episode as JSON; `now` is event time, by which it is quiet."""
    said = one.standing
    return {
        "id": id_,
        "pack": one.pack,
        "rule": one.rule,
        "key": json.loads(one.key),
        "severity": SEVERITIES[one.worst],
        "state": said.state,
        "quiet": now is not None and one.quiet(now),
        "alerts": one.alerts,
        "began": timestamp(one.began),
        "ended": timestamp(one.ended),
        "episode": duration(one.length),
        "verdict": said.verdict,
        "note": said.note,
        "by": said.by,
        "at": None if said.at is None else timestamp(said.at),
    }


def table(some: Sequence[Episode], ids: Mapping[int, str], now: int | None) -> str:
    """Episodes, a line each."""
    rows = [("id", "state", "severity", "rule", "key", "alerts", "began", "ended")] if some else []
    for one in some:
        rows.append(
            (
                ids[one.first][:SHORT],
                _state(one, now),
                SEVERITIES[one.worst],
                one.rule,
                _key(one),
                f"{one.alerts:,}",
                timestamp(one.began),
                timestamp(one.ended),
            )
        )
    return aligned(rows)


def _key(one: Episode) -> str:
    return ", ".join(map(plain, json.loads(one.key).values()))


def _state(one: Episode, now: int | None) -> str:
    verdict = f" {one.standing.verdict}" if one.standing.verdict else ""
    return one.standing.state + verdict + (" quiet" if now is not None and one.quiet(now) else "")


def page(one: Episode, id_: str, now: int | None, alerts: Iterable[dict[str, object]]) -> str:
    """An episode and its alerts."""
    said = one.standing
    lines = [
        f"episode {id_}",
        f"rule {one.rule} of pack {one.pack}, key {_key(one) or '(none)'}",
        f"{_state(one, now)}, worst severity {SEVERITIES[one.worst]}, alerts: {one.alerts:,}",
    ]
    if said.at is not None:
        lines.append(f"changed by {said.by} at {timestamp(said.at)}")
    if said.note:
        lines.append(f"note: {said.note}")
    lines += [f"  {str(alert['id'])[:SHORT]} {text_line(alert)}" for alert in alerts]
    return "".join(f"{shown(line)}\n" for line in lines)


def precision_table(found: Iterable[Precision]) -> str:
    """The verdicts of rules, a line each."""
    rows: list[tuple[str, ...]] = [("pack", "rule", "precision", "true", "false", "benign", "duplicate")]
    for one in found:
        share = "-" if one.share is None else f"{one.share:.0%}"
        counts = (one.true_positive, one.false_positive, one.benign, one.duplicate)
        rows.append((one.pack, one.rule, share, *(f"{count:,}" for count in counts)))
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
