"""The table of comparisons, in Markdown, so that it can stand on a page as it is printed."""

from __future__ import annotations

import statistics
from collections.abc import Iterable

from peers.turns import Comparison, Latency

HEAD = (
    "comparison",
    "ours",
    "theirs",
    "ratio (least to greatest)",
    "by the clock",
    "looked for",
    "p50 / p99 ours",
    "theirs",
    "peak MB ours, theirs",
    "results",
)


def table(rows: Iterable[Comparison]) -> str:
    """The ratio is that of processor times, the median of turns; rates are those of the clock."""
    lines = [HEAD, ("---",) * len(HEAD), *map(_cells, rows)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _cells(row: Comparison) -> tuple[str, ...]:
    ratios, rates = row.ratios, row.rates
    ours, theirs = row.latencies or (None, None)
    return (
        row.name,
        f"{_number(rates[0])} {row.unit}/s",
        f"{_number(rates[1])} {row.unit}/s",
        f"{_number(statistics.median(ratios))} ({_number(min(ratios))} to {_number(max(ratios))})",
        _number(statistics.median(row.by_the_clock)),
        "" if row.accept is None else f"{row.accept:g}",
        _latency(ours),
        _latency(theirs),
        "" if row.peaks is None else ", ".join(f"{peak / 1e6:,.0f}" for peak in row.peaks),
        row.same,
    )


def _latency(found: Latency | None) -> str:
    return "" if found is None else f"{_microseconds(found.p50)} / {_microseconds(found.p99)}"


def _microseconds(value: float) -> str:
    return f"{_number(value)} us" if value < 1e4 else f"{_number(value / 1e3)} ms"


def _number(value: float) -> str:
    """Three digits that count."""
    if value >= 100:
        digits = len(str(round(value)))
        return f"{round(value, 3 - digits):,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"
