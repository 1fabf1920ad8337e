"""Trades of two coins on three markets, with labelled manipulations, in the order in which they arrive.

Orders come at random, a fifth of them in crowds; each takes one or more resting orders at one instant, so
trades of equal time are common. Prices follow a random walk that the markets of a coin share. Every market
has a connection of its own: its trades keep their order, but some seconds everything on it is held up, up
to `LATENESS` milliseconds, and so the trades of all markets together arrive out of order. Some are delivered
twice, some lines are malformed. From the 64th minute on, something is done every 150 seconds on one market,
and labelled:

    ramp        60 basis points up within 30 seconds, with many more orders, kept for three minutes
    pump        a minute of more and much larger trades
    spike       15 basis points away in two seconds, and back
    one_sided   20 seconds in which everybody buys
    slices      an order sold in 40 equal slices, two a second
    ignition    40 purchases in a row push the price up, then a large one is sold
    halt        no trade for 45 seconds
    thin        two minutes with a tenth of the trades
    whale       one trade a hundred times as large as is usual
    apart       a coin is 25 basis points dearer on one market, for ten seconds
"""

from __future__ import annotations

import argparse
import csv
import gzip
import io
import json
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

START = datetime(2026, 2, 3, 8, tzinfo=UTC)
MARKETS = (
    ("spot", "BTCUSDT", "BTC", 1.5, 0.02, 3.0),
    ("spot", "ETHUSDT", "ETH", 1.5, 0.3, 3.0),
    ("usdm", "BTCUSDT", "BTC", 1.8, 0.05, 1.0),
    ("usdm", "ETHUSDT", "ETH", 1.8, 0.6, 1.0),
    ("cm", "BTCUSD_PERP", "BTC", 1.2, 8.0, 11.0),
    ("cm", "ETHUSD_PERP", "ETH", 1.2, 30.0, 11.0),
)
"""Market, symbol, coin, orders a second, usual quantity, usual delay in milliseconds."""
PRICE = {"BTC": (61_800.0, 0.1), "ETH": (2_680.0, 0.01)}
"""A coin's first price and the least difference of two prices."""
LATENESS = 214
FIRST, EVERY = 64 * 60, 150
KINDS = ("ramp", "pump", "spike", "one_sided", "slices", "ignition", "halt", "thin", "whale", "apart")
MOVES = ("ramp", "apart")
"""What moves the price of all orders, whoever brought them."""


@dataclass(frozen=True, slots=True)
class Label:
    """What was done, on which market, from when until when (seconds since `START`)."""

    kind: str
    market: str
    symbol: str
    begins: float
    ends: float


@dataclass(frozen=True, slots=True)
class Trades:
    """Trades in order of their time (milliseconds since `START`), those of one instant as they happened.

    `market` is a place in MARKETS.
    """

    ms: NDArray[np.int64]
    market: NDArray[np.int64]
    price: NDArray[np.float64]
    qty: NDArray[np.float64]
    sold: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Generated:
    """The files written, in order, and what is in them."""

    files: list[Path]
    trades: int
    redelivered: int
    malformed: int
    labels: tuple[Label, ...]

    @property
    def lines(self) -> int:
        """All lines of all files."""
        return self.trades + self.redelivered + self.malformed


def scheduled(begin: int, end: int, every: int, random: np.random.Generator) -> tuple[Label, ...]:
    """What is done between two seconds, one thing every so many: each kind in turn, on a market by chance."""
    lasts = dict.fromkeys(KINDS, 20.0) | {"ramp": 180.0, "pump": 60.0, "spike": 6.0, "halt": 45.0}
    lasts |= {"thin": 120.0, "whale": 1.0, "apart": 10.0}
    labels = []
    for number, at in enumerate(range(begin, end, every)):
        kind = KINDS[number % len(KINDS)]
        fitting = [m for m in MARKETS if kind not in ("ramp", "apart") or (m[0] == "cm") == (kind == "ramp")]
        market, symbol = fitting[int(random.integers(len(fitting)))][:2]
        begins = at + float(random.integers(20))
        labels.append(Label(kind, market, symbol, begins, begins + lasts[kind]))
    return tuple(labels)


def simulate(seconds: int, labels: Sequence[Label], random: np.random.Generator) -> Trades:
    """The trades of all markets."""
    walks = {coin: np.cumsum(random.normal(0, 3.5e-5, seconds + 1)) for coin in PRICE}
    of_all = []
    for number, (market, symbol, coin, *_) in enumerate(MARKETS):
        mine = [label for label in labels if (label.market, label.symbol) == (market, symbol)]
        of_all.append(_of_market(number, walks[coin], mine, random))
    columns = [np.concatenate(column) for column in zip(*of_all, strict=True)]
    order = np.argsort(columns[0], kind="stable")
    ms, market_of, price, qty, sold = (column[order] for column in columns)
    return Trades(ms, market_of, price, qty, sold)


@dataclass(frozen=True, slots=True)
class Orders:
    """Orders of one market: seconds since `START`, quantity, side, how far the price is from the walk.

    `exact`: they make one trade, of that quantity.
    """

    at: NDArray[np.float64]
    size: NDArray[np.float64]
    sold: NDArray[np.bool_]
    shift: NDArray[np.float64]
    exact: NDArray[np.bool_]

    def where(self, kept: NDArray[Any]) -> Orders:
        """Those of them."""
        return Orders(*(column[kept] for column in self.columns()))

    def columns(self) -> tuple[NDArray[Any], ...]:
        """The columns, in order."""
        return self.at, self.size, self.sold, self.shift, self.exact

    def filled(self, random: np.random.Generator) -> Orders:
        """One row for each trade that they make, in order of time."""
        rows = np.repeat(
            np.arange(len(self.at)), np.where(self.exact, 1, random.geometric(0.65, len(self.at)))
        )
        return self.where(rows[np.argsort(self.at[rows], kind="stable")])

    def with_more(
        self, at: NDArray[Any], size: object, sold: object, shift: object = 0.0, exact: bool = False
    ) -> Orders:
        """These and others; what is not given by order is the same for all of them."""
        of_new = (at, size, sold, shift, exact)
        return Orders(
            *(
                np.append(column, np.broadcast_to(np.asarray(new, dtype=column.dtype), len(at)))
                for column, new in zip(self.columns(), of_new, strict=True)
            )
        )


def _of_market(
    number: int, walk: NDArray[np.float64], labels: Sequence[Label], random: np.random.Generator
) -> tuple[NDArray[Any], ...]:
    """One market's trades: its own orders, what manipulations add and take away, and then their prices."""
    coin, rate, usual = MARKETS[number][2:5]
    seconds = len(walk) - 1
    at = random.uniform(0, seconds, random.poisson(rate * seconds))
    crowd = random.random(len(at)) < 0.2
    at = np.where(crowd, np.floor(at / 5) * 5 + random.exponential(0.2, len(at)), at)
    size = usual * random.lognormal(-1.0, 0.9, len(at))
    nothing = np.zeros(len(at))
    orders = Orders(at, size, random.random(len(at)) < 0.5, nothing, nothing > 0)
    for label in sorted(labels, key=lambda label: label.kind in MOVES):
        orders = manipulated(label, usual, orders, random)
    trades = orders.where(orders.at < seconds).filled(random)
    first, tick = PRICE[coin]
    level = np.interp(trades.at, np.arange(seconds + 1), walk) + trades.shift
    away = np.where(trades.sold, -1, 1) * random.uniform(0, 2e-5, len(level))
    price = np.round(np.round(first * np.exp(level + away) / tick) * tick, 2)
    part = np.where(trades.exact, 1.0, random.uniform(0.3, 1.0, len(level)))
    step = 1.0 if usual >= 1 else 0.0001
    qty = np.round(np.maximum(np.round(trades.size * part / step), 1) * step, 4)
    return np.floor(trades.at * 1000).astype(np.int64), np.full(len(level), number), price, qty, trades.sold


def manipulated(label: Label, usual: float, orders: Orders, random: np.random.Generator) -> Orders:
    """The orders with what a manipulation adds, changes and takes away; `usual`: the market's quantity."""
    inside = (orders.at >= label.begins) & (orders.at < label.ends)

    def during(count: int, seconds: float) -> NDArray[np.float64]:
        return label.begins + np.sort(random.uniform(0, seconds, count))

    def sizes(count: int, times: float) -> NDArray[np.float64]:
        return usual * times * random.uniform(0.6, 1.4, count)

    def any_side(count: int) -> NDArray[np.bool_]:
        return random.random(count) < 0.5

    match label.kind:
        case "ramp":
            more = orders.with_more(during(150, 30), sizes(150, 0.6), any_side(150))
            way = np.clip((more.at - label.begins) / 30, 0, 1)
            return replace(more, shift=more.shift + np.where(more.at < label.ends, 0.006 * way, 0.0))
        case "pump":
            return orders.with_more(during(240, 60), sizes(240, 6), any_side(240))
        case "spike":
            sign = 1 if random.random() < 0.5 else -1
            away = sign * 0.0015 * np.minimum(np.arange(60) / 30, 1)
            return orders.with_more(during(60, 2), sizes(60, 0.3), sign < 0, away)
        case "one_sided":
            bought = replace(orders, sold=orders.sold & ~inside)
            return bought.with_more(during(120, 20), sizes(120, 0.4), False)
        case "slices":
            slice_ = 7.0 if usual >= 1 else 0.137 * usual
            return orders.with_more(label.begins + np.arange(40) / 2, slice_, True, 0.0, True)
        case "ignition":
            return _ignited(label.begins, usual, orders)
        case "halt":
            return orders.where(~inside)
        case "thin":
            return orders.where(~inside | (random.random(len(inside)) < 0.1))
        case "whale":
            return orders.with_more(during(1, 1), 100 * usual, any_side(1), 0.0, True)
        case _:
            return replace(orders, shift=orders.shift + np.where(inside, 0.0025, 0.0))


def _ignited(begins: float, usual: float, orders: Orders) -> Orders:
    """A small sale, 40 purchases at rising prices with no other order between, and a large sale."""
    alone = orders.where((orders.at < begins) | (orders.at >= begins + 4))
    begun = alone.with_more(np.array([begins + 0.5]), 0.2 * usual, True, 0.0, True)
    pushed = begun.with_more(
        begins + 1 + np.arange(40) * 0.04, 0.5 * usual, False, 0.001 * np.arange(40) / 39, True
    )
    return pushed.with_more(np.array([begins + 3]), 40 * usual, True, 0.0008, True)


def delays(trades: Trades, random: np.random.Generator) -> NDArray[np.int64]:
    """When every trade arrives, in milliseconds since `START`; one market's trades keep their order."""
    arrives = np.empty(len(trades.ms), dtype=np.int64)
    for number, (*_, usual) in enumerate(MARKETS):
        of = trades.market == number
        ms = trades.ms[of]
        held = random.random(int(ms.max(initial=0)) // 1000 + 1) < 0.08
        delay = random.exponential(usual, len(ms)) + np.where(held[ms // 1000], 200.0, 0.0)
        arrives[of] = np.maximum.accumulate(ms + np.minimum(delay, LATENESS).astype(np.int64))
    return arrives


def arrivals(trades: Trades, random: np.random.Generator) -> list[tuple[int, dict[str, object]]]:
    """The trades as events, each with the time of its arrival, in that order."""
    found: list[tuple[int, dict[str, object]]] = []
    arrives = delays(trades, random)
    for i in np.argsort(arrives, kind="stable"):
        market, symbol = MARKETS[trades.market[i]][:2]
        traded = START + timedelta(milliseconds=int(trades.ms[i]))
        event: dict[str, object] = {
            "trade_id": f"{market}-{symbol}-{i}",
            "traded_at": traded.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "market": market,
            "symbol": symbol,
            "price": float(trades.price[i]),
            "qty": float(trades.qty[i]),
            "buyer_is_maker": bool(trades.sold[i]),
        }
        found.append((int(arrives[i]), event))
    return found


def generate(
    folder: Path, minutes: int, files: int, seed: int, first: int = FIRST, every: int = EVERY
) -> Generated:
    """Write `trade/trade-NNN.jsonl` and labels.json below a folder.

    From second `first` on something is done every so many seconds, not in the last five minutes.
    """
    random = np.random.default_rng(seed)
    labels = scheduled(first, minutes * 60 - 300, every, random)
    events = arrivals(simulate(minutes * 60, labels, random), random)
    lines, again, bad = [], 0, 0
    for at, event in events:
        line = json.dumps(event)
        lines.append((at, line))
        chance = random.random()
        if chance < 0.0005:
            lines.append((at + 20, line))
            again += 1
        elif chance > 0.9999:
            lines.append((at, json.dumps({**event, "price": "n/a"})))
            bad += 1
    lines.sort(key=lambda line: line[0])
    target = folder / "trade"
    target.mkdir(parents=True)
    paths = []
    for number in range(files):
        low, high = len(lines) * number // files, len(lines) * (number + 1) // files
        paths.append(target / f"trade-{number:03}.jsonl")
        paths[-1].write_text("".join(f"{line}\n" for _, line in lines[low:high]), "utf-8")
    (folder / "labels.json").write_text(json.dumps([asdict(label) for label in labels], indent=1), "utf-8")
    return Generated(paths, len(events), again, bad, labels)


def as_csv(folder: Path, sample: Path) -> None:
    """Write the trades below a folder as one gzipped file with the columns of a recording (see trial.py)."""
    text = io.StringIO(newline="")
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(("market", "symbol", "trade_id", "trade_ms", "price", "qty", "buyer_is_maker"))
    for path in sorted((folder / "trade").iterdir()):
        for line in path.read_text("utf-8").splitlines():
            trade = json.loads(line)
            number = trade["trade_id"].rpartition("-")[2]
            ms = round(datetime.fromisoformat(trade["traded_at"]).timestamp() * 1000)
            maker = int(trade["buyer_is_maker"])
            named = (trade["market"], trade["symbol"], number, ms, trade["price"], trade["qty"], maker)
            if isinstance(trade["price"], float):
                rows.writerow(named)
    sample.write_bytes(gzip.compress(text.getvalue().encode(), mtime=0))


def sample(path: Path) -> None:
    """Write the sample that the project ships."""
    with tempfile.TemporaryDirectory() as folder:
        generate(Path(folder), minutes=14, files=1, seed=11, first=130, every=50)
        as_csv(Path(folder), path)


def main() -> None:
    """The command line of the generator."""
    parser = argparse.ArgumentParser(description="Write trades with labelled manipulations.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--minutes", type=int, default=110)
    parser.add_argument("--files", type=int, default=20)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--sample", action="store_true", help="the file that the project ships, anew")
    options = parser.parse_args()
    if options.sample:
        sample(options.folder / "sample.csv.gz")
        return
    generate(options.folder, options.minutes, options.files, options.seed)


if __name__ == "__main__":
    main()
