"""What the page and dispatchers ask of a filled outbox is answered by indexes, in both databases."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import closing

import pytest
from some_alerts import SECOND, raised
from sqlalchemy import event, text
from stores import outbox_url

from alerts.grouping import Grouping, Manner, Rate
from alerts.outbox import BatchRecord, Held, Outbox, Settled, Wanted
from alerts.outbox.notifications import Making
from alerts.routing import Route
from alerts.settings import Settings
from alerts.stages.inhibit import Inhibitors
from alerts.stages.notifying import Notifying

pytestmark = [pytest.mark.usefixtures("store"), pytest.mark.slow]
COUNT, BATCHES = 4_000, 5
LARGE = ("outbox_alerts", "outbox_deliveries", "outbox_by_key", "outbox_by_rule")
ASKED: dict[str, Callable[[Outbox], object]] = {
    "newest": lambda box: box.alerts(limit=50, newest_first=True),
    "page": lambda box: box.alerts(Wanted(before=9_000), limit=50, newest_first=True),
    "rule": lambda box: box.alerts(Wanted(rule="rare"), limit=50, newest_first=True),
    "key": lambda box: box.alerts(Wanted(key={"card_id": "k77"}), limit=50),
    "times": lambda box: box.alerts(Wanted(since=90 * SECOND, until=91 * SECOND), limit=50),
    "alert": lambda box: box.alert(raised(5).id),
    "deliveries": lambda box: box.deliveries(raised(5).id),
    "due": lambda box: box.due("desk", 2**62, 100),
    "next": lambda box: box.next_due("desk", 5),
    "waiting": lambda box: box.waiting(["desk", "pager"]),
    "failed": lambda box: box.status(),
    "over the rate": lambda box: box.due("desk", 2**62, 100, but="rate"),
    "group": lambda box: box.make([GROUP], STAGES, 2**62),
    "counted while paused": lambda box: box.pending_after("desk", 500),
    "pending": lambda box: box.pending("desk"),
    "still pending": lambda box: box.still_pending("desk", range(40, 90)),
    "as a process begins": lambda box: box.take_up("desk", STAGES, 7),
    "hastened": lambda box: box.hasten("desk", 7),
    "settled": lambda box: box.settle([Settled("desk", 3, "delivered", 1, "204", None, 9)]),
    "redelivered": lambda box: box.redeliver("desk"),
}
GROUP = Making("desk", frozenset((1_001,)), "g", 0)
MANNER = Manner(Grouping(("rule",)), Rate(1, SECOND, "1 per second"), by_key=True)
STAGES = Notifying("desk", Settings({"desk": MANNER}), Inhibitors(), {})


@pytest.fixture(scope="module")
def filled(store: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Outbox]:
    """Alerts of which nearly all were delivered."""
    folder = tmp_path_factory.mktemp(store)
    with closing(Outbox.open(outbox_url(folder), durable=False, clock=lambda: 5)) as box:
        for batch in range(BATCHES):
            some = [
                raised(n, rule="rare" if n % 1_000 == 0 else "often", key=f"k{n % 997}", time=n // 100)
                for n in range(batch * COUNT, (batch + 1) * COUNT)
            ]
            box.record(BatchRecord(batch, f"d{batch}", {}), some, [Route("desk"), Route("pager")])
            box.finish()
        for name in ("desk", "pager"):
            due = [one.number for one in box.due(name, 2**62, COUNT * BATCHES)]
            states = [("failed" if n % 2_000 == 7 else "delivered", n) for n in due if n % 1_000]
            box.settle([Settled(name, n, state, 1, "204", None, 9) for state, n in states])
            box.settle([], held=[Held(name, n, "group", "", 2**40, 9, "g") for n in due if not n % 3_000])
        if box.shared:  # it does so by itself in time; SQLite never does
            with box.writing() as connection:
                connection.execute(text("ANALYZE"))
        yield box


def plans(box: Outbox, ask: str) -> list[str]:
    """The plan of each statement by which the outbox answers."""
    said: list[tuple[str, object]] = []

    def note(*given: object) -> None:
        said.append((str(given[2]), given[3]))

    event.listen(box._engine, "before_cursor_execute", note)
    try:
        ASKED[ask](box)
    finally:
        event.remove(box._engine, "before_cursor_execute", note)
    explain = "EXPLAIN QUERY PLAN " if not box.shared else "EXPLAIN "
    found = []
    with box.reading() as connection:
        for statement, values in said:
            if statement.startswith(("SELECT", "UPDATE", "DELETE")) and any(
                one in statement for one in LARGE
            ):
                rows = connection.exec_driver_sql(explain + statement, values)
                found.append("\n".join(str(row[-1]) for row in rows))
    return found


def scanned(box: Outbox, plan: str) -> set[str]:
    """The large tables that a plan goes through row by row, or through all rows of a receiver."""
    form = r"Seq Scan on (\w+)" if box.shared else r"(?:SCAN (?=\w+$)|SEARCH (?=.*KEY \(receiver=.\)$))(\w+)"
    return set(re.findall(form, plan, re.MULTILINE)) & set(LARGE)


@pytest.mark.parametrize("ask", ASKED)
def test_an_index_answers(filled: Outbox, ask: str) -> None:
    found = plans(filled, ask)
    assert found
    for plan in found:
        assert not scanned(filled, plan), plan


def test_what_no_index_answers_is_seen(filled: Outbox) -> None:
    explain = "EXPLAIN" if filled.shared else "EXPLAIN QUERY PLAN"
    for table, where in (("outbox_alerts", "batch = 3"), ("outbox_deliveries", "outcome = 'x'")):
        with filled.reading() as connection:
            rows = connection.execute(text(f"{explain} SELECT count(*) FROM {table} WHERE {where}"))
            assert scanned(filled, "\n".join(str(row[-1]) for row in rows)) == {table}
