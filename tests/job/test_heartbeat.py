"""An idle job has a batch every five seconds, and one at once when something comes."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import psutil
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from job_folder import JobFolder
from rules_of_tests import BEGIN, SECOND, pack, payments

from cep.batch.clock import Partition
from cep.errors import OutsideError
from cep.events import MAX_TIME, MIN_TIME
from cep.job.batches.heartbeat import HEARTBEAT, Heartbeat
from cep.job.clocks.idle import AllIdle, idle_partitions, next_change, paced
from cep.sources.checkpoint import Checkpoint
from cep.sources.files.files import Files
from cep.sources.source import AnySource

LOOK = 0.5
CHECKPOINT = Checkpoint(Path("nowhere"))


@dataclass
class World:
    """Sources, by name, to which something comes at given moments, and a clock that waiting moves.

    Those of `mute` give the same sign whatever comes, those of `silent` none.
    """

    comes: Mapping[str, list[float]]
    asked_at: float = 1e9
    mute: frozenset[str] = frozenset()
    silent: frozenset[str] = frozenset()
    now: float = 0.0
    read: dict[str, int] = field(default_factory=dict)

    def source(self, name: str) -> AnySource:
        return cast(AnySource, _Counted(self, name))

    def come(self, name: str) -> int:
        return sum(at <= self.now for at in self.comes[name])

    def batch(self) -> set[str]:
        """What a batch reads that begins now, and takes a tenth of a second."""
        new = {name for name in self.comes if self.come(name) > self.read.get(name, 0)}
        self.read |= {name: self.come(name) for name in new}
        self.now += 0.1
        return new

    def wait(self, seconds: float) -> bool:
        self.now += seconds
        return False


@dataclass
class _Counted:
    world: World
    name: str

    def sign(self, _: Checkpoint, stream: str) -> object:
        assert stream == self.name
        if self.name in self.world.silent:
            return None
        return 0 if self.name in self.world.mute else self.world.come(self.name)


class _Waits(threading.Event):
    def __init__(self, world: World) -> None:
        super().__init__()
        self._world = world

    def wait(self, timeout: float | None = None) -> bool:
        assert timeout is not None
        return self._world.wait(timeout)


def _heartbeat(world: World) -> Heartbeat:
    sources = {name: world.source(name) for name in world.comes}
    asked = lambda: world.now >= world.asked_at  # noqa: E731
    return Heartbeat(lambda: sources, CHECKPOINT, asked, 1.0, lambda: world.now)


moments = st.lists(st.floats(0, 60), max_size=6)


@settings(max_examples=examples(300), deadline=None)
@given(
    st.dictionaries(st.sampled_from("abc"), moments, min_size=1),
    st.sets(st.sampled_from("abc")),
    st.floats(0, 60),
)
def test_what_comes_is_read_at_once_or_with_the_next_heartbeat(
    comes: dict[str, list[float]], mute: set[str], asked_at: float
) -> None:
    world = World(comes, asked_at, frozenset(mute))
    heartbeat = _heartbeat(world)
    read_at: dict[str, list[float]] = {name: [] for name in comes}
    asked = None
    batches = 0
    while world.now < 80:
        begun = world.now
        before = dict(world.read)
        read = world.batch()
        batches += 1
        for name in read:
            read_at[name] += [begun] * (world.read[name] - before.get(name, 0))
        if asked is None and begun >= asked_at:
            asked, world.asked_at = begun, 1e9
        heartbeat.rest(read, world.now + 1e6, _Waits(world))
    for name, moments in comes.items():
        late = [at - came for came, at in zip(sorted(moments), read_at[name], strict=True)]
        most = HEARTBEAT if name in mute else LOOK
        assert all(one <= most + 0.2 + 1e-9 for one in late), (name, late)
        # once something came of which a source gave no sign, its signs are believed no more
        after_first = [at for at in sorted(moments) if at > 1]
        if name in mute and after_first and after_first[-1] > after_first[0] + HEARTBEAT + 1:
            assert late[-1] <= 0.2 + 1e-9
    assert asked is None or asked - asked_at <= HEARTBEAT
    if not mute:
        assert batches <= 80 / HEARTBEAT + 3 * (sum(map(len, comes.values())) + 2)


def test_without_signs_there_is_a_batch_at_every_trigger() -> None:
    world = World({"a": [], "b": []}, silent=frozenset("b"))
    heartbeat = _heartbeat(world)
    for _ in range(9):
        before = world.now
        heartbeat.rest(world.batch(), 1e6, _Waits(world))
        assert world.now - before <= 0.1 + 1e-9


def test_a_source_that_cannot_be_asked_leaves_it_to_the_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World({"a": []})
    heartbeat = _heartbeat(world)
    for _ in range(3):
        heartbeat.rest(world.batch(), 1e6, _Waits(world))
    assert world.now > HEARTBEAT

    def away(*_: object) -> object:
        raise OutsideError("no broker answers", "start one")

    monkeypatch.setattr(_Counted, "sign", away)
    before = world.now
    heartbeat.rest(world.batch(), 1e6, _Waits(world))
    assert world.now - before <= 0.1 + 1e-9


def test_the_clock_and_a_stop_end_it_sooner() -> None:
    world = World({"a": []})
    heartbeat = _heartbeat(world)
    heartbeat.rest(world.batch(), 1e6, _Waits(world))
    heartbeat.rest(world.batch(), world.now + 1.3, _Waits(world))
    assert world.now == pytest.approx(1.5)
    stopping = threading.Event()
    stopping.set()
    heartbeat.rest(world.batch(), 1e6, stopping)
    assert world.now == pytest.approx(1.6)


_partitions = st.tuples(st.sampled_from(["fast", "slow"]), st.sampled_from(["", "0", "1"]))


@settings(max_examples=examples(300), deadline=None)
@given(
    st.dictionaries(_partitions, st.integers(0, 40), max_size=4),
    st.fixed_dictionaries({"fast": st.none() | st.integers(1, 30), "slow": st.none() | st.integers(1, 30)}),
    st.integers(0, 60),
    st.none() | st.builds(AllIdle, st.integers(0, 60), st.just(MIN_TIME) | st.integers(0, 100)),
    st.integers(0, 200) | st.just(MAX_TIME),
)
def test_the_clock_changes_nothing_before_it_says_so(
    last_active: dict[Partition, int],
    timeouts: dict[str, int | None],
    elapsed: int,
    of: AllIdle | None,
    due: int,
) -> None:
    read = ("fast", "slow")
    last_active = {one: min(at, elapsed) for one, at in last_active.items()}
    silent = idle_partitions(last_active, read, timeouts, elapsed)
    before = paced(of, read, timeouts, elapsed, MAX_TIME)
    if of is not None and of.since > elapsed:
        return
    wait = next_change(last_active, read, timeouts, elapsed, of, due)
    for later in range(elapsed, elapsed + min(wait, 300)):
        assert idle_partitions(last_active, read, timeouts, later) == silent
        assert paced(of, read, timeouts, later, MAX_TIME) < max(due, before + 1)
    if wait <= 300:
        at = elapsed + wait
        changed = idle_partitions(last_active, read, timeouts, at) != silent
        assert changed or paced(of, read, timeouts, at, MAX_TIME) >= due


@pytest.mark.parametrize("pattern", ["in/*.jsonl", "in/", "in/a.jsonl", "*/a.jsonl", "in/{x,y}/*"])
def test_files_that_come_change_the_sign(tmp_path: Path, pattern: str) -> None:
    folder = tmp_path / ("in/y" if pattern.endswith("}/*") else "in")
    folder.mkdir(parents=True)
    source = Files(f"{tmp_path}/{pattern}")
    assert source.sign(CHECKPOINT, "s") != source.sign(CHECKPOINT, "s"), "the folders have just changed"
    _settle(tmp_path)
    before = source.sign(CHECKPOINT, "s")
    assert source.sign(CHECKPOINT, "s") == before
    (folder / "a.jsonl").touch()
    _settle(tmp_path)
    after = source.sign(CHECKPOINT, "s")
    assert after != before
    assert source.sign(CHECKPOINT, "s") == after
    (folder / "a.jsonl").write_text("more")
    assert source.sign(CHECKPOINT, "s") == after, "as Spark, which reads each file once"


def _settle(root: Path) -> None:
    """Makes the last change of every folder a change of long ago, each of another moment."""
    for path in (root, *root.rglob("*")):
        if path.is_dir():
            at = path.stat().st_mtime_ns - 10 * SECOND
            os.utime(path, ns=(at, at))


@pytest.mark.spark
def test_an_idle_job_rests_and_is_awake_at_once(tmp_path: Path) -> None:
    """What comes is read by a batch, and few batches were without; so is the clock's part in time."""
    silence = (
        "\nrule silence { by card  match a: payment -> absent payment for 5 seconds "
        "within 10 minutes  emit card }\n"
    )
    folder = JobFolder(tmp_path / "job", pack(idle="idle 2 seconds", more=silence), ("payment",), "100ms")
    folder.put("payment", payments(3, 200))
    with folder.running() as job:
        job.wait_until_read()
        folder.put("payment", [_payment("again", BEGIN + 3600 * SECOND)])
        job.wait_until_read()
        job.wait_for(lambda: _silent(folder) == {"c"}, "an alert that the clock alone brings")
        last = len(folder.commits())
        stopping = threading.Event()
        stopping.wait(2 * HEARTBEAT)
        assert len(folder.commits()) - last <= 4
        # nothing stays open of the tasks of a batch (SPARK-58932)
        assert len(_left_open(folder)) <= 4, "connections that Java does not close"
        (folder.root / "packs" / "pack.rules").write_text(pack(idle="idle 3 seconds", more=silence))
        _deploy(folder)
        assert job.stop() == 143, folder.told
    assert "Traceback" not in folder.told


def _payment(id_: str, moment: int) -> dict[str, Any]:
    from alerts.notation import timestamp

    return {"payment_id": id_, "at": timestamp(moment), "card": "c", "amount": 100.0}


def _silent(folder: JobFolder) -> set[object]:
    return {alert["emit"]["card"] for alert in folder.alerts() if alert["rule"] == "silence"} & {"c"}  # type: ignore[index]


def _left_open(folder: JobFolder) -> list[object]:
    """The connections of Java that the other side has closed."""
    (java,) = folder.processes_of("java")
    return [one for one in java.net_connections("tcp") if one.status == psutil.CONN_CLOSE_WAIT]


def _deploy(folder: JobFolder) -> None:
    from job_folder import command

    ended = command("deploy", folder.root / "packs", "--job", folder.description, environ=folder.environment)
    assert ended.returncode == 0, ended.stderr
