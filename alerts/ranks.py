"""The order of alerts as bytes: what sorts first is raised first.

By time, rule, pack, key values, order of decision, and id (docs/alerts.md, Order). Key values compare as JSON
values: null, false and true, numbers, strings by code point, then all else by its canonical text. Bytes
compare faster than tuples of mixed values, and a worker can make them before the driver sorts. Each part
ends in a way that no longer one of its kind begins with, so that parts never run into one another.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence

from alerts.forms import filled, utf8
from alerts.identity import canonical

_WHOLE = struct.Struct(">Q").pack
_DOUBLE = struct.Struct(">d").pack
OFFSET = 1 << 63
FURTHER = b"\1"
"""Stands before each number of an order of decision, which is eight bytes: an unsigned one, 2**63 added."""
_NULL, _FALSE, _TRUE, NUMBER, _STRING, _OTHER, END = (bytes([n]) for n in (1, 2, 3, 4, 5, 6, 0))


def rank(
    time: int, rule: str, pack: str, key: Iterable[object], order: Sequence[int], alert_id: str
) -> bytes:
    """Where an alert stands among those of a batch; `time` in nanoseconds since 1970 UTC.

    `key` are JSON values, `order` whole numbers of 64 bits: a shorter one goes before what it begins.
    """
    values = [[value_rank(value)] for value in key]
    return ranks([time], rule, pack, values, [decided(order)], [alert_id])[0]


def ranks(
    times: Sequence[int],
    rule: str,
    pack: str,
    keys: Iterable[Sequence[bytes]],
    orders: Sequence[bytes],
    ids: Sequence[str],
) -> list[bytes]:
    """The ranks of many alerts of a rule, from what `value_rank` says of each field of their keys, and
    `decided` of their orders."""
    of_time, of_keys = list(map(_WHOLE, map(OFFSET.__add__, times))), list(keys)
    form = [b"", rule_rank(rule, pack), *[b""] * len(of_keys), END, b""]
    form[-3] += END
    return filled(form, [of_time, *of_keys, orders, utf8(ids)], len(times))


def instant_rank(time: int) -> bytes:
    """The sort key of a time, in ns since 1970 UTC: eight bytes."""
    return _whole(time)


def rule_rank(rule: str, pack: str) -> bytes:
    """The sort key of a rule: its name, then its pack's."""
    return _string(rule) + _string(pack)


def decided(order: Iterable[int]) -> bytes:
    """The sort key of an order of decision; those of its parts, end to end, are that of the whole."""
    return b"".join([FURTHER + _whole(number) for number in order])


def _whole(number: int) -> bytes:
    return _WHOLE(number + OFFSET)


def _string(text: str) -> bytes:
    encoded = text.encode("utf-8", "surrogatepass")
    return encoded.replace(b"\0", b"\0\xff") + b"\0\0" if b"\0" in encoded else encoded + b"\0\0"


def string_ranks(texts: Sequence[str]) -> list[bytes]:
    """As `value_rank`, of strings."""
    if "\0" in "".join(texts):
        return list(map(value_rank, texts))
    return [_STRING + text + b"\0\0" for text in utf8(texts)]


def value_rank(value: object) -> bytes:
    """The sort key of a field of a key, a JSON value."""
    match value:
        case None:
            return _NULL
        case bool():
            return _TRUE if value else _FALSE
        case int() | float():
            return NUMBER + _number(value)
        case str():
            return _STRING + _string(value)
        case _:
            return _OTHER + _string(canonical(value))


def _number(value: float) -> bytes:
    """The nearest double, then by how much a whole number lies above it: rounding keeps their order."""
    nearest = float(value)
    bits = int.from_bytes(_DOUBLE(nearest + 0.0), "big")
    ordered = bits ^ (0xFFFF_FFFF_FFFF_FFFF if bits >> 63 else OFFSET)
    rest = value - int(nearest) if isinstance(value, int) else 0
    return _WHOLE(ordered) + _whole(rest)
