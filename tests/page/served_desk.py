"""A desk for tests of the page: an outbox that a job wrote, without Spark, and the page served over it."""

from __future__ import annotations

import itertools
import json
import socket
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from stores import outbox_section

from alerts.alert import Alert
from alerts.identity import alert_id
from alerts.notation import timestamp
from alerts.outbox import BatchRecord, Outbox, StoredAlert
from alerts.outbox.deliveries import Settled
from alerts.outbox.episodes import assign_some
from alerts.raised import Raised
from alerts.routing import Routes
from alerts.web_server import Limits, WebServer
from cep.config import Job, load_job
from cep.decode.letters import DeadLetter
from cep.job.shipping import packs as stored_packs
from cep.job.state_folder import dead_letters
from cep.job.state_folder.folder import StateFolder
from cep.job.state_folder.manifest import Result
from cep.plan.plan import hit_streams
from cep.standing.store import QueryStore
from cep.web.access.policy import Access
from cep.web.desk.desk import JobDesk
from cep.web.page.app import PageSettings, page
from cep.web.page.live import Pace
from cep.web.page.site import Events
from rules.packs import load
from rules.typed import Pack

ROOT = Path(__file__).parents[2]
PACK = ROOT / "examples" / "fraud" / "packs"
SECOND = 10**9
HOUR = 3_600 * SECOND
NOON = 1_767_614_400 * SECOND
"""2026-01-05T12:00:00Z, the wall clock of these tests unless they move it."""
SECRETS = {
    "ANNA": "anna-may-operate-0123456789abcdef",
    "RITA": "rita-may-read-0123456789abcdef0",
    "DORA": "dora-may-deploy-0123456789abcdef",
    "SHOP": "shop-may-bring-0123456789abcdef0",
}
JOB = """
[job]
name = "{name}"
packs = "packs/"
state = "state/"
trigger = "1 second"

[feeds.payment]
source = "files"
path = "inbox/payment/*.jsonl"

[feeds.chargeback]
source = "files"
path = "inbox/chargeback/*.jsonl"

[receivers.desk]
kind = "webhook"
url = "{url}"
secret = "${{DESK_SECRET}}"

[receivers.archive]
kind = "file"
path = "alerts.jsonl"

[http]
listen = "127.0.0.1:0"

[tokens.anna]
secret = "${{ANNA}}"
scopes = ["operate"]

[tokens.rita]
secret = "${{RITA}}"
scopes = ["read"]

[tokens.dora]
secret = "${{DORA}}"
scopes = ["deploy"]

[tokens.shop]
secret = "${{SHOP}}"
scopes = ["ingest"]
"""


@dataclass
class ServedDesk:
    """A job's folder with an outbox that it writes to, and the address of its page."""

    folder: Path
    job: Job
    outbox: Outbox
    desk: JobDesk
    revision: str
    now: list[int]
    address: str = ""
    batches: Iterator[int] = field(default_factory=lambda: itertools.count())
    live: Any = None

    def raise_alerts(self, some: Sequence[Raised]) -> list[StoredAlert]:
        """Record a batch with these alerts, and assign them to episodes; what is newly there."""
        before = self.outbox.alerts(limit=1, newest_first=True)
        self.record(some, self.job.routes)
        from alerts.outbox import Wanted

        return self.outbox.alerts(Wanted(after=before[0].number) if before else None)

    def record(self, some: Sequence[Raised], routes: Routes) -> None:
        """Record a batch with these alerts, and assign them to episodes."""
        number = next(self.batches)
        seconds = {("payment", 0): self.now[0] - HOUR, ("chargeback", 0): self.now[0] - HOUR}
        result = Result(
            {"fraud": self.revision}, self.now[0] - HOUR, seconds, {}, self.now[0], 0, None, {},
            {("fraud", "velocity"): 7}, False,
        )  # fmt: skip
        record = BatchRecord(number, f"digest {number}", result.as_dict())
        self.outbox.record(record, some, routes)
        with self.outbox.writing() as connection:
            while assign_some(connection, lambda _pack, _rule: HOUR):
                pass

    def settle(self, receiver: str, number: int, state: str, outcome: str) -> None:
        """Write what came of an attempt."""
        due = self.now[0] + 60 * SECOND if state == "pending" else None
        self.outbox.settle([Settled(receiver, number, state, 1, outcome, due, self.now[0])])  # type: ignore[arg-type]

    def bury(self, data: bytes, reason: str, feed: str = "payment") -> None:
        """Keep a dead letter."""
        letter = DeadLetter(feed, "inbox/payment/1.jsonl", 17, "decode", reason, data)
        with self.outbox.writing() as connection:
            dead_letters.write(connection, 0, [letter])


def alert(number: int, **given: Any) -> Raised:
    """An alert of its own for every number."""
    values: dict[str, Any] = {
        "rule": "velocity", "severity": "low", "key": {"card_id": f"c{number}"},
        "time": NOON - HOUR + number * SECOND,
        "summary": f"{number} payments on c{number} within ten minutes",
        "emit": {"payments": number, "spent": 12.5},
        "events": {"first": [f"p{number}"], "last": [f"q{number}"]},
        "tags": ["card"], "runbook": "https://desk.example/velocity", "pack": "fraud", "revision": "r1",
        "suppressed": 0,
    } | given  # fmt: skip
    moment = values.pop("time")
    suppressed = values.pop("suppressed")
    key = list(map(str, values["key"].values()))
    id_ = alert_id(values["pack"], values["rule"], "s1", "match", key, [("first", [f"p{number}"])])
    made = Alert(id=id_, kind="match", time=timestamp(moment), **values)
    assert made.suppressed == suppressed
    return Raised.of(made, moment, (number,), None)


def prepared(folder: Path, url: str = "http://127.0.0.1:9/", name: str = "fraud") -> ServedDesk:
    """The folder of a job that has run, with its pack, and nothing in its outbox."""
    text = JOB.format(name=name, url=url) + outbox_section(folder / "state")
    (folder / "job.toml").write_text(text, "utf-8")
    environ = {**SECRETS, "DESK_SECRET": "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIz"}
    job = load_job(folder / "job.toml", environ).need()
    state = StateFolder(job.state)
    state.make()
    state.packs.mkdir(exist_ok=True)
    pack = load([PACK]).pack
    assert pack is not None
    stored_packs.store(state.packs, pack)
    now = [NOON]
    outbox = Outbox.open(job.outbox_url(environ), durable=False, clock=lambda: now[0])
    desk = JobDesk(outbox, job, environ, clock=lambda: now[0])
    return ServedDesk(folder, job, outbox, desk, pack.revision, now)


@contextmanager
def served(
    place: ServedDesk, *, events: Events | None = None, pace: Pace | None = None, streams_each: int = 20
) -> Iterator[ServedDesk]:
    """Serve its page on a free port of loopback."""
    access = Access.of(place.job, place.desk.environ, "127.0.0.1")
    settings = PageSettings("k" * 32, events=events, pace=pace or Pace(0.05), streams_each=streams_each)
    app = page(place.desk, access, settings)
    listening = socket.create_server(("127.0.0.1", 0))
    server = WebServer(app, listening, Limits())
    place.address = f"http://127.0.0.1:{listening.getsockname()[1]}"
    place.live = app.state.live
    server.start()
    try:
        yield place
    finally:
        server.stop()
        place.outbox.close()


NEWS = """pack news version "1"
stream article { url: string  title: text  body: text  at: timestamp  id url  time at }
queries watchlist { from "watchlist.jsonl" }
rule watched { on article matching watchlist  emit query }
"""


def with_queries(place: ServedDesk, queries: Sequence[Mapping[str, object]]) -> None:
    """Have the job run a second pack, which asks standing queries, compiled as a job compiles them."""
    folder = place.folder / "news"
    folder.mkdir()
    (folder / "news.rules").write_text(NEWS, "utf-8")
    (folder / "watchlist.jsonl").write_text("\n".join(map(json.dumps, queries)), "utf-8")
    pack = load([folder / "news.rules"]).need()
    for hits in hit_streams(pack):
        QueryStore(StateFolder(place.job.state).queries).put(hits)
    run_also(place, pack)


def run_also(place: ServedDesk, pack: Pack) -> None:
    """Have the job run one more pack from its last batch on."""
    stored_packs.store(StateFolder(place.job.state).packs, pack)
    last = place.outbox.last_batch()
    revisions = {"fraud": place.revision, pack.name: pack.revision}
    now = place.now[0]
    result = Result(revisions, now - HOUR, {}, {}, now, 0, None, {}, {}, False).as_dict()
    number = next(place.batches) if last is None else last.number + 1
    place.batches = itertools.count(number + 1)
    place.outbox.record(BatchRecord(number, f"digest {number}", result), [], place.job.routes)


def a_desk_at_work(place: ServedDesk) -> Mapping[str, StoredAlert]:
    """Alerts of several rules, deliveries in every state, a dead letter; some of the alerts by name."""
    some = [
        alert(n, rule=rule, severity=severity, key=key, summary=summary, revision=place.revision)
        for n, (rule, severity, key, summary) in enumerate(_WORK)
    ]
    found = place.raise_alerts(some)
    place.settle("desk", found[0].number, "delivered", "200 OK")
    place.settle("desk", found[1].number, "failed", "500 Internal Server Error")
    place.settle("desk", found[2].number, "pending", "no connection: refused")
    for one in found:
        place.settle("archive", one.number, "delivered", "written")
    place.bury(b'{"payment_id": "p1", "amount": ', "unexpected end of JSON")
    return {"delivered": found[0], "failed": found[1], "pending": found[2], "last": found[-1]}


_WORK = [
    ("velocity", "low", {"card_id": "c1"}, "12 payments on c1 within ten minutes: 431.2"),
    (
        "compromised_terminal",
        "critical",
        {"terminal_id": "t7"},
        "3 chargebacks at t7, and it took 88 from c4",
    ),
    ("stolen_card_again", "critical", {"card_id": "c9"}, "901.5 on c9 after a chargeback of 640"),
    ("large_amount", "high", {"card_id": "c2"}, "1200 on c2 at t3"),
    ("gift_cards", "medium", {"card_id": "c5"}, "c5 bought gift cards for 500"),
    ("velocity", "low", {"card_id": "c1"}, "14 payments on c1 within ten minutes: 502"),
    ("terminal_gone_quiet", "low", {"terminal_id": "t7"}, "t7 took nothing for two days after 3 chargebacks"),
    ("large_amount", "high", {"card_id": "c6"}, "980 on c6 at t1"),
    ("spending_jump", "high", {"card_id": "c8"}, "640 on c8, 41.3 is usual"),
    ("velocity", "low", {"card_id": "c3"}, "11 payments on c3 within ten minutes: 310"),
]
