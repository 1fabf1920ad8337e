"""Decimals, lists and records in random packs: fields, conditions, emitted values, keys, values of events."""

from __future__ import annotations

from decimal import Decimal
from random import Random
from typing import Any

from hypothesis import strategies as st

FIELDS = """
  m:   decimal?
  l:   list<string>?
  r:   { o: string?  n: long  at: timestamp }?
  y:   list<{ s: string?  m: decimal }>
"""

ALONE = (
    "m > 1.5",
    "m * 2 <= 3",
    "round(m) in (1, 3)",
    '"a" in l',
    '"b" not in l',
    "length(l) > 1",
    'l == ("a", "b")',
    'r.o == "a"',
    "r is null",
    "r.n < 2",
    '"a" in y.s',
    "2.5 in y.m",
    "length(y) == 0",
)
"""Conditions over one event."""

PREVIOUS = ("prev(m) < m", "prev(l) == l", "prev(r) is null", "prev(r.o) != r.o", '"a" in prev(y.s)')
"""Conditions over the event before."""

KEYS = ("m", "r.n", "g, m")
"""Of patterns."""


def earlier(step: str, single: bool) -> list[str]:
    """Conditions over a step before."""
    last = (lambda path: f"{step}.{path}") if single else (lambda path: f"last({step}.{path})")
    first = (lambda path: f"{step}.{path}") if single else (lambda path: f"first({step}.{path})")
    return [
        f"m == {last('m')}",
        f"m >= 1.5 * {first('m')}",
        f"m > min({step}.m)",
        f"max({step}.m) <= m",
        f"l == {first('l')}",
        f"l in ({last('l')}, {first('y.s')})",
        f'"a" in {last("l")}',
        f"length({last('y')}) == length(y)",
        f"{last('r.o')} == r.o",
        f"r.at > {first('r.at')}",
        f"{last('r')} is null",
        f"coalesce({last('m')}, 1) < m",
        f"m - {last('m')} > 1",
        f"sum({step}.m) > 2.5 or avg({step}.m) < m",
        f"k in {last('l')} or k in {first('y.s')}",
        f"round({first('m')} * m, 1) >= 1 and prev(l) != {last('l')}",
    ]


def emits(step: str, single: bool) -> list[str]:
    """Emitted values of a step."""
    found = [
        f"m_{step} = last({step}.m)", f"total_{step} = sum({step}.m)", f"mean_{step} = avg({step}.m)",
        f"most_{step} = max({step}.m)", f"tags_{step} = list({step}.l)", f"rec_{step} = last({step}.r)",
        f"recs_{step} = list({step}.r)", f"ys_{step} = list({step}.y.s)", f"y_{step} = first({step}.y)",
        f"md_{step} = percentile({step}.m, 0.5)", f"kinds_{step} = distinct({step}.m)",
        f"rest_{step} = last({step}.m) - first({step}.m)",
    ]  # fmt: skip
    return [*found, f"os_{step} = {step}.r.o", f"n_{step}_tags = length({step}.l)"] if single else found


DECIMALS = (
    *map(Decimal, ("1", "1", "1.5", "2.5", "-1", "0.1", "12345678901234567890.123456789012345678")),
    None,
)


def values(chance: Random) -> dict[str, Any]:
    """Random values of the fields."""
    record = {"o": chance.choice(("a", "b", None)), "n": chance.choice((1, 2)), "at": chance.randrange(4)}
    items = [{"s": chance.choice(("a", "b", None)), "m": chance.choice(DECIMALS[:-1])} for _ in range(2)]
    return {
        "m": chance.choice(DECIMALS),
        "l": chance.choice((("a",), ("a", "b"), ("b", "a"), (), ("c",), None)),
        "r": chance.choice((record, record, record, None)),
        "y": tuple(items[: chance.choice((0, 1, 1, 2))]),
    }


def drawn() -> st.SearchStrategy[dict[str, Any]]:
    """The same, drawn."""
    return st.randoms(use_true_random=False).map(values)
