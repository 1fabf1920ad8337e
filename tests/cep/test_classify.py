"""Before the shuffle: what is late, what has no key, what no rule wants, and where the rest goes."""

from __future__ import annotations

from duel import pack_of
from event_tables import tables
from random_streams import SECOND, Arrival

from cep.batch.payload import unpack
from cep.counters import Overflows, StreamEvents
from cep.events import MIN_TIME
from cep.packs.compile import compile_plan
from cep.plan.plan import Plan
from cep.resources.resource import Resources
from cep.routing.classify import Classified, classify

STREAM = """pack p version "1"
stream e { id_: string  at: timestamp  k: string?  v: long  text_: string  id id_  time at }
stream f { id_: string  at: timestamp  k: string?  v: long  id id_  time at }
"""


def plan(rules: str) -> Plan:
    return compile_plan([pack_of(STREAM + rules)])


def event(number: int, at: int = 1, k: str | None = "x", v: int = 1, stream: str = "e") -> Arrival:
    values = {"id_": str(number), "at": at * SECOND, "k": k, "v": v, "text_": "long text"}
    return Arrival(stream, "p", "file", values)


def classified(plan: Plan, events: list[Arrival], shards: int = 1, watermark: int = MIN_TIME) -> Classified:
    return classify(plan, shards, tables(plan.packs[0], events), watermark, Resources())


def ids(found: Classified) -> dict[int, list[str]]:
    return {
        shard: sorted(id_ for s in unpack(payload) for id_ in s.table.column("@id").to_pylist())
        for shard, payload in found.payloads.items()
    }


RULE = "rule r { by k  match a: e[v > 5]{2} within 1 minute }\n"


def test_late_events_are_set_aside_as_they_were() -> None:
    found = classified(
        plan(RULE), [event(1, 3, v=9), event(2, 4, v=9), event(3, 5, v=9)], watermark=4 * SECOND
    )
    assert [e.table.column("@id").to_pylist() for e in found.late] == [["1"]]
    assert found.late[0].table.column_names == [
        "id_",
        "at",
        "k",
        "v",
        "text_",
        "@time",
        "@id",
        "@file",
        "@offset",
    ]
    assert ids(found) == {0: ["2", "3"]}
    assert found.counts[StreamEvents("e", "late")] == 1
    assert found.counts[StreamEvents("e", "accepted")] == 2


def test_an_event_that_no_rule_wants_goes_no_further() -> None:
    found = classified(plan(RULE), [event(1, v=1), event(2, v=2), event(3, v=1, stream="f")])
    assert found.payloads == {}
    assert found.counts[StreamEvents("e", "unwanted")] == 2
    assert found.seen.greatest == {("e", "p"): SECOND, ("f", "p"): SECOND}, "but it moves the watermark"


def test_every_event_of_a_strict_rules_streams_travels() -> None:
    strict = plan("rule r { by k  match a: e[v > 5] => b: f[v > 5] within 1 minute }")
    assert ids(classified(strict, [event(1, v=1), event(2, v=9, stream="f"), event(3, v=9)])) == {
        0: ["1", "2", "3"]
    }


def test_a_null_key_is_counted_and_meets_rules_without_key() -> None:
    both = plan(RULE + "rule s { match a: e[v > 5]{2} within 1 minute }")
    found = classified(both, [event(1, k=None, v=9), event(2, k="x", v=9)])
    assert found.counts[StreamEvents("e", "null_key")] == 1
    spaces = {s.space: s.table.column("@id").to_pylist() for s in unpack(found.payloads[0])}
    assert spaces == {"by k (string)": ["2"], "all": ["1", "2"]}


def test_only_the_columns_that_some_rule_needs_travel() -> None:
    needs = plan("rule r { by k  match a: e[v > 5] -> b: e[v > a.v] within 1 minute emit k, v = b.v }")
    (segment,) = unpack(classified(needs, [event(1, v=9)]).payloads[0])
    assert segment.table.column_names == [
        "@time", "@id", "@origin", "@offset", "@counted", "@bits", "k0", "c0", "f:v",
    ]  # fmt: skip


def test_equal_conditions_of_several_rules_are_evaluated_once() -> None:
    many = plan(
        "".join(f"rule r{n} {{ by k  match a: e[v > 5]{{{n}}} within 1 minute }}\n" for n in range(2, 9))
    )
    (space,) = many.spaces
    assert len(space.streams[0].atoms) == 1


def test_a_key_has_one_shard_whatever_the_rules_and_whatever_else_comes() -> None:
    events = [event(n, k=f"k{n % 40}", v=9) for n in range(200)]
    one = classified(plan(RULE), events, shards=7)
    other = classified(
        plan(RULE + "rule s { by k  match a: f[v > 1]{2} within 1 minute }"), events[60:], shards=7
    )
    homes = {id_: shard for shard, found in ids(one).items() for id_ in found}
    assert len(ids(one)) == 7
    for shard, found in ids(other).items():
        assert {homes[id_] for id_ in found} == {shard}
    by_key: dict[str, set[int]] = {}
    for number in range(200):
        by_key.setdefault(f"k{number % 40}", set()).add(homes[str(number)])
    assert all(len(shards) == 1 for shards in by_key.values())


def test_an_event_is_counted_in_one_space_only() -> None:
    two = plan(RULE + "rule s { match a: e[v > 7]{2} within 1 minute }")
    found = classified(two, [event(1, v=6), event(2, v=9)])
    counted = [c for s in unpack(found.payloads[0]) for c in s.table.column("@counted").to_pylist()]
    assert sum(counted) == 2
    assert len(counted) == 3


def test_overflows_are_null_and_counted() -> None:
    found = classified(plan(f"rule r {{ on e[v * {2**62} > 0] }}"), [event(1, v=3), event(2, v=1)])
    assert ids(found) == {0: ["2"]}
    assert found.counts[Overflows("stream", "", "e")] == 1
