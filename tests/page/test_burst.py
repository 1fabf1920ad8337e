"""A burst of alerts in one batch: the page answers, groups have all that is theirs, receivers get no
more than they can take, and nothing is lost."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx
import pytest
from effort import examples
from served_desk import SECOND, ServedDesk, alert, prepared, served
from wayward_server import PATIENCE, WaywardServer

from alerts.dispatch import Dispatcher, Listeners
from alerts.grouping import Grouping, Manner, Rate
from alerts.matchers import Matchers
from alerts.outbox.silences import held_counts
from alerts.receivers.webhook import WebhookReceiver
from alerts.routing import Branch, Branches
from alerts.settings import Settings

ALERTS = min(50_000, max(10_000, 10 * examples(10_000)))
"""In one batch; ten thousand by `make test`, all by `make soak`. Who comes to the page has missed some."""
CARDS, SINGLE = 20_000, 500
RULES = ("velocity", "large_amount", "spending_jump", "gift_cards", "stolen_card_again")
SECRET = "whsec_" + "A" * 32
WAIT = 30 * SECOND
SETTINGS = Settings(
    {
        "desk": Manner(Grouping(("rule",), WAIT, 300 * SECOND)),
        "pager": Manner(rate=Rate(5, 60 * SECOND, "5 per minute")),
    }
)
ROUTES = Branches(
    (
        Branch(Matchers.of(["rule = terminal_gone_quiet"]), ("each",), go_on=True),
        Branch(Matchers(), ("desk", "pager")),
    )
)
PAGES = ("/", "/alerts", "/alerts?rule=velocity", "/episodes", "/rules", "/rules/fraud/velocity", "/silences")
PAGES += ("/receivers", "/feeds", "/packs", "/deadletters", "/batches", "/queries")


class Held:
    """Counts what is held back, and lets somebody wait for it."""

    def __init__(self) -> None:
        self.counts: Counter[tuple[str, str]] = Counter()
        self._came = threading.Condition()

    def __call__(self, receiver: str, reason: str) -> None:
        with self._came:
            self.counts[receiver, reason] += 1
            self._came.notify_all()

    def wait_for(self, receiver: str, reason: str, number: int) -> None:
        with self._came:
            reached = self._came.wait_for(lambda: self.counts[receiver, reason] >= number, PATIENCE)
        assert reached, self.counts


@contextmanager
def delivering(place: ServedDesk, servers: dict[str, WaywardServer], held: Held) -> Iterator[Dispatcher]:
    receivers = [WebhookReceiver(name, one.url, [SECRET]) for name, one in servers.items()]
    dispatcher = Dispatcher(
        place.outbox, receivers, clock=lambda: place.now[0], poll=0.05, settings=SETTINGS,
        listeners=Listeners(held=held),
    )  # fmt: skip
    dispatcher.start()
    try:
        yield dispatcher
    finally:
        assert dispatcher.stop(PATIENCE)
        assert dispatcher.failure is None


def burst(place: ServedDesk) -> dict[str, str]:
    """Raise all alerts in one batch; the rule of each by id."""
    rules = [RULES[n % 7 % 5] for n in range(ALERTS - SINGLE)] + ["terminal_gone_quiet"] * SINGLE
    some = [
        alert(n, rule=rule, key={"card_id": f"c{n * 104_729 % CARDS}"}, revision=place.revision)
        for n, rule in enumerate(rules)
    ]
    place.record(some, ROUTES)
    return {one.id: rule for one, rule in zip(some, rules, strict=True)}


def told(call_body: bytes) -> tuple[int, list[dict[str, object]]]:
    """How many alerts a notification is about, and those that it carries."""
    data = json.loads(call_body)["data"]
    return (data["count"], data["alerts"]) if "alerts" in data else (1, [data])


@pytest.mark.slow
def test_a_burst_is_grouped_throttled_shown_and_not_lost(tmp_path: Path) -> None:
    with ExitStack() as stack:
        place = stack.enter_context(served(prepared(tmp_path)))
        servers = {name: stack.enter_context(WaywardServer()) for name in ("desk", "pager", "each")}
        rules = burst(place)
        held = Held()
        with delivering(place, servers, held):
            held.wait_for("desk", "grouped", ALERTS // 2)
        # another process goes on, in the middle
        with delivering(place, servers, held) as dispatcher:
            held.wait_for("desk", "grouped", ALERTS)
            held.wait_for("pager", "throttled", ALERTS - 5)
            servers["each"].wait_for(lambda calls: len({one.id for one in calls}) == SINGLE)
            the_page_shows_it(place)
            assert not servers["desk"].calls
            move(place, dispatcher, WAIT)
            servers["desk"].wait_for(lambda calls: len(calls) >= len(set(rules.values())))
            move(place, dispatcher, 60 * SECOND)
            servers["pager"].wait_for(lambda calls: len(calls) >= 6)
            assert dispatcher.drain(PATIENCE)
        groups_are_right(servers["desk"], rules)
        nobody_got_more_than_the_rate(servers["pager"])
        every_alert_was_delivered(place)


def move(place: ServedDesk, dispatcher: Dispatcher, by: int) -> None:
    """Let the clock of the desk and of the dispatcher go on."""
    place.now[0] += by
    dispatcher.wake()


def the_page_shows_it(place: ServedDesk) -> None:
    with httpx.Client(base_url=place.address, trust_env=False, timeout=PATIENCE) as client:
        for path in PAGES:
            assert client.get(path).status_code == 200, path
        shown = [client.get("/").text for _ in range(3)][-1]  # by then the day is counted
        assert "Still counting" not in shown
        for reason, count in (("group", ALERTS), ("rate", ALERTS - 5)):
            assert f'<td>{reason}</td><td class="text">' in shown
            assert f'<td class="number">{count:,}</td>' in shown
        with client.stream("GET", "/alerts/stream?after=0") as stream:
            lines = stream.iter_lines()
            assert next(line for line in lines if line.startswith("event")) == "event: missed"
            assert next(lines) == f"data: {ALERTS}"


def groups_are_right(server: WaywardServer, rules: dict[str, str]) -> None:
    """One notification for each rule, about all of its alerts, with the newest hundred."""
    of_rule = Counter(rules.values())
    newest: dict[str, list[str]] = {}
    for id_, rule in rules.items():
        newest.setdefault(rule, []).append(id_)
    found = {}
    for call in server.calls:
        count, carried = told(call.body)
        (rule,) = {str(one["rule"]) for one in carried}
        assert [one["id"] for one in carried] == newest[rule][-100:]
        found[rule] = count
    assert found == of_rule
    assert len(server.calls) == len(of_rule)


def nobody_got_more_than_the_rate(server: WaywardServer) -> None:
    """Five within the first minute; what was over goes together, in the next."""
    assert [told(call.body)[0] for call in server.calls] == [1] * 5 + [ALERTS - 5]


def every_alert_was_delivered(place: ServedDesk) -> None:
    with place.outbox.reading() as connection:
        assert held_counts(connection) == {}
    status = place.outbox.status()
    assert {(name, one.pending, one.failed) for name, one in status.items()} == {
        ("desk", 0, 0), ("pager", 0, 0), ("each", 0, 0),
    }  # fmt: skip
    delivered = place.outbox._engine  # the rows themselves, not what the outbox counts
    with delivered.connect() as connection:
        query = "SELECT receiver, count(*) FROM outbox_deliveries WHERE state = 'delivered' GROUP BY 1"
        assert dict(connection.exec_driver_sql(query).all()) == {
            "desk": ALERTS, "pager": ALERTS, "each": SINGLE,
        }  # fmt: skip
