"""Windows and aggregates as SQL over a whole table of trades: DuckDB is a second oracle beside the reference.

SQL's frames are closed at both ends and take one instant together, ours are open at their beginning and see
the events of an instant one by one. Times are whole milliseconds here, so that `(t - d, t]` is what lies at
most d - 1 before t, and trades are ordered by `code`, in which the trades of an instant follow each other in
their order of arrival: a frame that ends at a trade's code ends at that trade, and one that begins at the
code of the first trade of an instant takes it whole. Frames that lie wholly before are plain ones by time.

Sums are added as whole numbers of 128 bits, in units of 2^-70, of which every value is a multiple: they are
exact. Sums of squares are put together from products of halves. Python divides them, rounding once.
"""

from __future__ import annotations

import atexit
import gc
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import duckdb
import pandas as pd

UNIT = 70
"""Values are multiples of 2^-UNIT."""
HALF = 42
"""Bits of a value's lower half, in units; products of halves are added without leaving 128 bits."""
LARGEST = 2.0**17
EVENTS_OF_INSTANT = 2**20
KEY = "market, symbol"
Value = float | int | None
atexit.register(gc.unfreeze)  # of what the engine froze, DuckDB would tell at the end that it leaks
Row = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Aggregate:
    """An aggregate in our language, the aggregates of SQL from which it is told, and how.

    `nearly`: told by another sequence of roundings, so that the last bits may differ.
    """

    ours: str
    sql: Sequence[str]
    told: Callable[..., Value] = lambda value: value
    empty: Value = None
    nearly: bool = False


def _units(value: str) -> str:
    return f"({value} * {2**UNIT}.0)::HUGEINT"


def _sum(total: int | None) -> Value:
    return None if total is None else total / 2**UNIT


def _mean(total: int | None, count: int) -> Value:
    return None if total is None else total / 2**UNIT / count


def _deviation(total: int | None, count: int, high: int, both: int, low: int) -> Value:
    if total is None or count < 2:
        return None
    squares = (high << 2 * HALF) + (both << HALF + 1) + low
    return math.sqrt((count * squares - total * total) / 2 ** (2 * UNIT) / (count * (count - 1)))


def _deviation_in_sql(value: str) -> list[str]:
    high, low = (f"({_units(value)} {operator} {2**HALF})" for operator in ("//", "%"))
    squares = (f"{high} * {high}", f"{high} * {low}", f"{low} * {low}")
    return [f"sum({_units(value)})", f"count({value})", *(f"sum({product})" for product in squares)]


SOLD = "CASE WHEN buyer_is_maker THEN qty END"
AGGREGATES = (
    Aggregate("count()", ["count(*)"], empty=0),
    Aggregate("count(buyer_is_maker)", ["count(CASE WHEN buyer_is_maker THEN 1 END)"], empty=0),
    Aggregate("sum(qty)", [f"sum({_units('qty')})"], _sum),
    Aggregate("sum(buyer_is_maker ? qty : null)", [f"sum({_units(SOLD)})"], _sum),
    Aggregate("avg(price)", [f"sum({_units('price')})", "count(price)"], _mean),
    Aggregate("stddev(price)", _deviation_in_sql("price"), _deviation),
    Aggregate("stddev(buyer_is_maker ? qty : null)", _deviation_in_sql(SOLD), _deviation),
    Aggregate("min(price)", ["min(price)"]),
    Aggregate("max(qty)", ["max(qty)"]),
    Aggregate("first(price)", ["arg_min(price, code)"]),
    Aggregate("last(qty)", ["arg_max(qty, code)"]),
    Aggregate("distinct(qty)", ["count(DISTINCT qty)"], empty=0),
    Aggregate("percentile(price, 0.5)", ["quantile_cont(price, 0.5)"], nearly=True),
    Aggregate("percentile(qty, 0.99)", ["quantile_cont(qty, 0.99)"], nearly=True),
)
EARLIER = tuple(one for one in AGGREGATES if not one.ours.startswith(("stddev(b", "first", "last")))
"""Those that are asked of earlier windows."""


@dataclass(frozen=True, slots=True)
class Earlier:
    """An earlier window in our language, `{}` standing for the aggregate; its frame, and when it is known."""

    ours: str
    frame: str
    known: str


@dataclass(frozen=True, slots=True)
class AtEachTrade:
    """A window that is judged at each trade: its clause, its frame, and earlier ones."""

    clause: str
    frame: str
    earlier: Sequence[Earlier] = ()

    def query(self) -> str:
        """One row a trade, in order of place: the place, then the columns of every reading."""
        parts = [_over(AGGREGATES, "this"), *(_known(n, one) for n, one in enumerate(self.earlier))]
        named = [f"this AS (PARTITION BY {KEY} ORDER BY {self.frame})"]
        named += [
            f"earlier{n} AS (PARTITION BY {KEY} ORDER BY {o.frame})" for n, o in enumerate(self.earlier)
        ]
        return f"SELECT place, {', '.join(parts)} FROM trades WINDOW {', '.join(named)} ORDER BY place"


def _over(aggregates: Sequence[Aggregate], frame: str) -> str:
    return ", ".join(f"{sql} OVER {frame}" for one in aggregates for sql in one.sql)


def _known(number: int, earlier: Earlier) -> str:
    return f"{earlier.known}, {_over(EARLIER, f'earlier{number}')}"


@dataclass(frozen=True, slots=True)
class AtItsEnd:
    """A window that is judged at its end: its clause, its trades with `ends`, and how long before an earlier
    one ends.

    `trades` is a query for trades with `ends`, `starts`, and `number`, by which earlier windows are found.
    """

    clause: str
    trades: str
    earlier: Mapping[str, int] = field(default_factory=dict)
    known: str = "true"

    def query(self) -> str:
        """One row a window: its key and end, then the columns of every reading."""
        columns = list(dict.fromkeys(sql for one in AGGREGATES for sql in one.sql))
        names = {sql: f"c{n}" for n, sql in enumerate(columns)}
        named = ", ".join(f"{sql} AS {name}" for sql, name in names.items())
        shown, joins = [f"w.{names[sql]}" for one in AGGREGATES for sql in one.sql], ""
        for number, before in enumerate(self.earlier.values()):
            shown.append(self.known.format(before=before))
            shown += [f"b{number}.{names[sql]}" for one in EARLIER for sql in one.sql]
            same = " AND ".join(f"b{number}.{name} = w.{name}" for name in KEY.split(", "))
            joins += f" LEFT JOIN found b{number} ON {same} AND b{number}.number = w.number - {before}"
        return f"""
            WITH found AS (SELECT {KEY}, number, any_value(ends) AS ends, {named} FROM ({self.trades})
                           GROUP BY {KEY}, number)
            SELECT w.market, w.symbol, w.ends, {", ".join(shown)} FROM found w {joins}"""


Window = AtEachTrade | AtItsEnd


def _sliding(d: int) -> str:
    return f"code RANGE BETWEEN {(d - 1) * EVENTS_OF_INSTANT} + place PRECEDING AND CURRENT ROW"


def _before(d: int, back: int) -> str:
    return f"ms RANGE BETWEEN {back + d - 1} PRECEDING AND {back} PRECEDING"


def _hopping(d: int, h: int) -> str:
    return f"""
        SELECT *, number * {h} + {d} AS ends
        FROM (SELECT * EXCLUDE number, unnest(range(ms // {h} - {d // h - 1}, ms // {h} + 1)) AS number
              FROM trades)"""


def _session(gap: int) -> str:
    return f"""
        SELECT *, max(ms) OVER (PARTITION BY {KEY}, number) + {gap} AS ends
        FROM (SELECT * EXCLUDE number, sum(begins) OVER (PARTITION BY {KEY} ORDER BY code) AS number
              FROM (SELECT *, (ms - lag(ms, 1, 0) OVER in_order >= {gap})::INT AS begins FROM trades
                    WINDOW in_order AS (PARTITION BY {KEY} ORDER BY code)))"""


WINDOWS: Mapping[str, Window] = {
    "sliding": AtEachTrade(
        "sliding 10s",
        _sliding(10_000),
        (
            Earlier("previous({})", _before(10_000, 10_000), "ms - 20000 >= watched"),
            Earlier("previous({}, 3)", _before(30_000, 10_000), "ms - 40000 >= watched"),
            Earlier("ago({}, 7s)", _before(10_000, 7_000), "ms - 17000 >= watched"),
        ),
    ),
    "sliding_one_instant": AtEachTrade("sliding 1ms", _sliding(1)),
    "last": AtEachTrade(
        "last 50 events",
        "code ROWS BETWEEN 49 PRECEDING AND CURRENT ROW",
        (
            Earlier("previous({})", "code ROWS BETWEEN 99 PRECEDING AND 50 PRECEDING", "number >= 100"),
            Earlier("previous({}, 2)", "code ROWS BETWEEN 149 PRECEDING AND 50 PRECEDING", "number >= 150"),
        ),
    ),
    "last_within": AtEachTrade(
        "last 20 events within 2s",
        "code ROWS BETWEEN least(19, recent - 1) PRECEDING AND CURRENT ROW",
    ),
    "tumbling": AtItsEnd(
        "tumbling 20s",
        _hopping(20_000, 20_000),
        {"previous({})": 1, "ago({}, 1m)": 3},
        "w.ends - (1 + {before}) * 20000 >= (SELECT min(watched) FROM trades)",
    ),
    "hopping": AtItsEnd(
        "hopping 1m every 15s",
        _hopping(60_000, 15_000),
        {"previous({})": 4, "ago({}, 15s)": 1},
        "w.ends - 60000 - {before} * 15000 >= (SELECT min(watched) FROM trades)",
    ),
    "session": AtItsEnd("session gap 2s", _session(2_000), {"previous({})": 1}, "b0.number IS NOT NULL"),
}
"""By the names of our rules."""


def readings(window: Window) -> Iterator[tuple[str, Aggregate]]:
    """What is read of a window in our language, in the order of its columns, and the aggregate."""
    yield from ((one.ours, one) for one in AGGREGATES)
    forms = [one.ours for one in window.earlier] if isinstance(window, AtEachTrade) else list(window.earlier)
    yield from ((form.format(one.ours), one) for form in forms for one in EARLIER)


class Oracle:
    """A table of trades in DuckDB: `market`, `symbol`, `ms`, `price`, `qty`, `buyer_is_maker`, in order of
    arrival."""

    def __init__(self, trades: pd.DataFrame) -> None:
        assert len(trades) < EVENTS_OF_INSTANT
        for name in ("price", "qty"):
            units = trades[name] * 2.0**UNIT
            assert (units % 1 == 0).all()
            assert (trades[name].abs() < LARGEST).all()
        self._database = duckdb.connect(config={"threads": 1})
        self._database.register("given", trades.reset_index(drop=True).reset_index(names="place"))
        self._database.execute(f"""
            CREATE TABLE trades AS
            SELECT *, row_number() OVER (PARTITION BY {KEY} ORDER BY code) AS number,
                   count(*) OVER (PARTITION BY {KEY} ORDER BY {_sliding(2_000)}) AS recent
            FROM (SELECT *, ms * {EVENTS_OF_INSTANT} + place AS code, min(ms) OVER () AS watched
                  FROM given)""")

    def answers(self, window: Window) -> dict[Row, list[Value]]:
        """The values of every reading, by (place,) of a trade or by key and end of a window."""
        head = 1 if isinstance(window, AtEachTrade) else 3
        rows = self._database.execute(window.query()).fetchall()
        return {row[:head]: list(_values(row[head:])) for row in rows}

    def close(self) -> None:
        """Lets go of the table."""
        self._database.close()


def _values(columns: Row) -> Iterator[Value]:
    place = 0
    for one in AGGREGATES:
        yield one.told(*columns[place : (place := place + len(one.sql))])
    while place < len(columns):
        known, place = columns[place], place + 1
        for one in EARLIER:
            found = columns[place : (place := place + len(one.sql))]
            empty = one.empty if found[0] is None else one.told(*found)
            yield empty if known else None
