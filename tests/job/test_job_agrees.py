"""The Spark job raises what the engine raises in process: random rules, streams, cuts and restarts."""

from __future__ import annotations

import gzip
import json
import os
import random
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from duel import Program, pack_of, programs
from effort import examples
from hypothesis import HealthCheck, Phase, given, settings
from job_folder import JobFolder, in_process

from alerts.notation import json_value
from cep.cli.main import main
from cep.inprocess import replay
from cep.sources.files import files as of_files
from rules.typed import Stream

pytestmark = pytest.mark.spark


def _json(stream: Stream, values: dict[str, Any]) -> dict[str, Any]:
    return {f.name: json_value(values[f.name], f.type) for f in stream.fields}


# Every batch starts a query: few examples, none of them trivial, and no shrinking.
@settings(
    max_examples=max(3, examples(5)),
    deadline=None,
    suppress_health_check=list(HealthCheck),
    database=None,
    phases=(Phase.generate,),
)
@given(program=programs().filter(lambda p: sum(map(len, p.batches)) >= 8))
def test_the_job_raises_what_the_engine_raises(
    spark: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory, program: Program
) -> None:
    root = Path(tempfile.mkdtemp(dir=tmp_path_factory.getbasetemp()))
    folder = JobFolder(root / "job", program.text, ("e", "f"), shards=program.shards)
    pack = pack_of(program.text)
    batches = []
    for batch in program.batches:
        files = []
        for stream in ("e", "f"):
            came = [_json(pack.stream(stream), a.values) for a in batch if a.stream == stream]
            half = len(came) // 2
            files += [(stream, folder.put(stream, part)) for part in (came[:half], came[half:]) if part]
        batches.append(files)
        if files:
            folder.once(spark)
    folder.once(spark, drain=True)

    expected = in_process(folder, [files for files in batches if files])
    found = [{name: value for name, value in alert.items() if name != "batch"} for alert in folder.alerts()]
    assert sorted(found, key=str) == sorted(expected, key=str), str(program)


def test_eval_of_a_job_raises_what_the_job_raises(
    spark: Callable[..., Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Over files that are no JSON, in a folder that holds others, in several batches, with events that come
    too late: before the end of time and after it."""
    folder = JobFolder(tmp_path / "job", CARDS, ("payment",))
    inbox = folder.root / "inbox" / "payment"
    folder.description.write_text(
        folder.description.read_text("utf-8").replace("*.jsonl", "[^x]*.{dat,csv.gz}")
        + 'format = "csv"\ndelimiter = ";"\ntimestamps = "epoch_ms"\nconstants = { kind = "auth" }\n'
        'fields = { at_ = "WHEN", card = "CARD", amount = "AMT" }\n',
        "utf-8",
    )
    chance = random.Random(7)
    for number, name in enumerate(["d.dat", "a.dat", "c.csv.gz", "b.dat", "x.dat", "_e.dat", "f.csv"]):
        begin = 1_767_600_000_000 + (number // 2) * 3_000_000
        lines = [
            f"{begin + chance.randrange(3_600_000) // 1000 * 1000};{chance.choice('abc')};"
            f"{chance.choice([1.0, 1.5, 150.0, 700.0])};z"
            for _ in range(300)
        ]
        text = "\n".join(["WHEN;CARD;AMT;more", *lines, ""]).encode()
        (inbox / name).write_bytes(gzip.compress(text, mtime=0) if name.endswith(".gz") else text)
        os.utime(inbox / name, (1_000_000_000 + number, 1_000_000_000 + number))
    for module in (of_files, replay):
        monkeypatch.setattr(module, "BATCH_BYTES", 14_500)

    def evaluated(*more: str) -> list[Any]:
        out = tmp_path / "out.jsonl"
        assert main(["eval", "--job", str(folder.description), "--output", str(out), *more]) == 0
        return [json.loads(line) for line in out.read_text("utf-8").splitlines()]

    def raised() -> list[Any]:
        found = folder.alerts()
        assert len({alert.pop("batch") for alert in found}) > 1
        return found

    for more in ((), ("--drain",)):
        folder.once(spark, drain=bool(more))
        expected = raised()
        assert evaluated(*more) == expected
        assert len(expected) > 100
        assert ", 0 late," not in capsys.readouterr().err
    assert {alert["rule"] for alert in expected} == {"probes", "large"}


CARDS = """pack cards version "1"
stream payment {
  at_: timestamp  card: string  amount: double  kind: string  time at_  lateness 1 minute
}
rule probes {
  by card  match small: payment[amount < 2]{2} -> big: payment[amount > 100]  within 30 minutes
  emit card, n = count(small)
}
rule large { on payment[amount > 100 and kind == "auth"] by card suppress 5m emit card, amount }
"""
