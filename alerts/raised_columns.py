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
from alerts.joining import bytes_of, pieces
from alerts.lazy_texts import LazyTexts
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
BODY, PLACE, WITHHOLDING, KEY = "body", "place", "withholding", "key"
"""Names of texts."""
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
    bytes each. Of `texts` BODY is JSON; PLACE ranks alerts of one instant and rule, but for the id;
    WITHHOLDING is the key that suppression goes by, empty where the rule has none; KEY is the body's, JSON.
    """

    rules: tuple[Raising, ...]
    rule: Ints
    time: Ints
    ids: Ids
    texts: LazyTexts

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
        held = ["" if one.withholding is None else one.withholding.key for one in raised]
        columns = {
            BODY: [one.body.encode() for one in raised],
            PLACE: places,
            WITHHOLDING: [key.encode("utf-8", "surrogatepass") for key in held],
            KEY: [key_of(one.body).encode() for one in raised],
        }
        return cls(
            tuple(rules),
            np.array(numbers, np.int64),
            np.array([one.time for one in raised], np.int64),
            np.frombuffer(bytes.fromhex("".join(one.id for one in raised)), np.uint8).reshape(-1, _ID),
            LazyTexts.of_columns({name: pa.array(rows, pa.large_binary()) for name, rows in columns.items()}),
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
            LazyTexts.together([part.texts for part in given]),
        )

    @classmethod
    def ordered(cls, parts: Iterable[Sequence[Raised]]) -> RaisedColumns:
        """The alerts of several parts, as `in_order` gives them."""
        return cls.together(parts).in_order()

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
        columns = (pieces(self.texts.joined(name)) for name in (BODY, PLACE, WITHHOLDING))
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
        return self._of(which)

    def copied(self) -> RaisedColumns:
        """The same, for whose texts nothing else is held."""
        return replace(self, texts=self.texts.copied())

    def between(self, begin: int, end: int) -> RaisedColumns:
        """The alerts of some rows behind one another; nothing is copied."""
        return self._of(slice(begin, end))

    def _of(self, some: Ints | slice) -> RaisedColumns:
        texts = self.texts.take(some)
        return RaisedColumns(self.rules, self.rule[some], self.time[some], self.ids[some], texts)

    def lines(self) -> Iterator[memoryview]:
        """The bodies as lines of JSON, many in a piece."""
        for begin in range(0, len(self), LINES):
            yield bytes_of(self.texts.take(slice(begin, begin + LINES)).joined(BODY, "\n"))[0]

    def where(self, mask: Bools) -> RaisedColumns:
        """The alerts for which a mask is true, in their order."""
        return self.take(np.flatnonzero(mask))

    def of_rules(self, wanted: Sequence[bool]) -> Bools:
        """True for the alerts of some of `rules`."""
        return np.array(wanted, bool)[self.rule]

    def withholding_keys(self, rows: Ints) -> list[bytes]:
        """The keys that suppression goes by, of some rows."""
        return pieces(self.texts.take(rows).joined(WITHHOLDING))

    def suppressible(self) -> Ints:
        """The rows of rules with `suppress`."""
        return np.flatnonzero(self.of_rules([one.duration is not None for one in self.rules]))

    def speaking_for(self, suppressed: Mapping[int, int]) -> RaisedColumns:
        """The same alerts, of which some, by row, tell of so many that were withheld before them."""
        rows = sorted(row for row, count in suppressed.items() if count)
        if not rows:
            return self
        told = zip(rows, self.texts.take(np.array(rows)).texts(BODY), strict=True)
        spoken = {row: speaking(body, suppressed[row]).encode() for row, body in told}
        return replace(self, texts=self.texts.but(BODY, spoken))

    def in_order(self) -> RaisedColumns:
        """The alerts by time, rule name (then pack), key values, order of decision, and id: alerts.ranks."""
        return self.take(_order(self.rules, self.rule, self.time, self.texts, self.ids))


def _numbered_anew(given: Sequence[RaisedColumns]) -> tuple[tuple[Raising, ...], Ints]:
    """The rules of several columns, and that of each alert."""
    rules: dict[Raising, int] = {}
    numbers = []
    for part in given:
        own = [rules.setdefault(one, len(rules)) for one in part.rules]
        numbers.append(np.array(own, np.int64)[part.rule])
    return tuple(rules), np.concatenate(numbers)


def _order(rules: Sequence[Raising], rule: Ints, time: Ints, texts: LazyTexts, ids: Ids) -> Ints:
    """The order of alerts: see `RaisedColumns.in_order`."""
    named = [rule_rank(one.rule, one.pack) for one in rules]
    of_name = {name: place for place, name in enumerate(sorted(set(named)))}
    rule = np.array([of_name[name] for name in named], np.int64)[rule]
    order = _by_two(time, rule, len(of_name))
    time, rule = time[order], rule[order]
    tied = np.zeros(len(order), bool)
    tied[1:] = (time[1:] == time[:-1]) & (rule[1:] == rule[:-1])
    equal = tied.copy()
    equal[:-1] |= tied[1:]
    rows = order[equal]
    if len(rows):
        data, ends = bytes_of(texts.take(rows).joined(PLACE))
        within, tied = np.arange(len(rows)), tied[equal]
        within, tied = _sorted_further(within, tied, np.frombuffer(data, np.uint8), ends)
        if tied.any():
            within, _ = _sorted_further(within, tied, ids[rows].reshape(-1), np.arange(len(rows) + 1) * _ID)
        order[equal] = rows[within]
    return order


def _by_two(time: Ints, number: Ints, numbers: int) -> Ints:
    """The order of rows by time, then by a number below `numbers`; as one where both fit in 64 bits, which
    takes half the time or less where many rise already."""
    first, last = (int(time.min()), int(time.max())) if len(time) else (0, 0)
    if (last - first + 1) * numbers >= 1 << 63:
        return np.lexsort((number, time)).astype(np.int64)
    return np.argsort((time - first) * numbers + number, kind="stable")


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


def _raising(one: Raised) -> Raising:
    return Raising(
        one.pack, one.rule, one.severity, None if one.withholding is None else one.withholding.duration
    )
