"""The pack on trades of your own: `make trial-trades DATA=trades.csv.gz`.

The file has one trade a line, in the order in which they arrived, and at least the columns market, symbol,
trade_id, trade_ms (milliseconds since 1970), price, qty and buyer_is_maker (0 or 1): those that Binance's
trade streams give, under the names of hftbacktest's recordings. Runs `cep run --once --drain` and prints
what every rule found beside what pandas finds in the same trades. Exits with 1 if the two differ.
"""

from __future__ import annotations

import argparse
import json
import shutil
import time
from datetime import UTC, datetime
from pathlib import Path

import pandas as pd
from demo_job import DemoError, run_to_the_end
from pyarrow import ArrowInvalid, csv
from trading.in_pandas import COLUMNS
from trading.score import found_by_pack, in_time, report

HERE = Path(__file__).parent
TYPES = {
    "market": "string",
    "symbol": "string",
    "trade_id": "string",
    "trade_ms": "int64",
    "price": "double",
    "qty": "double",
    "buyer_is_maker": "bool",
}
JOB = """
[job]
name = "trial"
packs = "{packs}"
state = "state/"

[feeds.trade]
source = "files"
path = "inbox/trade/*.jsonl"
"""


def trades_of(data: Path) -> pd.DataFrame:
    """The trades of a recording, in its order. Raises DemoError for a file that is none."""
    options = csv.ConvertOptions(column_types=TYPES, include_columns=list(TYPES))
    try:
        table = csv.read_csv(data, convert_options=options).to_pandas()
    except (ArrowInvalid, KeyError) as error:
        raise DemoError(f"{data} is no recording of trades (columns {', '.join(TYPES)}): {error}") from error
    table["trade_id"] = table.market + "-" + table.symbol + "-" + table.trade_id
    return table.rename(columns={"trade_ms": "ms"})[list(COLUMNS)]


def write_events(trades: pd.DataFrame, path: Path) -> None:
    """Write the trades as events of the pack's stream."""
    with path.open("w", encoding="utf-8") as out:
        for trade in trades.to_dict("records"):
            moment = datetime.fromtimestamp(trade.pop("ms") / 1000, UTC).isoformat(timespec="milliseconds")
            out.write(json.dumps({**trade, "traded_at": moment.replace("+00:00", "Z")}) + "\n")


def trial(data: Path, work: Path) -> bool:
    """Run the job on the data; whether pandas finds the same. Raises DemoError."""
    shutil.rmtree(work, ignore_errors=True)
    (work / "inbox" / "trade").mkdir(parents=True)
    trades = trades_of(data)
    write_events(trades, work / "inbox" / "trade" / "trades.jsonl")
    job = work / "job.toml"
    job.write_text(JOB.format(packs=HERE / "packs"), "utf-8")
    start = time.monotonic()
    found = found_by_pack(run_to_the_end(job))
    seconds = time.monotonic() - start
    came = in_time(trades)
    text, same = report(found, came)
    behind, late = (trades.ms < trades.ms.cummax()).mean(), len(trades) - len(came)
    print(f"\n{text}\n\n{len(trades):,} trades, {behind:.0%} of them out of order, {late:,} late")
    print(f"{seconds:.0f} s, Spark's start included")
    return same


def main() -> None:
    """The command line of the trial."""
    parser = argparse.ArgumentParser(description="Run the trading pack on a recording of trades.")
    parser.add_argument("data", type=Path, nargs="?", default=HERE / "sample.csv.gz")
    options = parser.parse_args()
    if not options.data.is_file():
        raise SystemExit(f"there is no file {options.data}")
    try:
        same = trial(options.data, HERE / "work" / "trial")
    except DemoError as error:
        raise SystemExit(f"trial: {error}") from None
    raise SystemExit(0 if same else "trial: the job and pandas differ")


if __name__ == "__main__":
    main()
