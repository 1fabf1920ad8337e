"""`cep alerts erase`: what it prints, where it ends, and what it leaves of an alert."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cep_command import cep
from erasable import VALUE, erasable

SAID = """\
{}erased:
  2 alerts
  3 deliveries that waited
  2 episodes
  5 events of the record
  2 dead letters
  1 late event
  1 silence
  3 notes and reasons, which stay without it
  4 lines of who did what, which stay without it
  1 suppressed key, which stays as a digest
night got 1 alert: ask there for its copies
not erased: 1 alert with it in `used`
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    erasable(tmp_path).desk.outbox.close()
    return tmp_path


def erase(folder: Path, *more: str) -> tuple[int, str, str]:
    done = cep("alerts", "erase", "--job", "job.toml", *more, cwd=folder)
    return done.code, done.out, done.err


@pytest.mark.slow
def test_it_says_what_it_did_by_kind(folder: Path) -> None:
    assert erase(folder, "--key", f"card={VALUE}", "--dry-run") == (0, SAID.format("would be "), "")
    assert erase(folder, "--key", f"card={VALUE}", "--by", "bob") == (0, SAID.format(""), "")
    code, out, err = erase(folder, "--key", f"card={VALUE}")
    assert (code, out, err) == (
        0,
        "erased:\n  nothing: no alert, event or letter has this key\nnot erased: 1 alert with it in `used`\n",
        "",
    )


@pytest.mark.slow
def test_the_alert_is_gone_and_says_so(folder: Path) -> None:
    before = cep(
        "alerts", "list", "--key", f"card={VALUE}", "--format", "json", "--job", "job.toml", cwd=folder
    )
    id_ = json.loads(before.out.splitlines()[0])["id"]
    code, out, _ = erase(folder, "--key", f"card={VALUE}", "--format", "json")
    assert (code, json.loads(out)["alerts"]) == (0, 2)
    for verb in ("show", "explain", "redeliver"):
        done = cep("alerts", verb, id_, "--job", "job.toml", cwd=folder)
        assert done.code == 2
        assert "CEP0969" in done.err
        assert "was erased" in done.err


@pytest.mark.slow
def test_what_cannot_be_erased_is_told(folder: Path) -> None:
    (damaged,) = (folder / "state" / "record" / "pay").glob("*/0-0.parquet")
    damaged.write_bytes(b"no parquet")
    code, out, err = erase(folder, "--key", f"card={VALUE}")
    assert code == 3
    assert "  2 alerts\n" in out
    assert "CEP0970" in err
    assert f"record/pay/{damaged.parent.name}/0-0.parquet cannot be written anew" in err
    damaged.unlink()
    assert erase(folder, "--key", f"card={VALUE}")[0] == 0


@pytest.mark.slow
@pytest.mark.parametrize("key", ["card=", "card", '{"card": ["x"]}'])
def test_what_is_no_key_is_told(folder: Path, key: str) -> None:
    code, out, err = erase(folder, "--key", key)
    assert (code, out) == (2, "")
    assert "CEP0964" in err
