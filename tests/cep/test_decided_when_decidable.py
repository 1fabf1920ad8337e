"""The reference against a promise of docs/language.md rather than against code: "raised when decided, no
earlier and no later".

After some events all that may still come is tried. What every continuation raises must have been raised, and
what was raised every continuation must raise. Neither knows how the reference works.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable

import pytest
from effort import examples
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from small_patterns import (
    KINDS,
    SECOND,
    SKIPS,
    UNSHRUNK,
    Alerts,
    Stream,
    accepted,
    alerts,
    pack_of,
    patterns,
    streams,
)

from cep.events import MAX_TIME
from cep.reference import TooManyAlternativesError, pattern, runs
from cep.reference.alternatives import Done, Ending, First, Joint, Node, first
from rules.typed import Pack

AFTER = (0, 1, 4, 90)
"""Seconds: at once, soon, when all absences are over, when everything is."""
MOST_MORE = 3
"""Events of a continuation: an alternative that has begun needs no more."""


@st.composite
def rules(draw: st.DrawFn, independent: bool) -> str:
    """Bounds that leave room for whatever may come."""
    within = draw(st.sampled_from(("within 60s", "within unbounded")))
    return f"match {draw(patterns(independent))} {within} {draw(st.sampled_from(SKIPS))}"


def hasty_rules(independent: bool) -> st.SearchStrategy[str]:
    """Bounds that cut into one another."""
    return _hasty(independent).filter(accepted)


@st.composite
def _hasty(draw: st.DrawFn, independent: bool) -> str:
    end = draw(st.sampled_from(("", "", "", " -> absent e", ' -> absent e[k == "c"]', " => not e")))
    within = draw(st.sampled_from((2, 3, 5, 20)))
    told = draw(st.sampled_from(("", "on timeout emit n = 1")))
    return f"match {draw(patterns(independent))}{end} within {within}s {draw(st.sampled_from(SKIPS))} {told}"


def continuations() -> list[Stream]:
    """The streams that may still come, the shortest first."""
    more = (itertools.product(itertools.product(KINDS, AFTER), repeat=n) for n in range(MOST_MORE + 1))
    return [continuation for of_length in more for continuation in of_length]


def continued(stream: Stream, since: int, more: Stream) -> Stream:
    """The stream with what comes when the watermark has come to a second."""
    passed = since - sum(after for _, after in stream)
    return (*stream, *((kind, after + passed * (n == 0)) for n, (kind, after) in enumerate(more)))


def raised_late(rule: str, stream: Stream) -> str:
    """The first match of a stream that no continuation lacks and that is not raised; empty if all are."""
    pack, possible = pack_of(rule), continuations()
    for count in range(1, len(stream) + 1):
        came = stream[:count]
        last = sum(after for _, after in came)
        for since in (last, last + 1, last + 2, last + 4):
            raised = alerts(pack, came, since * SECOND)
            for match, time in alerts(pack, came, MAX_TIME).items():
                if match in raised:
                    continue
                for place, more in enumerate(possible):
                    if match not in alerts(pack, continued(came, since, more), MAX_TIME):
                        possible.insert(0, possible.pop(place))  # likely what prevents the next one, too
                        break
                else:
                    return f"{rule}\n{came}, watermark {since}: {match} waits for {time / SECOND}"
    return ""


def told_wrongly(rule: str, stream: Stream) -> str:
    """The first alert of a stream that is not told by its time, is told before it, or is taken back."""
    pack = pack_of(rule)
    whole = alerts(pack, stream, 10**3 * SECOND)
    for alert, time in whole.items():
        if told_at(pack, stream, time).get(alert) != time:
            return f"{rule}\n{stream}: {alert} is not told at its time {time / SECOND}"
        if alert in told_at(pack, stream, time - 1):
            return f"{rule}\n{stream}: {alert} is told before its time {time / SECOND}"
    for count in range(len(stream)):
        last = sum(after for _, after in stream[:count])
        for since in range(last, last + stream[count][1] + 1):
            told = alerts(pack, stream[:count], since * SECOND)
            if not told.items() <= whole.items():
                return f"{rule}\n{stream}: {told} after {count} events and {since} s is taken back"
    return ""


def told_at(pack: Pack, stream: Stream, watermark: int) -> Alerts:
    """The alerts raised when the watermark is there and nothing later has come."""
    times = itertools.accumulate(after for _, after in stream)
    count = sum(time * SECOND <= watermark for time in times)
    return alerts(pack, stream[:count], watermark)


def assert_none(fault: Callable[[str, Stream], str], rule: str, stream: Stream) -> None:
    """A rule has no such fault in a stream, as far as it can be tried."""
    try:
        found = fault(rule, stream)
    except TooManyAlternativesError:
        assume(False)
    if found:
        pytest.fail(found, pytrace=False)


@pytest.mark.slow
@pytest.mark.timeout(0)
@pytest.mark.parametrize("independent", [False, True], ids=["plain", "independent"])
@settings(max_examples=examples(200), **UNSHRUNK)
@given(st.data(), streams(4))
def test_a_match_is_raised_as_soon_as_nothing_can_prevent_it(
    independent: bool, data: st.DataObject, stream: Stream
) -> None:
    assert_none(raised_late, data.draw(rules(independent)), stream)


@pytest.mark.slow
@pytest.mark.timeout(0)
@pytest.mark.parametrize("independent", [False, True], ids=["plain", "independent"])
@settings(max_examples=examples(200), **UNSHRUNK)
@given(st.data(), streams(5))
def test_an_alert_is_told_at_its_time_and_never_taken_back(
    independent: bool, data: st.DataObject, stream: Stream
) -> None:
    assert_none(told_wrongly, data.draw(hasty_rules(independent)), stream)


# What these tests are for: each of these mistakes must be found.


@pytest.mark.slow
def test_a_match_that_waits_beside_independent_ways_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    rule = 'match s: e[k == "a"] -> (x: e[k == "b"]* each & y: e[k == "b"]* each) within unbounded'
    assert raised_late(rule, (("a", 1), ("b", 1))) == ""

    def waiting_for_all(nodes: Iterable[Node]) -> Node:
        alive = [node for node in nodes if node is not None]
        if any(isinstance(node, Done | Ending | First) for node in alive):
            return first(alive)
        return Joint(tuple(alive)) if len(alive) > 1 else alive[0] if alive else None

    monkeypatch.setattr(pattern, "joint", waiting_for_all)
    assert "waits for" in raised_late(rule, (("a", 1),))


def test_a_match_with_a_time_before_it_was_decided_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    rule = 'match s: e[k == "a"] -> absent e[k == "b"] for 4s => not e[k == "c"] within 2s'
    assert told_wrongly(rule, (("a", 0), ("a", 9))) == ""
    monkeypatch.setattr(runs, "max", lambda *times: min(times), raising=False)
    assert "not told at its time" in told_wrongly(rule, (("a", 0), ("a", 9)))
