"""Suppression against the sentence that defines it, whatever the cuts between batches."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from itertools import pairwise
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from alerts.alert import Alert
from alerts.raised import Raised, Withholding
from alerts.raised_columns import RaisedColumns
from alerts.ranks import rank
from alerts.stages.decided import InProcess, Memory
from alerts.stages.order import in_order
from alerts.stages.stage import Passing
from alerts.stages.suppress import Suppress

DURATIONS = {"quick": 3, "slow": 10, "plain": None}


def raised(rule: str, key: str, time: int, order: int = 0, pack: str = "p") -> Raised:
    duration = DURATIONS[rule]
    alert = Alert(
        id=sha256(f"{pack}/{rule}/{key}/{time}/{order}".encode()).hexdigest(),
        pack=pack, revision="1", rule=rule, kind="match",
        severity="low", time=str(time), key={"card": key}, summary="", emit={}, events={}, tags=[],
        runbook=None,
    )  # fmt: skip
    return Raised.of(alert, time, (order,), None if duration is None else Withholding(key, duration))


def nothing_known() -> Memory:
    return InProcess().memory


def suppressed(ordered: list[Raised], memory: Memory) -> Passing[list[Raised]]:
    """A batch through the stage alone."""
    now = ordered[-1].time if ordered else 0
    passing = Suppress()(RaisedColumns.together([ordered]), memory, now)
    memory.suppressions.forget(now)
    return Passing(list(passing.on), list(passing.held or ()))


def slots(memory: Memory) -> list[object]:
    keys = [("p", rule, key) for rule in DURATIONS for key in ("a", "z", *(f"k{i}" for i in range(100)))]
    return list(memory.suppressions.read(keys))


def by_definition(ordered: list[Raised]) -> tuple[list[Raised], list[Raised]]:
    """After a raised alert, those of this rule with equal f and a time less than d later are withheld."""
    kept: list[tuple[Raised, int]] = []
    withheld: list[Raised] = []
    for one in ordered:

        def like(other: Raised, one: Raised = one) -> bool:
            return (other.alert.pack, other.alert.rule) == (one.alert.pack, one.alert.rule) and (
                other.withholding == one.withholding
            )

        rivals = [k for k, _ in kept if one.withholding and like(k)]
        if one.withholding and any(0 <= one.time - k.time < one.withholding.duration for k in rivals[-1:]):
            withheld.append(one)
        else:
            reported = sum(count for k, count in kept if like(k)) if one.withholding else 0
            silent = sum(map(like, withheld)) if one.withholding else 0
            kept.append((one, silent - reported))
    return [one.speaking_for(count) for one, count in kept], withheld


RAISED = st.lists(
    st.builds(
        raised,
        st.sampled_from(sorted(DURATIONS)),
        st.sampled_from(["a", "b"]),
        st.integers(0, 60),
        st.integers(0, 3),
        st.sampled_from(["p", "q"]),
    ),
    max_size=60,
)


@given(RAISED, st.lists(st.integers(0, 60), max_size=8))
def test_suppression_is_what_the_language_says(all_raised: list[Raised], cuts: list[int]) -> None:
    ordered = in_order(all_raised)
    kept: list[Raised] = []
    withheld: list[Raised] = []
    memory = nothing_known()
    edges = [0, *sorted(min(cut, len(ordered)) for cut in cuts), len(ordered)]
    for start, end in pairwise(edges):
        passing = suppressed(ordered[start:end], memory)
        kept += passing.on
        withheld += passing.held or []
    assert (kept, withheld) == by_definition(ordered)


def test_memory_forgets_what_cannot_matter() -> None:
    suppressed([raised("quick", f"k{i}", i * 3) for i in range(100)], memory := nothing_known())
    assert slots(memory) == [("p", "quick", "k99")]


def test_a_count_is_kept_until_it_is_reported() -> None:
    memory = nothing_known()
    suppressed([raised("quick", "a", 0), raised("quick", "a", 1)], memory)
    suppressed([raised("plain", "z", 10**12)], memory)
    assert slots(memory) == [("p", "quick", "a")]
    passing = suppressed([raised("quick", "a", 2 * 10**12), raised("plain", "z", 3 * 10**12)], memory)
    assert [one.alert.suppressed for one in passing.on] == [1, 0]
    assert not slots(memory)


def test_the_end_of_the_duration_is_open() -> None:
    passing = suppressed([raised("quick", "a", t) for t in (0, 2, 3)], nothing_known())
    assert [one.alert.time for one in passing.on] == ["0", "3"]
    assert [one.alert.time for one in passing.held or ()] == ["2"]


def test_a_deploy_that_shortens_the_duration_counts_at_once() -> None:
    shorter = raised("slow", "a", 5)._replace(withholding=Withholding("a", 4))
    longer = raised("quick", "a", 5)._replace(withholding=Withholding("a", 9))
    assert len(suppressed([raised("slow", "a", 0), shorter], nothing_known()).on) == 2
    kept = suppressed([raised("quick", "a", 0), longer], nothing_known()).on
    assert len(kept) == 2, "the raised alert had promised to withhold for 3 only"


def test_an_alert_of_long_ago_is_not_withheld() -> None:
    assert len(suppressed([raised("slow", "a", 100), raised("slow", "a", 1)], nothing_known()).on) == 2


@given(RAISED, st.randoms())
def test_order_does_not_depend_on_arrival(all_raised: list[Raised], random: Random) -> None:
    distinct = list({r.alert.id: r for r in all_raised}.values())
    shuffled = list(distinct)
    random.shuffle(shuffled)
    assert in_order(shuffled) == in_order(distinct)
    assert list(RaisedColumns.of(shuffled).in_order()) == in_order(distinct)


def test_keys_of_different_types_have_an_order() -> None:
    values: list[object] = ["b", 2.5, None, True, "a", 1, False, ["x"], "10"]
    alert = raised("plain", "", 0).alert
    some = [Raised.of(replace(alert, key={"k": value}), 0, (0,)) for value in values]
    assert [r.alert.key["k"] for r in in_order(some)] == [None, False, True, 1, 2.5, "10", "a", "b", ["x"]]


NUMBERS = st.integers(-(2**70), 2**70) | st.integers(-(2**54), 2**54) | st.floats(allow_nan=False)
VALUES = st.none() | st.booleans() | NUMBERS | st.text() | st.lists(st.integers(0, 3), max_size=2)
ORDERS = st.lists(st.integers(-(2**63), 2**63 - 1), max_size=3)


def plainly(value: object) -> tuple[int, object]:
    """A key value as it compares by definition."""
    match value:
        case None:
            return 0, 0
        case bool():
            return 1, value
        case int() | float():
            return 2, value
        case str():
            return 3, value
        case _:
            return 4, str(value).replace(" ", "")


@given(*[st.tuples(st.integers(-5, 5), st.text(max_size=3), st.lists(VALUES, max_size=2), ORDERS)] * 2)
def test_ranks_compare_as_what_they_rank(
    one: tuple[int, str, list[object], list[int]], other: tuple[int, str, list[object], list[int]]
) -> None:
    def ranked(parts: tuple[int, str, list[object], list[int]]) -> bytes:
        time, rule, key, order = parts
        return rank(time, rule, "p", key, order, "id")

    def defined(parts: tuple[int, str, list[object], list[int]]) -> tuple[object, ...]:
        time, rule, key, order = parts
        return time, rule, [plainly(value) for value in key], order

    assert (ranked(one) < ranked(other)) == (defined(one) < defined(other))
