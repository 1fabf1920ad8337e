"""The record has every accepted event as it was, of any type and stream, or counts it as lost."""

from __future__ import annotations

import json
import os
import resource
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from recording import BEGIN, DAY, SECOND, Recording, at

from alerts.sought import Sought as ValuesSought
from cep.counters import Counts, RecordBytes, RecordEvents, RecordFailures, of_kind
from cep.job.workers.late import late_rows
from cep.record import erasing
from cep.record.finding import Limits, Look, Sought, look_for
from cep.record.keeping import expired, remove
from cep.record.layout import day_of, file_of, files_in, folder_of
from cep.record.writing import LaneRecord

PACK = """pack p version "1"
stream e { eid: string  ts: timestamp  n: long  id eid  time ts }
stream unread { uid: string  ts: timestamp  id uid  time ts }
rule r { on e[n > 5] }
"""
TYPES = """pack p version "1"
stream e {
  place: long  ts: timestamp  s: string?  t: text?  l: long?  d: double?  m: decimal?  b: boolean?
  w: timestamp?  u: duration?  list: list<timestamp>?
  device: { os: string?  seen: timestamp? }?
  time ts
}
rule r { on e }
"""


def look(recording: Recording, stream: str, *ids: str) -> Look:
    sought = Sought(ids, recording.batch, day_of(recording.clock), None, 2**63 - 1)
    return look_for(folder_of(recording.state.record, stream), sought, Limits())


def files(root: Path) -> dict[str, bytes]:
    return {str(p.relative_to(root)): p.read_bytes() for p in sorted(root.rglob("*")) if p.is_file()}


def numbered(first: int, number: int) -> list[dict[str, object]]:
    return [{"eid": f"e{n}", "ts": at(n), "n": n} for n in range(first, first + number)]


def test_every_type_comes_back_as_an_alert_would_write_it(tmp_path: Path) -> None:
    recording = Recording(tmp_path, TYPES)
    events = [
        {"place": 1, "ts": at(0)},
        {
            "place": 2, "ts": "2026-01-05T09:00:00.123456789Z", "s": "\0<img>\u202e", "t": "", "l": -(2**63),
            "d": 1e-300, "m": "0.000000000000000001", "b": False, "w": at(1.5), "u": "PT1.5S",
            "list": [at(2), at(3)], "device": {"os": "x", "seen": at(4)},
        },
        {"place": 3, "ts": at(9), "list": [], "device": {"os": None}},
    ]  # fmt: skip
    stream, came = recording.stream("e"), recording.events("e", events)
    expected = {row[2]: json.loads(row[5]) for part in came for row in late_rows(stream, part)}
    ids = [row[3] for part in came for row in late_rows(stream, part)]
    assert len(expected) == 3
    recording.take(("e", events))
    found = look(recording, "e", *ids)
    assert found.found.keys() == set(ids)
    for (event,) in found.found.values():
        assert event.fields == expected[event.offset]
        assert (event.stream, event.batch, event.arrival, event.partition) == ("e", 0, BEGIN, "e")
        assert Path(event.file).name == "e-0.jsonl"


def test_a_batch_that_is_run_again_writes_the_same_files(tmp_path: Path) -> None:
    recording = Recording(tmp_path, PACK)
    recording.take(("e", numbered(0, 50)), ("unread", [{"uid": "u", "ts": at(0)}]))
    before = files(recording.state.record)
    assert list(before) == ["e/2026-01-05/0-0.parquet"], "what no rule reads is not recorded"
    recording.batch, recording.clock = 0, BEGIN
    recording.take(("e", numbered(0, 50)))
    assert files(recording.state.record) == before


def with_dictionary(path: Path) -> set[str]:
    """The columns whose values are written once, and then as numbers."""
    first = pq.read_metadata(path).row_group(0)
    columns = (first.column(number) for number in range(first.num_columns))
    return {one.path_in_schema for one in columns if one.has_dictionary_page}


def test_values_that_come_again_are_written_once_whatever_the_first_rows_have(tmp_path: Path) -> None:
    pack = PACK.replace("n: long ", "n: long  price: double?  amount: double  shop: string ")
    recording = Recording(tmp_path, pack)
    rows = [
        one | {"price": -0.0 if n % 3 else n % 700 / 100, "amount": n * 0.1, "shop": f"s{n * 7919 % 4999}"}
        for n, one in enumerate(numbered(0, 6000))
    ]
    rows[5]["price"] = None
    recording.take(("e", rows))
    path = recording.state.record / "e/2026-01-05/0-0.parquet"
    assert with_dictionary(path) == {"price", "@file", "@partition"}
    read = pq.read_table(path)
    for name in ("price", "amount"):
        written = [None if one[name] is None else float(one[name]).hex() for one in rows]
        assert [None if one is None else one.hex() for one in read.column(name).to_pylist()] == written


def test_texts_that_come_again_are_written_once(tmp_path: Path) -> None:
    pack = PACK.replace("n: long ", "n: long  country: string ")
    recording = Recording(tmp_path, pack)
    countries = ["Norway", "Chile", "Ghana"]
    recording.take(("e", [one | {"country": countries[n % 3]} for n, one in enumerate(numbered(0, 300))]))
    path = recording.state.record / "e/2026-01-05/0-0.parquet"
    assert with_dictionary(path) == {"country", "@file", "@partition"}
    assert all(path.read_bytes().count(name.encode()) == 1 for name in countries)
    found = look(recording, "e", "e4", "e5").found
    assert [events[0].fields["country"] for events in found.values()] == ["Chile", "Ghana"]
    (file,) = files_in(path.parent)
    chile = erasing.Events(ValuesSought({"country": "Chile"}), {})
    assert erasing.erase(file, chile, dry_run=False) == 100
    assert with_dictionary(path) == {"country", "@file", "@partition"}
    assert [path.read_bytes().count(name.encode()) for name in countries] == [1, 0, 1]


def test_lanes_of_an_earlier_attempt_add_no_event(tmp_path: Path) -> None:
    """A batch that ran on two cores and is run again on one: its second file stays."""
    recording = Recording(tmp_path, PACK)
    recording.take(("e", numbered(0, 9)), lane=1)
    recording.batch, recording.clock = 0, BEGIN
    recording.take(("e", numbered(0, 9)), lane=0)
    assert len(list(files(recording.state.record))) == 2
    found = look(recording, "e", "e3", "e8").found
    assert [len(events) for events in found.values()] == [1, 1]


@pytest.mark.parametrize(
    "name", ["..", ".", "a b", "%2E%2E", '"', "ü" * 60, "x" * 255, "日本", "-rf", "~", "$HOME", "*", "a.b"]
)
def test_a_stream_of_any_name_has_a_folder_of_its_own(tmp_path: Path, name: str) -> None:
    folder = folder_of(tmp_path, name)
    assert folder.parent == tmp_path
    assert folder.name not in ("", ".", "..")
    folder.mkdir()
    assert [one.name for one in tmp_path.iterdir()] == [folder.name]


@given(st.lists(st.text(min_size=1, max_size=300), min_size=2, max_size=20, unique=True))
def test_no_two_streams_share_a_folder(names: list[str]) -> None:
    folders = [folder_of(Path("record"), name).name for name in names if name.isprintable()]
    assert len(set(folders)) == len(folders)
    assert all("/" not in one and len(os.fsencode(one)) <= 255 for one in folders)


def test_a_stream_with_a_hostile_name_is_recorded_and_read(tmp_path: Path) -> None:
    name = ". <img onerror=x> %2e'\" *"
    text = PACK.replace("stream e ", f"stream `{name}` ").replace("on e[n > 5]", f"on `{name}`[n > 5]")
    recording = Recording(tmp_path, text)
    events = recording.events("unread", [])
    assert not events
    path = recording.root / "events.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in numbered(0, 3)), "utf-8")
    with LaneRecord(recording.lane(0)) as record:
        for one in recording.decoded(path, recording.stream(name)):
            record.add(one)
        counts = record.finish()
    assert counts[RecordEvents(name, "written")] == 3
    assert look(recording, name, "e1").found["e1"][0].stream == name


def lost(counts: Counts) -> tuple[int, list[str]]:
    """The events that were not written, and why; nothing else may have been counted."""
    assert not [n for one, n in of_kind(counts, RecordEvents) if one.outcome == "written"]
    assert not list(of_kind(counts, RecordBytes))
    (number,) = [n for one, n in of_kind(counts, RecordEvents) if one.outcome == "lost"]
    return number, [one.reason for one, _ in of_kind(counts, RecordFailures)]


def test_a_file_where_the_folder_should_be_loses_pages_alone(tmp_path: Path) -> None:
    recording = Recording(tmp_path, PACK)
    recording.state.record.write_text("")
    assert lost(recording.take(("e", numbered(0, 9)))) == (9, ["not a directory"])
    assert len(recording.alerts) == 3


@pytest.mark.slow
@pytest.mark.parametrize("room", [0, 1_000], ids=["at its begin", "while it is written"])
def test_a_full_disk_loses_pages_and_leaves_nothing(tmp_path: Path, room: int) -> None:
    """The kernel refuses what goes beyond a size, as it does on a full disk."""
    recording = Recording(tmp_path, PACK)
    events = recording.events("e", numbered(0, 50_000))
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, before[1]))
    try:
        with LaneRecord(recording.lane(0)) as record:
            for _ in range(3):
                for one in events:
                    record.add(one)
            counts = record.finish()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert lost(counts) == (150_000, ["file too large"])
    assert files(recording.state.record) == {}


def test_the_last_room_of_a_disk_is_left_to_the_job(tmp_path: Path) -> None:
    recording = Recording(tmp_path, PACK)
    with LaneRecord(replace(recording.lane(0), reserve=1 << 60)) as record:
        for one in recording.events("e", numbered(0, 9)):
            record.add(one)
        number, (reason,) = lost(record.finish())
    assert number == 9
    assert reason.startswith("the disk has less than 1,099,511,627,776 MiB free")
    assert files(recording.state.record) == {}


def test_a_folder_that_goes_away_meanwhile_loses_pages_alone(tmp_path: Path) -> None:
    recording = Recording(tmp_path, PACK)
    path = file_of(recording.state.record, "e", 0, BEGIN, 0)
    with LaneRecord(recording.lane(0)) as record:
        for one in recording.events("e", numbered(0, 9)):
            record.add(one)
        for one in path.parent.iterdir():
            one.unlink()
        path.parent.rmdir()
        assert lost(record.finish()) == (9, ["no such file or directory"])


def test_what_is_broken_off_leaves_nothing(tmp_path: Path) -> None:
    recording = Recording(tmp_path, PACK)

    def broken_off() -> None:
        with LaneRecord(recording.lane(0)) as record:
            for one in recording.events("e", numbered(0, 9)):
                record.add(one)
            assert files(recording.state.record), "it is written beside meanwhile"
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        broken_off()
    assert files(recording.state.record) == {}


def kept_days(recording: Recording) -> list[str]:
    folder = folder_of(recording.state.record, "e")
    return sorted(one.name for one in folder.iterdir()) if folder.exists() else []


def purge(recording: Recording, now: int, keep: int) -> int:
    return sum(remove(day, lambda: True) for day in expired(recording.state.record, now, keep))


@pytest.mark.parametrize(
    ("keep", "now", "left"),
    [
        (DAY, 3 * DAY, ["2026-01-07", "2026-01-08"]),
        (DAY, 3 * DAY + 15 * 3600 * SECOND, ["2026-01-07", "2026-01-08"]),
        (DAY, 3 * DAY + 16 * 3600 * SECOND, ["2026-01-08"]),
        (2 * DAY, 3 * DAY, ["2026-01-06", "2026-01-07", "2026-01-08"]),
        (SECOND, 3 * DAY, ["2026-01-08"]),
        (30 * DAY, 3 * DAY, ["2026-01-05", "2026-01-06", "2026-01-07", "2026-01-08"]),
        (0, 3 * DAY, []),
    ],
)
def test_a_day_goes_when_it_was_over_for_as_long_as_is_kept(
    tmp_path: Path, keep: int, now: int, left: list[str]
) -> None:
    """Batches begin at 08:00, so that a day is over sixteen hours later."""
    recording = Recording(tmp_path, PACK, apart=DAY)
    for day in range(4):
        recording.take(("e", numbered(day, 1)))
    purge(recording, BEGIN + now, keep)
    assert kept_days(recording) == left


def test_only_what_the_record_made_is_removed(tmp_path: Path) -> None:
    recording = Recording(tmp_path, PACK)
    recording.take(("e", numbered(0, 1)))
    (day,) = folder_of(recording.state.record, "e").iterdir()
    theirs = tmp_path / "theirs" / "2026-01-05"
    theirs.mkdir(parents=True)
    (theirs / "0-0.parquet").write_text("precious")
    (recording.state.record / "linked").symlink_to(tmp_path / "theirs")
    (folder_of(recording.state.record, "e") / "2026-01-04").symlink_to(theirs)
    (day / "notes.txt").write_text("mine")
    (day / ".7-0.parquet.4711").write_text("left by a process that was killed")
    assert purge(recording, BEGIN, 0) == 2
    assert (theirs / "0-0.parquet").read_text() == "precious"
    assert [one.name for one in day.iterdir()] == ["notes.txt"]


def test_removing_ends_when_the_job_does(tmp_path: Path) -> None:
    recording = Recording(tmp_path, PACK, apart=0)
    for number in range(5):
        recording.take(("e", numbered(number, 1)))
    left = iter([True, True, False])
    assert sum(remove(day, lambda: next(left)) for day in expired(recording.state.record, BEGIN, 0)) == 2
    (day,) = folder_of(recording.state.record, "e").iterdir()
    assert len(files_in(day)) == 3


Damage = Callable[[bytes], bytes]


@pytest.mark.parametrize(
    "damage",
    [
        lambda _: b"",
        lambda data: data[:-9],
        lambda data: bytes(len(data)),
        lambda data: data[: len(data) // 2],
    ],
    ids=["empty", "cut", "zeros", "half"],
)
def test_a_damaged_file_hides_only_its_own_events(tmp_path: Path, damage: Damage) -> None:
    recording = Recording(tmp_path, PACK)
    for batch in range(3):
        recording.take(("e", numbered(10 * batch, 10)))
    path = file_of(recording.state.record, "e", 1, BEGIN, 0)
    path.write_bytes(damage(path.read_bytes()))
    found = look(recording, "e", "e5", "e15", "e25")
    assert found.found.keys() == {"e5", "e25"}
    assert found.unreadable == 1
