"""Alerts of windows of both sides, as tables by rule, key and time, and their comparison.

Peers add doubles left to right, or add and subtract them as payments come and go; ours are exact sums that
are rounded once. So sums and averages are equal where they differ by no more than NEAR of their value, and
everything else where it is equal. Of a sliding window peers tell every payment at which the condition is
true, ours those at which it becomes true: theirs are narrowed to these here.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from peers.payments import KEYS, KINDS, LARGE, LEAST, Turn

NEAR = 1e-9
COLUMNS = {"sliding": ("n", "s"), "filters": ("n", "s", "a", "m")}


def of_alerts(work: str, found: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """Our alerts."""
    rows = [
        (one["rule"], one["key"][KEYS[work]], one["time"], *(one["emit"][name] for name in COLUMNS[work]))
        for one in found
    ]
    told = pd.DataFrame(rows, columns=["rule", "key", "time", *COLUMNS[work]])
    return told.assign(time=_milliseconds(told.time))


def of_file(work: str, path: Path) -> pd.DataFrame:
    """The alerts of a file that our engine wrote."""
    return of_alerts(work, map(json.loads, path.read_text("utf-8").splitlines()))


def theirs(work: str, paths: Iterable[Path], turn: Turn) -> pd.DataFrame:
    """The output of a peer: a row a payment, or a row a window with ten filters, or one a filter."""
    lines = [line for path in paths for line in path.read_text("utf-8").splitlines()]
    rows = pd.DataFrame([json.loads(line) for line in lines])
    rows["time"] = rows.time if rows.time.dtype == np.int64 else _milliseconds(rows.time)
    if work == "sliding":
        return becoming_true(rows.assign(rule="sliding"), turn)
    if "n0" not in rows:
        return rows
    of_kinds = []
    for kind in range(KINDS):
        named = {f"{name}{kind}": name for name in COLUMNS[work]}
        of_kind = rows[["key", "time", *named]].rename(columns=named)
        of_kinds.append(of_kind[of_kind.n > LEAST].assign(rule=f"kind{kind}"))
    return pd.concat(of_kinds)


def becoming_true(rows: pd.DataFrame, turn: Turn) -> pd.DataFrame:
    """The rows whose card had no row at its payment before."""
    payments = turn.payments.sort_values(["card", "ms"], kind="stable")
    told = set(zip(rows.key.tolist(), rows.time.tolist(), strict=True))
    cards, times = payments.card.tolist(), payments.ms.tolist()
    true = np.array([one in told for one in zip(cards, times, strict=True)])
    assert true.sum() == len(told) == len(rows)
    same = np.append(False, payments.card.to_numpy()[1:] == payments.card.to_numpy()[:-1])
    again = true & np.append(False, true[:-1]) & same
    left = {one for one, one_again in zip(zip(cards, times, strict=True), again, strict=True) if one_again}
    kept = [one not in left for one in zip(rows.key.tolist(), rows.time.tolist(), strict=True)]
    return rows[kept]


def becoming_true_by(turn: Turn) -> int:
    """The number of alerts of the sliding window, by numpy."""
    payments = turn.payments.sort_values(["card", "ms"], kind="stable")
    ms, card = payments.ms.to_numpy(), payments.card.to_numpy()
    fifth = np.append(np.full(LEAST, -1), np.arange(len(ms) - LEAST))[: len(ms)]
    crowded = (fifth >= 0) & (card[fifth] == card) & (ms - ms[fifth] < 300_000)
    true = crowded & (payments.amount.to_numpy() > LARGE)
    same = np.append(False, card[1:] == card[:-1])
    return int((true & ~(np.append(False, true[:-1]) & same)).sum())


def expected(work: str, turn: Turn) -> int:
    """The number of alerts of a turn, by pandas: the job is waited for until it has them."""
    if work == "sliding":
        return becoming_true_by(turn)
    payments = turn.payments
    counts = payments.groupby(["kind", "merchant", payments.ms // 60_000], sort=False).size()
    return int((counts > LEAST).sum())


def verdict(work: str, left: pd.DataFrame, right: pd.DataFrame) -> str:
    """The outcome of their comparison. Raises SystemExit if they differ: nothing is worth comparing then."""
    names = ["rule", "key", "time"]
    both = left.merge(right, on=names, how="outer", suffixes=("", "_theirs"), indicator=True)
    same = both._merge == "both"
    for name in COLUMNS[work]:
        near = NEAR if name in "sa" else 0.0
        same &= (both[name] - both[f"{name}_theirs"]).abs() <= near * both[name].abs()
    if same.all() and len(both) == len(left) == len(right):
        return f"{len(left):,} alerts, the same"
    raise SystemExit(f"{(~same).sum():,} of {len(both):,} alerts differ:\n{both[~same].head().to_string()}")


def _milliseconds(times: pd.Series) -> pd.Series:
    plain = times.str.replace(" ", "T").str.replace("Z", "")
    return pd.to_datetime(plain, format="ISO8601").astype("datetime64[ms]").astype(np.int64)
