"""Where instants lie among the items of a key, which stand in order of time; which sessions they make."""

from __future__ import annotations

from cep.exact.kernel.layout import Ints, ReadOnlyInts, at_place
from cep.operators.windows.kernel.layout import Ranges

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
