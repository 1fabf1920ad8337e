"""The events of one rule: each settles what was due before it, then is shown to the runs of its key."""

from __future__ import annotations

from cep.operators.patterns.kernel.advance import NOTHING, SOME_DIED, answer, moved
from cep.operators.patterns.kernel.alternatives import free_row, initial, most_preferred, waits
from cep.operators.patterns.kernel.capacity import crowded
from cep.operators.patterns.kernel.decide import decide, expire, keep_to_limit, time_out
from cep.operators.patterns.kernel.layout import (
    AT_BEGIN,
    AT_END,
    BY_EVENT,
    BY_TIME,
    C_ALTS,
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
    C_TRACES,
    C_WATERMARK,
    DONE,
    EACH,
    END_OF_TIME,
    L_ALTS,
    L_DEADLINE,
    L_FIRST,
    L_LAST,
    L_PARKED,
    L_RUNS,
    L_SEEN,
    L_WANTS,
    LATER,
    LIST,
    MORE_ROOM,
    NO_CANDIDATE,
    NO_SEQUENCE,
    NONE,
    R_ALT,
    R_CANDIDATE,
    R_DEADLINE,
    R_DONE,
    R_NEXT,
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
    H_PARK,
    H_PLAIN,
    H_STATES,
    H_TIMEOUT,
    H_WITHIN,
    S_PLAIN,
    S_TRANSITION,
    S_TRANSITIONS,
    STATE,
    TRANSITION,
)
from cep.operators.patterns.kernel.timers import set_due
from cep.operators.patterns.kernel.wait_index import by_start, candidates, park, park_all, seen_places
from kernels.family import inlined

# To walk past so many runs of a list costs about as much as to show an event to one alternative.
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
    The loop ends: of an alternative that is due, a transition can no longer fire, or fires, which without an
    event leads only forward in the pattern, or its deadline is found to be later; and at the end of time
    everything ends. Returns False where there is too little room, or no effort left, to go on.
    """
    tables = rule.tables
    lists, runs, wait_index = pools.lists, pools.runs, pools.wait_index
    alternatives = pools.alternatives
    rows, cursor = alternatives.rows, alternatives.cursor
    free = cursor[C_ALTS]
    silent = tables[H_PLAIN] == 1 and tables[H_TIMEOUT] == 0 and tables[H_WITHIN] >= 0
    if silent and bound < END_OF_TIME:
        # Expiry takes no room, but its trace does.
        if cursor[C_TRACES] >= 0 and crowded(tables, pools, at):
            return False
        expire(tables, pools, at, bound)
    cursor[C_SEEN] = lists[at + L_SEEN]
    while True:
        due = least_deadline(tables, lists, runs, at)
        lists[at + L_DEADLINE] = due
        lists[at + L_ALTS] += free - cursor[C_ALTS]
        if lists[at + L_FIRST] < 0 or due > bound:
            return True
        if cursor[C_EFFORT] <= 0 or crowded(tables, pools, at):
            return False
        cursor[C_EFFORT] -= lists[at + L_RUNS] // RUNS_A_STEP
        free = cursor[C_ALTS]
        cursor[C_MODE] = BY_TIME if due < END_OF_TIME else AT_END
        first = NONE
        count = 0
        run = lists[at + L_FIRST]
        while run >= 0:
            following = runs[run + R_NEXT]
            if runs[run + R_DEADLINE] <= due:
                this_run(lists, runs, at, run, cursor)
                node = rows[most_preferred(rows, runs[run + R_ALT]) + T_NODE]
                before = cursor[C_ALTS]
                head = moved(rule, alternatives, runs[run + R_ALT], NONE, due)
                if cursor[C_ALTS] < before:
                    head = thinned(
                        tables, alternatives, pools.seen, head, lists[at + L_RUNS], cursor[C_SEEN], NONE, due
                    )
                runs[run + R_ALT] = head
                if head < 0:
                    if due < END_OF_TIME:
                        time_out(tables, pools, at, run, node, due)
                    free_run(lists, runs, rows, wait_index, at, run, cursor)
                else:
                    last = settled_down(tables, pools, at, run, NONE, due)
                    first, count = complete(runs, run, last, first, count)
            elif tables[H_PLAIN] == 1:
                break
            run = following
        decide(tables, pools, at, first, count, due, NONE)
        # What time alone ends may leave alternatives that are runs of their own.
        keep_to_limit(tables, pools, at, due, NONE)


@inlined
def starts(tables: Ints, i: int, places: Bytes, cursor: Ints) -> bool:
    """True if event i may fit a first step, by what it is alone."""
    first = tables[H_STATES]
    transition = tables[first + S_TRANSITION]
    for k in range(transition, transition + tables[first + S_TRANSITIONS] * TRANSITION, TRANSITION):
        if places[tables[k + F_PLACE] * cursor[C_EVENTS] + i] == 1:
            return True
    return False


def lasts(tables: Ints, i: int, after: int, places: Bytes, cursor: Ints) -> bool:
    """True if a run that begins at event i may outlive the event after it, which alone decides that."""
    first = tables[H_STATES]
    transition = tables[first + S_TRANSITION]
    for k in range(transition, transition + tables[first + S_TRANSITIONS] * TRANSITION, TRANSITION):
        if places[tables[k + F_PLACE] * cursor[C_EVENTS] + i] == 1:
            second = first + tables[k + F_TARGET] * STATE
            next_transition = tables[second + S_TRANSITION]
            for m in range(
                next_transition, next_transition + tables[second + S_TRANSITIONS] * TRANSITION, TRANSITION
            ):
                if places[tables[m + F_PLACE] * cursor[C_EVENTS] + after] == 1:
                    return True
    return False


@inlined
def lives(tables: Ints, selected: Ints, keys: Ints, i: int, places: Bytes, cursor: Ints) -> bool:
    """True if event i, which may be shown next and finds no run, may begin one that is seen to live.

    Where the next event of a key alone decides that, it is looked at before a run is made.
    """
    if not starts(tables, i, places, cursor):
        return False
    after = cursor[C_POSITION] + 1
    if tables[H_NEXT_DECIDES] == 0 or after >= len(selected) or keys[selected[after]] != keys[i]:
        return True
    return lasts(tables, i, selected[after], places, cursor)


@inlined
def show(rule: Rule, pools: Pools, at: int, i: int, t: int) -> None:
    """Show event i to the runs of its key that it can matter to, earliest first; then it may begin one."""
    tables, places = rule.tables, rule.places
    lists, runs, wait_index = pools.lists, pools.runs, pools.wait_index
    alternatives = pools.alternatives
    rows, cursor = alternatives.rows, alternatives.cursor
    cursor[C_MODE] = BY_EVENT
    cursor[C_SHOWN] = cursor[C_NODES]
    cursor[C_EFFORT] -= lists[at + L_RUNS] // RUNS_A_STEP
    cursor[C_SEEN] = lists[at + L_SEEN]
    first = NONE
    count = 0
    run = lists[at + L_FIRST]
    parking = candidates_only = False
    fits = 0
    # With a trace no run is parked: it says of every run what was tried.
    if lists[at + L_RUNS] > tables[H_PARK] and cursor[C_TRACES] < 0:
        parking = True
        if lists[at + L_PARKED] == 0:
            park_all(tables, lists, runs, rows, wait_index, at, cursor)
        fits = seen_places(tables, i, places, cursor)
        head = candidates(rule, pools, at, i)
        candidates_only = lists[at + L_WANTS] & fits == 0
        if candidates_only:
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
            runs[run + R_ALT] = initial(tables, rows, cursor)
            cursor[C_MODE] = AT_BEGIN
        else:
            following = runs[run + R_CANDIDATE] if candidates_only else runs[run + R_NEXT]
            if parking:
                if runs[run + R_CANDIDATE] == NO_CANDIDATE and runs[run + R_WANTS] & fits == 0:
                    lists[at + L_WANTS] |= runs[run + R_WANTS]
                    run = following
                    continue
                runs[run + R_CANDIDATE] = NO_CANDIDATE
        this_run(lists, runs, at, run, cursor)
        head = runs[run + R_ALT]
        state = rows[head + T_STATE]
        free = cursor[C_ALTS]
        if rows[head + T_NEXT] < 0 and state >= 0 and tables[tables[H_STATES] + state * STATE + S_PLAIN] == 1:
            alts, outcome = answer(rule, alternatives, head, i, t)
            if outcome == NOTHING:
                lists[at + L_WANTS] |= runs[run + R_WANTS]
                run = following
                continue
            if outcome == SOME_DIED and waits(tables, rows, head):
                set_due(tables, rows, head, cursor)
                alts = head
            else:
                free_row(rows, head, cursor)
        else:
            alts = moved(rule, alternatives, head, i, t)
        if cursor[C_ALTS] < free:
            newest = cursor[C_SEQUENCE] + i
            # A run that begins does not see how many runs there are: they need not be loaded (start_only.py).
            together = 1 if cursor[C_MODE] == AT_BEGIN else lists[at + L_RUNS]
            alts = thinned(tables, alternatives, pools.seen, alts, together, newest, i, t)
        runs[run + R_ALT] = alts
        if alts < 0:
            free_run(lists, runs, rows, wait_index, at, run, cursor)
        elif rows[alts + T_STATE] == EACH:
            last = settled_down(tables, pools, at, run, i, t)
            first, count = complete(runs, run, last, first, count)
        else:
            assess(lists, runs, rows, at, run)
            if lists[at + L_PARKED] == 1:
                park(tables, lists, runs, rows, wait_index, at, run, cursor)
            if runs[run + R_DONE] == 1:
                count += 1
                if first < 0:
                    first = run
        run = following
    if count > 0:
        decide(tables, pools, at, first, count, t, i)
    keep_to_limit(tables, pools, at, t, i)
    lists[at + L_SEEN] = cursor[C_SEQUENCE] + i


@inlined
def run(rule: Rule, pools: Pools, batch: Batch, selected: Ints, list_of_key: Ints) -> int:
    """Run one rule over a shard's events: first those in `selected`, then what is due by the watermark.

    `list_of_key` gives the list of a key, or -1. Returns DONE, or MORE_ROOM: then the caller lets the pools
    grow and calls again; or LATER, where the effort that the caller gave is used up: then it gives more, or
    lets a faster kernel go on.
    """
    tables, places, keys, times = rule.tables, rule.places, batch.keys, batch.times
    lists, cursor = pools.lists, pools.alternatives.cursor
    while cursor[C_POSITION] < len(selected):
        if cursor[C_EFFORT] <= 0:
            return LATER
        i = selected[cursor[C_POSITION]]
        key = keys[i]
        at = list_of_key[key]
        if (
            (at < 0 or lists[at + L_FIRST] < 0)
            and cursor[C_TRACES] < 0
            and not lives(tables, selected, keys, i, places, cursor)
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
        free = cursor[C_ALTS]
        show(rule, pools, at, i, times[i])
        lists[at + L_ALTS] += free - cursor[C_ALTS]
        cursor[C_POSITION] += 1
    while cursor[C_SETTLED] < cursor[C_LISTS]:
        at = cursor[C_SETTLED]
        due = lists[at + L_DEADLINE] <= cursor[C_WATERMARK] and lists[at + L_FIRST] >= 0
        if due and not settle(rule, pools, at, cursor[C_WATERMARK]):
            return LATER if cursor[C_EFFORT] <= 0 else MORE_ROOM
        cursor[C_SETTLED] += LIST
    return DONE
