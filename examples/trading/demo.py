"""The trading desk's job from end to end: the last part of `make demo`.

Generates 110 minutes of trades with labelled manipulations, lets `cep run` read them in the order of
their arrival, and prints what every rule found beside what was done on purpose and what pandas finds in the
same trades. Exits with 1 if the two differ, if a rule finds nothing, or if anything is missing: an alert, a
delivery, a dead letter.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterable
from pathlib import Path

import pandas as pd
from demo_job import DemoError, check_nothing_is_missing, desk, drain, kept, prepare
from trading.generate import generate
from trading.in_pandas import COLUMNS
from trading.score import found_by_pack, in_time, milliseconds, report

HERE = Path(__file__).parent


def table_of(files: Iterable[Path]) -> pd.DataFrame:
    """The trades of files of JSON lines, in order of arrival, malformed ones left out."""
    lines = (line for path in files for line in path.read_text("utf-8").splitlines())
    trades = [trade for trade in map(json.loads, lines) if isinstance(trade["price"], float)]
    for trade in trades:
        trade["ms"] = milliseconds(trade["traded_at"])
    return pd.DataFrame(trades, columns=list(COLUMNS))


def demo(work: Path, minutes: int, seed: int) -> None:
    """The whole demo. Raises DemoError where something is missing."""
    begun = time.monotonic()
    place = prepare(HERE, work, ("trade",))
    print(f"generating {minutes} minutes of trades ...", flush=True)
    generated = generate(place.work / "generated", minutes, files=20, seed=seed)
    trades = table_of(generated.files)
    for path in generated.files:
        path.rename(place.work / "inbox" / "trade" / path.name)
    print(f"running the job on {generated.lines:,} events ...", flush=True)
    with desk(place):
        drain(place)
    held, received = kept(place), place.received()
    found = found_by_pack(held.alerts.values())
    text, same = report(found, in_time(trades), generated.labels)
    print(f"\n{text}\n")
    behind = (trades.ms < trades.ms.cummax()).mean()
    print(f"events          {generated.lines:,}, {behind:.0%} of them out of order")
    print(f"alerts          {len(held.alerts):,} in the outbox")
    print(f"deliveries      {len(received):,} verified by the receiver, {held.open_deliveries:,} still open")
    print(f"dead letters    {held.dead:,} kept of {generated.malformed:,} malformed lines")
    silent = [rule for rule, alerts in found.items() if not alerts]
    if silent:
        raise DemoError(f"no alert of {', '.join(silent)}")
    if not same:
        raise DemoError("the job and pandas differ")
    check_nothing_is_missing(place, held, generated.malformed)
    print(f"the trading demo  {time.monotonic() - begun:.0f} s")


def main() -> None:
    """The command line of the demo."""
    parser = argparse.ArgumentParser(description="The trading desk's job from end to end.")
    parser.add_argument("--minutes", type=int, default=110)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--work", type=Path, default=HERE / "work" / "demo")
    options = parser.parse_args()
    try:
        demo(options.work.resolve(), options.minutes, options.seed)
    except DemoError as error:
        raise SystemExit(f"demo: {error}") from None


if __name__ == "__main__":
    main()
