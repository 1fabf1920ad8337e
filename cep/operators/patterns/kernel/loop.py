"""The events of one rule: each settles what was due before it, then is shown to the runs of its key."""

from __future__ import annotations

from cep.operators.patterns.kernel.advance import NOTHING, SOME_DIED, answer, moved
from cep.operators.patterns.kernel.alternatives import first_of_all, first_way, free_thread, waits
from cep.operators.patterns.kernel.capacity import crowded
from cep.operators.patterns.kernel.decide import decide, expire, keep_to_limit, time_out
from cep.operators.patterns.kernel.layout import (
    AT_BEGIN,
    AT_END,
    BY_EVENT,
    BY_TIME,
    C_EFFORT,
    C_EVENTS,
    C_LISTS,
    C_MODE,
    C_NODES,
    C_POSITION,
    C_RULE,
    C_SEEN,
    C_SEQUENCE,
    C_SETTLED,
    C_SHOWN,
    C_THREADS,
    C_TRACES,
    C_WATERMARK,
    DONE,
    EACH,
    END_OF_TIME,
    L_DEADLINE,
    L_FIRST,
    L_LAST,
    L_RUNS,
    L_SEEN,
    L_SLEEPS,
    L_THREADS,
    L_WANTS,
    LATER,
    LIST,
    MORE_ROOM,
    NO_SEQUENCE,
    NONE,
    NOT_CALLED,
    R_CALLED,
    R_DEADLINE,
    R_DONE,
    R_NEXT,
    R_THREAD,
    R_WANTS,
    T_NEXT,
    T_NODE,
    T_STATE,
    Batch,
    Bytes,
    Ints,
    Pools,
    Rule,
)
from cep.operators.patterns.kernel.merge import thinned
from cep.operators.patterns.kernel.runs import (
    assess,
    complete,
    free_run,
    new_list,
    new_run,
    settled_down,
    this_run,
)
from cep.operators.patterns.kernel.tables import (
    F_PLACE,
    F_TARGET,
    H_NEXT_DECIDES,
    H_PLAIN,
    H_SLEEP,
    H_STATES,
    H_TIMEOUT,
    H_WITHIN,
    LEAF,
    S_LEAF,
    S_LEAVES,
    S_PLAIN,
    STATE,
)
from cep.operators.patterns.kernel.timers import set_due
from cep.operators.patterns.kernel.wait_index import by_start, candidates, park, park_all, seen_places
from kernels.family import inlined

# As many runs of a list cost about as much to walk past as one way costs to be asked.
RUNS_A_STEP = 16


def least_deadline(tables: Ints, lists: Ints, runs: Ints, at: int) -> int:
    """Time that next decides something about a run of a list."""
    run = lists[at + L_FIRST]
    if tables[H_PLAIN] == 1:
        # `within` alone: the first that began ends first.
        return int(runs[run + R_DEADLINE]) if run >= 0 else END_OF_TIME
    due = END_OF_TIME
    while run >= 0:
        if runs[run + R_DEADLINE] < due:
            due = runs[run + R_DEADLINE]
        run = runs[run + R_NEXT]
    return int(due)


def settle(rule: Rule, pools: Pools, at: int, bound: int) -> bool:
    """Settle what is due in one list up to and including `bound`, one instant after the other.

    At the end of time no event will come: what nothing else ends is raised at the time of its last event.
    No pass is in vain: of a way that is due a leaf dies or is passed, which without an event leads only
    forward in the pattern, or its deadline is found to be later; and the end of time leaves nothing.
    Returns False where there is too little room, or no effort left, to go on.
    """
    tables = rule.tables
    lists, runs, wait_index = pools.lists, pools.runs, pools.wait_index
    alternatives = pools.alternatives
    threads, cursor = alternatives.threads, alternatives.cursor
    free = cursor[C_THREADS]
    silent = tables[H_PLAIN] == 1 and tables[H_TIMEOUT] == 0 and tables[H_WITHIN] >= 0
    if silent and bound < END_OF_TIME:
        # Expiry takes no room, but to tell of it does.
        if cursor[C_TRACES] >= 0 and crowded(tables, pools, at):
            return False
        expire(tables, pools, at, bound)
    cursor[C_SEEN] = lists[at + L_SEEN]
    while True:
        due = least_deadline(tables, lists, runs, at)
        lists[at + L_DEADLINE] = due
        lists[at + L_THREADS] += free - cursor[C_THREADS]
        if lists[at + L_FIRST] < 0 or due > bound:
            return True
        if cursor[C_EFFORT] <= 0 or crowded(tables, pools, at):
            return False
        cursor[C_EFFORT] -= lists[at + L_RUNS] // RUNS_A_STEP
        free = cursor[C_THREADS]
        cursor[C_MODE] = BY_TIME if due < END_OF_TIME else AT_END
        first = NONE
        count = 0
        run = lists[at + L_FIRST]
        while run >= 0:
            following = runs[run + R_NEXT]
            if runs[run + R_DEADLINE] <= due:
                this_run(lists, runs, at, run, cursor)
                node = threads[first_way(threads, runs[run + R_THREAD]) + T_NODE]
                before = cursor[C_THREADS]
                head = moved(rule, alternatives, runs[run + R_THREAD], NONE, due)
                if cursor[C_THREADS] < before:
                    head = thinned(
                        tables, alternatives, pools.seen, head, lists[at + L_RUNS], cursor[C_SEEN], NONE, due
                    )
                runs[run + R_THREAD] = head
                if head < 0:
                    if due < END_OF_TIME:
                        time_out(tables, pools, at, run, node, due)
                    free_run(lists, runs, threads, wait_index, at, run, cursor)
                else:
                    last = settled_down(tables, pools, at, run, NONE, due)
                    first, count = complete(runs, run, last, first, count)
            elif tables[H_PLAIN] == 1:
                break
            run = following
        decide(tables, pools, at, first, count, due, NONE)
        # What time alone ends may leave ways that are runs of their own.
        keep_to_limit(tables, pools, at, due, NONE)


@inlined
def starts(tables: Ints, i: int, places: Bytes, cursor: Ints) -> bool:
    """True if event i may fit a first step, by what it is alone."""
    first = tables[H_STATES]
    leaf = tables[first + S_LEAF]
    for k in range(leaf, leaf + tables[first + S_LEAVES] * LEAF, LEAF):
        if places[tables[k + F_PLACE] * cursor[C_EVENTS] + i] == 1:
            return True
    return False


def lasts(tables: Ints, i: int, after: int, places: Bytes, cursor: Ints) -> bool:
    """True if a run that begins at event i may outlive the event after it, which alone decides that."""
    first = tables[H_STATES]
    leaf = tables[first + S_LEAF]
    for k in range(leaf, leaf + tables[first + S_LEAVES] * LEAF, LEAF):
        if places[tables[k + F_PLACE] * cursor[C_EVENTS] + i] == 1:
            second = first + tables[k + F_TARGET] * STATE
            next_leaf = tables[second + S_LEAF]
            for m in range(next_leaf, next_leaf + tables[second + S_LEAVES] * LEAF, LEAF):
                if places[tables[m + F_PLACE] * cursor[C_EVENTS] + after] == 1:
                    return True
    return False


@inlined
def lives(tables: Ints, wake: Ints, keys: Ints, i: int, places: Bytes, cursor: Ints) -> bool:
    """True if event i, which may be shown next and finds no run, may begin one that is seen to live.

    Where the next event of a key alone decides whether a run goes on, it is asked before a run is made.
    """
    if not starts(tables, i, places, cursor):
        return False
    after = cursor[C_POSITION] + 1
    if tables[H_NEXT_DECIDES] == 0 or after >= len(wake) or keys[wake[after]] != keys[i]:
        return True
    return lasts(tables, i, wake[after], places, cursor)


@inlined
def show(rule: Rule, pools: Pools, at: int, i: int, t: int) -> None:
    """Show event i to the runs of its key that it can matter to, earliest first; then it may begin one."""
    tables, places = rule.tables, rule.places
    lists, runs, wait_index = pools.lists, pools.runs, pools.wait_index
    alternatives = pools.alternatives
    threads, cursor = alternatives.threads, alternatives.cursor
    cursor[C_MODE] = BY_EVENT
    cursor[C_SHOWN] = cursor[C_NODES]
    cursor[C_EFFORT] -= lists[at + L_RUNS] // RUNS_A_STEP
    cursor[C_SEEN] = lists[at + L_SEEN]
    first = NONE
    count = 0
    run = lists[at + L_FIRST]
    sleeping = only_called = False
    fits = 0
    # A trace tells of all that were tried.
    if lists[at + L_RUNS] > tables[H_SLEEP] and cursor[C_TRACES] < 0:
        sleeping = True
        if lists[at + L_SLEEPS] == 0:
            park_all(tables, lists, runs, threads, wait_index, at, cursor)
        fits = seen_places(tables, i, places, cursor)
        head = candidates(rule, pools, at, i)
        only_called = lists[at + L_WANTS] & fits == 0
        if only_called:
            run = by_start(runs, head)
        else:
            lists[at + L_WANTS] = 0
    begun = False
    while True:
        if run < 0:
            if begun:
                break
            begun = True
            blocked = NO_SEQUENCE
            if count > 0:
                blocked = decide(tables, pools, at, first, count, t, i)
            first = NONE
            count = 0
            if cursor[C_SEQUENCE] + i < blocked:
                break
            if cursor[C_TRACES] < 0 and not starts(tables, i, places, cursor):
                break
            following = NONE
            run = new_run(lists, runs, at, lists[at + L_LAST], cursor[C_SEQUENCE] + i, t, cursor)
            runs[run + R_THREAD] = first_of_all(tables, threads, cursor)
            cursor[C_MODE] = AT_BEGIN
        else:
            following = runs[run + R_CALLED] if only_called else runs[run + R_NEXT]
            if sleeping:
                if runs[run + R_CALLED] == NOT_CALLED and runs[run + R_WANTS] & fits == 0:
                    lists[at + L_WANTS] |= runs[run + R_WANTS]
                    run = following
                    continue
                runs[run + R_CALLED] = NOT_CALLED
        this_run(lists, runs, at, run, cursor)
        head = runs[run + R_THREAD]
        state = threads[head + T_STATE]
        free = cursor[C_THREADS]
        if (
            threads[head + T_NEXT] < 0
            and state >= 0
            and tables[tables[H_STATES] + state * STATE + S_PLAIN] == 1
        ):
            ways, outcome = answer(rule, alternatives, head, i, t)
            if outcome == NOTHING:
                lists[at + L_WANTS] |= runs[run + R_WANTS]
                run = following
                continue
            if outcome == SOME_DIED and waits(tables, threads, head):
                set_due(tables, threads, head, cursor)
                ways = head
            else:
                free_thread(threads, head, cursor)
        else:
            ways = moved(rule, alternatives, head, i, t)
        if cursor[C_THREADS] < free:
            newest = cursor[C_SEQUENCE] + i
            # A run that begins is not told how many there are: they need not be at hand (beginnings.py).
            together = 1 if cursor[C_MODE] == AT_BEGIN else lists[at + L_RUNS]
            ways = thinned(tables, alternatives, pools.seen, ways, together, newest, i, t)
        runs[run + R_THREAD] = ways
        if ways < 0:
            free_run(lists, runs, threads, wait_index, at, run, cursor)
        elif threads[ways + T_STATE] == EACH:
            last = settled_down(tables, pools, at, run, i, t)
            first, count = complete(runs, run, last, first, count)
        else:
            assess(lists, runs, threads, at, run)
            if lists[at + L_SLEEPS] == 1:
                park(tables, lists, runs, threads, wait_index, at, run, cursor)
            if runs[run + R_DONE] == 1:
                count += 1
                if first < 0:
                    first = run
        run = following
    if count > 0:
        decide(tables, pools, at, first, count, t, i)
    keep_to_limit(tables, pools, at, t, i)
    lists[at + L_SEEN] = cursor[C_SEQUENCE] + i


def run(rule: Rule, pools: Pools, batch: Batch, wake: Ints, list_of_key: Ints) -> int:
    """Run one rule over a shard's events: first the events in `wake`, then what is due by the watermark.

    `list_of_key` gives the list of a key, or -1. Returns DONE, or MORE_ROOM: then the caller lets the pools
    grow and calls again; or LATER, where the effort that the caller gave is used up: then it gives more, or
    lets a faster kernel go on.
    """
    tables, places, keys, times = rule.tables, rule.places, batch.keys, batch.times
    lists, cursor = pools.lists, pools.alternatives.cursor
    while cursor[C_POSITION] < len(wake):
        if cursor[C_EFFORT] <= 0:
            return LATER
        i = wake[cursor[C_POSITION]]
        key = keys[i]
        at = list_of_key[key]
        if (
            (at < 0 or lists[at + L_FIRST] < 0)
            and cursor[C_TRACES] < 0
            and not lives(tables, wake, keys, i, places, cursor)
        ):
            cursor[C_POSITION] += 1
            continue
        due = at >= 0 and lists[at + L_DEADLINE] <= times[i]
        if due and not settle(rule, pools, at, times[i]):
            return LATER if cursor[C_EFFORT] <= 0 else MORE_ROOM
        if crowded(tables, pools, at):
            return MORE_ROOM
        if at < 0:
            at = new_list(list_of_key, lists, key, cursor[C_RULE], cursor)
        free = cursor[C_THREADS]
        show(rule, pools, at, i, times[i])
        lists[at + L_THREADS] += free - cursor[C_THREADS]
        cursor[C_POSITION] += 1
    while cursor[C_SETTLED] < cursor[C_LISTS]:
        at = cursor[C_SETTLED]
        due = lists[at + L_DEADLINE] <= cursor[C_WATERMARK] and lists[at + L_FIRST] >= 0
        if due and not settle(rule, pools, at, cursor[C_WATERMARK]):
            return LATER if cursor[C_EFFORT] <= 0 else MORE_ROOM
        cursor[C_SETTLED] += LIST
    return DONE
