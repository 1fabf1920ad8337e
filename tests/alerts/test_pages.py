"""Pages of alerts are those that looking at every alert gives, however far the indexes have come."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from some_alerts import SECOND, raised
from stores import outbox_url

from alerts.outbox import BatchRecord, Outbox, Wanted, record, trailing
from alerts.outbox.stored import StoredAlert
from alerts.raised import Raised
from alerts.stages.order import in_order

pytestmark = pytest.mark.usefixtures("store")

SOME = st.lists(
    st.builds(
        lambda number, rule, pack, severity, key, time: raised(
            number, rule=rule, pack=pack, severity=severity, key=key, time=time
        ),
        st.integers(0, 10**6),
        st.sampled_from("ab"),
        st.sampled_from("pq"),
        st.sampled_from(["high", "low"]),
        st.sampled_from(
            ["x", "\N{LATIN SMALL LETTER E WITH ACUTE}", "long" * 80, "long" * 80 + "er", "\ud800"]
        ),
        st.integers(0, 9),
    ),
    max_size=25,
    unique_by=lambda one: one.id,
)
ANY = st.none()
WANTED = st.builds(
    Wanted,
    rule=ANY | st.sampled_from("abz"),
    severity=ANY | st.sampled_from(["high", "low", "info"]),
    batch=ANY | st.integers(-1, 4),
    since=ANY | st.integers(-1, 10).map(lambda n: n * SECOND),
    until=ANY | st.integers(-1, 10).map(lambda n: n * SECOND),
    after=ANY | st.integers(0, 25),
    pack=ANY | st.sampled_from("pq"),
    key=ANY
    | st.sampled_from(["x", "\N{LATIN SMALL LETTER E WITH ACUTE}", "long" * 80, "\ud800", "none"]).map(
        lambda card: {"card_id": card}
    ),
    before=ANY | st.integers(0, 26),
)


def fits(one: StoredAlert, wanted: Wanted) -> bool:
    """By definition."""
    fields = [(name, getattr(wanted, name)) for name in ("rule", "severity", "pack", "key")]
    return (
        all(value is None or one.alert[name] == value for name, value in fields)
        and wanted.batch in (None, one.batch)
        and (wanted.since is None or one.time >= wanted.since)
        and (wanted.until is None or one.time < wanted.until)
        and (wanted.after is None or one.number > wanted.after)
        and (wanted.before is None or one.number < wanted.before)
    )


@pytest.mark.slow
@settings(deadline=None, max_examples=examples(60))
@given(
    SOME,
    st.lists(st.integers(0, 25), max_size=3),
    st.integers(0, 25),
    st.lists(st.tuples(WANTED, st.none() | st.integers(0, 9), st.booleans()), min_size=5, max_size=8),
)
def test_pages_are_those_of_looking_at_every_alert(
    tmp_path_factory: pytest.TempPathFactory,
    some: Sequence[Raised],
    cuts: list[int],
    known: int,
    asked: list[tuple[Wanted, int | None, bool]],
) -> None:
    outbox = Outbox.open(outbox_url(tmp_path_factory.mktemp("outbox")), durable=False)
    ordered = in_order(some)
    edges = [0, *sorted(min(cut, len(ordered)) for cut in cuts), len(ordered)]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(record, "index_some", lambda _: False)
        for number, (start, end) in enumerate(pairwise(edges)):
            outbox.record(BatchRecord(number, f"d{number}", {}), ordered[start:end], [])
    with outbox.writing() as connection:
        trailing.index_some(connection, known)
    everything = outbox.alerts()
    assert [one.alert for one in everything] == [one.alert.as_dict() for one in ordered]
    for wanted, limit, newest_first in asked:
        expected = [one for one in everything if fits(one, wanted)][:: -1 if newest_first else 1]
        assert outbox.alerts(wanted, limit=limit, newest_first=newest_first) == expected[:limit], wanted
    outbox.close()


def test_alerts_whose_ids_begin_alike_are_all_kept(tmp_path: Path) -> None:
    """Four have a place under one head, in one batch or several; each id is still raised once."""
    outbox = Outbox.open(outbox_url(tmp_path), durable=False)

    def alike(number: int) -> Raised:
        one = raised(number)
        id_ = f"{'ab' * 7}c{number:049x}"
        return one._replace(id=id_, rank=one.rank[:-64] + id_.encode(), body=one.body.replace(one.id, id_))

    assert len(outbox.record(BatchRecord(0, "d", {}), [alike(1), alike(2)], []).alerts) == 2
    second = outbox.record(BatchRecord(1, "d", {}), [alike(n) for n in (1, 2, 3, 4)], [])
    assert ([one.id for one in second.alerts], second.repeated) == ([alike(n).id for n in (3, 4)], 2)
    assert [one.alert["id"] for one in outbox.alerts()] == [alike(n).id for n in (1, 2, 3, 4)]
    for number in (1, 2, 3, 4):
        found = outbox.alert(alike(number).id)
        assert found is not None
        assert found.alert["emit"] == {"n": number}
    assert outbox.alert(alike(5).id) is None
    assert outbox.alert("none") is None
    outbox.close()


def test_the_indexes_follow_a_large_batch(tmp_path: Path) -> None:
    outbox = Outbox.open(outbox_url(tmp_path), durable=False)
    outbox.record(BatchRecord(0, "d", {}), [raised(n) for n in range(record.MANY)], [])
    assert outbox._checkpoint is not None
    outbox._checkpoint.result()
    with outbox.reading() as connection:
        assert trailing.last_indexed(connection) == record.MANY
    outbox.record(BatchRecord(1, "e", {}), [raised(record.MANY)], [])
    with outbox.reading() as connection:
        assert trailing.last_indexed(connection) == record.MANY + 1
    outbox.close()
