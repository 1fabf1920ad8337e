"""What a shard remembers between batches, as values: a batch makes new ones and leaves the old as they were.

Of a space's patterns segments are remembered (cep.matching.segments); its other parts are small. Every part
has a number of its own, so that parts are stored one by one (cep.matching.state), each once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cep.automata.plan import Space
from cep.automata.space_tables import SpaceTables
from cep.matching import history, kernel, sightings
from cep.matching import segments as of_keys
from cep.matching.keys import Keys
from cep.matching.numbered import Numbered
from cep.matching.runs import counted
from cep.matching.segments import Bools, Columns, Content, Segment, indexed
from cep.matching.text_places import TextPlaces, named, renamed, text_places, texts_of
from cep.matching.waiting import Layout, Pending
from cep.routing.shards import hashes_of
from rules.typed import Match

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Merging:
    """When segments become one, by their weights.

    All, when the later ones weigh more than `base` times the first, or all together more than twice what is
    still alive; otherwise one and those after it, when these outweigh it `later` times. So a row is written
    about once more for every power of `later + 2`. What weighs less than `small` in all is one segment.
    """

    base: float = 1.0
    later: float = 3.0
    small: int = 4096

    def first(self, weights: Sequence[int], alive: int) -> int:
        """From which segment on all become one; their number if none does."""
        after = sum(weights)
        if after < self.small or after > 2 * alive + self.small:
            return 0
        for place, weight in enumerate(weights):
            after -= weight
            if after > weight * (self.later if place else self.base):
                return place
        return len(weights)


@dataclass(frozen=True, slots=True)
class SpaceMemory:
    """One key space in one shard.

    `sequence` and `texts` are the next numbers of an event and of a text, `live` counts the live runs of the
    rules of `layout`, `weight` what of the segments is still alive.
    """

    layout: Layout
    sequence: int = 0
    texts: int = 0
    segments: tuple[Segment, ...] = ()
    live: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    weight: int = 0
    pending: Pending | None = None

    @property
    def empty(self) -> bool:
        """Whether there is nothing to remember."""
        return not self.segments and self.pending is None

    def runs(self) -> dict[str, int]:
        """The live runs by rule, of those that have some."""
        some = np.flatnonzero(self.live)
        return {
            self.layout.rules[n][1]: count
            for n, count in zip(some.tolist(), self.live[some].tolist(), strict=True)
        }


@dataclass(frozen=True, slots=True)
class ShardMemory:
    """A shard: by id the spaces of which there is something to remember; the number of the next part."""

    spaces: Mapping[str, SpaceMemory]
    next_part: int


NOTHING = ShardMemory({}, 0)


@dataclass(frozen=True, slots=True)
class Recalled:
    """What a batch finds of the keys that it touches: those of its events, and those that time changes.

    Remembered keys come first in `keys`, `known` of them, in the order of `content`. Rules are numbered by
    `layout`, texts by their place in `texts`, which have `text_numbers` for good.
    """

    layout: Layout
    keys: Keys
    known: int
    content: Content
    texts: pa.StringArray
    text_numbers: Ints
    events: tuple[tuple[str, Numbered], ...]
    sequence: int


def recall(
    memory: SpaceMemory, layout: Layout, space: Space, keys: Keys, numbers: Ints, after: int, until: int
) -> tuple[Recalled, Ints]:
    """What is remembered of the keys of a batch's events and of those due after one instant until another;
    and the new numbers of the events' keys. Under another layout everything is recalled."""
    segments = memory.segments
    hashes = hashes_of(keys.columns, keys.count)
    where, which = of_keys.find(segments, keys.columns, hashes)
    of_event = where >= 0
    if memory.layout is layout:
        due = of_keys.due(segments, after, until)
    else:
        due = [
            of_keys.newest(segments, place, np.flatnonzero(segment.something))
            for place, segment in enumerate(segments)
        ]
    # A number for each key of a segment, in the order of segments and keys.
    codes = [where[of_event] << 32 | which[of_event]] + [place << 32 | of for place, of in enumerate(due)]
    known = np.unique(np.concatenate(codes))
    bounds = np.searchsorted(known, np.arange(len(segments) + 1) << 32).tolist()
    chosen = [known[a:b] & 0xFFFFFFFF for a, b in pairwise(bounds)]
    content = of_keys.cut(segments, chosen)
    renumbered = np.empty(keys.count, np.int64)
    renumbered[of_event] = np.searchsorted(known, codes[0])
    fresh = np.flatnonzero(~of_event)
    renumbered[fresh] = len(known) + np.arange(len(fresh))
    together = Keys(_followed(content.keys, keys.columns, fresh), len(known) + len(fresh))
    texts, text_numbers = _texts(memory, layout, space, content)
    events = tuple((stream, of) for segment in segments for stream, of in segment.content.events.items())
    recalled = Recalled(
        memory.layout, together, len(known), content, texts, text_numbers, events, memory.sequence
    )
    return recalled, renumbered[numbers]


def _followed(first: Columns, then: Columns, which: Ints) -> Columns:
    """The first keys, then some of the others."""
    if not len(which):
        return first
    chosen = tuple(column.take(pa.array(which)) for column in then)
    return tuple(map(pa.concat_arrays, zip(first, chosen, strict=True))) if first else chosen


def _texts(
    memory: SpaceMemory, layout: Layout, space: Space, content: Content
) -> tuple[pa.StringArray, Ints]:
    """The texts that a content names, by their places from now on, and their numbers for good."""
    assert space.tables is not None
    if memory.layout is layout:
        places = text_places(space.tables)
    else:
        # The registers will be worked out anew from the events; their texts come with them.
        histories = {
            old: space.tables.past_texts[new]
            for old, name in enumerate(memory.layout.rules)
            if (new := space.tables.numbers.get(name, -1)) in space.tables.past_texts
        }
        places = TextPlaces(np.zeros(1, np.int64), np.zeros((0, 3), np.int64), histories)
    used = named(places, content)
    texts, of_number, first = texts_of([segment.content.texts for segment in memory.segments], used)
    renamed(places, content, used, of_number)
    return texts, first


def remember(
    memory: SpaceMemory,
    layout: Layout,
    space: Space,
    recalled: Recalled,
    left: Content,
    texts: pa.StringArray,
    sequence: int,
    numbers: Iterator[int],
    merging: Merging,
) -> SpaceMemory:
    """What is remembered after a batch of which `left` remains of the keys recalled, numbered as these.

    `left` names its texts by their places in `texts`; its events are those that segments do not have yet.
    `sequence` is the number of the next event, `numbers` gives numbers to new parts. The arrays of `left` are
    changed.
    """
    tables = space.tables
    assert tables is not None
    same = memory.layout is layout
    segments = memory.segments if same else ()
    listed = left.something
    if segments:
        # Those of which nothing is left must be said to be forgotten.
        listed[: recalled.known] = True
    places = text_places(tables)
    next_text, fresh = _named_for_good(memory.texts, places, left, texts, recalled, same)
    delta = _only(left, listed, recalled.keys.columns)
    delta = replace(delta, due=_due(tables, delta), texts=fresh)
    live, weight = counted(delta.runs, len(layout.rules)), _weight(delta)
    if segments:
        live += memory.live - counted(recalled.content.runs, len(layout.rules))
        weight += memory.weight - _weight(recalled.content)
    if len(delta.due):
        segments = (*segments, indexed(next(numbers), delta))
    first = merging.first([segment.weight for segment in segments], weight) if weight else 0
    if not weight:
        segments = ()
    elif first < len(segments) - 1:
        one = of_keys.merged(
            segments[first:], next(numbers), first == 0, lambda content: named(places, content)
        )
        segments = (*segments[:first], one)
    return SpaceMemory(layout, sequence, next_text, segments, live, weight)


def _weight(content: Content) -> int:
    return content.size + int(np.count_nonzero(content.something))


def _named_for_good(
    next_text: int, places: TextPlaces, left: Content, texts: pa.StringArray, recalled: Recalled, same: bool
) -> tuple[int, Numbered]:
    """Lets what is left name texts by numbers for good; the next such number, and the texts that got one."""
    used = named(places, left)
    numbers = np.empty(len(used), np.int64)
    # Texts that were recalled stand first, and keep their numbers where their segments stay.
    old = int(np.searchsorted(used, len(recalled.text_numbers))) if same else 0
    numbers[:old] = recalled.text_numbers[used[:old]]
    numbers[old:] = next_text + np.arange(len(used) - old)
    renamed(places, left, used, numbers)
    table = pa.table({"t": texts.take(pa.array(used[old:]))})
    return next_text + len(used) - old, Numbered(numbers[old:], table)


def _only(left: Content, listed: Bools, keys: Columns) -> Content:
    """The content with only the keys that are listed, which are numbered anew."""
    which = np.flatnonzero(listed)
    of_key = np.cumsum(listed) - 1
    for runs in left.runs.values():
        runs.lists[:, kernel.KEPT_KEY] = of_key[runs.lists[:, kernel.KEPT_KEY]]
    for rows in (left.histories, left.sightings):
        rows[:, of_keys.KEY] = of_key[rows[:, of_keys.KEY]]
    return replace(
        left, keys=tuple(column.take(pa.array(which)) for column in keys), due=np.zeros(len(which), np.int64)
    )


def _due(tables: SpaceTables, content: Content) -> Ints:
    """For each key the first instant at which time changes anything about it."""
    found = np.full(len(content.due), kernel.END_OF_TIME, np.int64)
    for runs in content.runs.values():
        np.minimum.at(found, runs.lists[:, kernel.KEPT_KEY], runs.lists[:, kernel.KEPT_DUE])
    for number in np.unique(content.histories[:, of_keys.RULE]).tolist():
        body = tables.rules[number].rule.body
        assert isinstance(body, Match)
        rows = content.histories[content.histories[:, of_keys.RULE] == number]
        if body.within is not None:
            _gone(found, rows[:, of_keys.KEY], rows[:, history.TIME], body.within)
    for number in np.unique(content.sightings[:, of_keys.RULE]).tolist():
        for place, look in enumerate(tables.tables(number).look_backs):
            of_rule, of_look = content.sightings[:, of_keys.RULE], content.sightings[:, sightings.LOOK]
            rows = content.sightings[(of_rule == number) & (of_look == place)]
            _gone(found, rows[:, of_keys.KEY], rows[:, sightings.TIME], look.duration)
    return found


def _gone(due: Ints, keys: Ints, times: Ints, duration: int) -> None:
    """What is seen for so long is gone an instant later."""
    ends = np.where(times < kernel.END_OF_TIME - duration, times + duration + 1, kernel.END_OF_TIME)
    np.minimum.at(due, keys, ends)
