"""The alerts of a batch by column, as workers hand them to the outbox: no Python object for each of them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from alerts.arrow_columns import Ints
from alerts.bodies import Binary, Bodies
from alerts.joining import bytes_of, chosen, pieces
from alerts.raised import Raised, Withholding, speaking, storable
from alerts.ranks import instant_rank, rule_rank

Bools = npt.NDArray[np.bool_]
Ids = npt.NDArray[np.uint8]

_ID, _INSTANT = 32, 8
"""Bytes of an id, and of a time in a rank."""
LINES = 8_192
"""Alerts that are written as lines at once."""
_KEY = ',"key":'
"""Stands in no string of JSON, where a quotation mark is escaped."""
_TEXTS = ("places", "withholding", "keys")
"""What is copied where alerts are chosen."""
_DECODER = json.JSONDecoder()
_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))


class Raising(NamedTuple):
    """A rule as its alerts know it; `duration` is that of its `suppress`, in ns, None if it has none."""

    pack: str
    rule: str
    severity: str
    duration: int | None


@dataclass(frozen=True, slots=True)
class RaisedColumns(Sequence[Raised]):
    """Alerts before suppression, a row each; reading one row makes a `Raised`.

    `rule` is the place in `rules` of each alert's rule, `time` event time in ns since 1970 UTC; `ids` have 32
    bytes each. `places` rank alerts of one instant and rule, but for the id; `withholding` are the keys that
    suppression goes by, empty where the rule has none; `keys` those of bodies, JSON.
    """

    rules: tuple[Raising, ...]
    rule: Ints
    time: Ints
    ids: Ids
    bodies: Bodies
    places: Binary
    withholding: Binary
    keys: Binary

    @classmethod
    def of(cls, raised: Sequence[Raised]) -> RaisedColumns:
        """The columns of alerts that are given one by one."""
        rules: dict[Raising, int] = {}
        numbers, places = [], []
        begins: list[int] = []
        for one in raised:
            number = rules.setdefault(_raising(one), len(rules))
            if number == len(begins):
                begins.append(_INSTANT + len(rule_rank(one.rule, one.pack)))
            numbers.append(number)
            places.append(one.rank[begins[number] : -2 * _ID])
        keys = ["" if one.withholding is None else one.withholding.key for one in raised]
        return cls(
            tuple(rules),
            np.array(numbers, np.int64),
            np.array([one.time for one in raised], np.int64),
            np.frombuffer(bytes.fromhex("".join(one.id for one in raised)), np.uint8).reshape(-1, _ID),
            Bodies.of_column(_binary([one.body.encode() for one in raised])),
            _binary(places),
            _binary([key.encode("utf-8", "surrogatepass") for key in keys]),
            _binary([key_of(one.body).encode() for one in raised]),
        )

    @classmethod
    def together(cls, parts: Iterable[Sequence[Raised]]) -> RaisedColumns:
        """The alerts of several parts, in their order."""
        given = cls._each(parts)
        if len(given) < 2:
            return given[0] if given else cls.of(())
        rules, rule = _numbered_anew(given)
        return cls(
            rules,
            rule,
            np.concatenate([part.time for part in given]),
            np.concatenate([part.ids for part in given]),
            Bodies.together([part.bodies for part in given]),
            *(pa.concat_arrays([getattr(part, name) for part in given]) for name in _TEXTS),
        )

    @classmethod
    def ordered(cls, parts: Iterable[Sequence[Raised]]) -> RaisedColumns:
        """The alerts of several parts, as `in_order` gives them."""
        given = cls._each(parts)
        if len(given) < 2:
            return given[0].in_order() if given else cls.of(())
        rules, rule = _numbered_anew(given)
        time, ids = (
            np.concatenate([part.time for part in given]),
            np.concatenate([part.ids for part in given]),
        )
        order = _order(rules, rule, time, pa.concat_arrays([part.places for part in given]), ids)
        sizes = np.array([len(part) for part in given])
        of = np.repeat(np.arange(len(given)), sizes)[order]
        row = order - (np.cumsum(sizes) - sizes)[of]
        texts = (chosen([getattr(part, name) for part in given], of, row) for name in _TEXTS)
        bodies = Bodies.together([part.bodies for part in given]).take(order)
        return cls(rules, rule[order], time[order], ids[order], bodies, *texts)

    @classmethod
    def _each(cls, parts: Iterable[Sequence[Raised]]) -> list[RaisedColumns]:
        """The parts by column, none of them empty; lists of few alerts each become columns together."""
        given: list[RaisedColumns] = []
        few: list[Raised] = []
        for part in parts:
            if not isinstance(part, cls):
                few += part
                continue
            if few:
                given.append(cls.of(few))
                few = []
            if len(part):
                given.append(part)
        if few:
            given.append(cls.of(few))
        return given

    def __len__(self) -> int:
        return len(self.rule)

    def __getitem__(self, which: Any) -> Any:
        if isinstance(which, slice):
            return list(self.take(np.arange(len(self))[which]))
        return next(iter(self.take(np.array([range(len(self))[which]]))))

    def __iter__(self) -> Iterator[Raised]:
        ranks = [rule_rank(one.rule, one.pack) for one in self.rules]
        hexed = self.hex_ids()
        columns = map(pieces, (self.bodies.joined(), self.places, self.withholding))
        rows = zip(hexed, self.rule.tolist(), self.time.tolist(), *columns, strict=True)
        for id_, number, time, body, place, key in rows:
            pack, rule, severity, duration = self.rules[number]
            rank = b"".join((instant_rank(time), ranks[number], place, id_.encode()))
            held = None if duration is None else Withholding(key.decode("utf-8", "surrogatepass"), duration)
            yield Raised(rank, id_, pack, rule, severity, time, body.decode(), held)

    def counted(self, by: Callable[[Raising], str]) -> Counter[str]:
        """The number of alerts by what is said of their rules."""
        counts = np.bincount(self.rule, minlength=len(self.rules)).tolist()
        found: Counter[str] = Counter()
        for one, count in zip(self.rules, counts, strict=True):
            if count:
                found[by(one)] += count
        return found

    def hex_ids(self, rows: Ints | None = None) -> list[str]:
        """The ids as alerts show them, of some rows or of all."""
        digits = (self.ids if rows is None else self.ids[rows]).tobytes().hex()
        return [digits[at : at + 2 * _ID] for at in range(0, len(digits), 2 * _ID)]

    def take(self, which: Ints) -> RaisedColumns:
        """Some of the alerts, in the order of `which`."""
        if len(which) == len(self) and (which == np.arange(len(self))).all():
            return self
        alone = np.zeros(len(which), np.int64)
        texts = (chosen([getattr(self, name)], alone, which) for name in _TEXTS)
        bodies = self.bodies.take(which)
        return RaisedColumns(self.rules, self.rule[which], self.time[which], self.ids[which], bodies, *texts)

    def copied(self) -> RaisedColumns:
        """The same, for whose bodies nothing else is held."""
        return replace(self, bodies=self.bodies.copied())

    def between(self, begin: int, end: int) -> RaisedColumns:
        """The alerts of some rows behind one another; nothing is copied."""
        some = slice(begin, end)
        texts = (getattr(self, name).slice(begin, end - begin) for name in _TEXTS)
        bodies = self.bodies.take(some)
        return RaisedColumns(self.rules, self.rule[some], self.time[some], self.ids[some], bodies, *texts)

    def lines(self) -> Iterator[memoryview]:
        """The bodies as lines of JSON, many in a piece."""
        for begin in range(0, len(self), LINES):
            yield bytes_of(self.bodies.take(slice(begin, begin + LINES)).joined("\n"))[0]

    def where(self, mask: Bools) -> RaisedColumns:
        """The alerts for which a mask is true, in their order."""
        return self.take(np.flatnonzero(mask))

    def of_rules(self, wanted: Sequence[bool]) -> Bools:
        """True for the alerts of some of `rules`."""
        return np.array(wanted, bool)[self.rule]

    def withholding_keys(self, rows: Ints) -> list[bytes]:
        """The keys that suppression goes by, of some rows."""
        return pieces(chosen([self.withholding], np.zeros(len(rows), np.int64), rows))

    def suppressible(self) -> Ints:
        """The rows of rules with `suppress`."""
        return np.flatnonzero(self.of_rules([one.duration is not None for one in self.rules]))

    def speaking_for(self, suppressed: Mapping[int, int]) -> RaisedColumns:
        """The same alerts, of which some, by row, tell of so many that were withheld before them."""
        rows = sorted(row for row, count in suppressed.items() if count)
        if not rows:
            return self
        told = zip(rows, self.bodies.take(np.array(rows)).texts(), strict=True)
        spoken = {row: speaking(body, suppressed[row]).encode() for row, body in told}
        return replace(self, bodies=self.bodies.but(spoken))

    def in_order(self) -> RaisedColumns:
        """The alerts by time, rule name (then pack), key values, order of decision, and id: alerts.ranks."""
        return self.take(_order(self.rules, self.rule, self.time, self.places, self.ids))


def _numbered_anew(given: Sequence[RaisedColumns]) -> tuple[tuple[Raising, ...], Ints]:
    """The rules of several columns, and that of each alert."""
    rules: dict[Raising, int] = {}
    numbers = []
    for part in given:
        own = [rules.setdefault(one, len(rules)) for one in part.rules]
        numbers.append(np.array(own, np.int64)[part.rule])
    return tuple(rules), np.concatenate(numbers)


def _order(rules: Sequence[Raising], rule: Ints, time: Ints, places: Binary, ids: Ids) -> Ints:
    """The order of alerts: see `RaisedColumns.in_order`."""
    named = [rule_rank(one.rule, one.pack) for one in rules]
    of_name = {name: place for place, name in enumerate(sorted(set(named)))}
    rule = np.array([of_name[name] for name in named], np.int64)[rule]
    order = np.lexsort((rule, time)).astype(np.int64)
    time, rule = time[order], rule[order]
    tied = np.zeros(len(order), bool)
    tied[1:] = (time[1:] == time[:-1]) & (rule[1:] == rule[:-1])
    order, tied = _sorted_further(order, tied, *_array(places))
    if tied.any():
        order, _ = _sorted_further(order, tied, ids.reshape(-1), np.arange(len(rule) + 1) * _ID)
    return order


def key_of(body: str) -> str:
    """The key in the JSON of an alert, as `key_text` writes it."""
    begin = body.index(_KEY) + len(_KEY)
    key, end = _DECODER.raw_decode(body, begin)
    return key_text(key) if "\\u" in body[begin:end] else body[begin:end]


def key_text(key: Mapping[str, object]) -> str:
    """A key as the JSON of alerts has it. Raises ValueError for NaN and infinity."""
    text = _ENCODER.encode(dict(key))
    # a lone surrogate has no UTF-8: a body with one is in ASCII
    return text if storable(text) else json.dumps(dict(key), separators=(",", ":"))


def _sorted_further(order: Ints, tied: Bools, data: npt.NDArray[np.uint8], ends: Ints) -> tuple[Ints, Bools]:
    """Sort by bytes what an order leaves equal: `tied` says that a row is equal to the one before it.

    Eight bytes at a time are compared as a number. No text is the beginning of another, so what lies behind
    the end of one does not matter.
    """
    order, tied = order.copy(), tied.copy()
    data = np.concatenate((data, np.zeros(8, np.uint8)))
    passed = 0
    while True:
        equal = tied.copy()
        equal[:-1] |= tied[1:]
        rows = np.flatnonzero(equal)
        begins = ends[order[rows]] + passed
        if not (begins < ends[order[rows] + 1]).any():
            return order, tied
        words = _words(data, np.minimum(begins, ends[order[rows] + 1]), ends[order[rows] + 1])
        group = np.cumsum(~tied)[rows]
        within = np.lexsort((words, group))
        order[rows], words = order[rows][within], words[within]
        tied[rows[1:]] &= words[1:] == words[:-1]
        passed += 8


def _words(data: npt.NDArray[np.uint8], begins: Ints, ends: Ints) -> npt.NDArray[np.uint64]:
    """Eight bytes from each beginning as a number, zeros behind the end."""
    at = np.arange(8)
    found = data[np.minimum(begins[:, None] + at, len(data) - 1)]
    found[at >= (ends - begins)[:, None]] = 0
    return cast("npt.NDArray[np.uint64]", found.view(">u8").reshape(-1).astype(np.uint64))


def _array(texts: Binary) -> tuple[npt.NDArray[np.uint8], Ints]:
    data, ends = bytes_of(texts)
    return np.frombuffer(data, np.uint8), ends


def _binary(values: list[bytes]) -> Binary:
    return pa.array(values, pa.large_binary())


def _raising(one: Raised) -> Raising:
    return Raising(
        one.pack, one.rule, one.severity, None if one.withholding is None else one.withholding.duration
    )
