"""What waits in topics is counted and told, and consumer groups follow, whatever keeps brokers from that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, cast

import pytest
from confluent_kafka import Consumer
from kafka.errors import KafkaError
from topics_of_tests import topic, wait

from cep.decode.formats import FeedFormat
from cep.errors import OutsideError
from cep.job.running.backlog import BacklogWatch
from cep.sources.kafka.brokers import Brokers as Asked
from cep.sources.kafka.cluster import Cluster
from cep.sources.kafka.groups import publish
from cep.sources.source import Feed
from cep.sources.waiting import Pace, Waiting

if TYPE_CHECKING:
    from broker import Brokers

    from cep.sources.checkpoint import Checkpoint
    from cep.sources.source import AnySource


@pytest.mark.parametrize(
    ("seen", "expected"),
    [
        ([(0, 1_000)], Waiting(1_000, 100)),
        ([(0, 1_000), (9.9, 10)], Waiting(10, 100)),
        ([(0, 1_000), (10, 800)], Waiting(800, 100, 20.0)),
        ([(0, 1_000), (10, 1_000)], Waiting(1_000, 100, 0.0)),
        ([(0, 1_000), (10, 1_500)], Waiting(1_500, 100, -50.0)),
        # the last minute counts: before it nothing became less
        ([(0, 5_000), (50, 5_000), (100, 4_000), (110, 3_800)], Waiting(3_800, 100, 20.0)),
        # a look that comes late is measured from the one before
        ([(0, 5_000), (300, 2_000)], Waiting(2_000, 100, 10.0)),
    ],
)
def test_pace(seen: Sequence[tuple[float, int]], expected: Waiting) -> None:
    pace = Pace()
    for at, records in seen:
        found = pace.take(at, records, 100)
    assert found == expected


def test_a_time_is_told_of_what_gets_less() -> None:
    assert Waiting(800, 100, 20.0).seconds == 40
    assert [Waiting(800, 100, pace).seconds for pace in (None, 0.0, -1.0)] == [None] * 3
    assert [Waiting(n, 100).behind for n in (100, 101)] == [False, True]


@dataclass
class _Source:
    """A source of which this is asked alone."""

    end: int = 0
    fails: bool = False
    refuses: str | None = None
    published: list[Mapping[str, int]] = field(default_factory=list)
    counted: ClassVar[bool] = True
    at_once: ClassVar[int] = 10

    def reached(self, _: object, stream: str, batch: int) -> Mapping[str, int]:
        return {f"{stream}/0": batch}

    def ends(self, _: object, stream: str) -> Mapping[str, int]:
        if self.fails:
            raise OutsideError("no broker answers")
        return {f"{stream}/0": self.end, f"{stream}/1": 5}

    def publish(self, reached: Mapping[str, int]) -> str | None:
        self.published.append(reached)
        return self.refuses


class _Checkpoint:
    def offsets(self, batch: int) -> dict[str, Any]:
        return {"a": 0} | ({"b": 0} if batch > 3 else {})


def test_feeds_are_counted_from_the_batch_that_reads_them_and_while_brokers_answer() -> None:
    a, b, shown, told = _Source(100), _Source(50), list[Mapping[str, Waiting]](), list[str]()
    feeds = [Feed(name, cast("AnySource", one), FeedFormat()) for name, one in (("a", a), ("b", b))]
    now = [0.0]
    watch = BacklogWatch(feeds, cast("Checkpoint", _Checkpoint()), shown.append, told.append, lambda: now[0])
    watch.look()  # before the first batch
    watch.wake(2)
    watch.look()
    watch.wake(52)
    now[0], b.fails, a.refuses = 20.0, True, "not allowed"
    watch.look()
    watch.look()
    b.fails, a.refuses = False, None
    watch.look()
    a.refuses = "not allowed"
    watch.look()
    assert shown[0] == {"a": Waiting(103, 10)}
    assert shown[1] == {"a": Waiting(53, 10, 2.5)}
    assert [set(one) for one in shown] == [{"a"}, {"a"}, {"a"}, {"a", "b"}, {"a", "b"}]
    assert told == ["feed a: not allowed"] * 2, "once, and once more after it was well"
    assert a.published == [{"a/0": 2}, *[{"a/0": 52}] * 4]


def test_the_end_of_a_job_publishes_its_last_batch() -> None:
    a = _Source(100)
    with ExitStack() as stack:
        feeds = [Feed("a", cast("AnySource", a), FeedFormat())]
        watch = BacklogWatch(feeds, cast("Checkpoint", _Checkpoint()), _nothing, _nothing, lambda: 0.0)
        watch.start(stack)
        watch.wake(7)
    assert a.published[-1] == {"a/0": 7}


def _nothing(_: object) -> None:
    pass


@pytest.mark.kafka
def test_offsets_are_committed_unless_the_group_has_members(kafka: Brokers) -> None:
    own = topic(kafka)
    own.put([{"card": f"c{n}"} for n in range(30)])
    group, admin = f"desk-{own.name}", Asked.of(Cluster(kafka.servers)).admin

    def committed() -> dict[str, int]:
        found: dict[Any, Any] = {}
        with kafka.admin() as asking, suppress(KafkaError):
            found = asking.list_group_offsets(group)[group]
        return {f"{at.topic}/{at.partition}": one.offset for at, one in found.items()}

    reached = {f"{own.name}/{n}": n + 1 for n in range(3)}
    assert publish(admin, group, {}) is None
    # a coordinator that is new to its work refuses for a moment
    wait(lambda: publish(admin, group, reached) is None and committed() == reached)
    gone = {"gone-topic/0": 3, f"{own.name}/0": 9}
    assert publish(admin, group, gone) is None
    assert committed() == reached | {f"{own.name}/0": 9}, "what is gone holds up nothing"
    member = Consumer(
        {"bootstrap.servers": kafka.servers, "group.id": group, "auto.offset.reset": "earliest"}
    )
    try:
        member.subscribe([own.name])
        wait(lambda: member.poll(0.2))
        said = publish(admin, group, reached)
    finally:
        member.close()
    why = "consumers are members of it; name one of the job's own"
    assert said == f"offsets are not committed under the group {group}: {why}"
