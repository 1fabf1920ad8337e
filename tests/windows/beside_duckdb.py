"""Windows over trades beside DuckDB: every value of every window over a recording is compared.

    python tests/windows/beside_duckdb.py [trades.csv.gz] [--batch 5000]

The recording is one as `make trial-trades` takes, without it the sample of examples/trading. The trades
go through the engine in their order of arrival, in batches. Where a window is judged at each trade, two rules
tell its values, of which one is true at the odd trades of a market and the other at the even ones. Prints a
row for each window and the first differences; exits with 1 if there is one.

Values must be equal to the last bit, but for percentiles. Those lie between two neighbours `l <= h`, neither
negative, at the same distance `d` on both sides; `l + (h - l) d` as well as `l (1 - d) + h d` come within
four roundings of it, 4 2^-53 of the value, so that the two differ by at most 2^-50 of it. Percentiles of more
than 10,000 values, which alerts call approximate, are counted and not compared.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2]))
sys.path.append(str(Path(__file__).parents[2] / "examples"))

import pandas as pd
from trading.score import LATENESS, in_time, milliseconds
from trading.trial import trades_of

from cep.inprocess.rows import line_events
from cep.inprocess.session import Session
from cep.packs.compile import compile_plan
from cep.shard.advance import MatchOptions
from rules.packs import load_texts
from tests.windows.duckdb_windows import WINDOWS, Aggregate, AtEachTrade, Oracle, Row, Value, Window, readings

SAMPLE = Path(__file__).parents[2] / "examples" / "trading" / "sample.csv.gz"
STREAM = f"""pack trades version "1"
stream trade {{
  place: long  at: timestamp  market: string  symbol: string  price: double  qty: double
  buyer_is_maker: boolean  odd: boolean
  id place  time at  lateness {LATENESS} milliseconds
}}
"""
NEAR = 2.0**-50


def recording(path: Path, most: int | None = None) -> pd.DataFrame:
    """The trades of a recording that are not late, each once, in order of arrival."""
    return in_time(trades_of(path).head(most)).drop_duplicates("trade_id", ignore_index=True)


def pack(windows: Mapping[str, Window]) -> str:
    """A rule for each window that is judged at its end, two for others, with all readings."""
    rules = []
    for name, window in windows.items():
        emit = ", ".join(f"x{number} = {ours}" for number, (ours, _) in enumerate(readings(window)))
        at_each = {"odd": "last(odd)", "even": "not last(odd)"}
        having = at_each if isinstance(window, AtEachTrade) else {"all": "count() > 0"}
        over = f"by market, symbol  over trade {window.clause}"
        rules += [
            f"rule {name}_{which} {{ {over}  having {asked}  emit {emit} }}"
            for which, asked in having.items()
        ]
    return STREAM + "\n".join(rules)


@dataclass(frozen=True, slots=True)
class Told:
    """An alert: the name of its window, (place,) or key and end, and the readings, some of which it calls
    approximate."""

    window: str
    of: Row
    values: list[Value]
    estimated: frozenset[int]


def told(trades: pd.DataFrame, windows: Mapping[str, Window], batch: int) -> Iterator[Told]:
    """What our engine says, batch after batch."""
    loaded = load_texts([("trades.rules", pack(windows))]).need()
    session = Session(compile_plan([loaded]), shards=2, options=MatchOptions(compiled=True))
    lines = list(_lines(trades))
    for first in range(0, len(lines), batch):
        events, refused = line_events(
            loaded, [(n, "trade", line) for n, line in lines[first : first + batch]]
        )
        assert not refused
        yield from (_told(one.body, windows) for one in session.feed(events))
    yield from (_told(one.body, windows) for one in session.drain())
    assert not session.late


def _lines(trades: pd.DataFrame) -> Iterator[tuple[int, bytes]]:
    in_order = trades.sort_values("ms", kind="stable")
    odd = (in_order.groupby(["market", "symbol"]).cumcount() % 2 == 0).sort_index()
    at = pd.to_datetime(trades.ms, unit="ms", utc=True).dt.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    columns = trades[["market", "symbol", "price", "qty", "buyer_is_maker"]]
    for place, row in enumerate(columns.assign(at=at, odd=odd).to_dict("records")):
        yield place, json.dumps({"place": place, **row}).encode()


def _told(body: bytes, windows: Mapping[str, Window]) -> Told:
    alert = json.loads(body)
    name = alert["rule"].rpartition("_")[0]
    if isinstance(windows[name], AtEachTrade):
        of: Row = (int(alert["events"]["trade"][-1]),)
    else:
        of = (*alert["key"].values(), milliseconds(alert["time"]))
    estimated = frozenset(int(one.removeprefix("x")) for one in alert.get("approximate", ()))
    return Told(name, of, list(alert["emit"].values()), estimated)


def equal(one: Aggregate, ours: Value, theirs: Value) -> bool:
    """True if both say the same, percentiles as nearly as two ways to interpolate come."""
    if one.nearly and ours is not None and theirs is not None:
        return abs(ours - theirs) <= NEAR * abs(theirs)
    return ours == theirs and type(ours) is type(theirs)


@dataclass(slots=True)
class Compared:
    """What the comparison of a window came to; `known` are the values that are not null, `estimated` those
    that were not compared."""

    windows: int = 0
    values: int = 0
    known: int = 0
    estimated: int = 0
    differences: list[str] = field(default_factory=list)


def compared(
    trades: pd.DataFrame, batch: int, windows: Mapping[str, Window] = WINDOWS
) -> dict[str, Compared]:
    """By the names of the windows; each must be told once by both sides."""
    oracle = Oracle(trades)
    expected = {name: oracle.answers(window) for name, window in windows.items()}
    oracle.close()
    found = {name: Compared() for name in windows}
    for one in told(trades, windows, batch):
        theirs, result = expected[one.window].pop(one.of, None), found[one.window]
        if theirs is None:
            result.differences.append(f"{one.of} is told by us alone, or twice")
            continue
        result.windows += 1
        result.values += len(theirs)
        result.known += len(theirs) - theirs.count(None)
        result.estimated += len(one.estimated)
        of = zip(readings(windows[one.window]), one.values, theirs, strict=True)
        result.differences += [
            f"{one.of} {text}: {mine!r}, DuckDB {other!r}"
            for number, ((text, aggregate), mine, other) in enumerate(of)
            if number not in one.estimated and not equal(aggregate, mine, other)
        ]
    for name, missing in expected.items():
        found[name].differences += [f"{of} is told by DuckDB alone" for of in missing]
    return found


def main() -> int:
    """The command line; the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path, nargs="?", default=SAMPLE)
    parser.add_argument("--batch", type=int, default=5_000)
    options = parser.parse_args()
    trades = recording(options.data)
    behind = (trades.ms < trades.ms.cummax()).mean()
    print(f"{len(trades):,} trades, {behind:.0%} of them out of order, in batches of {options.batch:,}")
    found = compared(trades, options.batch)
    for name, one in found.items():
        clause = WINDOWS[name].clause
        estimated = f", {one.estimated} estimated" if one.estimated else ""
        differ = f"{len(one.differences)} differ{estimated}"
        print(f"{clause:28}{one.windows:>9,} windows{one.values:>11,} values, {differ}")
        if one.differences:
            print(*(f"    {difference}" for difference in one.differences[:20]), sep="\n")
    return 1 if any(one.differences for one in found.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
