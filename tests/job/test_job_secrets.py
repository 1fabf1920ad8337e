"""A value of a secret field is in no file, answer, page or metric of a job but where the pages say so."""

from __future__ import annotations

import json
import urllib.request
from pathlib import Path

import pytest
from job_folder import JobFolder
from ports import free_port
from recording import at
from secretive import MASK_KEY, PACK, VALUE

from alerts.masking import Mask
from alerts.outbox import Outbox
from cep.cli.main import main
from cep.web.page.app import VIEWS

MASK = Mask(MASK_KEY.encode())
FORMS = tuple({VALUE.encode(), VALUE.lower().encode(), json.dumps(VALUE)[1:-1].encode(), b"zq7-"})
DOES_NOT_REACH = ("checkpoint", "scratch")
"""What of the state folder holds the state of the engine, which needs the values."""
MORE = """[http]
listen = "127.0.0.1:{port}"
[receivers.desk]
kind = "file"
path = "desk.jsonl"
"""


def with_key(folder: JobFolder) -> JobFolder:
    text = folder.description.read_text("utf-8")
    folder.description.write_text(text.replace("[job]\n", '[job]\nmask_key = "${MASK_KEY}"\n', 1), "utf-8")
    return folder


def pay(pid: str, second: float, card: str | None) -> dict[str, object]:
    return {"pid": pid, "ts": at(second), "card": card, "shop": "s1", "amount": 9}


def holding(*paths: Path) -> list[str]:
    """The files among these, and below them, that hold the value."""
    every = (one for path in paths for one in (path, *path.rglob("*")) if one.is_file())
    return sorted(str(one) for one in every if any(form in one.read_bytes() for form in FORMS))


@pytest.mark.spark
def test_the_value_is_nowhere(tmp_path: Path) -> None:
    environ, port = {"MASK_KEY": MASK_KEY}, free_port()
    pack = PACK.replace("within 1 hour\n", "within 1 hour\n  limit 3 runs\n", 1)
    made = JobFolder(tmp_path / "job", pack, ("pay", "login"), more=MORE.format(port=port), environ=environ)
    folder = with_key(made)
    folder.put("pay", [pay(f"p{n}", n, VALUE) for n in range(8)])
    folder.put(
        "pay", [f'{{"card": "{VALUE}", "pid": 1'.encode(), json.dumps({"card": VALUE, "ts": VALUE}).encode()]
    )
    folder.put("login", [{"lid": "l1", "ts": at(20), "holder": VALUE}])
    with folder.running() as job:
        job.wait_until_read()
        folder.put("pay", [pay("late", -3_000, VALUE), pay("p90", 4_000, VALUE)])
        folder.put("login", [{"lid": "l2", "ts": at(8_000), "holder": VALUE}])
        job.wait_until_read()
        folder.put("pay", [pay("later", -3_000, VALUE), pay("p91", 8_000, "c2")])
        job.wait_until_read()
        told = list(answers(f"http://127.0.0.1:{port}", folder))
        assert job.stop() == 143
    alerts = folder.alerts()
    assert {one["rule"] for one in alerts} == {"large", "followed", "busy"}
    assert MASK(VALUE) in json.dumps([one["key"] for one in alerts])
    for path, text in told:
        assert not any(form in text for form in FORMS), path
    assert any(MASK(VALUE).encode() in text for path, text in told if path == "/alerts")
    reached = [one for one in folder.state.root.iterdir() if one.name not in DOES_NOT_REACH]
    assert holding(*reached) == []
    sent = b"".join((folder.root / name).read_bytes() for name in ("told.txt", "desk.jsonl"))
    assert not any(form in sent for form in FORMS)
    assert holding(folder.root / "inbox"), "the test would see it"
    with_letters(folder)


def with_letters(folder: JobFolder) -> None:
    """Dead letters and late events are there, and hold hashes."""
    from cep.job.state_folder import dead_letters

    outbox = Outbox.open(f"sqlite:///{folder.outbox}", create=False)
    with outbox.reading() as connection:
        letters = dead_letters.read(connection)
        late = connection.execute(dead_letters.late_events.select()).all()
    outbox.close()
    assert len(letters) == 2
    assert all(one.letter.data == b"" for one in letters)
    assert late
    assert all(json.loads(one.data)["card"] == MASK(VALUE) for one in late)


def answers(address: str, folder: JobFolder) -> list[tuple[str, bytes]]:
    """Everything that the port tells: metrics, every page, every operation that reads."""
    from cep.web.api.known import OPERATIONS, PREFIX

    ids = [str(one["id"]) for one in folder.alerts()]
    named = {"id": ids[0], "pack": "p", "rule": "large", "number": "1", "name": "desk"}
    reading = [PREFIX + one.path for one in OPERATIONS if one.method == "GET" and one.scope == "read"]
    paths = ["/metrics", "/healthz", *reading, *(path for path, _ in VIEWS)]
    paths += [f"{PREFIX}/alerts/{one}{more}" for one in ids for more in ("", "/events")]
    paths += [f"/alerts/{one}" for one in ids]
    found = []
    for path in paths:
        with urllib.request.urlopen(address + path.format(**named), timeout=60) as answer:
            found.append((path, answer.read()))
    return found


@pytest.mark.parametrize("verb", [("run",), ("check", "--job")], ids=" ".join)
def test_a_job_without_a_key_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], verb: tuple[str, ...]
) -> None:
    folder = JobFolder(tmp_path / "job", PACK, ("pay", "login"))
    assert main([*verb, str(folder.description)]) == (2 if verb == ("run",) else 1)
    printed = capsys.readouterr()
    told = printed.out + printed.err
    assert "CEP0728" in told
    assert "`card` of stream `pay` is secret, and the job has no key to hide it" in told
    assert 'mask_key = "${MASK_KEY}"' in told
    assert "pack.rules" in told
