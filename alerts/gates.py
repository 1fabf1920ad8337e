"""Many conditions asked at once: those of some that may hold for an alert, found without asking each.

Of conditions that name a value the one that it has is looked up; of expressions about one name all are asked
together first, and one by one only where that fits. With values that do not come again RE2 takes longest.
"""

from __future__ import annotations

from collections.abc import Sequence

from alerts.matchers import Labels, Matcher, MatcherError, Matchers, fits, usable

_MOST = 20_000
"""Characters of the expressions that are asked together."""


class Gates:
    """The conditions of a list, by their places in it."""

    def __init__(self, all_: Sequence[Matchers]) -> None:
        self._always: list[int] = []
        self._equal: dict[str, dict[str, list[int]]] = {}
        fitting: dict[str, list[tuple[int, str]]] = {}
        for place, one in enumerate(all_):
            chosen = _most_telling(one)
            if chosen is None:
                self._always.append(place)
            elif chosen.operator == "=":
                self._equal.setdefault(chosen.name, {}).setdefault(chosen.value, []).append(place)
            else:
                fitting.setdefault(chosen.name, []).append((place, chosen.value))
        self._fitting = [(name, *joined(some)) for name, some in fitting.items()]

    def possible(self, labels: Labels) -> list[int]:
        """The places, in order, of those that may hold for an alert; the others do not."""
        found = list(self._always)
        for name, of_value in self._equal.items():
            for value in labels[name]:
                found += of_value.get(value, ())
        for name, together, places in self._fitting:
            if together is None or any(fits(together, value) for value in labels[name]):
                found += places
        found.sort()
        return found


def _most_telling(one: Matchers) -> Matcher | None:
    """The condition by which to find them: a value, else an expression; None: there is neither."""
    for operator in ("=", "=~"):
        for matcher in one.all:
            if matcher.operator == operator:
                return matcher
    return None


def joined(some: Sequence[tuple[int, str]]) -> tuple[str | None, list[int]]:
    """One expression for several, None where it would be too much for RE2; and their places."""
    places = [place for place, _ in some]
    together = "|".join(f"(?:{pattern})" for _, pattern in some)
    if len(together) > _MOST:
        return None, places
    try:
        usable(together)
    except MatcherError:
        return None, places
    return together, places
