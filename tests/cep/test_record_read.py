"""The events of an alert are those that it lists, found at a bounded cost, or it is said why not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from recording import BEGIN, DAY, SECOND, Recording, at

from alerts.notation import timestamp
from alerts.outbox import StoredAlert
from cep.record.finding import Limits
from cep.record.layout import folder_of
from cep.record.read import Evidence, events_of

PATTERN = """pack p version "1"
stream pay { pid: string  ts: timestamp  card: string  owner: string  amount: double  id pid  time ts }
stream login { lid: string  ts: timestamp  user: string  id lid  time ts }
rule probing {
  by pay.owner = login.user
  match small: pay[amount < 20]{2,} -> (entry: login | big: pay[amount > 100]) within 1 hour
}
rule busy { by owner  over pay tumbling 1 minute having count() >= 2 }
rule large { on pay[amount > 100] }
rule open { by owner  match a: pay[amount > 100] -> b: pay[amount > 100] within unbounded }
"""
NEWS = """pack news version "1"
stream article { url: string  title: text  source: string  ts: timestamp  id url  time ts }
queries watch { from "watch.jsonl" }
rule watched { by source  on article matching watch  emit query }
rule recall { by source  match hit: article matching watch{2} within 1 hour }
"""


def pay(pid: str, seconds: float, amount: float, owner: str = "ann") -> dict[str, object]:
    return {"pid": pid, "ts": at(seconds), "card": f"card of {owner}", "owner": owner, "amount": amount}


def login(lid: str, seconds: float, user: str = "ann") -> dict[str, object]:
    return {"lid": lid, "ts": at(seconds), "user": user}


def alert_of(recording: Recording, rule: str) -> StoredAlert:
    return next(one for one in recording.alerts if one.alert["rule"] == rule)


def shown(evidence: Evidence, *names: str) -> list[tuple[object, ...]]:
    return [
        (one.step, one.id, *(None if one.event is None else one.event.fields.get(name) for name in names))
        for one in evidence.events
    ]


def test_the_events_of_a_pattern_over_streams_and_batches(tmp_path: Path) -> None:
    """`x` is the id of a payment and of a login: the step says which."""
    recording = Recording(tmp_path, PATTERN)
    recording.take(("pay", [pay("x", 0, 5), pay("y", 1, 7, "bob")]))
    recording.take(("pay", [pay("z", 2, 6)]), ("login", [login("w", 2, "eve")]))
    recording.take(("login", [login("x", 3)]))
    evidence = events_of(recording.state, alert_of(recording, "probing"))
    assert shown(evidence, "amount", "user") == [
        ("small", "x", 5.0, None),
        ("small", "z", 6.0, None),
        ("entry", "x", None, "ann"),
    ]
    assert evidence.missing == ""
    first = evidence.events[0].event
    assert first is not None
    assert (first.stream, timestamp(first.time), first.batch) == ("pay", at(0), 0)
    assert (timestamp(first.arrival), first.fields) == (at(0), pay("x", 0, 5))
    assert (first.partition, first.file, first.offset) == ("pay", str(tmp_path / "pay-0.jsonl"), 0)


def test_the_events_of_a_window(tmp_path: Path) -> None:
    recording = Recording(tmp_path, PATTERN)
    recording.take(("pay", [pay("a", 1, 30), pay("b", 2, 31)]))
    recording.take(("pay", [pay("c", 3, 32)]))
    recording.take(("pay", [pay("late", 200, 33)]))
    evidence = events_of(recording.state, alert_of(recording, "busy"))
    assert shown(evidence, "amount") == [("pay", "a", 30.0), ("pay", "b", 31.0), ("pay", "c", 32.0)]


def test_the_documents_of_hits(tmp_path: Path) -> None:
    """The id of a hit is the document's and the query's; what is recorded is the document."""
    lines = "".join(json.dumps({"id": f"q {n}", "query": "acme"}) + "\n" for n in (1, 2))
    recording = Recording(tmp_path, NEWS, {"watch.jsonl": lines})
    title = "acme recalls"
    recording.take(
        ("article", [{"url": "http://a b\\", "title": title, "source": "s", "ts": at(0)}]),
    )
    for rule, step, ids in (("watched", "article", 1), ("recall", "hit", 2)):
        evidence = events_of(recording.state, alert_of(recording, rule))
        assert [(one.step, one.event and one.event.fields["title"]) for one in evidence.events] == [
            (step, title)
        ] * ids
        assert all(one.event is not None and one.event.id == "http://a b\\" for one in evidence.events)


def test_of_an_id_that_came_twice_the_one_with_the_alerts_key_is_shown(tmp_path: Path) -> None:
    recording = Recording(tmp_path, PATTERN)
    recording.take(("pay", [pay("a", 1, 5)]))
    recording.take(("pay", [pay("b", 2, 6), pay("a", 2, 7, "bob")]))
    recording.take(("pay", [pay("c", 3, 500)]))
    evidence = events_of(recording.state, alert_of(recording, "probing"))
    assert shown(evidence, "owner", "amount")[0] in (("small", "a", "ann", 5.0), ("small", "a", "bob", 7.0))
    assert ("big", "c", "ann", 500.0) in shown(evidence, "owner", "amount")


@pytest.mark.slow
def test_a_look_goes_through_so_many_files_and_no_more(tmp_path: Path) -> None:
    recording = Recording(tmp_path, PATTERN)
    recording.take(("pay", [pay("first", 0, 500)]))
    for batch in range(1, 20):
        recording.take(("pay", [pay(f"p{batch}", batch, 50)]))
    recording.take(("pay", [pay("last", 20, 600)]))
    stored = alert_of(recording, "open")
    for files, found in ((21, True), (20, False), (1, False)):
        evidence = events_of(recording.state, stored, Limits(files=files))
        assert shown(evidence, "amount") == [("a", "first", 500.0 if found else None), ("b", "last", 600.0)]
        assert ("too much came between" in evidence.missing) is not found
    evidence = events_of(recording.state, stored, Limits(events=5))
    assert "1 event is not shown: too much came between" in evidence.missing


def test_what_was_deleted_is_said_to_be_gone(tmp_path: Path) -> None:
    recording = Recording(tmp_path, PATTERN, apart=DAY)
    recording.take(("pay", [pay("first", 0, 500)]))
    recording.take(("pay", [pay("last", 20, 600)]))
    stored = alert_of(recording, "open")
    for path in (folder_of(recording.state.record, "pay") / "2026-01-05").iterdir():
        path.unlink()
    path.parent.rmdir()
    evidence = events_of(recording.state, stored)
    assert shown(evidence, "amount") == [("a", "first", None), ("b", "last", 600.0)]
    said = "1 event is not shown: the record, which begins on 2026-01-06, does not have them"
    assert evidence.missing == said
    for path in (folder_of(recording.state.record, "pay") / "2026-01-06").iterdir():
        path.write_bytes(b"PAR1")
    assert events_of(recording.state, stored).missing.endswith("; 1 of its files cannot be read")


def test_a_job_that_records_nothing_says_so(tmp_path: Path) -> None:
    recording = Recording(tmp_path, PATTERN)
    recording.take(("pay", [pay("a", 0, 500)]))
    stored = alert_of(recording, "large")
    for path in sorted(recording.state.record.rglob("*"), reverse=True):
        path.unlink() if path.is_file() else path.rmdir()
    evidence = events_of(recording.state, stored)
    assert "nothing of these streams is recorded" in evidence.missing
    assert shown(evidence) == [("pay", "a")]


def test_events_are_found_without_the_text_of_the_rule(tmp_path: Path) -> None:
    recording = Recording(tmp_path, PATTERN)
    recording.take(("pay", [pay("a", 0, 5), pay("b", 1, 6)]), ("login", [login("l", 2)]))
    for path in recording.state.packs.iterdir():
        path.unlink()
    evidence = events_of(recording.state, alert_of(recording, "probing"))
    assert [one.event is not None for one in evidence.events] == [True, True, True]


def test_a_file_in_the_way_of_the_record_is_told(tmp_path: Path) -> None:
    recording = Recording(tmp_path, PATTERN)
    recording.state.record.write_text("")
    recording.take(("pay", [pay("a", 0, 500)]))
    evidence = events_of(recording.state, alert_of(recording, "large"))
    assert evidence.missing.startswith("the record cannot be read: Not a directory")


@pytest.mark.parametrize("seconds", [0, 59])
def test_a_batch_that_ends_after_midnight_is_found(tmp_path: Path, seconds: int) -> None:
    """The day is that on which its batch began, which may be the one before that of the outbox."""
    recording = Recording(tmp_path, PATTERN, clock=BEGIN + 16 * 3600 * SECOND - 1)
    recording.take(("pay", [pay("a", seconds, 500)]))
    stored = alert_of(recording, "large")
    assert (stored.recorded_at - BEGIN) // SECOND == 16 * 3600
    assert shown(events_of(recording.state, stored), "amount") == [("pay", "a", 500.0)]
