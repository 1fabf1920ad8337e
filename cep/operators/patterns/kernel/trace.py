"""Trace of what happens to runs, a row for each thing, if a trace is asked for (C_TRACES is not NONE)."""

from __future__ import annotations

from cep.operators.patterns.kernel.layout import (
    AT_BEGIN,
    C_EVENT,
    C_KEY,
    C_MODE,
    C_OF_FORK,
    C_START,
    C_TRACES,
    NONE,
    Ints,
)

# A row for each thing that happened to a run.
(
    X_KIND, X_EVENT, X_TIME, X_START, X_FORK, X_PARENT, X_KEY, X_NODE, X_STEP, X_WHY, TRACE,
) = range(11)  # fmt: skip
(
    BEGAN, TOOK, TRIED, PREVENTED, BROKEN, EXPIRED, SKIPPED, DROPPED, MATCHES, FORKED, TIMED_OUT, STOPPED,
    REFUSED, PASSED, GAVE_UP,
) = range(15)  # fmt: skip
WHY_ALONE, WHY_EARLIER, WHY_LOOK, WHY_GUARD, WHY_UNTIL = range(5)


def note(trace: Ints, cursor: Ints, kind: int, event: int, time: int, node: int, step: int, why: int) -> None:
    """Add a row about the run at hand, if a trace is asked for. `event` -1: time alone."""
    at = cursor[C_TRACES]
    if at < 0:
        return
    trace[at + X_KIND] = kind
    trace[at + X_EVENT] = -1 if event < 0 else cursor[C_EVENT] + event
    trace[at + X_TIME] = time
    begins = kind == TRIED and cursor[C_MODE] == AT_BEGIN
    trace[at + X_START] = NONE if begins else cursor[C_START]
    trace[at + X_FORK] = cursor[C_OF_FORK]
    trace[at + X_PARENT] = NONE
    trace[at + X_KEY] = cursor[C_KEY]
    trace[at + X_NODE] = node
    trace[at + X_STEP] = step
    trace[at + X_WHY] = why
    cursor[C_TRACES] = at + TRACE


def unsay_guards(trace: Ints, cursor: Ints, since: int) -> None:
    """Take back rows about guards since a place: what waited beside a transition that fired is given up."""
    end = cursor[C_TRACES]
    at = since
    for k in range(since, end, TRACE):
        kind = trace[k + X_KIND]
        if kind in (PREVENTED, STOPPED, BROKEN) or (kind == TRIED and trace[k + X_WHY] == WHY_GUARD):
            continue
        for n in range(TRACE):
            trace[at + n] = trace[k + n]
        at += TRACE
    if end >= 0:
        cursor[C_TRACES] = at
