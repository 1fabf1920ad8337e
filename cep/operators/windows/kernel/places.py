"""Where instants lie among the items of a key, which stand in order of time; which sessions and windows these
make."""

from __future__ import annotations

from cep.exact.kernel.layout import Ints, ReadOnlyInts, at_place
from cep.operators.windows.kernel.layout import PaneRuns, Ranges, WindowRanges

LATEST = 2**63 - 1


def find_after(times: ReadOnlyInts, among: Ranges, wanted: ReadOnlyInts, found: Ints) -> None:
    """For each wanted instant the first item after it among some items, or where these end."""
    at, begin, before = 0, -1, 0
    for number in range(len(wanted)):
        instant, end = int(wanted[at_place(number)]), int(among.ends[at_place(number)])
        if among.firsts[at_place(number)] != begin or instant < before or end < at:
            begin = int(among.firsts[at_place(number)])
            at = begin
        while at < end and times[at_place(at)] <= instant:
            at += 1
        found[at_place(number)] = at
        before = instant


def find_sessions(
    keys: ReadOnlyInts, firsts: ReadOnlyInts, lasts: ReadOnlyInts, gap: int, longest: int, found: Ints
) -> None:
    """For each item the first one of its session; an item goes from a first instant to a last."""
    begin, key, end = 0, -1, 0
    for item in range(len(keys)):
        first, last = int(firsts[at_place(item)]), int(lasts[at_place(item)])
        if keys[at_place(item)] != key or first >= end:
            begin = item
            key = int(keys[at_place(item)])
        found[at_place(item)] = begin
        end = last + gap if last <= LATEST - gap else LATEST
        of_all = int(firsts[at_place(begin)])
        if of_all <= LATEST - longest and of_all + longest < end:
            end = of_all + longest


def find_windows(panes: PaneRuns, size: int, following: Ints, last: int, found: WindowRanges) -> int:
    """The windows of `size` panes that hold something, from the one on that follows of their key, up to a
    last one; how many there are.

    They are written, and those that follow are raised, where `found` has room for all.
    """
    count, end, key, before, upcoming = 0, 0, -1, 0, 0
    written = len(found.keys) > 0
    for pane in range(len(panes.keys)):
        number = int(panes.numbers[at_place(pane)])
        if panes.keys[at_place(pane)] != key:
            key = int(panes.keys[at_place(pane)])
            before = number - size
            upcoming = int(following[at_place(key)])
            end = pane
        # Those that this pane is the first in.
        begin, until = max(before + 1, number - size + 1, upcoming), min(number, last)
        before = number
        if not written:
            count += max(until - begin + 1, 0)
            continue
        for window in range(begin, until + 1):
            while (
                end < len(panes.keys)
                and panes.keys[at_place(end)] == key
                and panes.numbers[at_place(end)] < window + size
            ):
                end += 1
            found.keys[at_place(count)] = key
            found.numbers[at_place(count)] = window
            found.firsts[at_place(count)] = panes.firsts[at_place(pane)]
            found.ends[at_place(count)] = panes.firsts[at_place(end)]
            following[at_place(key)] = window + 1
            count += 1
    return count
