"""What a desk sees of a job and does to it, over an outbox in either database."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from some_desk import NOW, SECOND, SOME, TOKENS, made

from alerts.outbox import BatchRecord
from cep.config import load_job
from cep.events import MIN_TIME
from cep.job.state_folder.manifest import Result
from cep.web.desk.acting import Actor, acts_page
from cep.web.desk.alerts import alerts_after, alerts_page, one_alert
from cep.web.desk.batches import batches_page
from cep.web.desk.dead_letters import letters_page, one_letter
from cep.web.desk.delivery_acts import ByFilter, redeliver_alerts, redeliver_by_filter
from cep.web.desk.desk import JobDesk
from cep.web.desk.episode_acts import EpisodeAct, change_episodes
from cep.web.desk.episodes import EpisodeFilter, episodes_page, one_episode, precision_of_rules
from cep.web.desk.errors import DeskError, MissingError, MistakenError, UnfitError
from cep.web.desk.feeds import feeds_now
from cep.web.desk.filters import Page, states_of, wanted
from cep.web.desk.packs import packs_now
from cep.web.desk.receiver_acts import resume_receiver, try_receiver
from cep.web.desk.receivers import receivers_now
from cep.web.desk.rules import rules_now
from cep.web.desk.silence_acts import NewSilence, add_silence, expire_silences
from cep.web.desk.silences import silences_now
from cep.web.desk.status import status_now

pytestmark = pytest.mark.usefixtures("store")

IDS = [one.id for one in SOME]
ANN = Actor("ann", NOW)
QUEUE = EpisodeFilter(("open", "acknowledged"))


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[JobDesk]:
    found = made(tmp_path)
    yield found
    found.outbox.close()


def acts(desk: JobDesk) -> list[tuple[str, str]]:
    return [(one.who, one.what) for one in acts_page(desk, Page()).acts]


def test_alerts_come_page_by_page_the_newest_first(desk: JobDesk) -> None:
    first = alerts_page(desk, wanted({}), Page(3))
    assert [one.alert["id"] for one in first.alerts] == IDS[:0:-1]
    rest = alerts_page(desk, wanted({}), Page(3, first.next))
    assert ([one.alert["id"] for one in rest.alerts], rest.next) == (IDS[:1], None)
    newest = first.alerts[0]
    assert (newest.episode, newest.episode_state, dict(newest.deliveries)) == (
        IDS[3],
        "open",
        {"desk": "pending"},
    )
    assert dict(rest.alerts[0].deliveries) == {"desk": "pending", "night": "failed"}
    assert first.alerts[2].episode == IDS[0], "the second alert on c1 belongs to the episode of the first"
    assert [one.number for one in alerts_after(desk, wanted({}), 2, 10)] == [3, 4]


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ({"rule": "large"}, [3]),
        ({"severity": "high"}, [1, 0]),
        ({"pack": "nobody"}, []),
        ({"key": "card_id=c1"}, [1, 0]),
        ({"key": '{"card_id": "c2"}'}, [2]),
        ({"since": "1970-01-01T00:00:20Z", "until": "1970-01-01T00:00:40Z"}, [2, 1]),
    ],
)
def test_alerts_are_filtered(desk: JobDesk, given: dict[str, str], found: list[int]) -> None:
    shown = alerts_page(desk, wanted(given), Page()).alerts
    assert [one.alert["id"] for one in shown] == [IDS[number] for number in found]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"severity": "loud\x1b[31m"}, r"`loud\x1b[31m` is no severity"),
        ({"since": "x" * 2_000}, "`since` is no point in time: `" + "x" * 80 + "…`"),
        ({"key": "{"}, "`{` is no key"),
        ({"key": "[" * 2_000}, "`" + "[" * 80 + "…` is no key"),
        ({"rule": "r" * 5_000}, "`rule` has 5,000 characters"),
    ],
)
def test_a_filter_that_cannot_be_meant_is_told(given: dict[str, str], said: str) -> None:
    with pytest.raises(MistakenError) as raised:
        wanted(given)
    assert raised.value.message == said
    assert raised.value.help


def test_one_alert_tells_its_way(desk: JobDesk) -> None:
    shown = one_alert(desk, IDS[0][:8])
    assert (shown.alert["id"], shown.batch, shown.episode) == (IDS[0], 0, IDS[0])
    assert [(one.receiver, one.state, one.outcome) for one in shown.deliveries] == [
        ("desk", "pending", ""),
        ("night", "failed", "500"),
    ]
    with pytest.raises(MissingError):
        one_alert(desk, "0" * 64)


def test_a_desk_works_through_its_queue(desk: JobDesk) -> None:
    first = episodes_page(desk, QUEUE, Page(2))
    assert [one.id for one in first.episodes] == [IDS[2], IDS[0]]
    assert [one.id for one in episodes_page(desk, QUEUE, Page(2, first.next)).episodes] == [IDS[3]]
    change_episodes(desk, [IDS[1]], EpisodeAct("acknowledge", note="looking"), ANN)
    (shown,) = episodes_page(desk, EpisodeFilter(("acknowledged",)), Page()).episodes
    assert (shown.id, shown.by, shown.note) == (IDS[0], "ann", "looking")
    change_episodes(desk, IDS[2:], EpisodeAct("close", "false_positive"), ANN)
    assert [(one.rule, one.precision) for one in precision_of_rules(desk)] == [
        ("card_testing", 0.0),
        ("large", 0.0),
    ]
    assert [one["id"] for one in one_episode(desk, IDS[1], 1).alerts] == [IDS[1]]
    assert one_episode(desk, IDS[0], 1).more == 1
    assert acts(desk) == [("ann", "episode close"), ("ann", "episode acknowledge")]


def test_of_several_episodes_all_are_changed_or_none_and_nothing_is_noted(desk: JobDesk) -> None:
    change_episodes(desk, [IDS[3]], EpisodeAct("close", "benign"), ANN)
    with pytest.raises(UnfitError):
        change_episodes(desk, [IDS[2], IDS[3]], EpisodeAct("acknowledge"), ANN)
    assert dict(episodes_page(desk, QUEUE, Page()).states) == {"open": 2, "acknowledged": 0, "closed": 1}
    assert acts(desk) == [("ann", "episode close")]


def test_a_silence_begins_and_is_taken_back(desk: JobDesk) -> None:
    made_ = add_silence(desk, NewSilence(["rule = large"], "a test", length=3_600 * SECOND), ANN)
    assert [(one.id, one.state, one.who) for one in silences_now(desk)] == [(made_.id, "active", "ann")]
    assert expire_silences(desk, [made_.id], ANN) == (made_.id,)
    assert silences_now(desk) == ()
    assert [one.state for one in silences_now(desk, ended=True)] == ["ended"]
    assert acts(desk) == [("ann", "silence expire"), ("ann", "silence add")]
    with pytest.raises(MissingError):
        expire_silences(desk, [made_.id], ANN)


@pytest.mark.parametrize(
    "new",
    [
        NewSilence(["rule = a"], "why"),
        NewSilence(["rule = a"], "why", until=NOW),
        NewSilence(["rule = a"], " ", length=SECOND),
        NewSilence([], "why", length=SECOND),
        NewSilence(["rule =~ ("], "why", length=SECOND),
        NewSilence(["rule ~~ ("], "why", length=SECOND),
        NewSilence(["rule = a"], "w" * 2_000, length=SECOND),
    ],
)
def test_a_silence_that_makes_no_sense_is_refused(desk: JobDesk, new: NewSilence) -> None:
    with pytest.raises(MistakenError):
        add_silence(desk, new, ANN)
    assert silences_now(desk, ended=True) == ()
    assert acts(desk) == []


def test_alerts_go_out_again(desk: JobDesk) -> None:
    (done,) = redeliver_alerts(desk, [IDS[0]], "night", ANN)
    assert (done.alert, done.receivers) == (IDS[0], ("night",))
    assert one_alert(desk, IDS[0]).deliveries[1].state == "pending"
    with pytest.raises(UnfitError):
        redeliver_alerts(desk, [IDS[0], IDS[3]], "night", ANN)
    assert acts(desk) == [("ann", "alert redeliver")]


def test_alerts_of_a_filter_go_out_again_and_can_be_counted_before(desk: JobDesk) -> None:
    given = {"rule": "card_testing"}
    asked = ByFilter(wanted(given), "night", ["failed"], given)
    tried = redeliver_by_filter(desk, asked, ANN, dry_run=True)
    assert (tried.matched, tried.redelivered) == (3, 1)
    assert acts(desk) == []
    assert redeliver_by_filter(desk, asked, ANN, dry_run=False).redelivered == 1
    assert redeliver_by_filter(desk, asked, ANN, dry_run=False).redelivered == 0
    (act,) = acts_page(desk, Page()).acts
    assert (act.what, act.details["filter"], act.details["alerts"]) == ("alerts redeliver", given, 1)
    with pytest.raises(MissingError):
        redeliver_by_filter(desk, ByFilter(wanted({}), "nobody", ["failed"], {}), ANN, dry_run=True)


def test_receivers_are_tried_and_resumed(desk: JobDesk, tmp_path: Path) -> None:
    desk_, night = receivers_now(desk)
    assert (desk_.receiver, desk_.pending, night.failed, night.severity) == ("desk", 4, 1, "high")
    tried = try_receiver(desk, "desk", ANN)
    assert tried.outcome == "delivered"
    assert json.loads((tmp_path / "desk.jsonl").read_text("utf-8"))["tags"] == ["test"]
    assert resume_receiver(desk, "night", ANN).before == "closed"
    assert acts(desk) == [("ann", "receiver resume"), ("ann", "receiver test")]
    for act in (try_receiver, resume_receiver):
        with pytest.raises(DeskError, match="has no receiver `nights`"):
            act(desk, "nights", ANN)


def test_dead_letters_are_listed_and_one_is_whole(desk: JobDesk) -> None:
    first = letters_page(desk, None, Page(1))
    assert [one.reason for one in first.dead_letters] == ["is missing"]
    (rest,) = letters_page(desk, "payment", Page(1, first.next)).dead_letters
    assert (rest.text, rest.size, rest.base64) == ('{"id": \ufffd', 8, None)
    assert one_letter(desk, str(rest.number)).base64 == "eyJpZCI6IP8="
    with pytest.raises(MissingError):
        one_letter(desk, "77")


def test_the_state_of_a_job_that_does_not_run(desk: JobDesk) -> None:
    found = status_now(desk)
    assert (found.job, found.status, found.batch, found.watermark) == (
        "cards",
        "stopped",
        1,
        "1970-01-01T01:00:20Z",
    )
    assert found.alerts["15 minutes"] == {"critical": 1, "high": 2, "medium": 0, "low": 1, "info": 0}
    assert found.to_do == ("the job does not run", "open episodes: 3")
    assert (found.dead_letters, found.outbox_age_seconds) == (2, 60.0)
    assert [one.batch for one in batches_page(desk, Page()).batches] == [1, 0]
    assert [(one.stream, one.dead_letters) for one in feeds_now(desk)] == [("payment", 2)]
    assert (packs_now(desk), rules_now(desk)) == ((), ()), "the state folder has no texts"


@pytest.mark.parametrize(
    ("watermark", "come", "waits_for"),
    [
        (MIN_TIME, {"payment": 5}, ("chargeback", "refund")),
        (MIN_TIME, {"payment": 5, "chargeback": MIN_TIME, "refund": 7}, ("chargeback",)),
        (MIN_TIME, {"payment": 5, "chargeback": 6, "refund": 7}, ()),
        (MIN_TIME, {}, ()),  # nothing has come at all
        (3, {"payment": 5}, ()),  # those that bring nothing are idle
    ],
)
def test_what_event_time_waits_for_is_told(
    tmp_path: Path, watermark: int, come: Mapping[str, int], waits_for: tuple[str, ...]
) -> None:
    desk, file = made(tmp_path), tmp_path / "job.toml"
    more = (
        f'[feeds.{name}]\nsource = "files"\npath = "{name}/*.jsonl"\n' for name in ("chargeback", "refund")
    )
    file.write_text(file.read_text("utf-8") + "".join(more), "utf-8")
    desk = replace(desk, job=load_job(file, TOKENS).need())
    greatest = {(name, 0): time for name, time in come.items()}
    result = Result({}, watermark, greatest, {}, watermark, 0, None, {}, {}, False)
    desk.outbox.record(BatchRecord(7, "d7", result.as_dict()), [], [])
    said = [one for one in status_now(desk).to_do if one.startswith("no event came yet of ")]
    wanted = f"no event came yet of {', '.join(waits_for)}: event time waits, and until then no rule fires"
    assert said == [wanted][: len(waits_for)]
    desk.outbox.close()


@pytest.mark.slow
def test_everything_that_is_read_is_json(desk: JobDesk) -> None:
    for one in (
        alerts_page(desk, wanted({}), Page()), one_alert(desk, IDS[0]), episodes_page(desk, QUEUE, Page()),
        status_now(desk), letters_page(desk, None, Page()), batches_page(desk, Page()),
    ):  # fmt: skip
        json.dumps(asdict(one), allow_nan=False)


@pytest.mark.parametrize("cursor", ["", "x", "-1", "9" * 30, "open.1", "closed.x.1", "1\n"])
def test_a_cursor_of_nobody_is_a_mistake(desk: JobDesk, cursor: str) -> None:
    for list_ in (
        lambda page: alerts_page(desk, wanted({}), page),
        lambda page: episodes_page(desk, QUEUE, page),
        lambda page: letters_page(desk, None, page),
        lambda page: batches_page(desk, page),
        lambda page: acts_page(desk, page),
    ):
        with pytest.raises(MistakenError):
            list_(Page(5, cursor))


def test_states_are_those_that_there_are() -> None:
    assert states_of([]) == ["open", "acknowledged"]
    with pytest.raises(MistakenError):
        states_of(["closed", "done"])
