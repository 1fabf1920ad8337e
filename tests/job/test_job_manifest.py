"""A manifest says everything that a batch runs with, and follows from the batch before it."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rules_of_tests import OTHER, SECOND, pack

from cep.batch.clock import Partition, Seen, watermark_after
from cep.errors import ConfigurationError
from cep.events import MAX_TIME, MIN_TIME
from cep.job.clocks.idle import AllIdle
from cep.job.clocks.running_time import RESTART, Stretch
from cep.job.poison.events import Poison
from cep.job.state_folder.manifest import (
    Deployed,
    Lost,
    Manifest,
    Result,
    following,
    oldest,
    parse,
    read,
    result,
    result_of,
    write,
)
from cep.packs.compile import compile_plan
from cep.packs.succession import Standing
from cep.plan.generations import NO_GENERATIONS, Closing, Generations
from cep.plan.plan import Plan
from cep.resources.resource import Pin
from rules.packs import load_texts

PAYMENT: Partition = ("payment", "payment")
MINUTE = 60 * SECOND
_names = st.text(min_size=1, max_size=8)
_numbers = st.integers(MIN_TIME, MAX_TIME)
_partitions = st.dictionaries(st.tuples(_names, _names), _numbers, max_size=3)
_all_idle = st.none() | st.builds(AllIdle, _numbers, _numbers)
_identities = st.dictionaries(st.tuples(_names, _names), _names, max_size=3)
_poison = st.builds(Poison, _names, _names, _numbers, _numbers, _numbers, _names, _names)
_closing = st.builds(Closing, _names, _names, _names, _numbers, _numbers, _numbers)
_generations = st.builds(Generations, _partitions, st.lists(_closing, max_size=2).map(tuple))


def _plan(idle: str = "", more: str = "") -> Plan:
    return compile_plan([load_texts([("p.rules", pack(idle=idle, more=more))]).need()])


@given(
    st.builds(
        Manifest,
        st.integers(0, 10**6), st.dictionaries(_names, _names, max_size=3), st.integers(1, 64), _numbers,
        _numbers, _numbers, _partitions, _partitions,
        st.lists(st.tuples(_names, _names), max_size=2).map(tuple), _all_idle,
        _partitions, st.booleans(),
        st.lists(st.builds(Deployed, _names, _names, _names, _names), max_size=2).map(tuple),
        st.dictionaries(_names, _numbers, max_size=2), _names,
        st.lists(st.builds(Lost, _names, _names, _names), max_size=2).map(tuple),
        st.lists(_poison, max_size=2).map(tuple),
        st.lists(st.builds(Pin, _names, _names, _names), max_size=2).map(tuple), st.sampled_from((2, 3)),
        _generations, _names, _identities,
    )
)  # fmt: skip
def test_a_manifest_is_read_back_as_it_was_written(manifest: Manifest) -> None:
    assert parse(manifest.text()) == manifest
    assert parse(manifest.text()).digest == manifest.digest
    assert replace(manifest, lost=(), poison=()).digest == manifest.digest, (
        "it is the same batch without a file"
    )


@given(
    st.builds(
        Result, st.dictionaries(_names, _names), _numbers, _partitions, _partitions, _numbers, _numbers,
        _all_idle, _partitions, _partitions, st.booleans(), identities=_identities,
    )
)  # fmt: skip
def test_a_result_is_read_back_as_it_was_written(of: Result) -> None:
    assert result_of(of.as_dict()) == of


def test_the_text_of_a_manifest_is_a_contract() -> None:
    manifest = Manifest(
        7, {"desk": "ab"}, 4, 9, 8, 5, {PAYMENT: 6}, {PAYMENT: 7}, (("other", ""),), AllIdle(3, 4),
        {("desk", "r"): 2}, False, (Deployed("q", "desk", "ab", ""),), {"payment": 2},
        "cd", (Lost("payment", "/x", "is missing"),),
        (Poison("payment", "/y", 3, 4, -1, "was ended by SIGSEGV"),),
    )  # fmt: skip
    assert manifest.text() == (
        '{"batch":7,"clock":9,"deployed":[["q","desk","ab",""]],"drain":false,"elapsed":8,"files":"cd",'
        '"first":{"payment":2},"greatest":[["payment","payment",6]],"heard":[["payment","payment",7]],'
        '"lost":[["payment","/x","is missing"]],"poison":'
        '[["payment","/y",3,4,-1,"was ended by SIGSEGV","events"]],"quiet":[3,4],'
        '"revisions":{"desk":"ab"},"shards":4,'
        '"silent":[["other",""]],"since":[["desk","r",2]],"version":3,"watermark":5}'
    )


def test_what_a_batch_looks_up_is_pinned_where_there_is_any() -> None:
    plain = Manifest(7, {"desk": "ab"}, 4, 9)
    pinned = replace(plain, resources=(Pin("queries", "w", "ef"),))
    assert pinned.text() == plain.text().replace(
        '"revisions"', '"resources":[["queries","w","ef"]],"revisions"'
    )
    assert pinned.digest != plain.digest, "with other versions it is another batch"


def test_what_the_version_before_wrote_is_read_under_the_digest_that_it_had(tmp_path: Path) -> None:
    text = (
        '{"batch":7,"clock":9,"deployed":[],"drain":false,"elapsed":8,"first":{"payment":2},"greatest":[],"heard":[],'
        '"quiet":null,"revisions":{"desk":"ab"},"shards":4,"silent":[],"since":[],"version":2,"watermark":5}'
    )
    (tmp_path / "7.json").write_text(text)
    found = read(tmp_path, 7)
    assert found == Manifest(7, {"desk": "ab"}, 4, 9, 8, 5, first={"payment": 2}, version=2)
    assert found.digest == hashlib.sha256(text.encode()).hexdigest()
    assert replace(found, files="ab").digest == found.digest
    assert replace(found, version=3).digest != found.digest
    earlier = {
        "revisions": {"desk": "ab"}, "watermark": 5, "greatest": [], "heard": [], "clock": 9, "elapsed": 8,
        "quiet": None, "since": [], "runs": [], "drained": False, "first": {},
    }  # fmt: skip
    assert result_of(earlier).watermark == 5


@settings(deadline=None)  # it waits for the disk
@given(
    st.builds(Manifest, st.just(7), st.just({"desk": "ab"}), st.integers(1, 64), _numbers, files=_names),
    st.randoms(use_true_random=False),
)
def test_no_digit_of_a_manifest_or_a_result_changes_unnoticed(manifest: Manifest, random: Random) -> None:
    def changed(text: str) -> str:
        place = random.choice([n for n, sign in enumerate(text) if sign.isdigit()])
        return text[:place] + random.choice("0123456789".replace(text[place], "")) + text[place + 1 :]

    with TemporaryDirectory() as folder:
        write(Path(folder), manifest)
        path = Path(folder) / "7.json"
        path.write_text(changed(path.read_text("utf-8")), "utf-8")
        with pytest.raises(ConfigurationError, match=r"7\.json is (not what was written|no whole JSON)"):
            read(Path(folder), 7)
    text = json.dumps(Result({}, 5, {PAYMENT: 6}, {}, 9, 8, None, {}, {("desk", "r"): 2}, False).as_dict())
    with pytest.raises(ValueError, match=r"checksum|digit|delimiter|leading"):
        result_of(json.loads(changed(text)))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "is empty"),
        ("\0" * 300, "is empty"),
        ("{", "is no whole JSON"),
        ("[]", "is no JSON object"),
        ("null", "is no JSON object"),
        ("{}", "is no manifest"),
        ('{"version":3}', "has no checksum"),
        ('{"version":1}', "has version 1, this program reads version 3"),
        ('{"version":2,"batch":"x"}', "is no manifest"),
    ],
)
def test_a_damaged_manifest_is_told_with_its_file(tmp_path: Path, text: str, why: str) -> None:
    (tmp_path / "3.json").write_text(text)
    with pytest.raises(ConfigurationError, match=rf"3\.json {why}"):
        read(tmp_path, 3)


def test_a_manifest_of_another_batch_is_damage(tmp_path: Path) -> None:
    write(tmp_path, Manifest(3, {}, 1, 0))
    assert read(tmp_path, 3) == Manifest(3, {}, 1, 0)
    assert read(tmp_path, 4) is None
    (tmp_path / "3.json").rename(tmp_path / "4.json")
    with pytest.raises(ConfigurationError):
        read(tmp_path, 4)


@pytest.mark.slow
def test_the_last_thousand_are_kept(tmp_path: Path) -> None:
    for batch in range(999):
        assert oldest(tmp_path, batch) is None
        write(tmp_path, Manifest(batch, {}, 1, 0))
    write(tmp_path, Manifest(999, {}, 1, 0))
    assert oldest(tmp_path, 999) == (tmp_path / "0.json").stat().st_mtime
    write(tmp_path, Manifest(1_000, {}, 1, 0))
    assert oldest(tmp_path, 1_000) == (tmp_path / "1.json").stat().st_mtime
    assert len(list(tmp_path.iterdir())) == 1_000


class Job:
    """Batches one after the other, with a clock that only moves when told."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.clock = 1_800_000_000 * SECOND
        self.last: Result | None = None
        self.batch = 0

    def run(
        self, seen: dict[Partition, int], *, later: int = 0, restart: bool = False, drain: bool = False
    ) -> int:
        """One batch, `later` after the one before; the watermark after it."""
        self.clock += later
        stretch = RESTART if restart else Stretch(later)
        first = Manifest(self.batch, {"desk": "r"}, 4, self.clock, drain=drain)
        manifest = following(first, self.last, self.plan, stretch)
        after = watermark_after(manifest.start(self.plan), self.plan, Seen(seen))
        self.last = result_of(result(manifest, self.plan, Seen(seen), after, {}).as_dict())
        self.batch += 1
        return after


def test_the_watermark_trails_what_came_by_the_lateness_and_never_falls() -> None:
    job = Job(_plan())
    assert job.run({}) == MIN_TIME
    assert job.run({PAYMENT: 10 * SECOND}) == 8 * SECOND
    assert job.run({PAYMENT: 5 * SECOND}) == 8 * SECOND
    assert job.run({}, later=3600 * SECOND) == 8 * SECOND
    assert job.run({}, drain=True) == MAX_TIME


def test_a_stream_that_never_delivered_holds_time_back_for_a_minute_of_batches() -> None:
    job = Job(_plan(more=OTHER))
    assert job.run({PAYMENT: 10 * SECOND}) == MIN_TIME
    assert job.run({}, later=59 * SECOND) == MIN_TIME
    assert job.run({PAYMENT: 11 * SECOND}, later=SECOND) == 9 * SECOND
    assert job.run({PAYMENT: 20 * SECOND, ("other", "other"): 15 * SECOND}, later=SECOND) == 15 * SECOND


def test_time_without_batches_lets_nobody_fall_silent() -> None:
    job = Job(_plan(more=OTHER))
    job.run({PAYMENT: 10 * SECOND})
    assert job.run({PAYMENT: 10 * SECOND}, later=3600 * SECOND, restart=True) == MIN_TIME
    assert job.run({PAYMENT: 10 * SECOND}, later=MINUTE) == 8 * SECOND


def test_the_clock_moves_time_only_where_idle_is_written_and_all_are_silent() -> None:
    job = Job(_plan("idle 10 seconds"))
    assert job.run({PAYMENT: 10 * SECOND}) == 8 * SECOND
    assert job.run({}, later=9 * SECOND) == 8 * SECOND
    assert job.run({}, later=SECOND) == 8 * SECOND
    assert job.run({}, later=4 * SECOND) == 12 * SECOND
    assert job.run({}, later=MINUTE) == 72 * SECOND
    assert job.run({PAYMENT: 11 * SECOND}, later=SECOND) == 72 * SECOND
    assert job.run({}, later=9 * SECOND) == 72 * SECOND
    assert job.run({PAYMENT: 90 * SECOND}, later=SECOND) == 88 * SECOND


def test_the_clock_never_moves_time_past_itself() -> None:
    job = Job(_plan("idle 10 seconds"))
    begun = job.clock
    assert job.run({PAYMENT: begun + 100 * SECOND}) == begun + 98 * SECOND
    job.run({}, later=10 * SECOND)
    assert job.run({}, later=MINUTE) == begun + 98 * SECOND
    assert job.run({}, later=MINUTE) == begun + 130 * SECOND


def test_rules_that_a_deploy_begins_watch_from_its_watermark() -> None:
    job = Job(_plan())
    job.run({PAYMENT: 10 * SECOND})
    first = Manifest(1, {"desk": "r2"}, 4, job.clock)
    made = following(
        first, job.last, job.plan, Stretch(0), Standing({("desk", "whale"): 8 * SECOND}, NO_GENERATIONS)
    )
    assert made.since == {("desk", "whale"): 8 * SECOND}
