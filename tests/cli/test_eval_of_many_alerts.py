"""`cep eval` where so many alerts are raised that they are written by column."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path

import pytest

from alerts.raised_columns import RaisedColumns
from alerts.stages.decided import InProcess
from alerts.stages.suppress import Suppress
from cep.cli.main import main
from cep.decode import decoder
from cep.events import Events
from cep.inprocess import replay as replaying
from cep.inprocess.engines import Reference
from cep.inprocess.session import Session
from cep.shard.render import MANY, Part
from cep.sources.files.reading import read
from cep.sources.files.splits import splits
from rules.packs import load

RULES = """pack cards version "1"
stream payment {
  pid: string  at_: timestamp  card: string  amount: double
  id pid  time at_  lateness 1 minute
}
rule each { on payment[amount > 1] by card emit card, amount }
rule large { on payment[amount > 100] by card suppress 2m emit card, amount summary "{amount} of {card}" }
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A pack, and payments out of order by less than the lateness, some of one instant."""
    (tmp_path / "cards.rules").write_text(RULES)
    chance = random.Random(7)
    times = sorted((chance.randrange(7_200) for _ in range(8 * MANY)), key=lambda t: t + chance.randrange(50))
    rows = [
        {
            "pid": f"p{number}", "at_": f"2026-01-05T{t // 3600:02}:{t // 60 % 60:02}:{t % 60:02}Z",
            "card": chance.choice(["a", "b", "ü", '"']), "amount": chance.choice([1.0, 1.5, 150.25, 1e300]),
        }
        for number, t in enumerate(times)
    ]  # fmt: skip
    (tmp_path / "p.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return tmp_path


@pytest.mark.parametrize(("block", "many"), [(5_000, False), (1 << 25, True)])
def test_they_are_those_of_the_reference(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], block: int, many: bool
) -> None:
    pack = load([folder / "cards.rules"]).need()
    file = str(folder / "p.jsonl")
    everything = [
        part.events
        for split in splits(file, Path(file).stat().st_size)
        for part in read(split, decoder(pack.stream("payment")))
    ]
    whole = Reference(pack, one_partition=False)
    assert not whole.feed(everything, 2**62)
    expected = InProcess().decide(whole.finish())
    assert len(expected.on) > 2 * MANY
    assert expected.count(Suppress.name) > 20

    monkeypatch.setattr(replaying, "BLOCK", block)
    by_column: list[bool] = []
    feed_parts = Session.feed_parts

    def noted(session: Session, events: Sequence[Events], watermark: int) -> list[Part]:
        parts = feed_parts(session, events, watermark)
        by_column.extend(isinstance(one, RaisedColumns) for one in parts)
        return parts

    monkeypatch.setattr(Session, "feed_parts", noted)
    out = folder / "out.jsonl"
    arguments = [str(folder / "cards.rules"), "--events", f"payment={file}", "--output", str(out), "--drain"]
    assert main(["eval", *arguments]) == 0
    assert any(by_column) is many
    assert out.read_text() == "".join(f"{one.body}\n" for one in expected.on)
    said = f"{len(expected.on)} alerts, {expected.count(Suppress.name)} withheld"
    assert said in capsys.readouterr().err
