"""What goes out when, together with what, and what is held back for which reason: timelines in seconds."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from evenings import Desk, Evening, Evenly
from some_alerts import SECOND

from alerts.calendars import Calendar, Range
from alerts.grouping import Grouping, Manner, Rate
from alerts.inhibiting import Inhibition
from alerts.matchers import Matchers
from alerts.mute_times import MuteTime
from alerts.routing import Branch, Branches
from alerts.settings import Settings

pytestmark = pytest.mark.usefixtures("store")

BY_RULE = Grouping(("rule",), wait=10 * SECOND, interval=60 * SECOND)
GROUPED = Settings({"desk": Manner(BY_RULE)})
BY_CARD = Settings({"desk": Manner(Grouping(("card_id",), 10 * SECOND, 60 * SECOND))})
AT_ONCE = Settings({"desk": Manner(Grouping(("rule",), 0, 30 * SECOND))})
TWO = Settings({"desk": Manner(rate=Rate(2, 60 * SECOND, "2 per minute"))})
ONE_GROUPED = Settings({"desk": Manner(BY_RULE, Rate(1, 60 * SECOND, "1 per minute"))})
ORDERED = Settings({"desk": Manner(by_key=True)})
MINUTES = Calendar(ZoneInfo("UTC"), hours=(Range(1, 2),))
FIRST_MINUTES = Calendar(ZoneInfo("UTC"), hours=(Range(0, 2),))
MUTED = Settings(mute_times=(MuteTime("second minute", MINUTES, Matchers.of(["severity = low"])),))
PAGER_MUTED = Settings(mute_times=(MuteTime("m", MINUTES, Matchers(), frozenset(["pager"])),))
WORSE = Inhibition(
    Matchers.of(["rule = worse"]), Matchers.of(["severity = low"]), ("card_id",), 30 * SECOND, "inhibition 1"
)
INHIBITED = Settings(inhibitions=(WORSE,))
BOTH = Settings(
    inhibitions=(
        Inhibition(Matchers.of(["rule = worse"]), Matchers(), ("card_id",), 30 * SECOND, "inhibition 1"),
    )
)
MUTED_AND_GROUPED = Settings({"desk": Manner(BY_RULE)}, MUTED.mute_times)

Events = list[tuple[int, str, tuple[object, ...]]]
LOW, HIGH_WORSE = {"severity": "low"}, {"rule": "worse", "severity": "critical"}


def alert(second: int, number: int, **what: object) -> tuple[int, str, tuple[object, ...]]:
    """At a second an alert comes."""
    return second, "alert", (number, what)


TIMELINES: list[tuple[str, Settings, Events, list[str]]] = [
    # at this second this is done; what goes out until second 200
    ("without settings each goes at once", Settings(), [alert(2, 1), alert(3, 2)], ["3: 1", "4: 2"]),
    # group_wait and group_interval are Alertmanager's: its documentation says the same of these
    ("a group waits for its first", GROUPED, [alert(2, 1), alert(5, 2), alert(11, 3)], ["12: 1+2+3"]),
    ("what comes later waits for the interval", GROUPED, [alert(2, 1), alert(20, 2), alert(40, 3)],
     ["12: 1", "72: 2+3"]),
    ("and again", GROUPED, [alert(2, 1), alert(20, 2), alert(80, 3), alert(100, 4)],
     ["12: 1", "72: 2", "132: 3+4"]),
    ("after the interval it waits as at first", GROUPED, [alert(2, 1), alert(90, 2), alert(95, 3)],
     ["12: 1", "100: 2+3"]),
    ("groups go by themselves", BY_CARD,
     [alert(2, 1, key="a"), alert(4, 2, key="b"), alert(6, 3, key="a")], ["12: 1+3", "14: 2"]),
    ("no wait, then an interval", AT_ONCE, [alert(2, 1), alert(4, 2), alert(6, 3)], ["3: 1", "33: 2+3"]),
    ("a restart changes no group", GROUPED, [alert(2, 1), (5, "restart", ()), alert(6, 2)], ["12: 1+2"]),
    ("nor its interval", GROUPED, [alert(2, 1), (20, "restart", ()), alert(21, 2)], ["12: 1", "72: 2"]),
    ("a silenced one is left out", GROUPED,
     [alert(2, 1), alert(3, 2), (4, "silence", ("s", 0, 50, "n = 2"))], ["12: 1", "72: 2"]),
    ("taken back before it goes out", GROUPED,
     [(1, "silence", ("s", 0, 90)), alert(2, 1), alert(3, 2), (20, "expire", ("s",))], ["21: 1+2"]),
    ("all of it silenced", GROUPED, [alert(2, 1), (4, "silence", ("s", 0, 50))], ["50: 1"]),
    ("one that is asked for goes alone", GROUPED,
     [alert(2, 1), alert(3, 2), (5, "redeliver", (2,))], ["6: 2", "12: 1"]),
    ("groups are given up with their settings", GROUPED,
     [alert(2, 1), alert(3, 2), (5, "restart", (Settings(),))], ["12: 1", "12: 2"]),
    # rates
    ("what is over the rate goes together", TWO, [alert(2, n) for n in range(1, 6)],
     ["3: 1", "3: 2", "63: 3+4+5"]),
    ("a restart forgets no rate", TWO,
     [*(alert(2, n) for n in range(1, 4)), (10, "restart", ()), alert(11, 4)],
     ["3: 1", "3: 2", "63: 3+4"]),
    ("within the rate none waits", TWO, [alert(2, 1), alert(50, 2), alert(70, 3), alert(80, 4)],
     ["3: 1", "51: 2", "71: 3", "111: 4"]),
    ("groups have a rate", ONE_GROUPED,
     [alert(2, 1, rule="a"), alert(2, 2, rule="b"), alert(30, 3, rule="b")], ["12: 1", "72: 2+3"]),
    ("one that is asked for keeps to the rate", TWO,
     [alert(2, 1), alert(2, 2), (10, "redeliver", (1,))], ["3: 1", "3: 2", "63: 1"]),
    # order
    ("a failure holds what is behind it", ORDERED,
     [(1, "fails", (1,)), alert(2, 1, key="a"), alert(3, 2, key="a"), alert(4, 3, key="b"), (5, "fails", ())],
     ["5: 3", "8: 1", "8: 2"]),
    ("also over a restart", ORDERED,
     [(1, "fails", (1,)), alert(2, 1, key="a"), (4, "restart", ()), alert(4, 2, key="a"), (5, "fails", ())],
     ["8: 1", "8: 2"]),
    ("without order it holds none", Settings(),
     [(1, "fails", (1,)), alert(2, 1, key="a"), alert(3, 2, key="a"), (5, "fails", ())], ["4: 2", "8: 1"]),
    # mute times; the second minute of the day
    ("a mute time holds until its end", MUTED,
     [alert(70, 1, **LOW), alert(71, 2)], ["72: 2", "120: 1"]),
    ("before it nothing is held", MUTED, [alert(50, 1, **LOW)], ["51: 1"]),
    ("a mute time of another receiver", PAGER_MUTED, [alert(70, 1)], ["71: 1"]),
    ("a silence within a mute time", MUTED,
     [(1, "silence", ("s", 65, 150)), alert(70, 1, **LOW), (80, "expire", ("s",))], ["120: 1"]),
    ("a silence longer than a mute time", MUTED,
     [(1, "silence", ("s", 65, 150)), alert(70, 1, **LOW)], ["150: 1"]),
    ("a muted one is left out of its group", MUTED_AND_GROUPED,
     [alert(55, 1, **LOW), alert(56, 2)], ["65: 2", "125: 1"]),
    # inhibition, in event time: an alert's event time is its number
    ("a worse one holds back lesser ones", INHIBITED,
     [alert(2, 10, key="a", **HIGH_WORSE), alert(3, 11, key="a", **LOW), alert(3, 12, key="b", **LOW)],
     ["3: 10", "4: 12"]),
    ("however late they come", INHIBITED,
     [alert(2, 10, key="a", **HIGH_WORSE), alert(150, 39, key="a", **LOW)], ["3: 10"]),
    ("until its time is over", INHIBITED,
     [alert(2, 10, key="a", **HIGH_WORSE), alert(3, 40, key="a", **LOW)], ["3: 10", "4: 40"]),
    ("none that came before it in event time", INHIBITED,
     [alert(2, 9, key="a", **LOW), alert(2, 10, key="a", **HIGH_WORSE)], ["3: 9", "3: 10"]),
    ("one that is as grave goes out", INHIBITED,
     [alert(2, 10, key="a", **HIGH_WORSE), alert(3, 11, key="a")], ["3: 10", "4: 11"]),
    ("what fits both sides holds back none that does", BOTH,
     [alert(2, 10, key="a", **HIGH_WORSE), alert(3, 11, key="a", **HIGH_WORSE), alert(4, 12, key="a")],
     ["3: 10", "4: 11"]),
    ("a person may ask for it", INHIBITED,
     [alert(2, 10, key="a", **HIGH_WORSE), alert(3, 11, key="a", **LOW), (9, "redeliver", (11,))],
     ["3: 10", "10: 11"]),
    ("a restart knows who holds back", INHIBITED,
     [alert(2, 10, key="a", **HIGH_WORSE), (5, "restart", ()), alert(6, 11, key="a", **LOW)], ["3: 10"]),
    ("a silenced one holds back as well", INHIBITED,
     [(1, "silence", ("s", 0, 90, "rule = worse")), alert(2, 10, key="a", **HIGH_WORSE),
      alert(3, 11, key="a", **LOW)], ["90: 10"]),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(
    ("settings", "events", "wanted"), [row[1:] for row in TIMELINES], ids=[row[0] for row in TIMELINES]
)
def test_timeline(tmp_path: Path, settings: Settings, events: Events, wanted: list[str]) -> None:
    evening = Evening(tmp_path, settings)
    play(evening, events)
    assert evening.sent() == wanted
    evening.outbox.close()


def play(evening: Evening, events: Events, until: int = 200) -> None:
    for second, action, arguments in events:
        evening.until(second)
        if action == "alert":
            number, what = arguments
            evening.record(number, **what)  # type: ignore[arg-type]
        else:
            getattr(evening, action)(*arguments)
    evening.until(until)


REASONS: list[tuple[str, Settings, Events, dict[int, str], list[str]]] = [
    # until second 20: why each is held back then, and what the trace of the last says
    ("group", GROUPED, [alert(12, 1)], {1: "group"},
     ["group: waits until 1970-01-01T00:00:22Z for others of rule = card_testing"]),
    ("rate", TWO, [alert(2, 1), alert(2, 2), alert(2, 3)], {1: "", 2: "", 3: "rate"},
     ["throttle: over 2 per minute: waits until 1970-01-01T00:01:03Z or later, then goes with the rest"]),
    ("key", ORDERED, [(1, "fails", (1,)), alert(16, 1, key="a"), alert(17, 2, key="a")], {1: "", 2: "key"},
     ["throttle: waits for an earlier one of its key, which is tried again at 1970-01-01T00:00:22Z"]),
    ("alert", INHIBITED, [alert(2, 10, key="a", **HIGH_WORSE), alert(3, 11, key="a", **LOW)], {10: ""},
     ["inhibit: alert {10} holds it back, by inhibition 1"]),
    ("mute", Settings(mute_times=(MuteTime("always", FIRST_MINUTES, Matchers()),)),
     [alert(3, 1)], {1: "mute always"},
     ["mute: the mute time always holds it back until 1970-01-01T00:02:00Z"]),
    ("out of a group", AT_ONCE, [alert(2, 1), (3, "fails", (2,)), alert(4, 2)], {1: "", 2: "group"},
     ["group: waits until 1970-01-01T00:00:33Z for others of rule = card_testing"]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("settings", "events", "held", "said"), [row[1:] for row in REASONS], ids=[row[0] for row in REASONS]
)
def test_what_is_held_says_why(
    tmp_path: Path, settings: Settings, events: Events, held: dict[int, str], said: list[str]
) -> None:
    evening = Evening(tmp_path, settings)
    play(evening, events, 20)
    assert {number: evening.why(number) for number in held} == held
    last = max(evening.numbers)
    (one,) = evening.outbox.deliveries(evening.numbers[last])
    assert [line.split(" ", 1)[1] for line in one.trace.splitlines()] == [
        line.format(*range(10), evening.numbers.get(10)) for line in said
    ]
    evening.outbox.close()


def test_an_inhibited_alert_is_neither_pending_nor_lost(tmp_path: Path) -> None:
    evening = Evening(tmp_path, INHIBITED)
    play(evening, [alert(2, 10, key="a", **HIGH_WORSE), alert(3, 11, key="a", **LOW)], 20)
    (one,) = evening.outbox.deliveries(evening.numbers[11])
    assert (one.state, one.held, one.due_at) == ("inhibited", f"alert {evening.numbers[10]}", None)
    status = evening.outbox.status()["desk"]
    assert (status.pending, status.held, status.failed) == (0, 1, 0)
    assert not evening.outbox.waiting(["desk"])
    evening.outbox.close()


def test_a_group_that_fails_goes_out_again_as_it_was(tmp_path: Path) -> None:
    evening = Evening(tmp_path, GROUPED)
    play(evening, [(1, "fails", (1,)), alert(2, 1), alert(3, 2)], 12)
    evening.record(3)
    evening.silence("s", 12, 150, "n = 1")
    evening.restart()
    evening.fails()
    evening.until(200)
    desk = evening.desks["desk"]
    assert evening.sent()[0].split(": ")[1] == "1+2"
    assert len({(one.id, one.bodies) for one in desk.tried if len(one.alerts) == 2}) == 1
    assert len(desk.tried) == 3
    for number in (1, 2):
        (one,) = evening.outbox.deliveries(evening.numbers[number])
        assert (one.state, one.attempts) == ("delivered", 2)
    evening.outbox.close()


@pytest.mark.slow
def test_of_a_large_group_the_newest_are_told(tmp_path: Path) -> None:
    evening = Evening(tmp_path, GROUPED)
    evening.now = 1
    evening.records(*range(1, 251))
    evening.until(30)
    (one,) = evening.desks["desk"].sent
    assert (one.at, one.count, one.alerts) == (11, 250, tuple(range(151, 251)))
    assert evening.outbox.status()["desk"].pending == 0
    evening.outbox.close()


def test_a_failed_group_is_sent_again_under_its_id(tmp_path: Path) -> None:
    evening = Evening(tmp_path, GROUPED)
    evening.retry = Evenly(attempts=2)
    evening.restart()
    play(evening, [(1, "fails", (1,)), alert(2, 1), alert(3, 2)], 30)
    assert evening.outbox.status()["desk"].failed == 2
    evening.fails()
    assert evening.outbox.redeliver("desk") == 2
    evening.restart()
    evening.until(40)
    assert evening.sent() == ["31: 1+2"]
    assert len({one.id for one in evening.desks["desk"].tried}) == 1
    evening.outbox.close()


def test_a_receiver_of_incidents_gets_no_group_of_several(tmp_path: Path) -> None:
    evening = Evening(tmp_path, TWO, Desk("desk", apart=True))
    play(evening, [alert(2, n, key="ab"[n % 2]) for n in range(1, 8)])
    assert evening.sent() == ["3: 1", "3: 2", "63: 3+5+7", "63: 4+6"]
    evening.outbox.close()


def test_routes_may_group(tmp_path: Path) -> None:
    branches = Branches(
        (
            Branch(Matchers.of(["severity = low"]), ("desk",), grouping=BY_RULE),
            Branch(Matchers(), ("desk", "pager")),
        )
    )
    evening = Evening(tmp_path, Settings(branches=branches))
    evening.routes = branches
    play(evening, [alert(2, 1, **LOW), alert(3, 2), alert(4, 3, **LOW)], 30)
    assert evening.sent() == ["4: 2", "12: 1+3"]
    assert evening.sent("pager") == ["4: 2"]
    evening.outbox.close()


def test_what_was_erased_is_in_no_body(tmp_path: Path) -> None:
    """A notification that lost an alert before it was delivered goes out anew, under another id."""
    evening = Evening(tmp_path, GROUPED)
    play(evening, [(1, "fails", (1,)), alert(2, 1), alert(3, 2)], 13)
    with evening.outbox.writing() as connection:
        for table, column in (("outbox_deliveries", "alert"), ("outbox_alerts", "number")):
            connection.exec_driver_sql(f"DELETE FROM {table} WHERE {column} = 1")
    evening.until(100)
    tried = evening.desks["desk"].tried
    assert [one.alerts for one in tried] == [(1, 2), (2,)]
    assert tried[0].id != tried[1].id
    evening.outbox.close()


BERLIN, NEW_YORK = ZoneInfo("Europe/Berlin"), ZoneInfo("America/New_York")
NIGHT = (Range(22 * 60, 6 * 60),)
CALENDARS = [
    # zone, calendar, moment in UTC, whether it holds, until when
    (Calendar(BERLIN, hours=NIGHT), "2026-03-28 21:30", True, "2026-03-29 04:00"),  # an hour shorter
    (Calendar(BERLIN, hours=NIGHT), "2026-10-24 20:30", True, "2026-10-25 05:00"),  # an hour longer
    (Calendar(BERLIN, hours=NIGHT), "2026-03-29 04:00", False, ""),
    (Calendar(BERLIN, hours=(Range(120, 180),)), "2026-03-29 01:30", False, ""),  # 02:30 does not come
    (Calendar(BERLIN, hours=(Range(120, 180),)), "2026-10-25 00:30", True, "2026-10-25 02:00"),  # comes twice
    (Calendar(BERLIN, hours=(Range(60, 150),)), "2026-03-29 00:30", True, "2026-03-29 01:00"),  # in the gap
    (Calendar(NEW_YORK, weekdays=(Range(5, 6),)), "2026-07-04 04:00", True, "2026-07-06 04:00"),
    (Calendar(NEW_YORK, weekdays=(Range(5, 6),)), "2026-07-04 03:59", False, ""),
    (Calendar(NEW_YORK, weekdays=(Range(4, 0),)), "2026-07-03 12:00", True, "2026-07-07 04:00"),  # goes round
    (Calendar(BERLIN, days=(Range(-1, -1),)), "2028-02-29 12:00", True, "2028-02-29 23:00"),
    (Calendar(BERLIN, days=(Range(-1, -1),)), "2026-02-27 12:00", False, ""),
    (Calendar(BERLIN, months=(Range(12, 1),)), "2026-12-31 12:00", True, "2027-01-31 23:00"),
    (Calendar(BERLIN, weekdays=(Range(4, 4),), hours=NIGHT), "2026-07-04 03:00", True, "2026-07-04 04:00"),
    (Calendar(BERLIN, weekdays=(Range(4, 4),), hours=NIGHT), "2026-07-03 03:00", False, ""),
    (Calendar(ZoneInfo("UTC"), hours=(Range(0, 1440),)), "2026-07-03 03:00", True, "2027-08-07 03:00"),
]  # fmt: skip


def nanoseconds(text: str) -> int:
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()) * SECOND


@pytest.mark.parametrize(("calendar", "moment", "holds", "until"), CALENDARS)
def test_calendars_go_by_the_clock_of_their_zone(
    calendar: Calendar, moment: str, holds: bool, until: str
) -> None:
    now = nanoseconds(moment)
    assert calendar.holds(now) == holds
    if holds:
        assert datetime.fromtimestamp(calendar.until(now) // SECOND, UTC) == datetime.fromisoformat(
            until
        ).replace(tzinfo=UTC)


@pytest.mark.parametrize("calendar", [row[0] for row in CALENDARS[:-1]])
def test_a_calendar_ends_at_the_first_minute_at_which_it_does_not_hold(calendar: Calendar) -> None:
    """The oracle looks at every minute of the days around both changes of the clock."""
    for begin in ("2026-03-28 00:00", "2026-10-24 00:00", "2026-02-28 00:00"):
        first = nanoseconds(begin)
        minutes = [first + n * 60 * SECOND for n in range(2 * 1440)]
        held = [calendar.holds(one) for one in minutes]
        for n in range(0, 2 * 1440, 37):
            if held[n] and not all(held[n:]):
                assert calendar.until(minutes[n]) == minutes[n + held[n:].index(False)]
