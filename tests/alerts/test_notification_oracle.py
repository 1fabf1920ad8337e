"""Every alert is delivered, held back for a true reason, or pending; and never two bodies under one id.

Random alerts, silences, routes, mute times, inhibitions, groups, rates, failures, steps of the clock,
restarts, other settings, and ends of the process between each pair of steps. The oracle knows all alerts that
were raised and reads each reason for itself, from the definitions: it knows nothing of lanes, open groups, or
tokens.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from zoneinfo import ZoneInfo

import pytest
from effort import examples
from evenings import STEPS, Desk, DiedError, Evening
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from some_alerts import SECOND

from alerts.calendars import Calendar, Range
from alerts.grouping import Grouping, Manner, Rate
from alerts.inhibiting import Inhibition
from alerts.matchers import Labels, Matchers
from alerts.mute_times import MuteTime
from alerts.outbox import Delivery, StoredAlert
from alerts.routing import Branch, Branches
from alerts.settings import Settings
from alerts.silences import Silence

pytestmark = pytest.mark.usefixtures("store")

END = 2_000
ASKED = ["rule = a", "rule != a", "n =~ [0-4]", "card_id = c1", "severity = low"]
NAMES = ["rule", "card_id", "severity"]

groupings = st.builds(
    Grouping,
    st.lists(st.sampled_from(NAMES), max_size=2, unique=True).map(tuple),
    st.sampled_from([0, 3, 10, 30]).map(lambda n: n * SECOND),
    st.sampled_from([0, 5, 20]).map(lambda n: n * SECOND),
)
rates = st.sampled_from([Rate(1, 10 * SECOND, "1 per 10"), Rate(2, 30 * SECOND, "2 per 30")])
manners = st.builds(Manner, groupings | groupings | st.none(), st.none() | rates, st.booleans())
matchers = st.lists(st.sampled_from(ASKED), max_size=2).map(Matchers.of)
calendars = st.sampled_from([(Range(0, 1),), (Range(1, 3), Range(4, 5)), (Range(0, 10),)]).map(
    lambda hours: Calendar(ZoneInfo("UTC"), hours=hours)
)
mute_times = st.builds(MuteTime, st.just("m"), calendars, matchers, st.none() | st.just(frozenset(["pager"])))
inhibitions = st.builds(
    Inhibition,
    st.sampled_from([["rule = b"], ["severity = high"]]).map(Matchers.of),
    matchers,
    st.sampled_from([(), ("card_id",)]),
    st.sampled_from([5, 50]).map(lambda n: n * SECOND),
    st.just("inhibition"),
)


@st.composite
def some_settings(draw: st.DrawFn) -> Settings:
    branches = Branches(
        (
            Branch(Matchers.of(["severity = low"]), ("pager",), True, draw(st.none() | groupings)),
            Branch(Matchers(), ("desk",)),
        )
    )
    return Settings(
        {name: draw(manners) for name in ("desk", "pager")},
        draw(st.lists(mute_times, max_size=1)),
        draw(st.lists(inhibitions, max_size=1)),
        branches,
    )


@dataclass
class Told:
    """What the oracle knows: who is to get which alert, silences as they are, all settings that ever were."""

    wanted: dict[str, set[str]] = field(default_factory=dict)
    silences: dict[str, Silence] = field(default_factory=dict)
    settings: list[Settings] = field(default_factory=list)
    asked_for: set[str] = field(default_factory=set)
    judged: dict[str, int] = field(default_factory=dict)


ACTIONS = ["record", "record", "record", "silence", "expire", "time", "time", "restart", "die", "fail"]
ACTIONS += ["redeliver", "settings"]


@pytest.mark.slow
@settings(max_examples=examples(20), deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_every_alert_is_delivered_or_held_for_a_true_reason_or_pending(data: st.DataObject) -> None:
    with TemporaryDirectory() as folder:
        first = data.draw(some_settings())
        desks = Desk("desk", apart=data.draw(st.booleans())), Desk("pager")
        evening, told = Evening(Path(folder), first, *desks), Told(settings=[first])
        assert first.branches is not None
        evening.routes = first.branches
        for _ in range(data.draw(st.integers(1, 14))):
            step(evening, told, data)
            check(evening, told)
        evening.fails()
        evening.fails(name="pager")
        for id_ in list(told.silences):
            expire(evening, told, id_)
        evening.restart(replace(evening.settings, mute_times=()))
        evening.until(END)
        check(evening, told)
        for id_, receivers in told.wanted.items():
            for one in evening.outbox.deliveries(id_):
                assert one.receiver in receivers
                assert one.state in ("delivered", "inhibited"), "every other reason has ended"
        evening.outbox.close()


def step(evening: Evening, told: Told, data: st.DataObject) -> None:
    match data.draw(st.sampled_from(ACTIONS)):
        case "record":
            for _ in range(data.draw(st.integers(1, 5))):
                level, rule = data.draw(st.sampled_from(["high", "low"])), data.draw(st.sampled_from("ab"))
                number = len(told.wanted)
                key = f"c{number % 2 + 1}"
                time = 3 * number
                id_ = evening.record(number, time, severity=level, rule=rule, key=key)
                told.wanted[id_] = {"desk", "pager"} if level == "low" else {"desk"}
        case "silence":
            start = evening.now + data.draw(st.integers(-3, 5))
            end = max(start, evening.now) + data.draw(st.integers(1, 60))
            some = data.draw(st.lists(st.sampled_from(ASKED), max_size=2))
            id_ = f"s{len(told.silences)}"
            evening.silence(id_, start, end, *some)
            told.silences[id_] = Silence(id_, "", "", start * SECOND, end * SECOND, Matchers.of(some))
        case "expire" if told.silences:
            expire(evening, told, data.draw(st.sampled_from(sorted(told.silences))))
        case "time":
            evening.until(evening.now + data.draw(st.integers(1, 40)))
        case "restart":
            evening.restart()
        case "die":
            dies = data.draw(st.sampled_from(STEPS))
            try:
                for _ in range(15):
                    evening.now += 1
                    evening.deliver(dies)
            except DiedError:
                evening.restart()
        case "fail":
            some = data.draw(st.sampled_from([(), range(0, 60, 2), range(60)]))
            evening.fails(*some, name=data.draw(st.sampled_from(["desk", "pager"])))
        case "redeliver" if told.wanted:
            number = data.draw(st.integers(0, len(told.wanted) - 1))
            evening.redeliver(number)
            told.asked_for.add(evening.numbers[number])
        case "settings":
            new = replace(data.draw(some_settings()), branches=told.settings[0].branches)
            told.settings.append(new)
            evening.restart(new)
        case _:
            pass


def expire(evening: Evening, told: Told, id_: str) -> None:
    now = evening.now * SECOND
    if evening.expire(id_):
        one = told.silences[id_]
        told.silences[id_] = replace(one, starts_at=min(one.starts_at, now), ends_at=now)


def check(evening: Evening, told: Told) -> None:
    stored = {str(one.alert["id"]): one for one in evening.outbox.alerts()}
    assert stored.keys() == told.wanted.keys()
    bodies: dict[tuple[str, str], tuple[str, ...]] = {}
    got: dict[tuple[str, str], int] = {}
    for desk in evening.desks.values():
        judge(evening, told, stored, desk)
        for sent in desk.tried:
            same = bodies.setdefault((desk.name, sent.id), sent.bodies)
            assert same == sent.bodies, "one body under an id"
        for sent in desk.sent:
            for body in sent.bodies:
                place = desk.name, str(json.loads(body)["id"])
                got[place] = got.get(place, 0) + 1
        if desk.apart:
            for sent in desk.tried:
                about = {(json.loads(body)["rule"], str(json.loads(body)["key"])) for body in sent.bodies}
                assert len(about) == 1
    for id_, one in stored.items():
        deliveries = evening.outbox.deliveries(id_)
        assert {one.receiver for one in deliveries} == told.wanted[id_]
        for delivery in deliveries:
            explained(evening, told, stored, one, delivery, got.get((delivery.receiver, id_), 0))


def judge(evening: Evening, told: Told, stored: dict[str, StoredAlert], desk: Desk) -> None:
    """What was attempted since the last step was not to be held back: nothing changes within a step."""
    before = {sent.id for sent in desk.tried[: told.judged.get(desk.name, 0)]}
    for sent in desk.tried[told.judged.get(desk.name, 0) :]:
        if sent.id in before:
            continue  # settled when it was made
        before.add(sent.id)
        for body in sent.bodies:
            one = stored[json.loads(body)["id"]]
            assert not held_back(evening, told, desk, one, sent.at * SECOND)
    told.judged[desk.name] = len(desk.tried)
    rate = evening.settings.manners[desk.name].rate
    if rate is not None:
        moments = [one.at * SECOND for one in desk.tried[desk.since :]]
        for moment in moments:
            assert sum(moment - rate.period < one <= moment for one in moments) <= rate.most


def held_back(evening: Evening, told: Told, desk: Desk, one: StoredAlert, now: int) -> bool:
    """Whether an alert is not to be sent at a moment, by what people and job.toml say now."""
    labels = Labels(one.alert)
    if any(silence.silences(labels, now) for silence in told.silences.values()):
        return True
    muting = [each for each in evening.settings.mute_times if each.of(desk.name)]
    if any(each.matchers.matches(labels) and each.calendar.holds(now) for each in muting):
        return True
    if str(one.alert["id"]) in told.asked_for:
        return False
    others = evening.outbox.alerts()
    return any(
        each.holds_back(Labels(other.alert), labels, one.time - other.time)
        for each in evening.settings.inhibitions
        for other in others
        if other.number <= one.number
    )


def explained(
    evening: Evening,
    told: Told,
    stored: dict[str, StoredAlert],
    one: StoredAlert,
    delivery: Delivery,
    got: int,
) -> None:
    """The state of a delivery is true at this moment."""
    now, labels = evening.now * SECOND, Labels(one.alert)
    if delivery.state == "delivered":
        assert got
        return
    if delivery.state == "inhibited":
        source = stored[str(delivery.held).removeprefix("alert ")]
        assert any(
            each.holds_back(Labels(source.alert), labels, one.time - source.time)
            for some in told.settings
            for each in some.inhibitions
        )
        return
    assert delivery.state == "pending"
    assert delivery.due_at is not None
    if delivery.held is None or delivery.due_at <= now:
        return
    match delivery.held.split():
        case ["silence", id_]:
            silence = told.silences[id_]
            assert silence.silences(labels, now)
            assert delivery.due_at == silence.ends_at
        case ["mute", "m"]:
            muting = [time for some in told.settings for time in some.mute_times]
            some = [each for each in muting if each.of(delivery.receiver) and each.matchers.matches(labels)]
            assert any(each.calendar.holds(now) for each in some)
        case ["group"]:
            every = [each.manners[delivery.receiver].grouping for each in told.settings]
            every += [told.settings[0].branches.all[0].grouping]  # type: ignore[union-attr]
            longest = max(max(each.wait, each.interval) for each in every if each is not None)
            assert delivery.due_at - now <= longest
        case ["rate"]:
            rates_ = [each.manners[delivery.receiver].rate for each in told.settings]
            assert any(
                rate is not None and len(within(evening.desks[delivery.receiver], now - rate.period)) >= 1
                for rate in rates_
            )
        case ["key"]:
            earlier = [
                other
                for id_, each in stored.items()
                if each.number < one.number and each.alert["key"] == one.alert["key"]
                for other in evening.outbox.deliveries(id_)
                if other.receiver == delivery.receiver and other.attempts and other.state != "delivered"
            ]
            assert earlier, "one before it failed"
        case other:
            raise AssertionError(other)


def within(desk: Desk, since: int) -> list[int]:
    return [one.at for one in desk.tried if one.at * SECOND > since]
