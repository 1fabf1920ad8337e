"""A job with an outbox, as tests of the desk, the API and the CLI have it: alerts, episodes, deliveries."""

from __future__ import annotations

from pathlib import Path

from stores import outbox_section, outbox_url

from alerts.alert import Alert
from alerts.identity import alert_id
from alerts.notation import timestamp
from alerts.outbox import BatchRecord, Outbox, Settled
from alerts.outbox.episodes import assign_some
from alerts.raised import Raised
from alerts.routing import Route
from cep.config import load_job
from cep.decode.letters import DeadLetter
from cep.job.state_folder.dead_letters import write
from cep.web.desk.desk import JobDesk

SECOND = 10**9
NOW = 1_800_000_000 * SECOND
"""The wall clock of the desk: 2027-01-15T08:00:00Z."""
TOKENS = {
    "READ_TOKEN": "read-0123456789-0123456789",
    "DESK_TOKEN": "desk-0123456789-0123456789",
    "DEPLOY_TOKEN": "deploy-0123456789-0123456789",
    "SHOP_TOKEN": "shop-0123456789-0123456789",
}
JOB = """[job]
name = "cards"
packs = "packs/"
state = "state/"
[feeds.payment]
source = "files"
path = "inbox/*.jsonl"
[receivers.desk]
kind = "file"
path = "desk.jsonl"
[receivers.night]
kind = "file"
path = "night.jsonl"
severity = "high"
[http]
listen = "127.0.0.1:0"
[tokens.reader]
secret = "${READ_TOKEN}"
scopes = ["read"]
[tokens.ann]
secret = "${DESK_TOKEN}"
scopes = ["operate"]
[tokens.ci]
secret = "${DEPLOY_TOKEN}"
scopes = ["deploy"]
[tokens.shop]
secret = "${SHOP_TOKEN}"
scopes = ["ingest"]
"""
ROUTES = [Route("desk"), Route("night", severity="high")]


def raised(card: str, second: int, rule: str = "card_testing", severity: str = "high") -> Raised:
    """An alert on a card at a second of event time."""
    id_ = alert_id("fraud", rule, "s", "event", [card], [("payment", [f"p{second}"])])
    alert = Alert(
        id_, "fraud", "r1", rule, "event", severity, timestamp(second * SECOND), {"card_id": card},
        f"{rule} on {card}", {}, {"payment": [f"p{second}"]}, [], None,
    )  # fmt: skip
    return Raised.of(alert, second * SECOND, (1,))


SOME = [
    raised("c1", 10),
    raised("c1", 20),
    raised("c2", 30, severity="critical"),
    raised("c3", 40, "large", "low"),
]
"""The alerts of a desk, in the order raised; the first two are one episode."""


def made(folder: Path) -> JobDesk:
    """A desk of a job that does not run: two batches with `SOME`, two dead letters, a failed delivery."""
    (folder / "job.toml").write_text(JOB + outbox_section(folder / "state"), "utf-8")
    (folder / "state").mkdir()
    (folder / "inbox").mkdir()
    outbox = Outbox.open(outbox_url(folder / "state"), durable=False, clock=lambda: NOW - 60 * SECOND)
    letters = [
        DeadLetter("payment", "in.jsonl", 7, "decode", "not JSON", b'{"id": \xff'),
        DeadLetter("payment", "gone.jsonl", 0, "lost", "is missing", b""),
    ]
    result: dict[str, object] = {"watermark": 3_620 * SECOND, "revisions": {"fraud": "r1"}}
    outbox.record(BatchRecord(0, "d0", result), SOME[:2], ROUTES, lambda c: write(c, 0, letters))
    outbox.record(BatchRecord(1, "d1", result), SOME[2:], ROUTES)
    outbox.settle([Settled("night", 1, "failed", 160, "500", None, NOW - SECOND)])
    with outbox.writing() as connection:
        assign_some(connection, lambda *_: 3_600 * SECOND)
    return JobDesk(outbox, load_job(folder / "job.toml", TOKENS).need(), TOKENS, clock=lambda: NOW)
