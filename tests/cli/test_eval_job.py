"""`cep eval --job` and `--feed`: the events that the job would see, from files as the feeds say they are."""

from __future__ import annotations

import json
import os
import random
import textwrap
from pathlib import Path
from typing import Any

import pytest
from cep_command import cep

from cep.cli.main import main
from cep.inprocess import replay as replaying
from cep.sources.files.names import listed

RULES = """pack cards version "1"
stream payment {
  pid: string  at_: timestamp  card: string  amount: double  kind: string
  id pid  time at_  lateness 1 minute
}
stream refund { rid: string  at_: timestamp  card: string  id rid  time at_ }
rule probes {
  by card  match small: payment[amount < 2]{2} -> big: payment[amount > 100]  within 30 minutes
  emit card, n = count(small)
}
rule quiet { by card match big: payment[amount > 500] -> absent refund for 10m emit card }
rule large { on payment[amount > 100 and kind == "auth"] by card suppress 20m emit card, amount }
"""
JOB = """[job]
name = "cards"
packs = "packs/"
state = "state/"

[feeds.payment]
source = "files"
path = "inbox/payment/*.csv"
fields = { pid = "ID", at_ = "TX TIME", amount = "AMT" }
constants = { kind = "auth" }
timestamps = "epoch_ms"
delimiter = ";"

[feeds.refund]
source = "files"
path = "inbox/refund/*.jsonl"

[receivers.desk]
kind = "webhook"
url = "https://desk.example/"
secret = "${SECRET_THAT_NOBODY_SET}"
"""
OPTION = JOB[JOB.index("fields") : JOB.index("[feeds.refund]")].strip().replace("\n", ",\n")
BEGIN = 1_767_600_000


def rows(seed: int, count: int = 300) -> list[dict[str, Any]]:
    """Payments in order of time, as JSON events."""
    chance = random.Random(seed)
    times = sorted(chance.randrange(7200) for _ in range(count))
    return [
        {
            "pid": f"p{n}", "at_": f"2026-01-05T{8 + t // 3600:02}:{t // 60 % 60:02}:{t % 60:02}Z",
            "card": chance.choice("abc"), "amount": chance.choice([1.0, 1.5, 50.0, 150.0, 700.0]),
            "kind": "auth", "second": t,
        }
        for n, t in enumerate(times)
    ]  # fmt: skip


def csv(events: list[dict[str, Any]]) -> str:
    lines = [f"{e['card']};{e['pid']};{e['amount']};{(BEGIN + e['second']) * 1000};x" for e in events]
    return "\n".join(["card;ID;AMT;TX TIME;rest", *lines]) + "\n"


@pytest.fixture
def job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A job with payments in three files, each with every third event, so that their times overlap."""
    for name in ("packs", "inbox/payment", "inbox/refund"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "packs" / "cards.rules").write_text(RULES)
    (tmp_path / "job.toml").write_text(JOB)
    for number in range(3):
        (tmp_path / "inbox/payment" / f"{number}.csv").write_text(csv(rows(1)[number::3]))
    refunds = [{"rid": f"r{n}", "at_": f"2026-01-05T08:{n:02}:30Z", "card": "abc"[n % 3]} for n in range(60)]
    (tmp_path / "inbox/refund/r.jsonl").write_text("".join(json.dumps(r) + "\n" for r in refunds))
    (tmp_path / "plain.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows(1)))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def evaluated(*arguments: str) -> list[dict[str, Any]]:
    """The alerts of a run without a fault."""
    assert main(["eval", *arguments, "--output", "out.jsonl", "--drain"]) == 0
    return [json.loads(line) for line in Path("out.jsonl").read_text().splitlines()]


def plainly() -> list[dict[str, Any]]:
    """The alerts of the packs on the same events as JSON, in order of time."""
    return evaluated("packs", "--events", "payment=plain.jsonl", "refund=inbox/refund/r.jsonl")


@pytest.mark.slow
def test_a_job_says_how_its_files_are_read(job: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without the secrets, without a state folder; its files at once, as the job takes them: none is late."""
    expected = plainly()
    capsys.readouterr()
    before = sorted(job.rglob("*"))
    assert evaluated("--job", "job.toml") == expected
    assert {alert["rule"] for alert in expected} == {"probes", "quiet", "large"}
    assert "360 events" in (told := capsys.readouterr().err)
    assert "0 rejected, 0 late" in told
    assert sorted(job.rglob("*")) == before


@pytest.mark.slow
def test_a_feed_is_described_by_an_option_as_in_a_job(job: Path) -> None:
    expected = plainly()
    (job / "one.dat").write_text(csv(rows(1)))
    files = ("--events", "payment=one.dat", "refund=inbox/refund/r.jsonl")
    assert evaluated("packs", *files, "--feed", f'payment=format = "csv", {OPTION}') == expected
    assert evaluated("packs", *files, "--feed", f'payment={{format = "csv", {OPTION}}}') == expected
    of_refund = 'refund=path = "inbox/refund/*.jsonl"'
    of_payment = f'payment=path = "{job}/one.dat", format = "csv", {OPTION}'
    assert evaluated("packs", "--feed", of_payment, "--feed", of_refund) == expected


@pytest.mark.slow
def test_events_and_feed_take_the_place_of_what_the_job_says(job: Path) -> None:
    few = rows(1)[:40]
    (job / "few.csv").write_text(csv(few))
    (job / "few.jsonl").write_text("".join(json.dumps(r) + "\n" for r in few))
    refunds = "refund=inbox/refund/r.jsonl"
    expected = evaluated("packs", "--events", "payment=few.jsonl", refunds)
    assert len(expected) > 3
    assert evaluated("--job", "job.toml", "--events", "payment=few.csv") == expected
    (job / "job.toml").write_text(JOB.replace('"epoch_ms"', '"epoch_s"').replace("/*.csv", "/0.csv"))
    (job / "inbox/payment/0.csv").write_text(csv(few))
    assert evaluated("--job", "job.toml", "--feed", f"payment={OPTION}") == expected


@pytest.mark.slow
def test_packs_of_a_job_run_together_and_another_may_be_tried_in_it(
    job: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of a pack that is not the job's, feeds that it does not read are no mistake."""
    (job / "packs" / "other.rules").write_text(
        'pack other version "1"\n'
        "stream refund { rid: string  at_: timestamp  card: string  id rid  time at_ }\n"
        "rule twice { by card match a: refund -> b: refund within 1h }\n"
    )
    both = evaluated("--job", "job.toml")
    (job / "other.rules").write_text((job / "packs" / "other.rules").read_text())
    alone = evaluated("other.rules", "--job", "job.toml")
    assert alone == [alert for alert in both if alert["pack"] == "other"]
    assert {alert["rule"] for alert in both} == {"probes", "quiet", "large", "twice"}
    (job / "packs" / "cards.rules").unlink()
    capsys.readouterr()
    assert evaluated("--job", "job.toml") == alone
    assert "warning[CEP0710]: no pack declares a stream `payment`" in capsys.readouterr().err


def test_files_come_in_the_batches_of_the_job(
    job: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Late is what lies before the watermark of the batches before; the files in order of modification."""
    for number in (0, 1, 2):
        os.utime(job / f"inbox/payment/{number}.csv", (100 - number, 100 - number))
    assert [Path(f).name for f in listed(f"{job}/inbox/payment/*.csv")] == ["2.csv", "1.csv", "0.csv"]
    monkeypatch.setattr(replaying, "BATCH_BYTES", (job / "inbox/payment/2.csv").stat().st_size * 2 + 100)
    evaluated("--job", "job.toml")
    refunds_end = 60 * 60 - 30  # the watermark is that of the refunds, which end first
    late = sum(row["second"] < refunds_end for row in rows(1)[0::3])
    assert f", {late} late," in capsys.readouterr().err
    assert late > 20


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("x/*.csv", ["a.csv", "b.csv"]),
        ("x/", ["a.csv", "b.csv", "c.jsonl"]),
        ("x/{a,c}.*", ["a.csv", "c.jsonl"]),
        ("x/[^a].{csv,jsonl}", ["b.csv", "c.jsonl"]),
        ("x/?.csv", ["a.csv", "b.csv"]),
        ("x/b.csv", ["b.csv"]),
        ("y/*/*.csv", ["d.csv", "e.csv"]),
        ("[y]/2026-01-{01,02}", ["d.csv", "e.csv"]),
        ("y/2026-01-{01,02}", []),
        ("y/*", []),
        ("no/*.csv", []),
        ("x/\\*.csv", []),
    ],
)
def test_a_path_stands_for_the_files_that_spark_lists(tmp_path: Path, pattern: str, names: list[str]) -> None:
    for number, name in enumerate(
        [
            "x/a.csv",
            "x/b.csv",
            "x/c.jsonl",
            "x/_d.csv",
            "x/.e.csv",
            "y/2026-01-01/d.csv",
            "y/2026-01-02/e.csv",
        ]
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (number, number))
    ending = "/" if pattern.endswith("/") else ""
    assert [Path(f).name for f in listed(str(tmp_path / pattern) + ending)] == names


FILES = ("--events", "payment=plain.jsonl")


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (("--job", "no.toml"), "CEP0701", "no file no.toml"),
        (("--job", "packs"), "CEP0701", "is a folder"),
        (("packs", *FILES, "--feed", "payment"), "CEP0730", "begins with the name of a stream"),
        (("packs", *FILES, "--feed", 'path="x.csv"'), "CEP0730", "begins with the name of a stream"),
        (("packs", *FILES, "--feed", "payment=zone=UTC"), "CEP0730", "text stands in quotes"),
        (("packs", *FILES, "--feed", 'payment=zone="UTC", zone="UTC"'), "CEP0730", "--feed:1:21"),
        (("packs", *FILES, "--feed", 'payment=zone="UTC"}; x'), "CEP0730", "--feed:1:20"),
        (("packs", *FILES, "--feed", 'payment=fields={a="b"'), "CEP0730", "--feed:1:22"),
        (("packs", *FILES, "--feed", 'payment=zon="UTC"'), "CEP0703", "did you mean `zone`?"),
        (("packs", *FILES, "--feed", 'payment=format="xml"'), "CEP0706", "json, csv, parquet"),
        (("packs", *FILES, "--feed", "payment=header=1"), "CEP0705", "--feed:1:16"),
        (("packs", *FILES, "--feed", 'payment=fields="a"'), "CEP0705", "write `fields = {"),
        (("packs", *FILES, "--feed", 'payment={timestamps="epoch"}'), "CEP0706", "--feed:1:21"),
        (("packs", *FILES, "--feed", 'payments=zone="UTC"'), "CEP0710", "did you mean `payment`?"),
        (("packs", *FILES, "--feed", 'payment=fields={amuont="A"}'), "CEP0712", "did you mean `amount`?"),
        (("packs", *FILES, "--feed", 'payment=constants={\n amount="5"}'), "CEP0713", "--feed:2:9"),
        (("packs", "--feed", 'payment=path="x.dat"'), "CEP0706", 'say it, `format = "csv"`'),
        (("packs", "--events", "payment=job.toml"), "CEP0853", "--feed STREAM='format="),
        (("packs", *FILES, "--feed", 'payment=zone="UTC"', "--feed", "payment="), "", "given twice"),
        (("packs", "--feed", 'payment=zone="UTC"'), "", "no files are named"),
        (("packs", "--output", "x"), "", "cep eval --job job.toml"),
        (("--cases", "x", "--job", "job.toml"), "", "--cases takes no pack"),
        (("--job", "job.toml", "--events", "paymnt=plain.jsonl"), "", "did you mean `payment`?"),
    ],
)  # fmt: skip
def test_mistakes_are_told_with_their_place(
    job: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], code: str, told: str
) -> None:
    before = sorted(job.rglob("*"))
    assert (
        main(["eval", *arguments, "--output", "out.jsonl"][: None if "--output" not in arguments else -2])
        == 2
    )
    err = capsys.readouterr().err
    assert told in err
    assert (f"error[{code}]" if code else "error: ") in err
    assert sorted(job.rglob("*")) == before


@pytest.mark.parametrize(
    ("old", "new", "code", "told"),
    [
        ('zone = "UTC"', 'zone = "Mars"', "CEP0706", "no such zone"),
        ("[feeds.refund]", "[feeds.refunds]", "CEP0710", "did you mean `refund`?"),
        ("amount =", "amuont =", "CEP0712", "did you mean `amount`?"),
        ('kind = "auth" }', "kind = 1 }", "CEP0713", "`kind` is a string"),
        ("inbox/refund", "inbx/refund", "CEP0952", "did you mean `inbox`?"),
        ('"packs/"', '"pack/"', "CEP0720", "did you mean `packs`?"),
    ],
)
def test_a_job_that_does_not_fit_is_refused_as_a_start_would(
    job: Path, capsys: pytest.CaptureFixture[str], old: str, new: str, code: str, told: str
) -> None:
    text = JOB.replace('delimiter = ";"', 'delimiter = ";"\nzone = "UTC"').replace(old, new)
    (job / "job.toml").write_text(text)
    assert main(["eval", "--job", "job.toml", "--output", "out.jsonl"]) == 2
    err = capsys.readouterr().err
    assert f"error[{code}]" in err
    assert told in err
    assert not (job / "out.jsonl").exists()


@pytest.mark.slow
def test_a_feed_without_a_file_is_told_and_holds_nothing_back(
    job: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (job / "inbox/refund/r.jsonl").unlink()
    assert main(["eval", "--job", "job.toml", "--output", "out.jsonl"]) == 0
    err = capsys.readouterr().err
    assert "warning[CEP0856]: feed `refund` has no file" in err
    assert "job.toml:16:8" in err
    assert main(["eval", "--job", "job.toml", "--output", "out.jsonl", "--format", "json"]) == 0
    assert [d["code"] for d in json.loads(capsys.readouterr().err)["diagnostics"]] == ["CEP0856"]
    assert (job / "out.jsonl").read_text()
    for file in job.glob("inbox/payment/*"):
        file.unlink()
    assert main(["eval", "--job", "job.toml", "--output", "out.jsonl"]) == 1
    assert "there is not one event in the files" in capsys.readouterr().err


@pytest.mark.slow
def test_packs_with_errors_are_findings_as_without_a_job(job: Path) -> None:
    (job / "packs/cards.rules").write_text(RULES.replace("amount > 500", "amout > 500"))
    told = cep("eval", "--job", "job.toml", "--output", "out", cwd=job)
    assert (told.code, told.out) == (1, "")
    assert "error[CEP0202]" in told.err


TESTED = """test probes "two, then a large one" {
  at 0s payment { card: "c", amount: 1 } x 2 every 10s
  at 1m payment { card: "c", amount: 200 }
  expect at 1m { n: 2 }
}
"""


def test_the_packs_of_a_job_are_tested_and_must_fit_it(job: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (job / "packs/cards.rules").write_text(RULES + TESTED)
    assert main(["test", "--job", "job.toml"]) == 0
    assert "1 passed, 0 failed" in capsys.readouterr().out
    (job / "job.toml").write_text(JOB.replace("amount =", "amuont ="))
    assert main(["test", "--job", "job.toml"]) == main(["test", "packs", "--job", "job.toml"]) == 2
    assert "error[CEP0712]" in (told := capsys.readouterr()).err
    assert "passed" not in told.out
    assert main(["test", "packs"]) == 0
    assert not (job / "state").exists()
    assert main(["test"]) == 2
    assert "cep test --job job.toml" in capsys.readouterr().err


def test_a_pack_that_is_tried_in_a_job_needs_feeds_of_its_own_streams(
    job: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (job / "new.rules").write_text(
        'pack new version "1"\nstream login { l: string  at: timestamp  id l  time at }\n'
        'rule r { on login }\ntest r "one" { at 0s login {} expect {} }\n'
    )
    assert main(["test", "new.rules"]) == 0
    assert main(["test", "new.rules", "--job", "job.toml"]) == 2
    assert "error[CEP0711]: stream `login`" in capsys.readouterr().err
    (job / "job.toml").write_text(JOB + '[feeds.login]\nsource = "files"\npath = "in.jsonl"\n')
    assert main(["test", "new.rules", "--job", "job.toml"]) == 0


def test_the_page_shows_what_a_mistake_in_an_option_looks_like(
    job: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (Path(__file__).parents[2] / "docs" / "feeds.md").read_text("utf-8")
    shown = page[page.index("    error[CEP0703]") : page.index("`cep eval --job job.toml` reads")]
    option = 'payment=format="csv", delimitr=";"'
    assert main(["eval", str(job / "packs"), *FILES, "--feed", option, "--output", "-"]) == 2
    assert textwrap.indent(capsys.readouterr().err.strip(), "    ") == shown.rstrip()
