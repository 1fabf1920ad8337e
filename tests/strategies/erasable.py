"""A job's folder that holds one value wherever an event, a person or a receiver can bring it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from recording import SECOND, Recording, at

from alerts.outbox import BatchRecord, Outbox, Settled
from alerts.outbox.episodes import assign_some
from alerts.outbox.notifications import Making, make, waiting_in
from alerts.raised import Raised
from alerts.routing import Route
from cep.config import load_job
from cep.decode.letters import DeadLetter
from cep.job.state_folder import dead_letters
from cep.job.state_folder.dead_letters import LateEvent
from cep.web.desk.acting import Actor
from cep.web.desk.delivery_acts import ByFilter, redeliver_by_filter
from cep.web.desk.desk import JobDesk
from cep.web.desk.episode_acts import EpisodeAct, change_episodes
from cep.web.desk.filters import wanted
from cep.web.desk.silence_acts import NewSilence, add_silence

VALUE = "zq7-Ünsal"
"""No other text has it; it is written in two ways in JSON."""
PACK = """pack p version "1"
stream pay { pid: string  ts: timestamp  card: string  shop: string  amount: double  id pid  time ts }
stream login { lid: string  ts: timestamp  holder: { card: string }  id lid  time ts }
rule large {
  on pay[amount > 5]
  by card
  emit card, amount
  summary "{amount} on {card}"
  suppress 1 hour by card
}
rule followed { by pay.card = login.holder.card  match a: pay => b: login within 1 hour }
rule busy { by shop  match a: pay => b: pay within 1 hour  emit used = b.card  summary "shop" }
"""
JOB = """[job]
name = "j"
packs = "pack/"
state = "state/"
[feeds.pay]
source = "files"
path = "pay-*.jsonl"
[feeds.login]
source = "files"
path = "login-*.jsonl"
[receivers.desk]
kind = "file"
path = "desk.jsonl"
[receivers.night]
kind = "file"
path = "night.jsonl"
[http]
listen = "127.0.0.1:0"
"""
ROUTES = [Route("desk"), Route("night")]
OTHER = "c2"


def pay(pid: str, second: int, card: str, shop: str = "s1", amount: float = 9) -> dict[str, object]:
    return {"pid": pid, "ts": at(second), "card": card, "shop": shop, "amount": amount}


def login(lid: str, second: int, card: str) -> dict[str, object]:
    return {"lid": lid, "ts": at(second), "holder": {"card": card}}


@dataclass(frozen=True)
class Erasable:
    """The folder, its desk, and what each batch raised."""

    folder: Path
    desk: JobDesk
    raised: list[list[Raised]]

    @property
    def ids(self) -> dict[str, list[str]]:
        """The ids of the alerts of each rule, in the order raised."""
        found: dict[str, list[str]] = {}
        for one in (one for some in self.raised for one in some):
            found.setdefault(one.rule, []).append(one.id)
        return found

    def holding(self, value: str = VALUE) -> list[str]:
        """The files of state folder and outbox that hold a value, in any form in which it is written."""
        forms = {value.encode(), json.dumps(value)[1:-1].encode()}
        files = [one for one in sorted((self.folder / "state").rglob("*")) if one.is_file()]
        found = [one for one in files if any(form in one.read_bytes() for form in forms)]
        return [str(one.relative_to(self.folder)) for one in found if one.suffix != ".parquet"] + [
            str(one.relative_to(self.folder)) for one in files if one.suffix == ".parquet" and _in(one, value)
        ]


def _in(file: Path, value: str) -> bool:
    """True if the rows of a file hold a value: they are compressed."""
    import pyarrow.parquet as pq

    return value in str(pq.read_table(file).to_pylist())


def erasable(folder: Path, url: str | None = None) -> Erasable:
    """The folder; with an outbox at `url`, else in SQLite beside the state."""
    recording = Recording(folder, PACK)
    recording.take(
        ("pay", [pay("p1", 0, VALUE), pay("p2", 1, OTHER), pay("p3", 2, VALUE, "s2")]),
        ("login", [login("l1", 3, VALUE), login("l2", 3, OTHER)]),
    )
    recording.take(("pay", [pay("p4", 5, VALUE, "s3"), pay("p5", 6, VALUE, "s2")]))
    recording.take(("pay", [pay("p6", 7, OTHER, "s3", 1)]))
    (folder / "job.toml").write_text(JOB, "utf-8")
    outbox = Outbox.open(
        url or f"sqlite:///{recording.state.root}/outbox.db", durable=False, clock=lambda: recording.clock
    )
    for batch, some in enumerate(recording.raised):
        letters, late = (_letters(), _late()) if batch == 0 else ([], [])
        outbox.record(
            BatchRecord(batch, f"d{batch}", {}), some, ROUTES,
            lambda to, batch=batch, letters=letters, late=late: dead_letters.write(to, batch, letters, late),  # type: ignore[misc]
        )  # fmt: skip
    with outbox.writing() as connection:
        assign_some(connection, lambda *_: 3_600 * SECOND)
    desk = JobDesk(outbox, load_job(folder / "job.toml", {}).need(), {}, clock=lambda: recording.clock)
    made = Erasable(folder, desk, recording.raised)
    _work(made, recording.clock)
    return made


def _letters() -> list[DeadLetter]:
    return [
        DeadLetter("pay", "pay-9.jsonl", 7, "decode", "not JSON", f'{{"card": "{VALUE}"'.encode()),
        DeadLetter("pay", "pay-9.jsonl", 90, "decode", f"`{VALUE}` is no number", b"x"),
        DeadLetter("pay", "pay-9.jsonl", 99, "decode", "not JSON", b'{"card": "c2"'),
    ]


def _late() -> list[LateEvent]:
    event = json.dumps({"lid": "l9", "holder": {"card": VALUE}})
    other = json.dumps({"lid": "l8", "holder": {"card": OTHER}})
    return [LateEvent("login", "login-9.jsonl", n, f"l{n}", 0, one) for n, one in ((9, event), (8, other))]


def _work(made: Erasable, at_: int) -> None:
    """What a desk and receivers write: replies, notes, silences, audit, a notification of several."""
    desk, ann = made.desk, Actor("ann", at_)
    outbox = desk.outbox
    outbox.settle([Settled("night", 1, "delivered", 1, f"200: thanks for {VALUE}", None, at_)])
    outbox.settle([Settled("desk", 2, "failed", 9, f"500: what about {VALUE}?", None, at_)])
    change_episodes(desk, [made.raised[0][0].id], EpisodeAct("acknowledge", note=f"I call {VALUE}"), ann)
    change_episodes(desk, [made.raised[0][1].id], EpisodeAct("acknowledge", note=f"as with {VALUE}"), ann)
    add_silence(desk, NewSilence([f"card = {VALUE}"], "noisy", length=3_600 * SECOND), ann)
    add_silence(desk, NewSilence(["rule = nothing"], f"after {VALUE} called", length=3_600 * SECOND), ann)
    by = {"key": f"card={VALUE}"}
    redeliver_by_filter(desk, ByFilter(wanted(by), "desk", ["failed"], by), ann, dry_run=False)
    with outbox.writing() as connection:
        numbers = frozenset(range(1, 6))
        making = Making("night", numbers, None, 0)
        (members,) = waiting_in(connection, [making], at_)
        make(connection, [(making, members)], at_)
