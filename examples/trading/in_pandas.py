"""The pack's rules computed with pandas and numpy, from a whole table of trades at once.

Written from what the rules are meant to find, not from the engine: frames are cut by `searchsorted` over
sorted times, sums are differences of running sums, patterns are loops over one market's arrays. What an
alert says is reduced to its key and its time in milliseconds, which is what `compare.py` compares.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping

import numpy as np
import pandas as pd
from numpy.typing import NDArray

SECOND, MINUTE = 1_000, 60_000
COLUMNS = ("trade_id", "ms", "market", "symbol", "price", "qty", "buyer_is_maker")
Found = tuple[tuple[str, ...], int]
"""The key of an alert, as text, and its time in milliseconds since 1970."""
Flags = NDArray[np.bool_]
Numbers = NDArray[np.float64]
Times = NDArray[np.int64]


def found_by_pandas(trades: pd.DataFrame) -> dict[str, Counter[Found]]:
    """The alerts of every rule. `trades` has COLUMNS, in order of arrival, `ms` since 1970."""
    once = trades.drop_duplicates("trade_id")
    table = once.sort_values("ms", kind="stable", ignore_index=True)
    return {rule: Counter(compute(table)) for rule, compute in RULES.items()}


def by_market(table: pd.DataFrame) -> Iterator[tuple[tuple[str, ...], pd.DataFrame]]:
    """The trades of each market and symbol."""
    for key, of_key in table.groupby(["market", "symbol"], sort=False):
        yield tuple(map(str, key)), of_key


def per_minute(table: pd.DataFrame, value: str, function: str) -> pd.Series:
    """An aggregate by market, symbol and minute since 1970."""
    minute = (table.ms // MINUTE).rename("minute")
    return table.groupby([table.market, table.symbol, minute])[value].agg(function)


def minutes_before(series: pd.Series, minutes: int, watched: int) -> pd.Series:
    """The value of so many minutes before, in place of each; of minutes not wholly watched there is none."""
    earlier = series[series.index.get_level_values("minute") * MINUTE >= watched].rename("earlier")
    moved = earlier.reset_index()
    moved["minute"] += minutes
    return moved.set_index(["market", "symbol", "minute"])["earlier"].reindex(series.index)


def minutes_where(chosen: pd.Series) -> Iterator[Found]:
    """An alert at the end of every minute for which it is true."""
    for market, symbol, minute in chosen[chosen].index:
        yield (market, symbol), (minute + 1) * MINUTE


def price_move(table: pd.DataFrame) -> Iterable[Found]:
    price = per_minute(table, "price", "mean")
    return minutes_where((price / minutes_before(price, 1, table.ms.min()) - 1).abs() > 0.002)


def volume_burst(table: pd.DataFrame) -> Iterable[Found]:
    volume = per_minute(table, "qty", "sum")
    return minutes_where(volume > 6 * minutes_before(volume, 60, table.ms.min()))


class Frames:
    """Sums over frames of one key's trades: those after one instant, up to and with another."""

    def __init__(self, ms: Times) -> None:
        self.ms = ms
        self.upto = np.arange(1, len(ms) + 1)

    def since(self, length: int) -> NDArray[np.intp]:
        """For each trade the place of the first one less than so long before it."""
        return np.searchsorted(self.ms, self.ms - length, side="right")

    def becomes_true(self, holds: Flags, length: int) -> Times:
        """The times at which it becomes true; after so long without a trade everything begins anew."""
        anew = np.diff(self.ms, prepend=self.ms[0] - length) >= length
        before = np.concatenate([[False], holds[:-1]])
        found: Times = self.ms[holds & (anew | ~before)]
        return found


def running(values: Numbers | Flags) -> Numbers:
    """Sums of the first 0, 1, 2 ... values."""
    return np.concatenate([[0.0], np.cumsum(values.astype(np.float64))])


def volume_jump(table: pd.DataFrame) -> Iterable[Found]:
    watched = table.ms.min()
    for key, of in by_market(table):
        ms = of.ms.to_numpy()
        frames, total = Frames(ms), running(of.qty.to_numpy())
        begin, before = frames.since(10 * SECOND), frames.since(70 * SECOND)
        known = (ms - 70 * SECOND >= watched) & (begin > before)
        now, earlier = total[frames.upto] - total[begin], total[begin] - total[before]
        holds = (frames.upto - begin >= 50) & known & (now > 2 * earlier)
        yield from ((key, int(t)) for t in frames.becomes_true(holds, 10 * SECOND))


def one_sided_flow(table: pd.DataFrame) -> Iterable[Found]:
    for key, of in by_market(table):
        frames, sold = Frames(of.ms.to_numpy()), running(of.buyer_is_maker.to_numpy())
        begin = frames.since(10 * SECOND)
        count, sales = frames.upto - begin, sold[frames.upto] - sold[begin]
        holds = (count >= 60) & ((sales < 0.02 * count) | (sales > 0.98 * count))
        yield from ((key, int(t)) for t in frames.becomes_true(holds, 10 * SECOND))


def equal_slices(table: pd.DataFrame) -> Iterable[Found]:
    watched = table.ms.min()
    for key, of in table.groupby(["market", "symbol", "buyer_is_maker", "qty"], sort=False):
        if len(of) < 25:
            continue
        ms = of.ms.to_numpy()
        frames = Frames(ms)
        begin, before = frames.since(20 * SECOND), frames.since(80 * SECOND)
        holds = (frames.upto - begin >= 25) & (ms - 80 * SECOND >= watched)
        holds &= frames.upto - begin > 4 * (begin - before)
        market, symbol, side, qty = key
        shown = (str(market), str(symbol), str(bool(side)), repr(float(qty)))
        yield from ((shown, int(t)) for t in frames.becomes_true(holds, 20 * SECOND))


def outsized_trade(table: pd.DataFrame) -> Iterable[Found]:
    for key, of in by_market(table):
        part = (of.ms.diff() >= 10 * MINUTE).cumsum()
        before = of.groupby(part).qty.shift(1).groupby(part).rolling(200)
        usual = before.mean().droplevel(0).reindex(of.index)
        odd = of.qty > usual + 20 * before.std().droplevel(0).reindex(of.index)
        frames = Frames(of.ms.to_numpy())
        yield from ((key, int(t)) for t in frames.becomes_true(odd.to_numpy(), 10 * MINUTE))


def thin_market(table: pd.DataFrame) -> Iterable[Found]:
    watched = table.ms.min()
    quarter = 15 * SECOND
    for key, of in by_market(table):
        counts = (of.ms // quarter).value_counts().sort_index()
        counts = counts.reindex(range(counts.index[0] - 8, counts.index[-1] + 9), fill_value=0)
        now = counts.rolling(4).sum()
        before = now.shift(4)
        end = (now.index.to_numpy() + 1) * quarter
        holds = (now > 0) & (now < 0.2 * before) & (end - 2 * MINUTE >= watched)
        yield from ((key, int(t)) for t in end[holds.to_numpy()])


def session_spread(table: pd.DataFrame) -> Iterable[Found]:
    for key, of in by_market(table):
        ms, price = of.ms.to_numpy(), of.price.to_numpy()
        first = 0
        for place in range(1, len(ms) + 1):
            limit = min(ms[place - 1] + 2 * SECOND, ms[first] + 10 * MINUTE)
            if place < len(ms) and ms[place] < limit:
                continue
            prices = price[first:place]
            if len(prices) >= 20 and prices.max() > 1.002 * prices.min():
                yield key, int(limit)
            first = place


def markets_apart(table: pd.DataFrame) -> Iterable[Found]:
    second = (table.ms // SECOND).rename("second")
    price = table.groupby([table.symbol, second, table.market]).price.mean().unstack("market")
    price = price.reindex(columns=["spot", "usdm"])
    apart = (price.spot / price.usdm - 1).abs() > 0.0015
    for symbol, at in apart[apart].index:
        yield (symbol,), (at + 1) * SECOND


def quiet_market(table: pd.DataFrame) -> Iterable[Found]:
    for key, of in by_market(table):
        ms = of.ms.to_numpy()
        following = np.append(ms[1:], np.iinfo(np.int64).max)
        yield from ((key, int(t)) for t in ms[following >= ms + 10 * SECOND] + 10 * SECOND)


def spike_and_reversal(table: pd.DataFrame) -> Iterable[Found]:
    for key, of in by_market(table):
        ms, price = of.ms.to_numpy(), of.price.to_numpy()
        before = np.concatenate([np.full(40, np.nan), price[:-40]])[: len(price)]
        age = ms - np.concatenate([np.zeros(40, dtype=np.int64), ms[:-40]])[: len(ms)]
        recent = age <= 10 * SECOND
        back = np.full(len(price), -1)
        for place in np.flatnonzero(recent & ((price > 1.001 * before) | (price < 0.999 * before))):
            end = np.searchsorted(ms, ms[place] + 10 * SECOND, side="left")
            later = price[place + 1 : end]
            up = price[place] > before[place]
            hits = later < 0.9993 * price[place] if up else later > 1.0007 * price[place]
            back[place] = place + 1 + hits.argmax() if hits.any() else -1
        yield from ((key, int(ms[end])) for end in without_overlap(back))


def momentum_ignition(table: pd.DataFrame) -> Iterable[Found]:
    for key, of in by_market(table):
        ms, price, qty = of.ms.to_numpy(), of.price.to_numpy(), of.qty.to_numpy()
        sold, bought = of.buyer_is_maker.to_numpy(), running(of.qty.to_numpy())
        exits = np.full(len(ms), -1)
        turns = np.flatnonzero(~sold[1:] & sold[:-1]) + 1
        for first in turns[ms[turns] - ms[turns - 1] <= 15 * SECOND]:
            last = first + 29
            if last >= len(ms) or sold[first : last + 1].any():
                continue
            pushed = bought[last + 1] - bought[first + 1]
            end = np.searchsorted(ms, ms[first] + 15 * SECOND, side="left")
            large = sold[last + 1 : end] & (qty[last + 1 : end] > 0.25 * pushed)
            if large.any() and price[last] > 1.0004 * price[first]:
                exits[first] = last + 1 + large.argmax()
        yield from ((key, int(ms[end])) for end in without_overlap(exits))


def without_overlap(ends: NDArray[np.intp]) -> Iterator[int]:
    """The last places of matches that are raised: `ends[i]` is that of the match from place i, or -1.

    A match ends those that began within it and are not over yet; of those that end together the earliest
    begun is raised.
    """
    raised: list[tuple[int, int]] = []
    for first in sorted(np.flatnonzero(ends >= 0), key=lambda place: (ends[place], place)):
        if not any(begin <= first <= end for begin, end in raised):
            raised.append((int(first), int(ends[first])))
            yield int(ends[first])


RULES: Mapping[str, Callable[[pd.DataFrame], Iterable[Found]]] = {
    "price_move": price_move,
    "volume_burst": volume_burst,
    "volume_jump": volume_jump,
    "spike_and_reversal": spike_and_reversal,
    "one_sided_flow": one_sided_flow,
    "equal_slices": equal_slices,
    "momentum_ignition": momentum_ignition,
    "quiet_market": quiet_market,
    "thin_market": thin_market,
    "session_spread": session_spread,
    "outsized_trade": outsized_trade,
    "markets_apart": markets_apart,
}
"""By rule, in the order of the pack."""
