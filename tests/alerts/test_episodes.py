"""Alerts of one rule and key that follow one another are one episode, however batches and processes end."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import cast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from some_alerts import SECOND, raised
from stores import outbox_url

from alerts.alert import SEVERITIES
from alerts.episodes.assigner import Assigner
from alerts.episodes.episode import (
    BY_JOB,
    STATES,
    Episode,
    EpisodeError,
    Precision,
    Standing,
    State,
    Verdict,
    slot,
)
from alerts.episodes.labels import labels
from alerts.outbox import BatchRecord, Outbox
from alerts.outbox import episodes as of_outbox
from alerts.outbox.episodes import (
    assign_some,
    change,
    close_quiet,
    counted,
    episode_of,
    episodes_of,
    ids_of,
    precisions,
    read_episodes,
)
from alerts.outbox.found import beginning_with
from alerts.raised import Raised

pytestmark = pytest.mark.usefixtures("store")

MINUTE = 60
ALL = STATES


def length(_pack: str, rule: str) -> int:
    """Of rule `a` ten seconds, of others a minute."""
    return (10 if rule == "a" else MINUTE) * SECOND


@pytest.fixture
def outbox(tmp_path: Path) -> Outbox:
    return Outbox.open(outbox_url(tmp_path), durable=False, clock=lambda: 5)


def record(outbox: Outbox, number: int, some: Sequence[Raised]) -> None:
    outbox.record(BatchRecord(number, f"d{number}", {}), some, [])


def assign(outbox: Outbox, most: int = 5_000) -> None:
    more = True
    while more:
        with outbox.writing() as connection:
            more = assign_some(connection, length, most)


def all_of(outbox: Outbox) -> list[Episode]:
    with outbox.reading() as connection:
        return sorted(read_episodes(connection, ALL), key=lambda one: one.first)


def say(outbox: Outbox, number: int, standing: Standing) -> None:
    with outbox.writing() as connection:
        change(connection, number, standing)


CLOSED = Standing("closed", "false_positive", "a test", "ann", 7)
TIMELINES = [
    # at this second an alert of this rule and key, or what a person does: the numbers of alerts by episode
    ("one alert", [(0, "a", "x")], [[1]]),
    ("nine seconds later", [(0, "a", "x"), (9, "a", "x")], [[1, 2]]),
    ("ten seconds later, which is the rule's length", [(0, "a", "x"), (10, "a", "x")], [[1], [2]]),
    (
        "each within it, the first and the last not",
        [(0, "a", "x"), (9, "a", "x"), (18, "a", "x")],
        [[1, 2, 3]],
    ),
    ("the default for another rule", [(0, "b", "x"), (59, "b", "x"), (119, "b", "x")], [[1, 2], [3]]),
    ("another key", [(0, "a", "x"), (1, "a", "y"), (2, "a", "x")], [[1, 3], [2]]),
    ("another rule", [(0, "a", "x"), (1, "b", "x"), (2, "a", "x")], [[1, 3], [2]]),
    ("at the same moment", [(5, "a", "x"), (5, "a", "x")], [[1, 2]]),
    ("acknowledged", [(0, "a", "x"), "acknowledged", (1, "a", "x")], [[1, 2]]),
    ("closed", [(0, "a", "x"), "closed", (1, "a", "x"), (2, "a", "x")], [[1], [2, 3]]),
    ("closed and opened again", [(0, "a", "x"), "closed", "open", (1, "a", "x")], [[1, 2]]),
    ("opened again too late", [(0, "a", "x"), "closed", (1, "a", "x"), "open", (2, "a", "x")], [[1], [2, 3]]),
]


@pytest.mark.parametrize(
    ("events", "wanted"), [row[1:] for row in TIMELINES], ids=[row[0] for row in TIMELINES]
)
def test_timeline(outbox: Outbox, events: list[tuple[int, str, str] | str], wanted: list[list[int]]) -> None:
    """What people do is done to the first episode."""
    number = 0
    for event in events:
        if isinstance(event, str):
            say(outbox, 1, CLOSED if event == "closed" else Standing(cast(State, event), by="ann", at=8))
            continue
        time, rule, key = event
        number += 1
        record(outbox, number, [raised(number, rule=rule, key=key, time=time)])
        assign(outbox)
    assert members(outbox) == wanted
    outbox.close()


def members(outbox: Outbox) -> list[list[int]]:
    """The numbers of alerts by episode, as each alert says to which it belongs."""
    found: dict[int, list[int]] = {}
    with outbox.reading() as connection:
        for alert in outbox.alerts():
            one = episode_of(connection, alert.number)
            if one is not None:
                found.setdefault(one.first, []).append(alert.number)
    for one in all_of(outbox):
        mine = found[one.first]
        assert (one.first, one.last, one.alerts) == (mine[0], mine[-1], len(mine))
    return [found[first] for first in sorted(found)]


def by_hand(some: Sequence[tuple[int, str, str]]) -> list[list[int]]:
    """The same for alerts in order of time, each compared with the one before it of its rule and key."""
    last: dict[tuple[str, str], tuple[int, list[int]]] = {}
    found: list[list[int]] = []
    for number, (time, rule, key) in enumerate(some, 1):
        before = last.get((rule, key))
        if before is None or (time - before[0]) * SECOND >= length("", rule):
            found.append([])
            before = 0, found[-1]
        before[1].append(number)
        last[rule, key] = time, before[1]
    return found


alert = st.tuples(st.integers(0, 200), st.sampled_from("abc"), st.sampled_from("xy"))


@pytest.mark.slow
@settings(deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(alert, max_size=25), st.data())
def test_batches_steps_and_restarts_change_nothing(
    some: list[tuple[int, str, str]], data: st.DataObject
) -> None:
    some.sort(key=lambda one: (one[0], one[1], one[2]))  # as the outbox numbers them
    cuts = sorted(data.draw(st.sets(st.integers(0, len(some)), max_size=4)))
    with TemporaryDirectory() as folder:
        url = outbox_url(folder)
        outbox = Outbox.open(url, durable=False)
        for number, (begin, end) in enumerate(zip([0, *cuts], [*cuts, len(some)], strict=True)):
            came = [raised(n, rule=r, key=k, time=t) for n, (t, r, k) in enumerate(some[begin:end], begin)]
            record(outbox, number, came)
            match data.draw(st.sampled_from(["assign", "some", "restart", "not yet"])):
                case "assign":
                    assign(outbox, data.draw(st.integers(1, 5)))
                case "some":  # and then the process ends
                    with outbox.writing() as connection:
                        assign_some(connection, length, 2)
                    outbox.close()
                    outbox = Outbox.open(url, durable=False)
                case "restart":
                    outbox.close()
                    outbox = Outbox.open(url, durable=False)
                case _:
                    pass
        assign(outbox, 3)
        assert members(outbox) == by_hand(some)
        outbox.close()


def test_an_episode_says_what_is_known_of_it(outbox: Outbox) -> None:
    came = [raised(1, key="x", time=3, severity="low"), raised(2, key="x", time=4, severity="high")]
    record(outbox, 0, came)
    assign(outbox)
    (one,) = all_of(outbox)
    wanted = Episode(
        1, "fraud", "card_testing", '{"card_id":"x"}', 2, 2, 3 * SECOND, 4 * SECOND, MINUTE * SECOND, 1
    )
    assert one == wanted
    assert SEVERITIES[one.worst] == "high"
    with outbox.reading() as connection:
        assert ids_of(connection, [one]) == {1: came[0].id}
        assert beginning_with(connection, came[1].id[:9]) == [(2, came[1].id)]
        assert beginning_with(connection, came[1].id) == [(2, came[1].id)]
        assert beginning_with(connection, came[1].id[:63] + ("0" if came[1].id[-1] != "0" else "1")) == []
        assert beginning_with(connection, "12345") == []
    outbox.close()


def test_only_a_person_closes_what_is_quiet_unless_the_job_file_says_so(outbox: Outbox) -> None:
    record(outbox, 0, [raised(1, rule="a", key="x", time=0), raised(2, rule="b", key="x", time=5)])
    assign(outbox)
    first, second = all_of(outbox)
    assert [first.quiet(now * SECOND) for now in (9, 10)] == [False, True]
    assert not second.quiet(64 * SECOND)
    with outbox.writing() as connection:
        assert close_quiet(connection, 10 * SECOND, 9) == 1
        assert close_quiet(connection, 10 * SECOND, 9) == 0
    first, second = all_of(outbox)
    assert first.standing == Standing("closed", None, "", BY_JOB, 9)
    assert second.standing == Standing()
    with outbox.reading() as connection:
        assert counted(connection) == {"open": 1, "acknowledged": 0, "closed": 1}
        assert precisions(connection) == [], "without a verdict it counts for nothing"
    outbox.close()


def test_the_queue_is_worst_first_then_oldest(outbox: Outbox) -> None:
    levels = ["low", "critical", "high", "critical"]
    record(outbox, 0, [raised(n, key=f"k{n}", time=n, severity=level) for n, level in enumerate(levels)])
    assign(outbox)
    say(outbox, 2, Standing("acknowledged", None, "", "ann", 1))
    with outbox.reading() as connection:
        queue = read_episodes(connection, ("open", "acknowledged"))
        assert [one.first for one in queue] == [4, 3, 1, 2]
        assert [one.first for one in read_episodes(connection, ALL, limit=2)] == [4, 3]
        assert read_episodes(connection, ALL, rule="other") == []
        assert len(read_episodes(connection, ALL, pack="fraud", rule="card_testing")) == 4
    outbox.close()


def test_people_change_the_standing_step_by_step() -> None:
    known = Standing().acknowledged("ann", 1, "looking")
    assert known == Standing("acknowledged", None, "looking", "ann", 1)
    closed = known.closed("benign", "bob", 2)
    assert closed == Standing("closed", "benign", "looking", "bob", 2)
    assert closed.closed("true_positive", "bob", 3, "after all").verdict == "true_positive"
    assert closed.reopened("ann", 4) == Standing("open", None, "looking", "ann", 4)
    with pytest.raises(EpisodeError, match="it is closed"):
        closed.acknowledged("ann", 5)
    with pytest.raises(EpisodeError, match="it is open"):
        Standing().reopened("ann", 5)


def test_verdicts_become_precision_and_labels(outbox: Outbox) -> None:
    came = [raised(n, rule="a" if n < 6 else "b", key=f"k{n % 5}", time=n * 100) for n in range(8)]
    came.append(raised(8, rule="b", key="k2", time=701))  # a second alert of an episode
    record(outbox, 0, came)
    assign(outbox)
    verdicts: Mapping[int, Verdict] = {
        1: "true_positive", 2: "false_positive", 3: "benign", 4: "duplicate", 5: "true_positive",
        8: "false_positive"
    }  # fmt: skip
    for number, verdict in verdicts.items():
        say(outbox, number, Standing("closed", verdict, f"n{number}", "ann", 10**9))
    with outbox.reading() as connection:
        found = precisions(connection)
        assert found == [Precision("fraud", "a", 2, 1, 1, 1), Precision("fraud", "b", 0, 1)]
        assert [one.share for one in found] == [0.5, 0.0]
        assert Precision("fraud", "c", duplicate=1).share is None
        every = [label for some in labels(connection) for label in some]
    assert [(one.alert, one.verdict, one.label) for one in every] == [
        (came[0].id, "true_positive", 1),
        (came[1].id, "false_positive", 0),
        (came[2].id, "benign", 0),
        (came[3].id, "duplicate", None),
        (came[4].id, "true_positive", 1),
        (came[7].id, "false_positive", 0),
        (came[8].id, "false_positive", 0),
    ]
    last = every[-1]
    assert (last.episode, last.note, last.by, last.closed_at) == (
        came[7].id,
        "n8",
        "ann",
        "1970-01-01T00:00:01Z",
    )
    assert json.loads(last.key) == {"card_id": "k2"}
    outbox.close()


def test_the_thread_assigns_all_before_it_ends(outbox: Outbox) -> None:
    assigner = Assigner(outbox, length, closes=True, clock=lambda: 9, report=pytest.fail)
    assigner.start()
    for number in range(5):
        record(outbox, number, [raised(number, rule="a", key="x", time=number * 8)])
        assigner.wake(number * 8 * SECOND)
    assigner.wake(42 * SECOND)
    assigner.stop()
    (one,) = all_of(outbox)
    assert (one.alerts, one.standing.by) == (5, BY_JOB)
    outbox.close()


def test_the_slot_of_a_rule_and_key_never_changes() -> None:
    assert slot("fraud", "card_testing", '{"card_id":"c1"}') == slot(
        "fraud", "card_testing", '{"card_id":"c1"}'
    )
    assert slot("a", "b", "c") == -6914314029718562291
    assert slot("a", "bc", "") != slot("ab", "c", "")


@pytest.mark.parametrize("shared", [False, True], ids=["slots of their own", "one slot for all"])
def test_alerts_of_a_page_know_their_episodes(
    outbox: Outbox, monkeypatch: pytest.MonkeyPatch, shared: bool
) -> None:
    """Of many episodes of a rule and key, and of several that share a slot, by looking at all of them."""
    if shared:
        monkeypatch.setattr(of_outbox, "slot", lambda *_: 7)
    rules, keys = "ab", "xyz"
    some = [raised(n, rule=rules[n * 7 % 5 % 2], key=keys[n * 11 % 7 % 3], time=n * 3) for n in range(300)]
    record(outbox, 0, some[:280])
    assign(outbox)
    record(outbox, 1, some[280:])  # these are in no episode yet
    every = all_of(outbox)
    stored = {one.number: one.alert for one in outbox.alerts()}
    wanted = {
        number: episode
        for number, alert in stored.items()
        for episode in every
        if episode.first <= number <= episode.last
        and (episode.rule, episode.key) == (alert["rule"], json.dumps(alert["key"], separators=(",", ":")))
    }
    assert len(every) > 60
    assert len(wanted) == 280
    with outbox.reading() as connection:
        for numbers in (list(stored), list(stored)[100:150], list(stored)[-1:], []):
            found = episodes_of(connection, numbers)
            assert found == {number: wanted[number] for number in numbers if number in wanted}
