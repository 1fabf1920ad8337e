"""The matching of expectations and alerts: every expectation is met by one alert, every alert meets one."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from rules.instants import SECOND, parse_instant
from rules.typed import Expected, Match, Near, Pack, Rule, Test
from rules.types import ListOf, Scalar, Type

Notation = Callable[[object, Type], object]
"""Writes a typed value as the JSON value that an alert shows."""

_OF_THE_ALERT = ("key", "events", "severity", "kind")


@dataclass(frozen=True, slots=True)
class Seen:
    """An alert that an engine decided: the JSON object, and its `time` in nanoseconds since 1970.

    `withheld`: by suppression; it was not raised.
    """

    time: int
    alert: Mapping[str, object]
    withheld: bool = False

    @property
    def rule(self) -> str:
        """The name of its rule."""
        return str(self.alert["rule"])


@dataclass(frozen=True, slots=True)
class Comparison:
    """The result of comparing the alerts of a test with its expectations.

    `met` pairs them, in order of the expectations; `missing` are expectations without an alert;
    `others` are alerts that nothing expected, in the order given.
    """

    met: tuple[tuple[Expected, Seen], ...]
    missing: tuple[Expected, ...]
    others: tuple[Seen, ...]


def compare(pack: Pack, test: Test, alerts: Sequence[Seen], notation: Notation) -> Comparison:
    """Pair as many expectations with alerts as can be paired.

    An expectation may fit several alerts, so the pairs are a maximum bipartite matching (augmenting
    paths: Kuhn 1955); a greedy choice could leave an expectation without the only alert that fits it.
    """
    expected = [item for item in test.timeline if isinstance(item, Expected)]
    fits = [[n for n, seen in enumerate(alerts) if matches(pack, item, seen, notation)] for item in expected]
    holder: dict[int, int] = {}

    def seat(number: int, tried: set[int]) -> bool:
        open_to_it = [n for n in fits[number] if n not in tried]
        # Free alerts first: the common case, many alike expectations and alerts, then needs no exchange.
        for n in sorted(open_to_it, key=lambda n: n in holder):
            tried.add(n)
            if n not in holder or seat(holder[n], tried):
                holder[n] = number
                return True
        return False

    for number in range(len(expected)):
        seat(number, set())
    alert_of = {number: n for n, number in holder.items()}
    return Comparison(
        met=tuple((item, alerts[alert_of[i]]) for i, item in enumerate(expected) if i in alert_of),
        missing=tuple(item for i, item in enumerate(expected) if i not in alert_of),
        others=tuple(seen for n, seen in enumerate(alerts) if n not in holder),
    )


def matches(pack: Pack, expected: Expected, seen: Seen, notation: Notation) -> bool:
    """True if an alert is as an expectation says: its time to the nanosecond, and every value given."""
    return not differences(pack, expected, seen, notation)


def differences(pack: Pack, expected: Expected, seen: Seen, notation: Notation) -> tuple[str, ...]:
    """The names in which an alert differs from an expectation, `time` first; empty where it fits."""
    found = ["time"] if expected.at is not None and expected.at != seen.time else []
    types = emitted_types(pack, seen.rule)
    emit = _mapping(seen.alert["emit"])
    for name, value in expected.values:
        if isinstance(value, Near):
            same = name in types and _is_near(value.value, value.tolerance, emit.get(name), types[name])
        elif name in types:
            same = _equal(_as_json(value, types[name], notation), emit.get(name))
        elif name in _OF_THE_ALERT:
            same = _agrees(pack, seen, name, value, notation)
        else:
            same = False
        if not same:
            found.append(name)
    return tuple(found)


def emitted_types(pack: Pack, rule: str) -> dict[str, Type]:
    """The names that a rule's alerts emit, with their types. Raises KeyError where there is no such rule."""
    found = _rule(pack, rule)
    late = found.body.on_timeout or () if isinstance(found.body, Match) else ()
    return {item.name: item.value.type for item in (*late, *found.emit)}


def _rule(pack: Pack, name: str) -> Rule:
    for rule in pack.rules:
        if rule.name == name:
            return rule
    raise KeyError(name)


def _agrees(pack: Pack, seen: Seen, name: str, value: object, notation: Notation) -> bool:
    """`key` and `events` are met by the names that they list; the alert's words must be equal."""
    got = seen.alert[name]
    if name not in ("key", "events"):
        return _equal(_untyped(value, notation), got)
    entries = _mapping(got)
    wanted = _pairs(value)
    if wanted is None or not wanted.keys() <= entries.keys():
        return False
    if name == "key":
        types = _key_types(pack, seen.rule)
        return all(_equal(_as_json(v, types[n], notation), entries[n]) for n, v in wanted.items())
    return all(
        _equal(_untyped(v, notation), entries[n] if isinstance(v, list | tuple) else _single(entries[n]))
        for n, v in wanted.items()
    )


def _key_types(pack: Pack, rule: str) -> dict[str, Type]:
    by = _rule(pack, rule).by
    return {} if by is None else dict(zip(by.names, by.types, strict=True))


def _pairs(value: object) -> dict[str, object] | None:
    """A record's values by name; the front end may write them as pairs."""
    try:
        return dict(value)  # type: ignore[call-overload, no-any-return]
    except (TypeError, ValueError):
        return None


def _single(ids: object) -> object:
    """`{big: "p9"}` may stand for `{big: ["p9"]}`."""
    return ids[0] if isinstance(ids, list) and len(ids) == 1 else ids


def _equal(wanted: object, got: object) -> bool:
    """Equality of JSON values; numbers of which one is a double may differ in the last digits."""
    if isinstance(wanted, bool) or isinstance(got, bool):
        return wanted is got
    if isinstance(wanted, int | float) and isinstance(got, int | float):
        if isinstance(wanted, int) and isinstance(got, int):
            return wanted == got
        return math.isclose(wanted, got, rel_tol=1e-9, abs_tol=1e-12)
    if isinstance(wanted, list | tuple) and isinstance(got, list | tuple):
        return len(wanted) == len(got) and all(map(_equal, wanted, got))
    if isinstance(wanted, Mapping) and isinstance(got, Mapping):
        return wanted.keys() == got.keys() and all(_equal(v, got[n]) for n, v in wanted.items())
    return wanted == got


def _is_near(wanted: object, tolerance: int | float | Decimal, got: object, type_: Type) -> bool:
    """True if a value of an alert is not further off than that; of a list, every element.

    By the decimals that are written: 3.5 is within 0.1 of 3.4, although the doubles are further apart.
    """
    if isinstance(type_, ListOf):
        return (
            isinstance(wanted, list | tuple)
            and isinstance(got, list)
            and len(wanted) == len(got)
            and all(_is_near(w, tolerance, g, type_.element) for w, g in zip(wanted, got, strict=True))
        )
    number = _measure(got, type_)
    return number is not None and abs(number - Decimal(str(wanted))) <= Decimal(str(tolerance))


def _measure(got: object, type_: Type) -> Decimal | None:
    """A number, or the nanoseconds of a time or duration, from what the alert shows; None for null."""
    match type_, got:
        case Scalar.TIMESTAMP, str():
            return Decimal(parse_instant(got))
        case Scalar.DURATION, str():
            found = _ISO.fullmatch(got)
            assert found is not None, got
            parts = zip(found.groups()[1:], _PARTS, strict=True)
            total = sum((Decimal(number) * unit for number, unit in parts if number), Decimal())
            return -total if found[1] else total
        case _, int() | float() | str():
            return Decimal(str(got))
        case _:
            return None


_ISO = re.compile(r"(-?)PT(?:(\d+)H)?(?:(\d+)M)?(?:([\d.]+)S)?")
_PARTS = (3600 * SECOND, 60 * SECOND, SECOND)


def _as_json(value: object, type_: Type, notation: Notation) -> object:
    """A value given where a type is known; one of another type stays as it is, and so differs."""
    if type_ is Scalar.LONG and isinstance(value, float):
        return value
    try:
        return notation(value, type_)
    except (TypeError, ValueError, ArithmeticError):
        return _untyped(value, notation)


def _untyped(value: object, notation: Notation) -> object:
    if isinstance(value, Mapping):
        return {str(name): _untyped(item, notation) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_untyped(item, notation) for item in value]
    return notation(value, Scalar.STRING)


def _mapping(value: object) -> Mapping[str, object]:
    if not isinstance(value, Mapping):
        raise TypeError(f"an object was expected, not {value!r}")
    return value
