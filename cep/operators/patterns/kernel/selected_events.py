"""The events of a block that a rule is shown, and the places that are true of them."""

from __future__ import annotations

from cep.operators.patterns.kernel.layout import Batch, Scratch
from kernels.family import inlined


@inlined
def merged(batch: Batch, scratch: Scratch, first: int, last: int, end: int) -> int:
    """Write the events before `end` that some pair is true of into `selected`, each once, in order."""
    pairs, ends, hits = batch.pairs, batch.ends, batch.hits
    heads, selected = scratch.heads, scratch.selected
    count = 0
    while True:
        least = end
        for k in range(first, last):
            at = heads[k]
            if at < ends[pairs[2 * k + 1] + 1] and hits[at] < least:
                least = hits[at]
        if least == end:
            return count
        selected[count] = least
        count += 1
        for k in range(first, last):
            at = heads[k]
            if at < ends[pairs[2 * k + 1] + 1] and hits[at] == least:
                heads[k] = at + 1


@inlined
def select_events(batch: Batch, scratch: Scratch, first: int, last: int, begin: int, end: int) -> int:
    """Set the bytes of a rule's places for a block's events, and write those events into `selected`, in
    order.

    `pairs` give places and atoms; atom a is true of the events `hits[ends[a]:ends[a + 1]]`, of which `heads`
    says by pair the first one that no block has had. Returns how many events are selected.
    """
    pairs, ends, hits = batch.pairs, batch.ends, batch.hits
    places, heads, selected = scratch.places, scratch.heads, scratch.selected
    size = len(batch.keys)
    total = 0
    every = False
    for k in range(first, last):
        place = pairs[2 * k] * size
        at = heads[k]
        stop = ends[pairs[2 * k + 1] + 1]
        while at < stop and hits[at] < end:
            places[place + hits[at]] = 1
            at += 1
        total += at - heads[k]
        every = every or at - heads[k] == end - begin
        if every:
            heads[k] = at
    if every:
        for k in range(first, last):
            stop = ends[pairs[2 * k + 1] + 1]
            while heads[k] < stop and hits[heads[k]] < end:
                heads[k] += 1
        for event in range(begin, end):
            selected[event - begin] = event
        return end - begin
    if total == 0:
        return 0
    return merged(batch, scratch, first, last, end)


@inlined
def forget_places(batch: Batch, scratch: Scratch, first: int, last: int, begin: int) -> None:
    """Clear the bytes that `select_events` set."""
    pairs, ends, hits = batch.pairs, batch.ends, batch.hits
    places, heads = scratch.places, scratch.heads
    size = len(batch.keys)
    for k in range(first, last):
        place = pairs[2 * k] * size
        least = ends[pairs[2 * k + 1]]
        at = heads[k] - 1
        while at >= least and hits[at] >= begin:
            places[place + hits[at]] = 0
            at -= 1
