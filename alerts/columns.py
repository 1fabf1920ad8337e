"""One field of many alerts: its values, and the texts of them that alerts are made of.

What `notation`, `identity` and `ranks` say of one value, for a column at once: most columns hold values of
one type, so that the choice by type is made once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from json.encoder import JSONEncoder, encode_basestring
from typing import TypeVar

from alerts.identity import SIMPLE, canonical
from alerts.notation import plain
from alerts.ranks import value_rank

_encode = JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode
_Text = TypeVar("_Text", str, bytes)


@dataclass(slots=True)
class Column:
    """JSON values, one an alert; each list that is asked for has their texts, in order."""

    values: Sequence[object]
    _json: list[str] | None = field(default=None, init=False)

    @property
    def json(self) -> list[str]:
        """As they stand in an alert. Raises ValueError for NaN and infinity."""
        if self._json is None:
            self._json = _each(self.values, _JSON, _encode)
        return self._json

    @property
    def canonical(self) -> list[str]:
        """As ids and suppression have them. Raises as `identity.canonical` does."""
        if SIMPLE.issuperset(map(type, self.values)):
            return self.json
        return list(map(canonical, self.values))

    @property
    def plain(self) -> list[str]:
        """As summaries show them."""
        return _each(self.values, _PLAIN, plain)

    @property
    def ranked(self) -> list[bytes]:
        """What they sort by."""
        return list(map(value_rank, self.values))


def _each(
    values: Sequence[object], by_type: Mapping[type, Callable[..., _Text]], other: Callable[[object], _Text]
) -> list[_Text]:
    """The text of each value, by a function for its type."""
    types = set(map(type, values))
    if len(types) == 1:
        return list(map(by_type.get(types.pop(), other), values))
    return [by_type.get(type(value), other)(value) for value in values]


def _double(value: float) -> str:
    return repr(value) if value - value == 0 else _encode(value)


_JSON: dict[type, Callable[..., str]] = {
    str: encode_basestring,
    int: int.__repr__,
    float: _double,
    bool: {False: "false", True: "true"}.__getitem__,
    type(None): lambda _: "null",
}
_PLAIN: dict[type, Callable[..., str]] = {str: str, int: int.__repr__}
