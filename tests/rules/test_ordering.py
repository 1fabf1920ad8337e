"""Names come after those that they need; those in circles and behind them are left, and circles are drawn."""

from __future__ import annotations

from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from rules.resolve.ordering import in_order

NEEDS = st.dictionaries(
    st.sampled_from("abcdefg"), st.sets(st.sampled_from("abcdefgz"), max_size=3), max_size=7
)


def reached(name: str, needs: dict[str, set[str]]) -> set[str]:
    """Everything that a name needs, by whatever way."""
    found: set[str] = set()
    waiting = [name]
    while waiting:
        for other in needs.get(waiting.pop(), set()) - found:
            found.add(other)
            waiting.append(other)
    return found


@settings(max_examples=examples(200), deadline=None)
@given(NEEDS)
def test_names_come_after_what_they_need(needs: dict[str, set[str]]) -> None:
    found = in_order(needs)
    circular = {name for name in needs if name in reached(name, needs)}
    assert set(found.left) == {n for n in needs if (reached(n, needs) | {n}) & circular}
    assert sorted((*found.ordered, *found.left)) == sorted(needs)
    for place, name in enumerate(found.ordered):
        assert needs[name] & needs.keys() <= set(found.ordered[:place])


@settings(max_examples=examples(200), deadline=None)
@given(NEEDS)
def test_circles_are_circles(needs: dict[str, set[str]]) -> None:
    found = in_order(needs)
    assert bool(found.circles) == bool(found.left)
    order = list(needs)
    for circle in found.circles:
        for name, following in zip(circle, (*circle[1:], circle[0]), strict=True):
            assert following in needs[name]
        assert circle[0] == min(circle, key=order.index)
    seen = [name for circle in found.circles for name in circle]
    assert len(seen) == len(set(seen))
