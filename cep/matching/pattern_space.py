"""The patterns of one key space over one shard's events: from arrivals and state to decisions and state."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cep.automata.plan import Plan, RulePlan, Space
from cep.matching import kernel
from cep.matching.arrivals import Arrivals
from cep.matching.engines import INTERPRETED, Engine
from cep.matching.history import History, look_back
from cep.matching.judge import Judge
from cep.matching.judgement import Judgement
from cep.matching.keys import Keys, number_keys
from cep.matching.live import Migration, compacted
from cep.matching.pool import Pool, Runs
from cep.matching.sightings import Inputs, Sightings, last_seen
from cep.matching.state import RuleId, SpaceState
from cep.matching.taken import EventBook
from cep.matching.texts import Texts, as_text
from cep.matching.trace import Teller, Trace
from rules.typed import Rule

Ints = npt.NDArray[np.int64]
Counts = Counter[tuple[str, ...]]


@dataclass(slots=True)
class Found:
    """The matches of one rule: rows of the kernel's `matches`, and the chains of events taken, end to end.

    The k-th match took those from `ends[k - 1]` up to `ends[k]`: number of the step's name, event number,
    sequence number.
    """

    rule: RulePlan
    matches: Ints
    ends: Ints
    steps: Ints
    events: Ints
    sequences: Ints


@dataclass(slots=True)
class Result:
    """What a space came to: matches, the keys and events that they name, and the state after."""

    found: list[Found] = field(default_factory=list)
    keys: Keys | None = None
    book: EventBook | None = None
    state: SpaceState | None = None
    live: dict[str, int] = field(default_factory=dict)


def run_patterns(
    plan: Plan,
    space: Space,
    old: SpaceState | None,
    events: Arrivals,
    watermark: int,
    watching: Callable[[Rule], int],
    engine: Engine,
    counts: Counts,
    trace: Trace | None = None,
) -> Result:
    """Run every rule of the space over the events (all up to the watermark, in order of time).

    `watching` tells since when a rule has been watching.
    """
    keys, numbers = number_keys(len(space.types), old.keys if old is not None else None, events)
    if len(numbers) and np.any(np.diff(numbers) < 0):
        order = np.argsort(numbers, kind="stable")
        events, numbers = events.chosen(order), numbers[order]
    migration = Migration.of(plan, space, old, engine, counts)
    texts = migration.texts
    judgement = Judgement(events, texts)
    judgement.encode()
    constants = {rule.identity: _constants(rule, texts) for rule in space.rules}
    ranks = (
        texts.ranks()
        if any(r.tables is not None and r.tables.ranked for r in space.rules)
        else np.zeros(1, np.int64)
    )
    sequence = 0 if old is None else old.sequence
    stored = 0 if old is None else len(old.events)
    list_of_key = np.full(max(1, keys.count), -1, np.int64)
    live: dict[RuleId, Runs] = {}
    histories: dict[RuleId, History] = {}
    sightings: dict[RuleId, Sightings] = {}
    result = Result(keys=keys, book=EventBook(old, events))
    assert result.book is not None
    for rule in space.rules:
        assert rule.tables is not None
        places = judgement.places(rule)
        wake = np.flatnonzero(places.any(axis=0)) if len(places) else np.zeros(0, np.int64)
        runs = migration.rules.get(rule.identity)
        remembers = rule.identity in migration.histories or rule.identity in migration.sightings
        if not len(wake) and runs is None and not remembers:
            continue
        values, nulls = judgement.columns(rule)
        if any(column.back for column in rule.tables.columns):
            before = migration.histories.get(rule.identity, History.none(rule))
            histories[rule.identity] = look_back(
                rule, before, numbers, events.time, places[-1], values, nulls, watermark
            )
        if rule.tables.look_backs:
            seen = migration.sightings.get(rule.identity, Sightings.none())
            inputs = Inputs(numbers, events.time, places, values, nulls, constants[rule.identity], ranks)
            more, unknown_there, sightings[rule.identity] = last_seen(rule, seen, inputs, watermark)
            values, nulls = np.concatenate((values, more)), np.concatenate((nulls, unknown_there))
        machine = INTERPRETED if rule.tables.outside else engine
        pool = Pool.of(
            rule.tables,
            runs if runs is not None else Runs.none(rule.tables),
            16 + min(len(wake), 1024 + len(wake) // 4),
            machine,
        )
        cursor = pool.cursor
        cursor[kernel.C_SINCE] = watching(rule.rule)
        cursor[kernel.C_TRACES] = kernel.NONE if trace is None else 0
        cursor[kernel.C_SEQUENCE] = sequence
        cursor[kernel.C_EVENT] = stored
        cursor[kernel.C_EVENTS] = len(numbers)
        cursor[kernel.C_WATERMARK] = watermark
        of_lists = np.arange(0, int(cursor[kernel.C_LISTS]), kernel.LIST)
        list_of_key[pool.lists[of_lists + kernel.L_KEY]] = of_lists
        slots = np.zeros(rule.tables.slots + 2, np.int64)
        unknown = np.zeros(rule.tables.slots + 2, np.int64)
        judge = Judge(rule, pool, old, events, keys, texts, values, nulls)
        with _asked(judge) if rule.tables.outside else nullcontext():
            while True:
                outcome = machine.run(
                    rule.tables.array, constants[rule.identity], wake, numbers, events.time, places.ravel(),
                    values.ravel(), nulls.ravel(), ranks, list_of_key, pool.lists, pool.runs, pool.threads,
                    pool.nodes, pool.matches, pool.index, slots, unknown, cursor, pool.trace,
                )  # fmt: skip
                if outcome == kernel.DONE:
                    break
                pool.grow(machine)
        of_lists = np.arange(0, int(cursor[kernel.C_LISTS]), kernel.LIST)
        list_of_key[pool.lists[of_lists + kernel.L_KEY]] = -1
        _count(rule, cursor, counts)
        if cursor[kernel.C_MATCHES]:
            result.found.append(_unrolled(rule, pool, engine))
        left = pool.live(engine)
        if trace is not None:
            teller = Teller(plan, rule, keys, result.book, trace)
            teller.tell(pool.told(), pool.nodes)
            teller.tell_waiting(left)
        if len(left.lists):
            live[rule.identity] = left
            result.live[rule.rule.name] = len(left.runs)
    result.state = compacted(
        plan, space, sequence + len(numbers), keys, texts, result.book, live,
        {rule: history for rule, history in histories.items() if len(history.keys)},
        {rule: seen for rule, seen in sightings.items() if len(seen.keys)},
    )  # fmt: skip
    return result


@contextmanager
def _asked(judge: Judge) -> Iterator[None]:
    """The kernel asks this judge meanwhile."""
    hook = id(judge)
    judge.pool.cursor[kernel.C_HOOK] = hook
    kernel.JUDGES[hook] = judge
    try:
        yield
    finally:
        del kernel.JUDGES[hook]


def _constants(rule: RulePlan, texts: Texts) -> Ints:
    """The constants of a rule's programs as 64 bits each."""
    from cep.automata.program import FLOAT, TEXT

    assert rule.tables is not None
    found = np.zeros(len(rule.tables.constants), np.int64)
    for place, (kind, value) in enumerate(rule.tables.constants):
        if kind == FLOAT:
            found[place] = np.array([value], np.float64).view(np.int64)[0]
        elif kind == TEXT:
            found[place] = texts.numbers(pa.array([as_text(value)], pa.string()))[0]
        else:
            found[place] = int(value)  # type: ignore[call-overload]
    return found


def _count(rule: RulePlan, cursor: Ints, counts: Counts) -> None:
    if cursor[kernel.C_DROPPED]:
        counts["runs", rule.rule.name, "limit"] += int(cursor[kernel.C_DROPPED])
    if cursor[kernel.C_OVERFLOWS]:
        counts["overflows", rule.rule.name] += int(cursor[kernel.C_OVERFLOWS])


def _unrolled(rule: RulePlan, pool: Pool, engine: Engine) -> Found:
    matches = pool.found()
    heads = np.ascontiguousarray(matches[:, kernel.M_NODE])
    lengths = np.zeros(len(heads), np.int64)
    engine.lengths(pool.nodes, heads, lengths)
    ends = np.cumsum(lengths)
    total = int(ends[-1])
    edges, events, sequences = (np.zeros(total, np.int64) for _ in range(3))
    engine.unroll(pool.nodes, heads, ends, edges, events, sequences)
    assert rule.tables is not None
    return Found(rule, matches.copy(), ends, rule.tables.edges[edges], events, sequences)
