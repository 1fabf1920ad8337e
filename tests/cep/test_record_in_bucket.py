"""The record of a job whose state is in a bucket: as in a folder, whatever the store does."""

from __future__ import annotations

from pathlib import Path

import object_store
import pytest
from object_store import ObjectStore
from recording import BEGIN, DAY, SECOND, Recording, at

from alerts.sought import Sought
from cep import folders
from cep.buckets import StoreError, store_errors
from cep.counters import Counts, RecordEvents, RecordFailures, of_kind
from cep.record import erasing, finding, keeping, layout, places
from cep.record.read import events_of

PACK = """pack p version "1"
stream e { eid: string  ts: timestamp  n: long  who: string  id eid  time ts }
rule r { by who  match a: e[n == 1] -> b: e[n == 2]  within 1 day }
"""


def event(number: int, who: str, n: int = 0) -> dict[str, object]:
    return {"eid": f"e{number}", "ts": at(number), "n": n, "who": who}


@pytest.fixture
def recording(tmp_path: Path, s3: ObjectStore) -> Recording:
    return Recording(tmp_path, PACK, bucket=s3.bucket())


def names(s3: ObjectStore, recording: Recording) -> list[str]:
    assert recording.bucket is not None
    found = s3.names(recording.bucket)
    return [name.removeprefix("record/") for name in found if name.startswith("record/")]


def test_the_events_of_an_alert_are_found(recording: Recording, s3: ObjectStore) -> None:
    recording.take(("e", [event(0, "ann", 1), event(1, "bob")]))
    for number in range(2, 40):
        recording.take(("e", [event(number, "bob")]))
    recording.take(("e", [event(50, "ann", 2)]), lane=1)
    (alert,) = recording.alerts
    before = s3.asked
    found = events_of(recording.state, alert)
    assert s3.asked - before < 50, "a request for each file, and few besides"
    assert found.missing == ""
    told = [one.event and (one.event.fields["who"], one.event.time, one.event.batch) for one in found.events]
    assert told == [("ann", BEGIN, 0), ("ann", BEGIN + 50 * SECOND, 39)]
    assert not (recording.root / "state" / "record").exists()


def test_a_batch_that_is_run_again_writes_the_same_objects(recording: Recording, s3: ObjectStore) -> None:
    recording.take(("e", [event(0, "ann")]))
    place = recording.state.record / "e" / "2026-01-05" / "0-0.parquet"
    before = place.read_bytes()
    recording.batch, recording.clock = 0, BEGIN
    recording.take(("e", [event(0, "ann")]))
    assert names(s3, recording) == ["e/2026-01-05/0-0.parquet"]
    assert place.read_bytes() == before


def test_a_large_object_is_read_in_parts(recording: Recording, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(places, "_WHOLE", 10)
    recording.take(("e", [event(0, "ann", 1), event(1, "ann", 2)]))
    found = events_of(recording.state, recording.alerts[0])
    assert [one.event and one.event.fields["n"] for one in found.events] == [1, 2]


def test_old_days_go_many_at_a_time(tmp_path: Path, s3: ObjectStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folders, "_MOST_REMOVED", 25)
    recording = Recording(tmp_path, PACK, bucket=s3.bucket(), apart=DAY)
    recording.take(("e", [event(0, "ann")]))
    recording.take(("e", [event(1, "ann")]))
    day = recording.state.record / "e" / "2026-01-05"
    for number in range(1, 60):
        day.fs.pipe_file(f"{day.path}/{number}-0.parquet", b"")
    (day / "theirs.txt").write_text("stays", "utf-8")
    asked = s3.asked
    removed = [
        keeping.remove(old, lambda: True)
        for old in keeping.expired(recording.state.record, recording.clock, DAY)
    ]
    assert removed == [60]
    assert s3.asked - asked < 12
    assert names(s3, recording) == ["e/2026-01-05/theirs.txt", "e/2026-01-06/1-0.parquet"]
    assert [one.name for one in layout.streams_in(recording.state.record)] == ["e"]
    going = iter([True, False])
    assert keeping.remove(recording.state.record / "e" / "2026-01-06", lambda: next(going)) == 1


@pytest.mark.slow
def test_a_store_that_says_nothing_loses_pages_alone(tmp_path: Path) -> None:
    with object_store.running() as s3:
        recording = Recording(tmp_path, PACK, bucket=s3.bucket())
        recording.take(("e", [event(0, "ann", 1)]))
        s3.end()
        said = [recording.take(("e", [event(n, "ann", 2)])) for n in (1, 2)]
        # the same for every batch: a job says it once
        assert list(map(lost, said)) == [(1, ["the store of s3://states does not answer"])] * 2
        told = events_of(recording.state, recording.alerts[0]).missing
        assert told.startswith(
            "the record cannot be read: the store of s3://states does not answer (s3://states/"
        )
        s3.begin()
        (first, second) = events_of(recording.state, recording.alerts[0]).events
    assert (first.event is None, second.event) == (False, None)


def lost(counts: Counts) -> tuple[int, list[str]]:
    (number,) = [n for one, n in of_kind(counts, RecordEvents) if one.outcome == "lost"]
    return number, [one.reason for one, _ in of_kind(counts, RecordFailures)]


def test_a_damaged_object_hides_only_its_own_events(recording: Recording) -> None:
    recording.take(("e", [event(0, "ann", 1)]))
    recording.take(("e", [event(1, "ann", 2)]))
    (recording.state.record / "e" / "2026-01-05" / "0-0.parquet").write_bytes(b"PAR1 no more")
    (first, second) = events_of(recording.state, recording.alerts[0]).events
    assert (first.event, second.event and second.event.fields["n"]) == (None, 2)
    look = finding.look_for(
        layout.folder_of(recording.state.record, "e"),
        finding.Sought(["e0"], 1, "2026-01-05", None, 2**63 - 1), finding.IN_BUCKET,
    )  # fmt: skip
    assert (look.found, look.unreadable, look.limited) == ({}, 1, False)


def test_events_are_erased(recording: Recording, s3: ObjectStore) -> None:
    recording.take(("e", [event(0, "ann"), event(1, "bob")]))
    recording.take(("e", [event(2, "ann")]))
    recording.take(("e", [event(3, "bob")]))
    erased = erasing.Events(Sought({"who": "ann"}), {"e": {"who": (("who",),)}})
    for dry_run in (True, False):
        before = names(s3, recording)
        erasing.remove_unfinished(recording.state.record)
        counts = [
            erasing.erase(one, erased, dry_run=dry_run) for one in erasing.files(recording.state.record)
        ]
        assert counts == [0, 1, 1]
        assert (names(s3, recording) == before) == dry_run
    assert names(s3, recording) == ["e/2026-01-05/0-0.parquet", "e/2026-01-05/2-0.parquet"]
    with places.parquet(recording.state.record / "e" / "2026-01-05" / "0-0.parquet") as left:
        assert left.read().column("who").to_pylist() == ["bob"]


@pytest.mark.parametrize(
    ("error", "kind", "said"),
    [
        (
            PermissionError("Access Denied"),
            PermissionError,
            "the bucket of s3://states may not be read with these keys",
        ),
        (FileNotFoundError("NoSuchBucket"), FileNotFoundError, "the bucket of s3://states is not there"),
        (OSError("Slow down"), StoreError, "the bucket of s3://states cannot be read: OSError: Slow down"),
    ],
)
def test_an_error_of_a_store_has_a_sentence_and_a_place(
    recording: Recording, error: OSError, kind: type[OSError], said: str
) -> None:
    with pytest.raises(kind) as raised, store_errors(recording.state.record):
        raise error
    assert type(raised.value) is kind
    assert raised.value.strerror == said
    assert str(raised.value.filename).endswith("/record")
