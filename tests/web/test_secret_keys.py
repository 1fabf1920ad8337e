"""A desk is asked by the clear value of a secret key or by its hash, and keeps the hash alone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from recording import SECOND, Recording, at
from secretive import MASK_KEY, PACK, VALUE

from alerts.masking import Mask
from alerts.outbox import BatchRecord, Outbox
from alerts.outbox.episodes import assign_some
from alerts.outbox.silences import read_silences
from alerts.routing import Route
from alerts.silences import Silence
from cep.config import load_job
from cep.decode.letters import DeadLetter
from cep.job.batches.deployed_packs import Running
from cep.job.state_folder import dead_letters
from cep.job.state_folder.manifest import Result
from cep.web.desk.acting import Actor, acts_page
from cep.web.desk.alerts import alerts_page
from cep.web.desk.delivery_acts import ByFilter, redeliver_by_filter
from cep.web.desk.desk import JobDesk
from cep.web.desk.episodes import EpisodeFilter, episodes_page
from cep.web.desk.erasing import erase
from cep.web.desk.errors import UnfitError
from cep.web.desk.filters import Page, wanted
from cep.web.desk.letter_replays import replay_letters
from cep.web.desk.silence_acts import NewSilence, add_silence

MASK = Mask(MASK_KEY.encode())
HASH = MASK(VALUE)
JOB = """[job]
name = "j"
packs = "pack/"
state = "state/"
{key}
[feeds.pay]
source = "files"
path = "pay-*.jsonl"
[feeds.login]
source = "files"
path = "login-*.jsonl"
[receivers.desk]
kind = "file"
path = "desk.jsonl"
"""


def described(folder: Path, key: str = 'mask_key = "${MASK_KEY}"') -> Path:
    path = folder / "job.toml"
    path.write_text(JOB.format(key=key), "utf-8")
    return path


@dataclass(frozen=True)
class Secretive:
    folder: Path
    desk: JobDesk
    ann: Actor


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Secretive]:
    recording = Recording(tmp_path, PACK, mask=MASK)
    pays = [
        {"pid": f"p{n}", "ts": at(100 * n), "card": card, "shop": "s1", "amount": 9}
        for n, card in enumerate((VALUE, "c2", VALUE))
    ]
    recording.take(("pay", pays))
    environ = {"MASK_KEY": MASK_KEY}
    outbox = Outbox.open(f"sqlite:///{recording.state.root}/outbox.db", durable=False)
    watermark = recording.clock
    result = Result(
        {"p": recording.pack.revision}, watermark, {}, {}, watermark, 0, None, {}, {}, False
    ).as_dict()
    outbox.record(BatchRecord(0, "d", result), recording.raised[0], [Route("desk")])
    with outbox.writing() as connection:
        assign_some(connection, lambda *_: 3_600 * SECOND)
    job = load_job(described(tmp_path), environ).need()
    desk = JobDesk(outbox, job, environ, clock=lambda: watermark)
    yield Secretive(tmp_path, desk, Actor("ann", watermark))
    outbox.close()


def written_down(place: Secretive) -> str:
    acts = [one.details for one in acts_page(place.desk, Page()).acts]
    assert acts
    return json.dumps(acts, ensure_ascii=False)


@pytest.mark.parametrize("value", [VALUE, HASH])
def test_alerts_are_found_by_either(place: Secretive, value: str) -> None:
    rows = alerts_page(place.desk, wanted({"key": f"card={value}"}), Page()).alerts
    assert [one.alert["key"] for one in rows] == [{"card": HASH}] * 2
    by = {"key": f"card={value}"}
    found = redeliver_by_filter(
        place.desk, ByFilter(wanted(by), "desk", ["pending"], by), place.ann, dry_run=False
    )
    assert found.redelivered == 2
    assert VALUE not in json.dumps(
        [one.details for one in acts_page(place.desk, Page()).acts], ensure_ascii=False
    )


@pytest.mark.parametrize("value", [VALUE, HASH])
@pytest.mark.parametrize("name", ["card", "key.card", "emit.card"])
def test_a_silence_is_kept_by_the_hash(place: Secretive, name: str, value: str) -> None:
    matchers = [f'{name} = "{value}"', 'shop != "x"', f'card =~ "{HASH[:4]}.*"']
    view = add_silence(place.desk, NewSilence(matchers, "noisy", length=SECOND), place.ann)
    assert view.matchers[0] == f"{name} = {HASH}"
    with place.desk.outbox.reading() as connection:
        (silence,) = read_silences(connection)
    assert isinstance(silence, Silence)
    assert VALUE not in json.dumps(
        [one.details for one in acts_page(place.desk, Page()).acts], ensure_ascii=False
    )


@pytest.mark.slow
@pytest.mark.parametrize("value", [VALUE, HASH])
def test_either_is_erased(place: Secretive, value: str) -> None:
    done = erase(place.desk, f"card={value}", place.ann, dry_run=False, rest=lambda _: None)
    assert (done.alerts, done.episodes, done.events) == (2, 1, 2)
    rows = alerts_page(place.desk, wanted({}), Page()).alerts
    assert [one.alert["key"] for one in rows] == [{"card": MASK("c2")}]
    state = place.folder / "state"
    found = [
        one for one in state.rglob("*") if one.is_file() and one.name.startswith("outbox.db")
        and (HASH.encode() in one.read_bytes() or VALUE.encode() in one.read_bytes())
    ]  # fmt: skip
    assert found == []


def test_a_letter_without_bytes_is_not_read_again(place: Secretive) -> None:
    """Mended bytes would be kept in the clear."""
    letter = DeadLetter("pay", "pay-0.jsonl", 7, "decode", "it cannot be read", b"")
    with place.desk.outbox.writing() as connection:
        dead_letters.write(connection, 0, [letter])
    for data in (None, b"{}"):
        with pytest.raises(UnfitError, match="secret fields, of which no bytes are kept"):
            replay_letters(place.desk, ["1"], place.ann, data=data)


def test_episodes_are_by_the_hash(place: Secretive) -> None:
    found = episodes_page(place.desk, EpisodeFilter(("open",)), Page()).episodes
    assert sorted((one.key["card"], one.alerts) for one in found) == sorted([(HASH, 2), (MASK("c2"), 1)])


def test_packs_with_secrets_need_a_key(place: Secretive) -> None:
    packs = {"p": Recording(place.folder / "again", PACK).pack}
    assert [one.code for one in Running(packs, place.desk.job).findings() if one.level == "error"] == []
    job = load_job(described(place.folder, ""), {}).need()
    (found,) = (one for one in Running(packs, job).findings() if one.code == "CEP0728")
    assert found.level == "error"
    assert found.span is not None
    assert found.span.text == "card: string? secret"
    plain = {"p": Recording(place.folder / "plain", PACK.replace(" secret", "")).pack}
    assert "CEP0728" not in {one.code for one in Running(plain, job).findings()}
