"""Names in the order in which they can be resolved, and the circles in which they cannot."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Order:
    """`ordered`: each name after those that it needs. `left`: those in a circle or behind one.

    A circle begins with the name of it that was given first; each needs the next, the last the first.
    Not every circle is there, but one of those that each name left leads to.
    """

    ordered: tuple[str, ...]
    left: tuple[str, ...]
    circles: tuple[tuple[str, ...], ...]


def in_order(needs: Mapping[str, Collection[str]]) -> Order:
    """The order of names that need one another (Kahn, 1962); names that nobody gave are no needs."""
    known = {name: {n for n in needed if n in needs} for name, needed in needs.items()}
    users: dict[str, list[str]] = {name: [] for name in known}
    for name, needed in known.items():
        for other in needed:
            users[other].append(name)
    waiting = {name: len(needed) for name, needed in known.items()}
    ready = [name for name, count in waiting.items() if count == 0]
    for name in ready:  # grows while it is read
        for user in users[name]:
            waiting[user] -= 1
            if waiting[user] == 0:
                ready.append(user)
    done = set(ready)
    left = {name: sorted(needed - done) for name, needed in known.items() if name not in done}
    return Order(tuple(ready), tuple(left), tuple(_circles(left)))


def _circles(needs: Mapping[str, list[str]]) -> Iterator[tuple[str, ...]]:
    """From each name to the first that it needs, until a name comes again: that is a circle."""
    order = {name: number for number, name in enumerate(needs)}
    seen: set[str] = set()
    for name in needs:
        path: dict[str, None] = {}
        at = name
        while at not in seen and at not in path:
            path[at] = None
            at = needs[at][0]
        if at in path:
            walked = list(path)
            circle = walked[walked.index(at) :]
            first = circle.index(min(circle, key=order.__getitem__))
            yield (*circle[first:], *circle[:first])
        seen.update(path)
