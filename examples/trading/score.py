"""The alerts of the pack beside what was done on purpose, and beside what pandas finds in the same trades."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

import pandas as pd
from text_table import table
from trading.generate import START, Label
from trading.in_pandas import Found, found_by_pandas

PURPOSE: dict[str, tuple[str, str]] = {
    "price_move": ("ramp", "20 basis points between two minutes"),
    "volume_burst": ("pump", "six times the same minute of the hour before"),
    "volume_jump": ("pump", "ten seconds of twice the minute before"),
    "spike_and_reversal": ("spike", "ten basis points away and back in ten seconds"),
    "one_sided_flow": ("one_sided", "all purchases, or all sales"),
    "equal_slices": ("slices", "many trades of one size and side"),
    "momentum_ignition": ("ignition", "thirty purchases up, then a large sale"),
    "quiet_market": ("halt", "ten seconds without a trade"),
    "thin_market": ("thin", "a fifth of the trades of the minute before"),
    "session_spread": ("ramp", "20 basis points within a session"),
    "outsized_trade": ("whale", "20 standard deviations above 200 trades"),
    "markets_apart": ("apart", "15 basis points between two markets"),
}
"""Rule: the kind of manipulation that it is after, and what it looks for, in words."""
GRACE = 75_000
"""Milliseconds after a manipulation in which an alert is still taken for its: a window's end, and a delay."""
LATENESS = 500
"""The stream's, in milliseconds."""


def milliseconds(instant: object) -> int:
    """Since 1970, of an instant as alerts and events write it."""
    return round(datetime.fromisoformat(str(instant)).timestamp() * 1000)


def found_by_pack(alerts: Iterable[Mapping[str, object]]) -> dict[str, Counter[Found]]:
    """The alerts of every rule, by key and time."""
    found: dict[str, Counter[Found]] = {rule: Counter() for rule in PURPOSE}
    for alert in alerts:
        key = alert["key"]
        assert isinstance(key, dict)
        named = tuple(repr(v) if isinstance(v, float) else str(v) for v in key.values())
        found[str(alert["rule"])][named, milliseconds(alert["time"])] += 1
    return found


def in_time(trades: pd.DataFrame) -> pd.DataFrame:
    """The trades that are not late, in order of arrival."""
    return trades[trades.ms >= trades.ms.cummax() - LATENESS]


def of_label(found: Found, rule: str, label: Label) -> bool:
    """True if an alert of the rule tells of what was done: on its market, while it went on or soon after."""
    (key, at), begins = found, milliseconds(START.isoformat())
    where = label.symbol in key and (label.market in key or rule == "markets_apart")
    return where and label.begins * 1000 <= at - begins <= label.ends * 1000 + GRACE


def report(
    alerts: Mapping[str, Counter[Found]],
    trades: pd.DataFrame,
    labels: Sequence[Label] | None = None,
) -> tuple[str, bool]:
    """A table, one line a rule, and whether pandas finds the same. `trades` are those that came in time."""
    expected = found_by_pandas(trades)
    of_labels = [] if labels is None else ["done", "caught", "others"]
    rows: list[list[object]] = [
        ["rule", "looks for", *of_labels, "alerts", "pandas", "same", "only here", "only pandas"]
    ]
    for rule, (kind, words) in PURPOSE.items():
        got, wanted = alerts[rule], expected[rule]
        row: list[object] = [rule, words]
        if labels is not None:
            done = [label for label in labels if label.kind == kind]
            caught = [label for label in done if any(of_label(one, rule, label) for one in got)]
            others = [one for one in got.elements() if not any(of_label(one, rule, label) for label in done)]
            row += [len(done), len(caught), len(others)]
        same = (got & wanted).total()
        row += [got.total(), wanted.total(), same, got.total() - same, wanted.total() - same]
        rows.append(row)
    return table(rows), all(alerts[rule] == expected[rule] for rule in PURPOSE)
