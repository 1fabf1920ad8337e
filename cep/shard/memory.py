"""The memory of a shard between batches, as values: a batch makes new ones and leaves the old as they were.

Of a space's patterns segments are remembered (cep.state.segments); its other parts are small. Every part
has a number of its own, so that parts are stored one by one (cep.shard.state_bytes), each once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cep.batch.waiting import NOTHING_PENDING, Pending, PlanLayout
from cep.events import MAX_TIME
from cep.hashing.shards import Hashes, hashes_of
from cep.operators.running import Groups, named_in, together
from cep.plan.plan import RuleId, RuleName
from cep.state.gathering import gathered, merged
from cep.state.keyed_rows import Kept, size_of, something
from cep.state.keys import Keys
from cep.state.named_texts import named, renamed, texts_of
from cep.state.numbered import Numbered
from cep.state.segments import MOST_SEGMENTS, Bools, Content, Segment, indexed

Ints = npt.NDArray[np.int64]
_WORD = (1 << 64) - 1


@dataclass(frozen=True, slots=True)
class Merging:
    """When segments become one, by their weights.

    All, when those after the base weigh more than about `base` times as much as it, or all together more than
    twice what is still alive; otherwise one and those after it, when these outweigh it `later` times. So a
    row is written about once more for every power of `later + 2`. What weighs less than `small` in all is one
    segment. The base is the first one, or a later one that outweighs all before it `later` times: beside it
    they are little, and what a batch has just brought is not written twice for their sake.

    With later ones of b times the base a merge writes 1 + b for every b that is new: a row is written 1 + 1/b
    times more, and the state takes up to 1 + b times its base. From b = 1/2 to 1 that saves a third of what
    merges write, from 1 to 2 another quarter, and each step costs half a base. "About": b is up to a quarter
    less or more, by the base's weight, so that shards that began together do not all merge in one batch.

    A batch that recalls `anew` of all that segments hold recalls the rest, too, and what is left is the base:
    where most of it changes, a difference and its merges write each row twice. More than 1: no batch does.
    """

    base: float = 1.0
    later: float = 3.0
    small: int = 4096
    anew: float = 0.5

    def first(self, weights: Sequence[int], alive: int) -> int:
        """From which segment on all become one; their number if none does."""
        after = sum(weights)
        if after < self.small or after > 2 * alive + self.small:
            return 0
        base = before = 0
        for place, weight in enumerate(weights):
            if weight > self.later * before:
                base = place
            before += weight
        for place, weight in enumerate(weights):
            after -= weight
            if place == base and after > weight * self.base * _spread(weight):
                return 0
            if place > base and after > weight * self.later:
                return place
        return len(weights)


def _spread(weight: int) -> float:
    """From 3/4 to 5/4, by what looks like chance: Fibonacci hashing (Knuth, TAOCP 6.4)."""
    return 0.75 + (weight * 0x9E3779B97F4A7C15 & _WORD) / (2 * _WORD)


@dataclass(frozen=True, slots=True)
class SpaceMemory:
    """One key space in one shard.

    `sequence` and `texts` are the next numbers of an event and of a text, `live` counts the live runs of the
    rules of `layout`, `weight` what of the segments is still alive.
    """

    layout: PlanLayout
    sequence: int = 0
    texts: int = 0
    segments: tuple[Segment, ...] = ()
    live: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    weight: int = 0
    pending: Pending = NOTHING_PENDING

    @property
    def empty(self) -> bool:
        """True if there is nothing to remember."""
        return not self.segments and self.pending.empty

    def next_due(self, watermark: int) -> int:
        """The first event time after the watermark at which time alone may change something, or MAX_TIME."""
        of_segments = (segment.next_due(watermark) for segment in self.segments)
        return min((self.pending.next_due(watermark), *of_segments))

    def runs(self) -> dict[RuleName, int]:
        """The live runs by pack and rule, of those that have some."""
        found: Counter[RuleName] = Counter()
        for rule, count in self.kept().items():
            found[rule[:2]] += count
        return dict(found)

    def kept(self) -> dict[RuleId, int]:
        """The same by rule and generation."""
        some = np.flatnonzero(self.live)
        counts = zip(some.tolist(), self.live[some].tolist(), strict=True)
        return {self.layout.rules[n]: count for n, count in counts}


@dataclass(frozen=True, slots=True)
class ShardMemory:
    """A shard: by id the spaces of which there is something to remember; the number of the next part."""

    spaces: Mapping[str, SpaceMemory]
    next_part: int

    def next_due(self, watermark: int) -> int:
        """The first event time after the watermark at which time alone may change something, or MAX_TIME."""
        return min((space.next_due(watermark) for space in self.spaces.values()), default=MAX_TIME)


NOTHING = ShardMemory({}, 0)


@dataclass(frozen=True, slots=True)
class Recalled:
    """The memory of the keys that a batch touches: those of its events, and those that time changes.

    Keys stand in the order of their `hashes`. Of those `known` everything that is remembered is in `rows`; of
    the others nothing is, or nothing that this batch could change. `everything`: there are no other keys of
    which anything is remembered. Rules have the numbers of their groups, texts their place in `texts`, and
    for good they have `text_numbers`.
    """

    layout: PlanLayout
    keys: Keys
    hashes: Hashes
    known: Bools
    everything: bool
    rows: Kept
    texts: pa.StringArray
    text_numbers: Ints
    events: tuple[tuple[str, Numbered], ...]
    sequence: int


@dataclass(frozen=True, slots=True)
class Remaining:
    """The rest of the keys recalled after a batch, by their numbers: rows, which name texts by their
    places in `texts`, and the events that they name and segments do not have yet, by stream."""

    rows: Kept
    events: Mapping[str, Numbered]
    texts: pa.StringArray


def recall(
    memory: SpaceMemory,
    layout: PlanLayout,
    groups: Groups,
    keys: Keys,
    wanted: Bools,
    after: int,
    until: int,
    merging: Merging,
) -> tuple[Recalled, Ints]:
    """The memory of the keys of a batch's events that are wanted, and of those due after one instant
    until another; and the new numbers of the events' keys. Everything is recalled under another layout, and
    where that is most of it."""
    segments = memory.segments
    hashes = hashes_of(keys.columns, keys.count)
    if len(segments) > MOST_SEGMENTS:
        wanted = np.ones(keys.count, bool)
    else:
        wanted = wanted | np.isin(hashes, np.concatenate([hashes[:0], *(s.crowded for s in segments)]))
    ripe = (after, until) if memory.layout is layout else None
    most = merging.anew * sum(segment.weight for segment in segments)
    found = gathered(segments, keys.columns, hashes, wanted, ripe, most)
    if memory.layout is layout:
        rows = together(one.taken(found.rows) for one in groups)
    else:
        rows = together(one.left(found.rows, memory.layout.rules) for one in groups)
    rows, texts, text_numbers = _with_texts(memory, groups, rows, memory.layout is not layout)
    recalled = Recalled(
        layout=memory.layout,
        keys=found.keys,
        hashes=found.hashes,
        known=found.known,
        everything=found.everything,
        rows=rows,
        texts=texts,
        text_numbers=text_numbers,
        events=tuple(of_stream for segment in segments for of_stream in segment.content.events.items()),
        sequence=memory.sequence,
    )
    return recalled, found.asked


def _with_texts(
    memory: SpaceMemory, groups: Groups, rows: Kept, carried: bool
) -> tuple[Kept, pa.StringArray, Ints]:
    """Rows that name texts by their places, these texts, and their numbers for good."""
    used = named(named_in(groups, rows, carried))
    texts, of_number, first = texts_of([segment.content.texts for segment in memory.segments], used)
    if len(used):
        rows = {kind: of_kind.unshared() for kind, of_kind in rows.items()}
        renamed(named_in(groups, rows, carried), used, of_number)
    return rows, texts, first


def remember(
    memory: SpaceMemory,
    layout: PlanLayout,
    groups: Groups,
    recalled: Recalled,
    left: Remaining,
    sequence: int,
    numbers: Iterator[int],
    merging: Merging,
) -> SpaceMemory:
    """The memory after a batch of which `left` remains of the keys recalled, numbered as these.

    `sequence` is the number of the next event, `numbers` gives numbers to new parts. The arrays of `left` are
    changed.
    """
    segments, changed = () if recalled.everything else memory.segments, recalled.known
    live, weight = counted(groups, left.rows), size_of(left.rows)
    if segments:
        live += memory.live - counted(groups, recalled.rows)
        weight += memory.weight - size_of(recalled.rows)
        rows, changed = _without_unchanged(groups, recalled, left.rows)
        left = replace(left, rows=rows)
    listed = something(left.rows, recalled.keys.count)
    if segments:
        # Those of which nothing is left must be said to be forgotten.
        listed |= changed
    next_text, texts = _named_for_good(memory.texts, groups, left, recalled)
    which = np.flatnonzero(listed)
    of_key = np.cumsum(listed) - 1
    rows = {kind: of_kind.renumbered(of_key) for kind, of_kind in left.rows.items()}
    due = [one.operator.due(one.group, one.own(rows), len(which)) for one in groups]
    delta = Content(
        keys=recalled.keys.of(which),
        hashes=recalled.hashes[which],
        whole=changed[which],
        due=np.minimum.reduce(due),
        rows=together(one.given(rows) for one in groups),
        events=left.events,
        texts=texts,
    )
    if len(which):
        segments = (*segments, indexed(next(numbers), delta))
    first = merging.first([segment.weight for segment in segments], weight) if weight else 0
    if not weight:
        segments = ()
    elif first < len(segments) - 1:
        one = merged(segments[first:], next(numbers), first == 0, lambda rows: _texts_of(groups, rows))
        segments = (*segments[:first], one)
    return SpaceMemory(layout, sequence, next_text, segments, live, weight)


def _named_for_good(
    next_text: int, groups: Groups, left: Remaining, recalled: Recalled
) -> tuple[int, Numbered]:
    """Lets what is left name texts by numbers for good; the next such number, and the texts that got one."""
    used = named(named_in(groups, left.rows))
    numbers = np.empty(len(used), np.int64)
    # Texts that were recalled stand first, and keep their numbers where their segments stay.
    old = 0 if recalled.everything else int(np.searchsorted(used, len(recalled.text_numbers)))
    numbers[:old] = recalled.text_numbers[used[:old]]
    numbers[old:] = next_text + np.arange(len(used) - old)
    renamed(named_in(groups, left.rows), used, numbers)
    table = pa.table({"t": left.texts.take(pa.array(used[old:]))})
    return next_text + len(used) - old, Numbered(numbers[old:], table)


def _texts_of(groups: Groups, kept: Kept) -> Ints:
    """The numbers of the texts that what a segment keeps names, rising."""
    return named(named_in(groups, together(one.taken(kept) for one in groups)))


def _without_unchanged(groups: Groups, recalled: Recalled, after: Kept) -> tuple[Kept, Bools]:
    """The rows after a batch, without what was recalled and is as it was; and a mask of the known keys that
    have changed."""

    deltas = [one.operator.delta(one.group, one.own(recalled.rows), one.own(after)) for one in groups]
    changed = np.zeros(len(recalled.known), bool)
    for delta in deltas:
        changed[delta.changed] = True
    changed &= recalled.known
    return together(delta.rest(changed) for delta in deltas), changed


def counted(groups: Groups, kept: Kept) -> Ints:
    """The number of live runs of each rule of which something may be kept."""
    return np.concatenate([np.zeros(0, np.int64), *(one.counted(kept) for one in groups)])
