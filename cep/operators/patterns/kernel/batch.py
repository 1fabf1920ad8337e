"""Rules over the events of a batch, block by block and in each one after the other."""

from __future__ import annotations

import numpy as np

from cep.operators.patterns.kernel.layout import (
    B_EVENT,
    B_KEY,
    BLOCK,
    C_BLANK,
    C_BLOCK,
    C_DROPPED,
    C_FORKS,
    C_GIVEN_UP,
    C_LISTS,
    C_OVERFLOWS,
    C_OWN_LISTS,
    C_POSITION,
    C_RULE,
    C_SELECTED,
    C_SETTLED,
    C_SINCE,
    C_STAGE,
    C_TRACES,
    DONE,
    KEPT_KEY,
    KEPT_LIST,
    MORE_ROOM,
    NONE,
    RULE,
    T_NEXT,
    T_NODE,
    U_COLUMNS,
    U_CONSTANTS,
    U_CONSTANTS_END,
    U_DROPPED,
    U_GIVEN_UP,
    U_KEPT,
    U_KEPT_END,
    U_OVERFLOWS,
    U_PAIRS,
    U_PAIRS_END,
    U_SINCE,
    U_TABLES,
    U_TABLES_END,
    U_TRACES,
    Batch,
    Ints,
    Output,
    Pools,
    Rule,
    Scratch,
    StoredRuns,
)
from cep.operators.patterns.kernel.loop import run
from cep.operators.patterns.kernel.restore import load
from cep.operators.patterns.kernel.selected_events import forget_places, select_events
from cep.operators.patterns.kernel.store import keep, list_by_key, vacate, write_taken
from cep.operators.patterns.kernel.tables import H_ALT, H_INITIAL, H_NULLS, H_VALUES
from kernels.family import inlined

SELECTING, RUNNING = range(2)


@inlined
def rule_at(batch: Batch, scratch: Scratch, own: Ints, u: int) -> Rule:
    """The part of a rule in what the rules of a batch share."""
    size = len(batch.keys)
    return Rule(
        own,
        batch.constants[batch.rules[u + U_CONSTANTS] : batch.rules[u + U_CONSTANTS_END]],
        scratch.places,
        batch.columns[batch.rules[u + U_COLUMNS] * size :],
        batch.nulls[batch.rules[u + U_COLUMNS] * size :],
        batch.ranks,
        scratch.slots,
        scratch.slots.view(np.float64),
        scratch.unknown,
    )


@inlined
def begin_rule(tables: Ints, rows: Ints, cursor: Ints) -> None:
    """Set counters to 0, and the blank alternative to the one from which the rule's runs begin."""
    cursor[C_OWN_LISTS] = cursor[C_SETTLED] = cursor[C_LISTS]
    cursor[C_POSITION] = cursor[C_FORKS] = cursor[C_DROPPED] = cursor[C_OVERFLOWS] = 0
    cursor[C_GIVEN_UP] = 0
    blank = cursor[C_BLANK]
    for k in range(tables[H_ALT]):
        rows[blank + k] = 0
    rows[blank + T_NEXT] = rows[blank + T_NODE] = NONE
    for k in range(tables[H_VALUES] - tables[H_NULLS]):
        rows[blank + tables[H_NULLS] + k] = tables[tables[H_INITIAL] + k]
    cursor[C_STAGE] = RUNNING


@inlined
def end_rule(rules: Ints, u: int, cursor: Ints) -> None:
    """Add to a rule's row what came of it in a block; the next rule is next."""
    rules[u + U_TRACES] = cursor[C_TRACES]
    rules[u + U_DROPPED] += cursor[C_DROPPED]
    rules[u + U_OVERFLOWS] += cursor[C_OVERFLOWS]
    rules[u + U_GIVEN_UP] += cursor[C_GIVEN_UP]
    cursor[C_STAGE] = SELECTING
    cursor[C_RULE] += 1


@inlined
def run_in_block(
    batch: Batch, stored: StoredRuns, scratch: Scratch, pools: Pools, begin: int, end: int, end_key: int
) -> int:
    """Run the rule that is next over the events of a block, from `begin` to `end`; its keys end at `end_key`.

    Returns DONE, and the next rule is next; or MORE_ROOM or LATER, as `run`.
    """
    rules, cursor = batch.rules, pools.alternatives.cursor
    u = cursor[C_RULE] * RULE
    own = batch.tables[rules[u + U_TABLES] : rules[u + U_TABLES_END]]
    first = rules[u + U_PAIRS]
    last = rules[u + U_PAIRS_END]
    if cursor[C_STAGE] == SELECTING:
        cursor[C_SELECTED] = select_events(batch, scratch, first, last, begin, end)
        number = rules[u + U_KEPT]
        if cursor[C_SELECTED] == 0 and (
            number == rules[u + U_KEPT_END]
            or stored.lists[stored.order[number] * KEPT_LIST + KEPT_KEY] >= end_key
        ):
            rules[u + U_TRACES] = cursor[C_TRACES]
            cursor[C_RULE] += 1
            return DONE
        begin_rule(own, pools.alternatives.rows, cursor)
        cursor[C_SINCE] = rules[u + U_SINCE]
    while rules[u + U_KEPT] < rules[u + U_KEPT_END]:
        number = stored.order[rules[u + U_KEPT]]
        if stored.lists[number * KEPT_LIST + KEPT_KEY] >= end_key:
            break
        if not load(stored, pools, scratch.list_of_key, cursor[C_RULE], own[H_ALT], number):
            return MORE_ROOM
        rules[u + U_KEPT] += 1
    outcome = run(
        rule_at(batch, scratch, own, u),
        pools,
        batch,
        scratch.selected[: cursor[C_SELECTED]],
        scratch.list_of_key,
    )
    if outcome != DONE:
        return outcome
    list_by_key(scratch.list_of_key, scratch.listed, pools.lists, cursor)
    forget_places(batch, scratch, first, last, begin)
    end_rule(rules, u, cursor)
    return DONE


def run_rules(batch: Batch, stored: StoredRuns, scratch: Scratch, pools: Pools, output: Output) -> int:
    """Run rules over a shard's events, block by block and in each one after the other; see `run`.

    After each block, runs that live on are added to `output`, and what matches took to `output.taken`.
    Returns DONE, or MORE_ROOM: then the caller lets the pools grow and calls again; or LATER, as `run`.
    """
    blocks, cursor = batch.blocks, pools.alternatives.cursor
    while cursor[C_BLOCK] * BLOCK < len(blocks):
        block = cursor[C_BLOCK] * BLOCK
        begin = blocks[block - BLOCK + B_EVENT] if block > 0 else 0
        first_key = blocks[block - BLOCK + B_KEY] if block > 0 else 0
        end_key = blocks[block + B_KEY]
        while cursor[C_RULE] * RULE < len(batch.rules):
            outcome = run_in_block(batch, stored, scratch, pools, begin, blocks[block + B_EVENT], end_key)
            if outcome != DONE:
                return outcome
        if not (
            write_taken(pools.alternatives.nodes, pools.matches, output.taken, cursor)
            and keep(batch, pools, output, scratch.listed, first_key, end_key)
        ):
            return MORE_ROOM
        vacate(pools.lists, pools.runs, pools.alternatives.rows, pools.wait_index, cursor)
        cursor[C_RULE] = 0
        cursor[C_BLOCK] += 1
    return DONE
