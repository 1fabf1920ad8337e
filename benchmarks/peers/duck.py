"""DuckDB in one process on one core: windows over a whole table of payments to a file of what they told.

    python -m peers.duck      in the folder `benchmarks`

It has the whole table, in columns of its own when a turn begins, keeps nothing and waits for nothing.
"""

from __future__ import annotations

from pathlib import Path

import duckdb

from peers.ours.answering import Stopwatch, hold
from peers.payments import KINDS, LARGE, LEAST

LOADED = """
    CREATE OR REPLACE TABLE p AS
    SELECT epoch_ms(ts::TIMESTAMP) AS ms, card, merchant, kind, amount
    FROM read_json('{path}', format = 'newline_delimited',
                   columns = {{ts: 'VARCHAR', card: 'VARCHAR', merchant: 'VARCHAR', kind: 'VARCHAR',
                              amount: 'DOUBLE'}})"""
# Frames are closed at both ends: of whole milliseconds, those less than five minutes before.
SLIDING = f"""
    SELECT card AS key, ms AS time, n, s FROM (
      SELECT card, ms, amount, count(*) OVER w AS n, sum(amount) OVER w AS s FROM p
      WINDOW w AS (PARTITION BY card ORDER BY ms RANGE BETWEEN 299999 PRECEDING AND CURRENT ROW))
    WHERE n > {LEAST} AND amount > {LARGE}"""
AGGREGATES = {"n": "count(*)", "s": "sum(amount)", "a": "avg(amount)", "m": "max(amount)"}


def query(work: str) -> str:
    """The query of a piece of work, as a user would write it."""
    if work == "sliding":
        return SLIDING
    columns = ", ".join(
        f"{aggregate} FILTER (kind = 'k{kind}') AS {name}{kind}"
        for kind in range(KINDS)
        for name, aggregate in AGGREGATES.items()
    )
    enough = " OR ".join(f"n{kind} > {LEAST}" for kind in range(KINDS))
    return f"""
        SELECT merchant AS key, ms // 60000 * 60000 + 60000 AS time, {columns} FROM p
        GROUP BY merchant, ms // 60000 HAVING {enough}"""


class Commands:
    """set_up, load, parsed."""

    def __init__(self) -> None:
        self._database = duckdb.connect(config={"threads": 1})
        self._query = ""

    def set_up(self, work: str) -> dict[str, object]:
        """Takes a piece of work."""
        watch = Stopwatch()
        self._query = query(work)
        return watch.answer()

    def load(self, path: str) -> dict[str, object]:
        """Reads payments into a table that `parsed` then asks."""
        self._database.execute(LOADED.format(path=path))
        return {}

    def parsed(self, out: str) -> dict[str, object]:
        """The table to a file of JSON lines."""
        Path(out).unlink(missing_ok=True)
        watch = Stopwatch()
        self._database.execute(f"COPY ({self._query}) TO '{out}' (FORMAT json)")
        return watch.answer()


def main() -> None:
    """Answers until the input ends."""
    commands = Commands()
    hold({name: getattr(commands, name) for name in ("set_up", "load", "parsed")})


if __name__ == "__main__":
    main()
