"""One field of many alerts: its values, and the texts of them that alerts are made of.

What `notation`, `identity` and `ranks` say of one value, for a column at once: most columns hold values of
one type, so that the choice by type is made once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from json.encoder import JSONEncoder, encode_basestring
from math import isfinite
from typing import Any

from alerts.identity import SIMPLE, canonical
from alerts.notation import plain, shortest
from alerts.ranks import string_ranks, value_rank

_encode = JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode


@dataclass(slots=True)
class Column:
    """JSON values, one an alert; each list that is asked for has their texts, in order."""

    values: Sequence[Any]
    _json: list[str] | None = field(default=None, init=False)

    @property
    def json(self) -> list[str]:
        """As they stand in an alert. Raises ValueError for NaN and infinity."""
        if self._json is None:
            self._json = (
                list(map(float.__repr__, self.values)) if self._doubles else self._each(_JSON, _encode)
            )
        return self._json

    @property
    def canonical(self) -> list[str]:
        """As ids and suppression have them. Raises as `identity.canonical` does."""
        if SIMPLE.issuperset(map(type, self.values)):
            return self.json
        return list(map(shortest, self.json)) if self._doubles else list(map(canonical, self.values))

    @property
    def plain(self) -> list[str]:
        """As summaries show them."""
        return list(map(shortest, self.json)) if self._doubles else self._each(_PLAIN, plain)

    @property
    def ranked(self) -> list[bytes]:
        """The keys they sort by."""
        if set(map(type, self.values)) == {str}:
            return string_ranks(self.values)
        return list(map(value_rank, self.values))

    @property
    def _doubles(self) -> bool:
        """True if all are doubles, and finite."""
        return set(map(type, self.values)) == {float} and all(map(isfinite, self.values))

    def _each(self, by_type: Mapping[type, Callable[..., str]], other: Callable[[object], str]) -> list[str]:
        """The text of each value, by a function for its type."""
        types = set(map(type, self.values))
        if len(types) == 1:
            return list(map(by_type.get(types.pop(), other), self.values))
        return [by_type.get(type(value), other)(value) for value in self.values]


_JSON: dict[type, Callable[..., str]] = {
    str: encode_basestring,
    int: int.__repr__,
    bool: {False: "false", True: "true"}.__getitem__,
    type(None): lambda _: "null",
}
_PLAIN: dict[type, Callable[..., str]] = {str: str, int: int.__repr__}
