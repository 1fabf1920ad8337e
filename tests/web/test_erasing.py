"""What a person asks to be erased is gone from every file, and nothing that the engine decides changes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from erasable import OTHER, ROUTES, VALUE, Erasable, erasable
from sqlalchemy import insert, select

from alerts.outbox import BatchRecord, Settled, Wanted, blanking, incidents
from alerts.outbox.episodes import assign_some, read_episodes
from alerts.outbox.trailing import index_some
from alerts.sought import IN_ITS_PLACE, Sought
from cep.job.state_folder import letter_replays
from cep.record.finding import Limits, look_for
from cep.record.finding import Sought as Ids
from cep.record.layout import folder_of
from cep.web.desk.acting import Actor, acts_page
from cep.web.desk.alerts import alerts_page, one_alert
from cep.web.desk.erasing import Erasure, erase
from cep.web.desk.errors import GoneError, MistakenError, UnfitError
from cep.web.desk.evidence import alert_events
from cep.web.desk.filters import Page
from cep.web.desk.letter_replays import replay_letters

KEY = f"card={VALUE}"


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Erasable]:
    made = erasable(tmp_path)
    yield made
    made.desk.outbox.close()


def erased(place: Erasable, key: str = KEY, *, dry_run: bool = False) -> Erasure:
    return erase(place.desk, key, Actor("bob", place.desk.clock()), dry_run=dry_run, rest=lambda _: None)


def counts(found: Erasure) -> dict[str, int]:
    return {name: count for name in Erasure.__slots__ if isinstance(count := getattr(found, name), int)}


@pytest.mark.slow
def test_nothing_of_the_value_is_left_in_any_file(place: Erasable) -> None:
    assert place.holding(), "the test would see it"
    found = erased(place)
    assert found.left == ()
    assert found.elsewhere == {"used": 1}, "another name has it, in an alert that nobody asked for"
    assert erased(place, f"used={VALUE}").alerts == 1
    assert place.holding() == []
    assert place.holding(OTHER) != []


@pytest.mark.slow
def test_a_running_job_leaves_nothing_either(place: Erasable, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cep.web.desk.erasing.owner", lambda _: 1)
    with place.desk.outbox.reading():  # somebody reads what was there before
        pass
    erased(place)
    erased(place, f"used={VALUE}")
    assert place.holding() == [], "without that the file is written anew"


@pytest.mark.slow
def test_a_dry_run_says_what_would_be_erased_and_changes_nothing(place: Erasable) -> None:
    before = {one: one.read_bytes() for one in place.folder.rglob("*.parquet")}
    said = erased(place, dry_run=True)
    assert place.holding()
    assert {one: one.read_bytes() for one in place.folder.rglob("*.parquet")} == before
    assert [one.what for one in acts_page(place.desk, Page()).acts if one.who == "bob"] == []
    done = erased(place)
    assert counts(said) | {"dry_run": False} == counts(done)
    assert (said.delivered, said.elsewhere) == (done.delivered, done.elsewhere)
    assert counts(done) == {
        "dry_run": False, "alerts": 2, "episodes": 2, "ended": 3, "events": 5, "dead_letters": 2,
        "late_events": 1, "silences": 1, "notes": 3, "audit": 4, "suppression": 1,
    }  # fmt: skip
    again = counts(erased(place))
    assert {name for name, count in again.items() if count} == set(), "a second time there is nothing"


@pytest.mark.slow
def test_what_others_own_stays(place: Erasable) -> None:
    erased(place)
    rows = alerts_page(place.desk, Wanted(), Page()).alerts
    assert {one.alert["rule"] for one in rows} == {"large", "followed", "busy"}
    assert all(VALUE not in json.dumps(one.alert["key"]) for one in rows)
    assert len(alerts_page(place.desk, Wanted(rule="large"), Page()).alerts) == 1
    assert alerts_page(place.desk, Wanted(key={"card": VALUE}), Page()).alerts == ()
    with place.desk.outbox.reading() as connection:
        notes = [one.standing.note for one in read_episodes(connection, ("open", "acknowledged", "closed"))]
    assert sorted(filter(None, notes)) == [f"as with {IN_ITS_PLACE}"]
    stream = folder_of(place.folder / "state" / "record", "pay")
    ids = Ids([f"p{n}" for n in range(1, 7)], 9, "2999-01-01", None, 2**63 - 1)
    assert sorted(look_for(stream, ids, Limits()).found) == ["p2", "p6"]


@pytest.mark.slow
def test_an_erased_alert_is_gone_in_words(place: Erasable) -> None:
    id_ = place.ids["large"][0]
    erased(place)
    for look in (one_alert, alert_events):
        with pytest.raises(GoneError) as raised:
            look(place.desk, id_[:12])
        assert raised.value.message == f"alert {id_[:12]} was erased"
    act = next(one for one in acts_page(place.desk, Page()).acts if one.who == "bob")
    assert (act.what, act.details["names"], act.details["alerts"]) == ("erase", ["card"], 2)


@pytest.mark.slow
def test_an_erased_alert_is_not_raised_again_and_suppresses_on(place: Erasable) -> None:
    erased(place)
    outbox = place.desk.outbox
    numbers = [one.number for one in outbox.alerts()]
    again = [one for some in place.raised for one in some]
    recorded = outbox.record(BatchRecord(3, "d3", {}), again, ROUTES)
    assert len(recorded.alerts) == 0
    assert len(recorded.withheld) == 3, "those of `large` that were withheld before"
    assert [one.number for one in outbox.alerts()] == numbers
    assert outbox.alert(place.ids["large"][0]) is None
    with outbox.writing() as connection:
        index_some(connection)
        assign_some(connection, lambda *_: 1)
    assert [one.number for one in outbox.alerts()] == numbers


@pytest.mark.slow
def test_what_is_suppressed_is_told_by_the_next(tmp_path: Path) -> None:
    """As it would be if nothing had been erased."""
    told = []
    for name, erasing in (("with", True), ("without", False)):
        (tmp_path / name).mkdir()
        place = erasable(tmp_path / name)
        if erasing:
            erased(place)
        first = next(one for one in place.raised[0] if one.rule == "large")
        assert first.withholding is not None
        later = first._replace(
            id="f" * 64,
            time=first.time + first.withholding.duration,
            body=first.body.replace(first.id, "f" * 64),
        )
        done = place.desk.outbox.record(BatchRecord(3, "d3", {}), [later], ROUTES)
        told.append([json.loads(one.body)["suppressed"] for one in done.alerts])
        place.desk.outbox.close()
    assert told == [[3], [3]]


@pytest.mark.slow
def test_no_delivery_of_an_erased_alert_is_attempted(place: Erasable) -> None:
    outbox, now = place.desk.outbox, place.desk.clock()
    erased(place)
    outbox.settle([Settled("desk", 1, "pending", 2, f"503 {VALUE}", now, now)])  # was being sent
    outbox.redeliver("desk")
    for receiver in ("desk", "night"):
        outbox.hasten(receiver, now + 10**12)
        for _ in range(2):
            due = outbox.due(receiver, now + 10**12, 100)
        bodies = [body for one in due for body in (one.made.bodies if one.made else (one.body,))]
        assert bodies
        assert all(json.loads(body)["key"].get("card") != VALUE for body in bodies)
    assert {one.state for one in outbox.deliveries(place.ids["large"][0])} == {"erased"}
    said = {one.receiver: one.outcome for one in outbox.deliveries(place.ids["large"][0])}
    assert said == {
        "desk": "ended: the alert was erased while it waited",
        "night": "it was delivered; then the alert was erased",
    }


@pytest.mark.slow
@pytest.mark.parametrize("key", ["card=", '{"card": null}', '{"card": ["x"]}', "{}", "card", "a=\0"])
def test_what_no_key_can_be_is_told(place: Erasable, key: str) -> None:
    with pytest.raises(MistakenError):
        erased(place, key)


@pytest.mark.parametrize(
    ("values", "alert", "fits"),
    [
        ({"n": "5"}, {"key": {"n": 5}, "emit": {}}, True),
        ({"n": 5}, {"key": {"n": "5"}, "emit": {}}, False),
        ({"n": 1}, {"key": {"n": True}, "emit": {}}, False),
        ({"n": True}, {"key": {"n": True}, "emit": {}}, True),
        ({"n": "x"}, {"key": {}, "emit": {"n": ["y", "x"]}}, True),
        ({"n": "x"}, {"key": {"n": "xy"}, "emit": {"n": None}}, False),
        ({"n": "x", "m": "y"}, {"key": {"n": "x"}, "emit": {"m": "z"}}, False),
        ({"n": "x", "m": "y"}, {"key": {"n": "x"}, "emit": {"m": "y"}}, True),
    ],
)
def test_an_alert_has_the_value_under_the_name(
    values: dict[str, str | int], alert: dict[str, object], fits: bool
) -> None:
    assert Sought(values).is_of(alert) is fits


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("c1 called", "[erased] called"),
        ("abc1, c10, c1x", "abc1, c10, c1x"),
        ("card_id=c1;c1", "card_id=[erased];[erased]"),
        ("", ""),
    ],
)
def test_a_text_holds_a_value_as_a_word(text: str, left: str) -> None:
    assert Sought({"card_id": "c1"}).blanked(text) == left


@pytest.mark.slow
def test_mended_bytes_go_and_wait_no_more(place: Erasable) -> None:
    outbox, ann = place.desk.outbox, Actor("ann", place.desk.clock())
    replay_letters(place.desk, ["3"], ann, data=f'{{"card": "{VALUE}"}}'.encode())
    assert erased(place).dead_letters == 3
    assert erased(place, f"used={VALUE}").alerts == 1
    assert place.holding() == []
    with outbox.reading() as connection:
        assert letter_replays.waiting(connection, ["pay"]) == []
    with pytest.raises(UnfitError, match="has no bytes"):
        replay_letters(place.desk, ["3"], ann)


@pytest.mark.slow
def test_what_receivers_answered_about_episodes_of_others_goes(place: Erasable) -> None:
    outbox, now = place.desk.outbox, place.desk.clock()
    with outbox.writing() as connection:
        incidents.create(connection)
        episodes = [one.first for one in read_episodes(connection, ("open", "acknowledged", "closed"))]
        for receiver in ("desk", "night"):
            for first in range(1, 2 * blanking.ROWS):
                reply = f"200: {first} after {VALUE}" if first % 2 else f"200: {first} after {OTHER}"
                row = {"receiver": receiver, "first": first, "id": "0" * 64, "told": "trigger"}
                said = {"attempts": 0, "outcome": reply, "trace": f"{now} trigger: {reply}\n"}
                connection.execute(insert(incidents.incidents), row | said)
    assert any(VALUE in one for one in _answers(place))
    dry, done = erased(place, dry_run=True), erased(place)
    assert dry.notes == done.notes > 2 * blanking.ROWS - 4
    with outbox.reading() as connection:
        left = [one.first for one in read_episodes(connection, ("open", "acknowledged", "closed"))]
    gone = set(episodes) - set(left)
    assert len(gone) == 2
    answers = _answers(place)
    assert len(answers) == 2 * (2 * blanking.ROWS - 1 - len(gone))
    assert not any(VALUE in one for one in answers)
    assert sum(one.count(OTHER) for one in answers) >= 4 * (blanking.ROWS - 1 - len(gone))
    assert sum(IN_ITS_PLACE in one for one in answers) >= 2 * (blanking.ROWS - len(gone))
    assert erased(place).notes == 0


def _answers(place: Erasable) -> list[str]:
    with place.desk.outbox.reading() as connection:
        i = incidents.incidents.c
        return [outcome + trace for outcome, trace in connection.execute(select(i.outcome, i.trace))]
