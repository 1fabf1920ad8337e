"""A match that two forks of a run come to is told once, when it is first decided, and then forgotten."""

from __future__ import annotations

from itertools import pairwise

import pytest
from duel import Program, by_engine, by_reference, difference, plan_of
from event_tables import tables
from random_packs import header
from random_streams import SECOND, Arrival, long_stream

from cep import told
from cep.evaluate import Session
from rules.instants import parse_instant

# Two rounds of one end at the second b; one round of two waits for another round until `within` is over.
TWICE = "rule r { by g  match a: e[k == 'a'] -> (b: e[k == 'b']{1,2} each){1,2}  within 10s }".replace(
    "'", '"'
)


def event(number: int, at: int, k: str) -> Arrival:
    values = {**long_stream(0, 1, 1, 1)[0].values, "id_": f"{number}", "at": at * SECOND, "g": "x", "k": k}
    return Arrival("e", "0", "one", values)


def fed(session: Session, first: int, came: list[Arrival]) -> list[tuple[int, dict[str, list[str]]]]:
    raised = session.feed(tables(session.plan.packs[0], came, first))
    return [(one.time // SECOND, dict(one.alert.events)) for one in raised]


@pytest.mark.parametrize("cuts", [(), (3,), (1, 2, 3), (2,)])
@pytest.mark.parametrize("restart", [False, True])
def test_a_match_decided_twice_is_told_when_it_is_first_decided(cuts: tuple[int, ...], restart: bool) -> None:
    came = [event(0, 0, "a"), event(1, 1, "b"), event(2, 2, "b"), event(3, 30, "c")]
    session = Session(plan_of(header(0) + TWICE))
    found = []
    for begin, end in zip((0, *cuts), (*cuts, len(came)), strict=True):
        found += fed(session, begin, came[begin:end])
        if restart:
            snapshot = session.snapshot()
            session = Session(session.plan)
            session.restore(snapshot)
    assert found == [(2, {"a": ["0"], "b": ["1", "2"]})]


def test_an_id_is_remembered_while_its_run_may_live(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many more matches than may be forgotten late, each over before the next begins."""
    monkeypatch.setattr(told, "OFTEN", 16)
    session = Session(plan_of(header(0) + TWICE))
    most = 0
    for first in range(0, 320, 8):
        came = [event(3 * n + m, 20 * n + m, k) for n in range(first, first + 8) for m, k in enumerate("abb")]
        assert len(fed(session, 3 * first, came)) == 8
        most = max(most, len(session.told.ids))
    assert 0 < most < 32


@pytest.mark.parametrize(
    ("pattern", "life"),
    [
        ("a: e -> b: e within 10s", None),
        ("a: e+ -> (b: e{2} & c: e) within 10s", None),
        ("a: e ~> b: e within 10s", 10),
        ("a: e -> b: e+ each within 10s", 10),
        ("a: e -> (b: e -> c: e{2,} any){2} within 10s", 10),
        ("a: e ~> b: e -> absent e for 1 minute within 10s", 70),
        ("a: e -> (b: e -> absent e for 20s){1,2} each -> absent e for 30s within 10s", 60),
    ],
)
def test_only_what_may_be_decided_again_is_remembered(pattern: str, life: int | None) -> None:
    session = Session(plan_of(f"{header(0)}rule r {{ match {pattern} }}"))
    assert session.told.lives.get(("p", "r")) == (None if life is None else life * SECOND)


def test_a_run_without_an_end_is_remembered_for_good() -> None:
    session = Session(plan_of(header(0) + "rule r { match a: e ~> b: e within unbounded }"))
    came = [event(n, 100 * n, "a") for n in range(80)]
    assert len(fed(session, 0, came)) == len(session.told.ids) == 80 * 79 // 2


@pytest.mark.parametrize("cuts", [(), (1,), (2,), (3,), (1, 2, 3, 4)])
@pytest.mark.parametrize(("sign", "times"), [("~>", [1, 31]), ("->", [1, 31, 33])])
def test_events_of_used_ids_are_one_alert_while_a_run_may_live(
    cuts: tuple[int, ...], sign: str, times: list[int]
) -> None:
    """Later events have the ids of the first two, under which an alert was told."""
    rule = f'rule r {{ by g  match a: e[k == "a"] {sign} b: e[k == "b"] within 10s skip none }}'
    came = [event(0, 0, "a"), event(1, 1, "b"), event(1, 3, "b"), event(0, 30, "a"), event(1, 31, "b")]
    came += [event(0, 32, "a"), event(1, 33, "b")]
    batches = tuple(tuple(came[a:b]) for a, b in pairwise((0, *cuts, len(came))))
    program = Program(header(0) + rule, batches, frozenset({0}))
    answer = by_engine(program)
    assert [parse_instant(one["time"]) // SECOND for one in answer.alerts] == times
    assert not difference(program, by_reference(program), answer)
