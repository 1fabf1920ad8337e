"""`cep silences` and what `cep alerts` tells of one alert, on the outbox of a stopped job."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cep_command import Outcome, cep
from test_cli_episodes import JOB, SECOND, SOME

from alerts.matchers import Matchers
from alerts.outbox import BatchRecord, Outbox, Settled
from alerts.outbox.episodes import assign_some
from alerts.outbox.silences import Held, hold
from alerts.routing import Branch, Branches
from alerts.silences import reason_of

pytestmark = pytest.mark.slow

ROUTES = Branches((Branch(Matchers.of(["rule = card_testing"]), ("desk",)),))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Four alerts, of which two went to the desk: one was delivered, one is pending."""
    (tmp_path / "job.toml").write_text(JOB, "utf-8")
    (tmp_path / "state").mkdir()
    with_outbox(tmp_path, lambda outbox: outbox.record(BatchRecord(0, "d", {}), SOME, ROUTES))
    with_outbox(
        tmp_path, lambda outbox: outbox.settle([Settled("desk", 1, "delivered", 2, "204", None, SECOND)])
    )
    return tmp_path


def with_outbox(folder: Path, do) -> None:  # type: ignore[no-untyped-def]
    outbox = Outbox.open(f"sqlite:///{folder}/state/outbox.db", clock=lambda: 5 * SECOND)
    do(outbox)
    outbox.close()


def told(folder: Path, *words: str, code: int = 0) -> Outcome:
    done = cep(*words, "--job", "job.toml", cwd=folder)
    assert done.code == code, done.err
    return done


def silenced(folder: Path) -> str:
    words = ("rule =~ card.*", "severity != low", "--for", "2h", "--why", "a test", "--by", "ann")
    return told(folder, "silences", "add", *words).out.strip()


def test_a_silence_is_added_listed_and_taken_back(folder: Path) -> None:
    assert told(folder, "silences", "list").out == "nothing is silenced\n"
    id_ = silenced(folder)
    (one,) = json.loads(told(folder, "silences", "list", "--format", "json").out)["silences"]
    assert (one["id"], one["state"], one["who"], one["why"], one["held"]) == (
        id_,
        "active",
        "ann",
        "a test",
        0,
    )
    assert one["matchers"] == ["rule =~ card.*", "severity != low"]
    head, line = told(folder, "silences", "list").out.splitlines()
    assert head.split() == ["id", "state", "from", "until", "who", "holds", "matchers", "why"]
    assert line.split()[0] == id_
    assert told(folder, "silences", "expire", id_).out == f"{id_} is taken back\n"
    assert told(folder, "silences", "list").out == "nothing is silenced\n"
    (line,) = told(folder, "silences", "list", "--all").out.splitlines()[1:]
    assert line.split()[1] == "ended"
    assert "there is no silence" in told(folder, "silences", "expire", id_, code=2).err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("rule", "--for", "1h", "--why", "x"), "`rule` is no matcher"),
        (("rule =~ (", "--for", "1h", "--why", "x"), "regular expression cannot be used"),
        (("rule = a", "--for", "an hour", "--why", "x"), "not a duration"),
        (("rule = a", "--for", "0s", "--why", "x"), "end before it begins"),
        (("rule = a", "--until", "2001-01-01T00:00:00Z", "--why", "x"), "end before it begins, or has ended"),
        (("rule = a", "--for", "1h", "--why", " "), "--why is empty"),
        (("rule = a", "--why", "x"), "--for"),
        (("rule = a", "--for", "1h"), "--why"),
    ],
)
def test_what_is_no_silence_is_told(folder: Path, words: tuple[str, ...], said: str) -> None:
    assert said in told(folder, "silences", "add", *words, code=2).err
    assert told(folder, "silences", "list").out == "nothing is silenced\n"


def test_an_alert_is_explained_from_its_rule_to_its_receivers(folder: Path) -> None:
    id_ = silenced(folder)

    def later(outbox: Outbox) -> None:
        with outbox.writing() as connection:
            hold(connection, [Held("desk", 2, reason_of(id_), "mute: ann holds it back", 0, 7 * SECOND)])
            assign_some(connection, lambda *_: 60 * SECOND)

    with_outbox(folder, later)
    lines = told(folder, "alerts", "explain", SOME[0].id[:10]).out.splitlines()
    assert lines == [
        f"alert {SOME[0].id}",
        "1970-01-01T00:00:10Z high     card_testing card_testing on c1",
        'raised by rule card_testing of pack fraud, revision r1, on {"card_id": "c1"}',
        "recorded at 1970-01-01T00:00:05Z with batch 0",
        f"in episode {SOME[0].id[:12]}, which is open",
        "to desk:",
        "  route: route 1 of job.toml: rule = card_testing",
        "  delivered at 1970-01-01T00:00:01Z, attempts: 2 (204)",
    ]
    lines = told(folder, "alerts", "explain", SOME[1].id).out.splitlines()
    assert lines[4] == f"in episode {SOME[0].id[:12]}, which is open"
    assert lines[7] == "  1970-01-01T00:00:07Z mute: ann holds it back"
    assert lines[8].startswith(f"  held back by silence {id_}, until 2")
    assert told(folder, "alerts", "explain", SOME[3].id).out.splitlines()[-1] == (
        "goes to no receiver: when it was recorded, no route took it"
    )
    (one,) = json.loads(told(folder, "silences", "list", "--format", "json").out)["silences"]
    assert one["held"] == 1
    told(folder, "silences", "expire", id_, "--by", "bob")
    lines = told(folder, "alerts", "explain", SOME[1].id).out.splitlines()
    assert lines[8].endswith(f"mute: silence {id_} was taken back by bob")
    assert lines[9] == "  pending, not attempted yet"


def test_alerts_are_listed_shown_and_sent_again(folder: Path) -> None:
    newest, *_ = told(folder, "alerts", "list", "--limit", "2").out.splitlines()
    assert newest == f"{SOME[3].id[:12]} 1970-01-01T00:00:40Z low      large large on c3"
    only = told(folder, "alerts", "list", "--rule", "card_testing", "--until", "1970-01-01T00:00:20Z").out
    assert only.splitlines() == [
        f"{SOME[0].id[:12]} 1970-01-01T00:00:10Z high     card_testing card_testing on c1"
    ]
    assert (
        json.loads(told(folder, "alerts", "list", "--severity", "low", "--format", "json").out)["id"]
        == SOME[3].id
    )
    assert json.loads(told(folder, "alerts", "show", SOME[2].id[:7]).out) == json.loads(SOME[2].body)
    done = told(folder, "alerts", "redeliver", SOME[0].id)
    assert done.out == f"{SOME[0].id[:12]} is pending for desk\n"
    assert "pending, not attempted yet" in told(folder, "alerts", "explain", SOME[0].id).out
    for words in ((SOME[3].id,), (SOME[0].id, "--receiver", "pager")):
        assert "was never to go" in told(folder, "alerts", "redeliver", *words, code=2).err
