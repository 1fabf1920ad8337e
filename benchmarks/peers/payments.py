"""Payments of cards at merchants, new ones for every turn, and the windows over them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

START = 1_767_225_600_000  # 2026-01-01T00:00Z in milliseconds
APART = 3_600_000
"""Milliseconds and more between the last payment of a turn and the first of the next: no window has both."""
EVERY = 20
"""Milliseconds between payments, each at a millisecond of its own: no two have the same time."""
DISORDER = 30_000
"""Payments come less than so many milliseconds out of order, and both sides wait for so long."""
MINUTE = 60_000
CARDS, MERCHANTS, KINDS = 91_687, 1_000, 10
LEAST = 5
"""Alerts are of windows with more payments than these."""
LARGE = 100
"""A sliding window is judged at each payment, and told where that is larger."""

STREAM = """
pack bench version "1"

stream e {{
  eid:      string
  ts:       timestamp
  card:     string
  merchant: string
  kind:     string
  amount:   double
  id        eid
  time      ts
{lateness}}}
"""
SLIDING = f"""
rule sliding {{
  by     card
  over   e sliding 5 minutes
  having count() > {LEAST} and last(amount) > {LARGE}
  emit   card, n = count(), s = sum(amount)
}}
"""
FILTERED = """
rule kind{kind} {{
  by     merchant
  over   e[kind == "k{kind}"] tumbling 1 minute
  having count() > {least}
  emit   merchant, n = count(), s = sum(amount), a = avg(amount), m = max(amount)
}}
"""
NAMES = {
    "sliding": "W3 sliding 5m by card, at each event",
    "filters": "W7 tumbling 1m by merchant, 10 filters",
}
KEYS = {"sliding": "card", "filters": "merchant"}


def pack(work: str, lateness: bool) -> str:
    """The pack of a piece of work; with `lateness` it waits for DISORDER."""
    stream = STREAM.format(lateness=f"  lateness  {DISORDER // 1000} seconds\n" if lateness else "")
    if work == "sliding":
        return stream + SLIDING
    return stream + "".join(FILTERED.format(kind=kind, least=LEAST) for kind in range(KINDS))


@dataclass(frozen=True, slots=True)
class Turn:
    """The payments of a turn, in order of time (milliseconds since 1970), and the time of what ends it."""

    payments: pd.DataFrame
    ends: int


@dataclass(frozen=True, slots=True)
class Feed:
    """A generator of payments: so many a turn, in order of time or with DISORDER."""

    events: int
    seed: int
    disorder: bool = False

    def write(self, path: Path, turn: int) -> Turn:
        """Writes the payments of a turn as JSON lines in the order of their arrival.

        Those of other turns have other ids, values and times. One more of each kind ends the turn, of a card
        and a merchant of their own: so late that every window of the others is over by the watermark.
        """
        random = np.random.default_rng((self.seed, turn))
        payments = self._drawn(random, turn)
        arrives = payments.ms + (random.integers(0, DISORDER, self.events) if self.disorder else 0)
        rows = payments.assign(arrives=arrives).sort_values("arrives", kind="stable")
        ends = int(payments.ms.iloc[-1]) + DISORDER + 2 * MINUTE
        columns = [rows[name].tolist() for name in ("eid", "card", "merchant", "kind", "amount")]
        with path.open("w", encoding="ascii") as out:
            out.writelines(
                f'{{"eid":"{eid}","ts":"{at}","card":"{c}","merchant":"{m}","kind":"{k}","amount":{a}}}\n'
                for at, eid, c, m, k, a in zip(_written(rows.ms.to_numpy()), *columns, strict=True)
            )
            for kind, at in enumerate(_written(ends + np.arange(KINDS))):
                end = f'"eid":"end{turn}-{kind}","ts":"{at}","card":"end","merchant":"end","kind":"k{kind}"'
                out.write(f'{{{end},"amount":0.0}}\n')
        return Turn(payments, ends)

    @property
    def lines(self) -> int:
        """The number of lines of a turn."""
        return self.events + KINDS

    def _drawn(self, random: np.random.Generator, turn: int) -> pd.DataFrame:
        count = self.events
        first = START + turn * (count * EVERY + DISORDER + APART)
        number = np.arange(count)
        cards = np.minimum(random.pareto(1.1, count) * 9_000, CARDS - 1).astype(np.int64)
        merchants = np.minimum(random.pareto(1.0, count) * 60, MERCHANTS - 1).astype(np.int64)
        return pd.DataFrame(
            {
                "eid": _named(f"e{turn}-", number),
                "ms": first + number * EVERY + random.integers(0, EVERY, count),
                "card": _named("card-", cards),
                "merchant": _named("merchant-", merchants),
                "kind": _named("k", random.integers(0, KINDS, count)),
                "amount": np.round(random.lognormal(3, 1.2, count), 2),
            }
        )


def _named(prefix: str, numbers: npt.NDArray[np.int64]) -> list[str]:
    return [f"{prefix}{number}" for number in numbers.tolist()]


def _written(milliseconds: npt.NDArray[np.int64]) -> list[str]:
    times = np.datetime_as_string(milliseconds.astype("datetime64[ms]"), unit="ms")
    return [f"{time}Z" for time in times.tolist()]
