"""In the shuffle's reader: a shard's events and state become alerts and the next state. A pure function.

Nothing here reads a clock, a random number or the network: equal arguments give equal results, so that a
batch that is replayed raises the same alerts with the same ids.
"""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa

from alerts.raised import Raised
from cep.automata.plan import Plan, Space
from cep.events import MAX_TIME, MIN_TIME
from cep.matching import kernel
from cep.matching.arrivals import at_the_watermark, in_order, parts_of, still_waiting, without_duplicates
from cep.matching.engines import engine
from cep.matching.pattern_space import Result, run_patterns
from cep.matching.render import Decision, Renderer, Taken
from cep.matching.single_events import run_single
from cep.matching.state import SpaceState, Waiting, read, write
from cep.matching.trace import Trace
from cep.routing.payload import Segment, unpack
from rules.typed import Match, Rule

Counts = Counter[tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Clock:
    """The batch's number, the watermark before and after it, and since when rules watch.

    `since` has for rules that were deployed to a running job the watermark of that moment, `first` for every
    stream the time of its earliest event so far.

    `one_partition`: events of all streams came interleaved, their offsets alone order them (cases, tests).
    """

    batch: int
    watermark_before: int
    watermark_after: int
    since: Mapping[str, int] = field(default_factory=dict)
    one_partition: bool = False
    first: Mapping[str, int] = field(default_factory=dict)

    def watching(self, rule: Rule) -> int:
        """Since when a rule has been watching: the first event of its streams, or its deploy."""
        streams = rule.body.streams if isinstance(rule.body, Match) else (rule.body.stream,)
        begun = min((self.first[name] for name in streams if name in self.first), default=MAX_TIME)
        return max(begun, self.since.get(rule.name, MIN_TIME))


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a shard came to in a batch.

    `state` None: nothing to remember. `changed` tells whether it differs from the state before. `raised` in
    no particular order: `alerts.suppress.in_order` gives it. `counts`: ("events", stream, duplicate |
    id_conflict), ("runs", rule, dropped | limit), ("overflows", rule), ("matches", rule). `runs` are the
    live runs by rule.
    """

    state: bytes | None
    changed: bool
    raised: list[Raised]
    counts: Counts
    runs: dict[str, int]


def match_shard(
    plan: Plan,
    state: bytes | None,
    payloads: Sequence[bytes],
    clock: Clock,
    compiled: bool | None = None,
    trace: Trace | None = None,
) -> Outcome:
    """Match what came to one shard, up to the watermark after the batch.

    `compiled` chooses the kernel; None: by the number of events. `trace` is told what happens to runs.
    Raises StateError and PayloadError.
    """
    before = read(state)
    if not payloads and clock.watermark_after == clock.watermark_before and _is_of(before, plan):
        return Outcome(state, False, [], Counter(), _live(before))
    segments: dict[str, list[Segment]] = {}
    for payload in payloads:
        for segment in unpack(payload):
            segments.setdefault(segment.space, []).append(segment)
    counts: Counts = Counter()
    raised: list[Raised] = []
    live: dict[str, int] = {}
    after: dict[str, SpaceState] = {}
    for space in plan.spaces:
        old = before.get(space.id)
        came = segments.get(space.id, [])
        if old is None and not came:
            continue
        found, kept, running = _of_space(plan, space, old, came, clock, counts, compiled, trace)
        raised.extend(found)
        after[space.id] = kept
        live |= running
    known = {space.id for space in plan.spaces}
    for name, old in before.items():
        if name not in known:
            for rule, runs in old.live().items():
                counts["runs", rule[1], "dropped"] += runs
    data = write(after)
    return Outcome(data, data != state, raised, counts, live)


def _is_of(state: Mapping[str, SpaceState], plan: Plan) -> bool:
    """Whether the state was written under this plan: then no event and no time change nothing."""
    return all(space.plan == plan.id for space in state.values())


def _live(state: Mapping[str, SpaceState]) -> dict[str, int]:
    return {rule[1]: runs for space in state.values() for rule, runs in space.live().items()}


def _of_space(
    plan: Plan,
    space: Space,
    old: SpaceState | None,
    segments: Sequence[Segment],
    clock: Clock,
    counts: Counts,
    compiled: bool | None,
    trace: Trace | None,
) -> tuple[list[Raised], SpaceState, dict[str, int]]:
    parts = parts_of(plan, space.judged, old, segments, clock.batch)
    events = in_order(plan, parts, clock.one_partition)
    events = without_duplicates(space, events, {} if old is None else old.remembered, counts)
    cut = int(np.searchsorted(events.time, clock.watermark_after, side="right"))
    ready, rest = events.chosen(np.arange(cut)), events.chosen(np.arange(cut, len(events.time)))
    waiting = still_waiting(rest, lambda part: part.judged)
    at_watermark = ready.chosen(ready.time >= clock.watermark_after)
    remembered = at_the_watermark(at_watermark, space)
    if old is not None and clock.watermark_after == clock.watermark_before:
        remembered = {**old.remembered, **_added(old.remembered, remembered)}
    if space.on is not None:
        with _collector_paused():
            raised = run_single(plan, space, ready)
        for one in raised:
            counts["matches", one.rule] += 1
        return raised, _nothing(plan, waiting, remembered), {}
    machine = engine(cut, compiled)
    result = run_patterns(
        plan, space, old, ready, clock.watermark_after, clock.watching, machine, counts, trace
    )
    assert result.state is not None
    kept = replace(result.state, waiting=waiting, remembered=remembered)
    with _collector_paused():
        return _decisions(result, counts), kept, result.live


@contextmanager
def _collector_paused() -> Iterator[None]:
    """Many new objects without a cycle would only make the cyclic collector look through them in vain."""
    running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if running:
            gc.enable()


def _added(old: Mapping[str, pa.Table], new: Mapping[str, pa.Table]) -> dict[str, pa.Table]:
    return {
        stream: pa.concat_tables([old[stream], table]) if stream in old else table
        for stream, table in new.items()
    }


def _nothing(plan: Plan, waiting: tuple[Waiting, ...], remembered: Mapping[str, pa.Table]) -> SpaceState:
    """The state of a space without runs."""
    return SpaceState(
        plan.id, 0, pa.table({}), pa.array([], pa.string()), {}, np.zeros((0, 2), np.int64), (), {},
        waiting=waiting, remembered=remembered,
    )  # fmt: skip


def _decisions(result: Result, counts: Counts) -> list[Raised]:
    """The alerts of all matches of a space."""
    raised: list[Raised] = []
    if not result.found:
        return raised
    assert result.keys is not None
    assert result.book is not None
    result.book.read(np.concatenate([found.events for found in result.found]))
    named = np.unique(np.concatenate([found.matches[:, kernel.M_KEY] for found in result.found]))
    keys = result.keys.python(named.tolist())
    for found in result.found:
        renderer = Renderer(found.rule)
        decided: set[tuple[object, ...]] = set()
        start = 0
        steps, events, sequences = found.steps.tolist(), found.events.tolist(), found.sequences.tolist()
        for match, end in zip(found.matches.tolist(), found.ends.tolist(), strict=True):
            places, start = range(start, end), end
            timeout = match[kernel.M_TIMEOUT] == 1
            order = (match[kernel.M_BY_EVENT], *(sequences[at] for at in places))
            # forks that took the same events in the same steps are one match (decision 8)
            same = (timeout, *order[1:], *(steps[at] for at in places))
            if same in decided:
                continue
            decided.add(same)
            taken: dict[int, list[Taken]] = {}
            for at in places:
                one = result.book.taken(events[at], sequences[at])
                taken.setdefault(steps[at], []).append(one)
            decision = Decision(match[kernel.M_TIME], keys[match[kernel.M_KEY]], taken, order, timeout)
            raised.append(renderer.raised(decision))
        counts["matches", found.rule.rule.name] += len(decided)
    return raised
