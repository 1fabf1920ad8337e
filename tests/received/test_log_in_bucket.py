"""The log that events come into by HTTP where the state is in a bucket: an object for each group of lines."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from logs_of_tests import LINE, appending, content, read_over_restarts
from object_store import ObjectStore
from served import port

from cep import folders
from cep.buckets import AT_ONCE, StoreError
from cep.decode.blocks import decoder
from cep.decode.formats import BY_NAME
from cep.files import write_whole
from cep.job.state_folder import extents as fixed
from cep.job.state_folder.folder import StateFolder
from cep.sources.checkpoint import Checkpoint
from cep.sources.http import appending as appending_
from cep.sources.http import bounds, reading
from cep.sources.http.extents import HttpExtent
from cep.sources.http.http import Http, received
from cep.sources.http.intake import Intake
from cep.sources.http.segments import Position, end_of_log, numbers, path_of, stretches
from cep.sources.source import GoneError
from rules.packs import load_texts

if TYPE_CHECKING:
    from upath import UPath

PACK = """pack p version "1"
stream payment { id_: string  at: timestamp  id id_  time at }
rule all { on payment emit id_ }
"""
LINES = {"content-type": "application/x-ndjson"}


@pytest.fixture
def state(s3: ObjectStore) -> UPath:
    """One that is asked again for a shorter time than a job does."""
    return replace(s3.bucket(), attempts=1).path


@pytest.fixture
def log(state: UPath) -> UPath:
    found = received(state, "payment")
    assert not isinstance(found, Path)
    return found


def planned(state: UPath, batch: int) -> tuple[Http, list[HttpExtent]]:
    """What a batch reads, as the job asks for it."""
    source = Http().within(state)
    offsets = state / "checkpoint" / "offsets"
    write_whole(offsets / str(batch), b'v2\n{"batchWatermarkMs":0}\nfeed_payment:{}')
    return source, list(source.planned(Checkpoint(state / "checkpoint"), "payment", batch))


def events(source: Http, extents: list[HttpExtent]) -> list[str]:
    using = decoder(load_texts([("p.rules", PACK)]).need().stream("payment"), BY_NAME)
    parts = [part for extent in extents for part in source.parts(extent, BY_NAME, 10)]
    found = (one for part in source.ahead(parts) for one in source.read(part, using, strict=True))
    return [value for one in found for value in one.events.table.column("id_").to_pylist()]


def test_what_many_threads_give_is_there_whole_an_object_a_group(log: UPath) -> None:
    with appending(log) as one, ThreadPoolExecutor(16) as threads:
        bodies = [b"".join(LINE % (n * 10 + m) for m in range(n % 7 + 1)) for n in range(200)]
        for each in list(threads.map(one.take, bodies)):
            assert each.result(60) is None
        end = one.end
        assert one.groups < len(bodies)
        assert numbers(log) == list(range(1, one.groups + 1))
    assert end == end_of_log(log)
    data = content(log, stretches(log, Position(), end))
    assert sorted(data.splitlines()) == sorted(b"".join(bodies).splitlines())
    for body in bodies:
        assert body in data, "the lines of a body stay together"


@pytest.mark.slow
@given(
    st.lists(st.lists(st.integers(0, 9), max_size=4), min_size=1, max_size=6), st.integers(40, 400), st.data()
)
def test_batches_read_every_line_once_over_restarts_and_repeated_questions(
    s3: ObjectStore, groups: list[list[int]], batch: int, data: st.DataObject
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bounds, "BATCH_BYTES", batch)
        read_over_restarts(s3.bucket().path / "received" / "payment", groups, data)


def test_a_job_reads_what_came_and_asks_for_no_object_that_it_has_just_written(
    state: UPath, log: UPath, s3: ObjectStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "_AT_ONCE", len(LINE % 1) + 5)
    with appending(log) as one:
        for body in (LINE % 0, LINE % 1, LINE % 2 + LINE % 3 + LINE % 4):
            one.take(body).result(60)
        source, extents = planned(state, 0)
        before = s3.asked
        pinned = [source.pin(extent) for extent in extents]
        assert s3.asked == before
    assert [source.pin(extent) for extent in extents] == pinned, "another process looks at what is there"
    assert [source.extent(extent.row()) for extent in pinned] == pinned
    assert [source.difference(extent) for extent in pinned] == [None] * 3
    assert events(source, pinned) == ["0", "1", "2", "3", "4"]
    path_of(log, 2).write_bytes(LINE % 7)
    path_of(log, 3).unlink()
    assert [source.difference(extent) for extent in pinned] == [
        None,
        "does not hold what it held",
        "is missing",
    ]
    with pytest.raises(GoneError, match="is missing"):
        events(source, pinned)


def test_objects_are_fetched_together_and_read_in_their_order(
    state: UPath, log: UPath, s3: ObjectStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "SMALL", len(LINE % 1 * 3))
    groups = [LINE % n * (4 if n == 21 else 1) for n in range(33)]
    with appending(log) as one:
        for body in groups:
            one.take(body).result(60)
        source, extents = planned(state, 0)
        pinned = [source.pin(extent) for extent in extents]
    expected = [str(n) for n in range(33) for _ in range(4 if n == 21 else 1)]
    with s3.answering_together(AT_ONCE, ".jsonl"):
        assert events(source, [*pinned[:21], *pinned[22:]]) == [one for one in expected if one != "21"]
    # as a start does, to which another process left them
    with s3.answering_together(AT_ONCE, ".jsonl"):
        monkeypatch.setattr(fixed, "planned", lambda *_: extents[:AT_ONCE])
        looked = fixed.look(StateFolder(state), {"payment": source}, 0, fixed.accepting(()), {})
    assert looked == (pinned[:AT_ONCE], [])
    assert events(source, pinned) == expected, "one is too large to be fetched before its turn"

    path_of(log, 18).unlink()
    using = decoder(load_texts([("p.rules", PACK)]).need().stream("payment"), BY_NAME)
    parts = [part for extent in pinned for part in source.parts(extent, BY_NAME, 10)]
    read = (one.events.table for part in source.ahead(parts) for one in source.read(part, using, strict=True))
    before = [len(next(read)) for _ in range(17)]
    assert before == [1] * 17
    with pytest.raises(GoneError, match="is missing"):
        next(read)
    s3.end()
    try:
        with pytest.raises(StoreError, match="does not answer"):
            events(source, pinned[:3])
    finally:
        s3.begin()


def test_a_place_of_another_state_is_not_opened(state: UPath, log: UPath) -> None:
    with appending(log) as one:
        one.take(LINE % 1).result(60)
        _, (extent,) = planned(state, 0)
    assert extent.path.startswith("s3://states/")
    assert "KEY-OF-TESTS" not in repr(Http().within(state))
    assert Http().difference(extent) == "is missing", "a job with its state in a folder"


def test_a_store_that_is_away_is_told_and_what_it_took_after_all_counts_once(
    log: UPath, s3: ObjectStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A request may do its work and its answer be lost: then the next group finds an object at its place."""
    put, lost = write_whole, [True, False, True, False]

    def losing(path: UPath, data: bytes, *, new: bool) -> None:
        put(path, data, new=new)
        if lost.pop(0):
            raise TimeoutError

    monkeypatch.setattr(appending_, "write_whole", losing)
    with appending(log) as one:
        with pytest.raises(StoreError, match="does not answer"):
            one.take(LINE % 1).result(60)
        assert one.waiting == 0
        one.take(LINE % 2).result(60)
        assert one.waiting == 2 * len(LINE % 1), "both are there"
        with pytest.raises(StoreError):
            one.take(LINE % 3).result(60)
        one.take(LINE % 3).result(60)
        assert one.waiting == 3 * len(LINE % 1), "what is sent again is the same object"
    assert not lost
    assert content(log, stretches(log, Position(), end_of_log(log))) == b"".join(LINE % n for n in (1, 2, 3))
    monkeypatch.setattr(appending_, "write_whole", put)
    with appending(log) as one, port(tmp_path, intakes={"payment": one}) as client:
        s3.end()
        try:
            answer = client.ask("POST", "/api/v1/events/payment", LINE % 4, "SHOP_TOKEN", LINES)
        finally:
            s3.begin()
        assert (answer.status, answer.value["code"], answer.headers["retry-after"]) == (503, "CEP0978", "1")
        assert "does not answer" in answer.value["title"]
        assert "send all of them again" in answer.value["help"]
        answer = client.ask("POST", "/api/v1/events/payment", LINE % 5, "SHOP_TOKEN", LINES)
        assert answer.status == 202
    assert content(log, stretches(log, Position(), end_of_log(log))).endswith(LINE % 3 + LINE % 5)


def test_keys_that_do_not_do_are_told(log: UPath, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object, new: bool) -> None:  # noqa: ARG001
        raise PermissionError("Access Denied")

    with appending(log) as one, port(tmp_path, intakes={"payment": one}) as client:
        monkeypatch.setattr(appending_, "write_whole", refused)
        answer = client.ask("POST", "/api/v1/events/payment", LINE % 1, "SHOP_TOKEN", LINES)
    assert (answer.status, answer.value["code"]) == (503, "CEP0978")
    assert "the bucket of s3://states may not be read with these keys" in answer.value["title"]


def test_a_store_that_is_away_is_no_loss_of_a_segment(state: UPath, log: UPath, s3: ObjectStore) -> None:
    with appending(log) as one:
        one.take(LINE % 1).result(60)
    source, extents = planned(state, 0)
    pinned = [source.pin(extent) for extent in extents]
    s3.end()
    try:
        for asked in (source.difference, source.pin, lambda one: events(source, [one])):
            with pytest.raises(StoreError, match="does not answer"):
                asked(pinned[0])
        with pytest.raises(StoreError, match="does not answer"):
            bounds.between(log, 1, going_on=True)
    finally:
        s3.begin()
    assert events(source, pinned) == ["1"]


def test_a_process_that_lost_the_job_tells_nobody_and_spoils_nothing(log: UPath) -> None:
    """Both make objects of the same numbers; who comes later goes on behind the other's."""
    fenced = SimpleNamespace(fenced=False)

    def assure() -> None:
        if fenced.fenced:
            raise RuntimeError("taken over")

    old = Intake(log, 1 << 20, assure=assure)
    old.start(Position())
    old.take(LINE % 1).result(60)
    with appending(log) as new:
        fenced.fenced = True
        with pytest.raises(RuntimeError, match="taken over"):
            old.take(LINE % 2).result(60)
        assert content(log, bounds.between(log, 0, going_on=False)) == LINE % 1
        new.take(LINE % 3).result(60)
        assert new.waiting == 2 * len(LINE % 1)
        with pytest.raises(RuntimeError, match="taken over"):
            old.take(LINE % 4).result(60)
        second = bounds.between(log, 1, going_on=True)
    old.stop()
    assert content(log, second) == LINE % 2 + LINE % 3
    assert bounds.between(log, 1, going_on=True) == second
    assert content(log, bounds.between(log, 2, going_on=True)) == LINE % 4


@pytest.mark.slow
@given(st.lists(st.sampled_from(["take", "lost", "refused", "other", "plan", "restart"]), max_size=14))
def test_whatever_comes_between_all_that_was_answered_is_read_once(s3: ObjectStore, steps: list[str]) -> None:
    """Beside a process that has lost the job and goes on; requests come to nothing, or their answers do."""
    log, put, trouble = s3.bucket().path / "received" / "payment", write_whole, [""]

    def troubled(path: UPath, data: bytes, *, new: bool) -> None:
        if trouble[0] != "refused":
            put(path, data, new=new)
        if trouble[0]:
            raise TimeoutError

    def lost() -> None:
        raise RuntimeError("taken over")

    answered, read, number, found = [], b"", 0, {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(appending_, "write_whole", troubled)
        other, one = Intake(log, 1 << 20, assure=lost), Intake(log, 1 << 20)
        other.start(Position())
        one.start(Position())
        for place, step in enumerate([*steps, "take", "plan"]):
            line = LINE % place
            trouble[0] = step if step in ("lost", "refused") else ""
            if step == "take":
                one.take(line).result(60)
                answered.append(line)
            elif step == "other":
                with pytest.raises(RuntimeError, match="taken over"):
                    other.take(line).result(60)
            elif step == "plan":
                found[number] = bounds.between(log, number, going_on=number > 0)
                read += content(log, found[number])
                number += 1
            elif step == "restart":
                one.stop()
                one = Intake(log, 1 << 20)
                one.start(bounds.read_up_to(log))
            else:
                with pytest.raises(StoreError):
                    one.take(line).result(60)
        assert one.waiting == 0
        assert found == {batch: bounds.between(log, batch, going_on=batch > 0) for batch in found}
        one.stop()
        other.stop()
    lines = read.splitlines(keepends=True)
    assert len(lines) == len(set(lines))
    assert [line for line in lines if line in answered] == answered


def test_a_bound_whose_answer_was_lost_holds_and_counts(log: UPath, monkeypatch: pytest.MonkeyPatch) -> None:
    write = bounds.write_json

    def twice(*given: object, new: bool) -> None:
        write(*given, new=new)  # type: ignore[arg-type]
        write(*given, new=new)  # type: ignore[arg-type]

    monkeypatch.setattr(bounds, "write_json", twice)
    with appending(log) as one:
        for number in range(3):
            one.take(LINE % number).result(60)
            assert bounds.between(log, number, going_on=number > 0) == [(number + 1, 0, len(LINE % 1))]
            assert one.waiting == 0


def test_what_all_batches_are_behind_is_removed(
    log: UPath, s3: ObjectStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounds, "_KEPT", 3)
    with appending(log) as one:
        for number in range(8):
            one.take(LINE % number).result(60)
            before = s3.asked
            bounds.between(log, number, going_on=number > 0)
            assert s3.asked - before <= (3 if number else 8), "to fix, and to forget; nobody lists"
    assert numbers(log) == [6, 7, 8]
    names = sorted(path.name for path in (log / "read").iterdir())
    assert names == ["5.json", "6.json", "7.json"]
    assert bounds.between(log, 6, going_on=True) == [(7, 0, len(LINE % 6))]


@pytest.mark.parametrize("removed", range(4))
def test_what_a_process_that_ended_had_not_removed_goes_after_the_next_start(
    log: UPath, monkeypatch: pytest.MonkeyPatch, removed: int
) -> None:
    def ends(paths: list[UPath]) -> None:
        for path in paths[:removed]:
            path.unlink()
        raise KeyboardInterrupt

    monkeypatch.setattr(bounds, "_KEPT", 2)
    with appending(log) as one:
        for number in range(2):
            for n in range(3):
                one.take(LINE % (3 * number + n)).result(60)
            bounds.between(log, number, going_on=number > 0)
        with monkeypatch.context() as patch:
            patch.setattr(bounds, "remove_files", ends)
            with pytest.raises(KeyboardInterrupt):
                bounds.between(log, 2, going_on=True)
    assert numbers(log) == list(range(removed + 1, 7))
    with appending(log) as one:
        assert bounds.between(log, 2, going_on=True) == []
        for number in (3, 4):
            one.take(LINE % number).result(60)
            bounds.between(log, number, going_on=True)
    assert numbers(log) == [7, 8]
    assert sorted(path.name for path in (log / "read").iterdir()) == ["3.json", "4.json"]


def test_objects_are_removed_in_their_order(log: UPath, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folders, "_MOST_REMOVED", 3)
    paths = [log / str(number) for number in range(8)]
    for path in paths:
        path.write_bytes(b"x")
    remove = log.fs.rm

    def refused(some: list[str]) -> None:
        if any(one.endswith("/4") for one in some):
            raise PermissionError("Access Denied")
        remove(some)

    with monkeypatch.context() as patch:
        patch.setattr(log.fs, "rm", refused)
        with pytest.raises(PermissionError):
            folders.remove_files(paths)
    assert sorted(path.name for path in log.iterdir()) == ["3", "4", "5", "6", "7"]
    folders.remove_files(paths)
    assert folders.entries(log) == []
