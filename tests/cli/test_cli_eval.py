"""`cep eval` over files: the alerts in their order, the counts, what ends it and what does not."""

from __future__ import annotations

import gzip
import itertools
import json
import random
import resource
from collections.abc import Iterable
from pathlib import Path

import pyarrow.csv
import pyarrow.json
import pyarrow.parquet
import pytest
from cep_command import cep

from alerts.stages.decided import InProcess
from cep.cli.main import main
from cep.decode import decoder
from cep.events import MAX_TIME
from cep.inprocess import replay as replaying
from cep.inprocess.engines import Compiled, Reference
from cep.inprocess.replay import in_step, replay, streams_read
from cep.inprocess.report import Report
from cep.inprocess.sources import of_files
from cep.packs.compile import compile_plan
from cep.sources.files.reading import read
from cep.sources.files.splits import splits
from rules.packs import load

RULES = """pack cards version "1"
stream payment {
  pid: string  at_: timestamp  card: string  amount: double
  id pid  time at_  lateness 1 minute
}
stream refund { rid: string  at_: timestamp  card: string  id rid  time at_ }
stream unread { uid: string  at_: timestamp  id uid  time at_ }
rule probes {
  by card  match small: payment[amount < 2]{2} -> big: payment[amount > 100]  within 30 minutes
  emit card, n = count(small)
}
rule quiet { by card match big: payment[amount > 500] -> absent refund for 10m emit card }
rule large { on payment[amount > 100] by card suppress 20m emit card, amount }
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "cards.rules").write_text(RULES)
    return tmp_path


def at(seconds: int) -> str:
    return f"2026-01-05T{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}Z"


def payment(seconds: int, card: str, amount: float, name: str = "") -> dict[str, object]:
    return {"pid": name or f"p{seconds}{card}", "at_": at(seconds), "card": card, "amount": amount}


def refund(seconds: int, card: str) -> dict[str, object]:
    return {"rid": f"r{seconds}{card}", "at_": at(seconds), "card": card}


def write(file: Path, rows: Iterable[dict[str, object]]) -> Path:
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


def some(seed: int, count: int = 300) -> tuple[list[dict[str, object]], list[dict[str, object]]]:
    """Payments that are out of order by less than the lateness, and refunds in order."""
    chance = random.Random(seed)
    times = sorted(chance.randrange(7200) for _ in range(count))
    shuffled = sorted(times, key=lambda t: t + chance.randrange(50))
    payments = [
        payment(t, chance.choice("abc"), chance.choice([1.0, 1.5, 50.0, 150.0, 700.0]), f"p{n}")
        for n, t in enumerate(shuffled)
    ]
    refunds = [refund(t, chance.choice("abc")) for t in range(0, 7200, 400)]
    return payments, refunds


def alerts(text: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in text.splitlines()]


def test_alerts_go_to_a_file_and_counts_to_stderr(folder: Path) -> None:
    rows = [payment(0, "a", 1), payment(10, "a", 1), payment(20, "a", 900), payment(10, "a", 1)]
    lines = "".join(json.dumps(row) + "\n" for row in rows) + '{"pid": "x"}\nnot JSON\n'
    (folder / "p.jsonl").write_text(lines)
    told = cep(
        "eval", "cards.rules", "--events", "payment=p.jsonl", "--output", "out.jsonl", "--drain", cwd=folder
    )
    assert (told.code, told.out) == (0, "")
    first, *others = told.err.splitlines()
    assert first == "4 events, 3 alerts, 0 withheld; 2 rejected, 0 late, 1 duplicate"
    place = len("".join(json.dumps(row) + "\n" for row in rows))
    assert [":".join(line.split(":")[:3]) for line in others] == [
        f"rejected: p.jsonl:{place}",
        f"rejected: p.jsonl:{place + 13}",
    ]
    found = alerts((folder / "out.jsonl").read_text())
    assert [(a["rule"], a["time"]) for a in found] == [
        ("large", at(20)), ("probes", at(20)), ("quiet", at(620)),
    ]  # fmt: skip
    assert list(folder.glob(".*")) == []


@pytest.mark.slow
def test_without_drain_the_watermark_trails_by_the_lateness(folder: Path) -> None:
    write(folder / "p.jsonl", [payment(0, "a", 150), payment(60, "b", 150), payment(119, "c", 150)])
    arguments = ["eval", "cards.rules", "--events", "payment=p.jsonl", "--output", "-"]
    assert [a["key"] for a in alerts(cep(*arguments, cwd=folder).out)] == [{"card": "a"}]
    further = alerts(cep(*arguments, "--watermark", at(60), cwd=folder).out)
    assert [a["key"] for a in further] == [{"card": "a"}, {"card": "b"}]
    assert len(alerts(cep(*arguments, "--drain", cwd=folder).out)) == 3


@pytest.mark.slow
def test_a_watermark_before_the_end_of_the_data_holds_alerts_back(folder: Path) -> None:
    write(folder / "p.jsonl", [payment(t, "a", 150) for t in range(0, 7200, 1300)])
    told = cep(
        "eval",
        "cards.rules",
        "--events",
        "payment=p.jsonl",
        "--output",
        "-",
        "--watermark",
        at(2000),
        cwd=folder,
    )
    assert [a["time"] for a in alerts(told.out)] == [at(0), at(1300)]


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["compiled", "reference"])
@pytest.mark.parametrize("block", [200, 5_000, 1 << 25])
@pytest.mark.parametrize("drain", [True, False])
def test_blocks_decide_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch, block: int, engine: str, drain: bool
) -> None:
    """However long the blocks, the alerts and their order are those of all events in one batch."""
    payments, refunds = some(block)
    names = {
        "payment": [
            str(write(folder / "1.jsonl", payments[:100])),
            str(write(folder / "2.jsonl", payments[100:])),
        ],
        "refund": [str(write(folder / "r.jsonl", refunds))],
    }
    pack = load([folder / "cards.rules"]).need()
    everything = [
        part.events
        for name, files in names.items()
        for file in files
        for split in splits(file, Path(file).stat().st_size)
        for part in read(split, decoder(pack.stream(name)))
    ]
    whole = Reference(pack, one_partition=False)
    # of the data, the payments are behind: their greatest time less a minute, against the last refund
    end = (
        MAX_TIME
        if drain
        else min(_greatest(everything, "payment") - 60 * 10**9, _greatest(everything, "refund"))
    )
    expected = InProcess().decide([*whole.feed(everything, end), *whole.finish()]).on

    monkeypatch.setattr(replaying, "BLOCK", block)
    running = Compiled(compile_plan([pack]), False) if engine == "compiled" else Reference(pack, False)
    report = Report()
    sources = [of_files(pack.stream(name), files) for name, files in names.items()]
    batches = in_step(sources, streams_read([pack]), report)
    got = [one for some in replay([pack], batches, running, None, drain, report) for one in some]
    assert [one.alert.as_dict() for one in got] == [one.alert.as_dict() for one in expected]
    assert len(got) > 20
    assert report.withheld > 0
    assert report.counts["late"] == 0


def _greatest(events: Iterable[object], stream: str) -> int:
    parts = [e.table.column("@time").to_pylist() for e in events if e.stream == stream]  # type: ignore[attr-defined]
    return max(itertools.chain.from_iterable(parts))


@pytest.mark.slow
def test_every_format_gives_the_same_alerts(folder: Path) -> None:
    payments, _ = some(3)
    plain = write(folder / "p.jsonl", payments)
    table = pyarrow.json.read_json(plain)
    (folder / "p.jsonl.gz").write_bytes(gzip.compress(plain.read_bytes()))
    pyarrow.parquet.write_table(table.cast(_declared(table)), folder / "p.parquet")
    (folder / "p.csv").write_text(
        "pid,at_,card,amount\n"
        + "".join(f"{r['pid']},{r['at_']},{r['card']},{r['amount']}\n" for r in payments)
    )
    outputs = {
        name: cep(
            "eval", "cards.rules", "--events", f"payment={name}", "--output", "-", "--drain", cwd=folder
        ).out
        for name in ("p.jsonl", "p.jsonl.gz", "p.parquet", "p.csv")
    }
    assert len(outputs["p.jsonl"].splitlines()) > 20
    assert len(set(outputs.values())) == 1, {name: len(out) for name, out in outputs.items()}


def _declared(table: pyarrow.Table) -> pyarrow.Schema:
    place = table.schema.get_field_index("at_")
    return table.schema.set(place, pyarrow.field("at_", pyarrow.timestamp("ns", "UTC")))


def test_a_compressed_file_is_read_as_far_as_it_goes(folder: Path) -> None:
    payments, _ = some(3)
    plain = write(folder / "p.jsonl", payments).read_bytes()
    (folder / "p.jsonl.gz").write_bytes(gzip.compress(plain) + b"and something else \x1b[2J")
    arguments = ("--output", "-", "--drain")
    whole, damaged = (
        cep("eval", "cards.rules", "--events", f"payment={name}", *arguments, cwd=folder)
        for name in ("p.jsonl", "p.jsonl.gz")
    )
    assert damaged.out == whole.out
    assert "1 rejected" in damaged.err
    assert "the file cannot be read to its end" in damaged.err


def test_what_a_cell_holds_cannot_drive_the_terminal(folder: Path) -> None:
    (folder / "p.csv").write_text("pid,at_,card,amount\np1,2026-01-01,c1,\x1b]0;owned\x07\u202e\n", "utf-8")
    found = cep("eval", "cards.rules", "--events", "payment=p.csv", "--output", "-", cwd=folder)
    assert "\x1b" not in found.err
    assert "\u202e" not in found.err
    assert r"\x1b]0;owned\x07" in found.err


@pytest.mark.slow
def test_a_pattern_of_files_stands_for_all_of_them(folder: Path) -> None:
    payments, refunds = some(5)
    write(folder / "1.jsonl", payments[:150])
    write(folder / "2.jsonl", payments[150:])
    write(folder / "r.ndjson", refunds)
    by_name, by_pattern = (
        cep(
            "eval",
            "cards.rules",
            "--events",
            *files,
            "refund=r.ndjson",
            "--output",
            "-",
            "--drain",
            cwd=folder,
        ).out
        for files in (["payment=1.jsonl", "2.jsonl"], ["payment=?.jsonl"])
    )
    assert by_name == by_pattern
    assert by_name


@pytest.mark.slow
def test_events_of_a_stream_that_no_rule_reads_hold_nothing_back(folder: Path) -> None:
    write(folder / "p.jsonl", [payment(t, "a", 150) for t in (0, 4000)])
    write(folder / "u.jsonl", [{"uid": "u", "at_": at(0)}])
    told = cep(
        "eval", "cards.rules", "--events", "payment=p.jsonl", "unread=u.jsonl", "--output", "-", cwd=folder
    )
    assert len(alerts(told.out)) == 1
    assert told.err.startswith("3 events, 1 alert")


@pytest.mark.slow
def test_a_stream_without_events_holds_nothing_back(folder: Path) -> None:
    write(folder / "p.jsonl", [payment(t, "a", 150) for t in (0, 4000)])
    write(folder / "r.jsonl", [])
    told = cep(
        "eval", "cards.rules", "--events", "payment=p.jsonl", "refund=r.jsonl", "--output", "-", cwd=folder
    )
    assert len(alerts(told.out)) == 1


def test_late_events_are_counted(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = str(write(folder / "p.jsonl", [payment(5000, "a", 150), payment(0, "b", 150)]))
    monkeypatch.setattr(replaying, "BLOCK", 60)
    pack = load([folder / "cards.rules"]).need()
    report = Report()
    running = Compiled(compile_plan([pack]), one_partition=False)
    reading = in_step([of_files(pack.stream("payment"), (file,))], {"payment"}, report)
    (found,) = replay([pack], reading, running, None, True, report)
    assert [one.alert.key for one in found] == [{"card": "a"}]
    assert report.lines()[0] == "2 events, 1 alert, 0 withheld; 0 rejected, 1 late, 0 duplicates"


@pytest.mark.slow
def test_the_reference_refuses_more_alternatives_than_it_can_try(tmp_path: Path) -> None:
    (tmp_path / "p.rules").write_text(
        """pack p version "1"
stream e { n: long  at: timestamp  id n  time at }
rule nested { match (a: e -> b: e*){1,} -> c: e[n < 0] within 1 hour }
"""
    )
    write(tmp_path / "e.jsonl", [{"n": n, "at": at(n)} for n in range(20)])
    arguments = ["eval", "p.rules", "--events", "e=e.jsonl", "--output", "-"]
    assert cep(*arguments, cwd=tmp_path).code == 0
    told = cep(*arguments, "--engine", "reference", cwd=tmp_path)
    assert told.code == 2
    assert "rule `nested` have more alternatives than the reference engine can try" in told.err
    assert "leave --engine reference out" in told.err


def test_the_report_as_json(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = folder / "p.jsonl"
    file.write_text("nonsense\n" * 9 + json.dumps(payment(0, "a", 1)) + "\n")
    assert main(
        ["eval", str(folder / "cards.rules"), "--events", f"payment={file}", "--output", str(folder / "o"),
         "--format", "json"]
    ) == 0  # fmt: skip
    told = json.loads(capsys.readouterr().err)
    assert (told["events"], told["rejected"], len(told["reasons"])) == (1, 9, 5)
    assert told["reasons"][1]["offset"] == 9


@pytest.mark.slow
@pytest.mark.parametrize("content", ["", "nonsense\n"])
def test_no_events_is_a_failure(folder: Path, content: str) -> None:
    (folder / "p.jsonl").write_text(content)
    told = cep("eval", "cards.rules", "--events", "payment=p.jsonl", "--output", "-", cwd=folder)
    assert told.code == 1
    assert "not one event" in told.err


def test_a_pack_with_errors_is_refused_with_its_diagnostics(folder: Path) -> None:
    (folder / "bad.rules").write_text(RULES.replace("amount > 500", "amout > 500"))
    write(folder / "p.jsonl", [payment(0, "a", 1)])
    told = cep("eval", "bad.rules", "--events", "payment=p.jsonl", "--output", "out", cwd=folder)
    assert (told.code, told.out) == (1, "")
    assert "error[CEP0202]" in told.err
    assert not (folder / "out").exists()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["cards.rules"], "a pack and its events are needed"),
        (["cards.rules", "--events", "payment=p.jsonl"], "--output is missing"),
        (["cards.rules", "--events", "p.jsonl", "--output", "-"], "whose events are these"),
        (["cards.rules", "--events", "payments=p.jsonl", "--output", "-"], "no stream `payments`"),
        (["cards.rules", "--events", "payment=no.jsonl", "--output", "-"], "error[CEP0851]"),
        (["cards.rules", "--events", "payment=cards.rules", "--output", "-"], "error[CEP0853]"),
        (["no.rules", "--events", "payment=p.jsonl", "--output", "-"], "no file or folder `no.rules`"),
        (["cards.rules", "--events", "payment=p.jsonl", "--output", "no/out"], "no folder `no`"),
        (["cards.rules", "--events", "payment=p.jsonl", "--output", "-", "--watermark", "soon"], "'soon'"),
        (["cards.rules", "--events", "payment=p.jsonl", "--output", "-", "--drain", "--watermark", at(0)],
         "exclude one another"),
        (["cards.rules", "--cases", "p.jsonl"], "--cases takes no pack"),
        (["--cases", "no.jsonl"], "no file `no.jsonl`"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)  # fmt: skip
def test_wrong_usage_exits_2_and_says_why(
    folder: Path,
    arguments: list[str],
    told: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    write(folder / "p.jsonl", [payment(0, "a", 1)])
    monkeypatch.chdir(folder)
    try:
        code = main(["eval", *arguments])
    except SystemExit as ended:
        code = ended.code
    assert code == 2
    assert told in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--output", "--trace"])
@pytest.mark.parametrize("read", ["p.jsonl", "same.jsonl", "cards.rules", "job.toml"])
def test_what_is_read_is_never_written_over(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], option: str, read: str
) -> None:
    write(folder / "p.jsonl", [payment(0, "c", 900)])
    (folder / "same.jsonl").symlink_to("p.jsonl")
    (folder / "job.toml").write_text(
        '[job]\nname = "j"\npacks = "cards.rules"\nstate = "state"\n'
        '[feeds.payment]\nsource = "files"\npath = "p.jsonl"\n'
        '[feeds.refund]\nsource = "files"\npath = "r.jsonl"\n'
    )
    monkeypatch.chdir(folder)
    before = Path(read).read_bytes()
    assert main(["eval", "cards.rules", "--job", "job.toml", option, read]) == 2
    assert f"{option} {read} would take the place of what is read" in capsys.readouterr().err
    assert Path(read).read_bytes() == before


def test_cases_are_never_written_over(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cases = folder / "cases.jsonl"
    cases.write_text('{"id": "c"}\n')
    for verb in ("eval", "percolate"):
        assert main([verb, "--cases", str(cases), "--output", str(cases)]) == 2
        assert "would take the place" in capsys.readouterr().err
    assert cases.read_text() == '{"id": "c"}\n'


@pytest.mark.slow
def test_a_full_disk_is_the_outside_world(folder: Path) -> None:
    write(folder / "p.jsonl", [payment(t, "a", 150) for t in range(0, 80_000, 1300)])
    told = cep(
        "eval", "cards.rules", "--events", "payment=p.jsonl", "--output", "/dev/full", "--drain", cwd=folder
    )
    assert told.code == 3
    assert "no space left" in told.err


def test_a_file_that_can_take_no_more_is_named(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write(folder / "p.jsonl", [payment(t, "a", 150) for t in range(0, 80_000, 1300)])
    monkeypatch.chdir(folder)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
    try:
        code = main(
            ["eval", "cards.rules", "--events", "payment=p.jsonl", "--output", "out.jsonl", "--drain"]
        )
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert code == 3
    assert capsys.readouterr().err.startswith("error: out.jsonl: file too large\n")
    assert {path.name for path in folder.iterdir()} == {"cards.rules", "p.jsonl"}


TEXTS = """pack news version "1"
stream article {
  url: string  at_: timestamp  title: text  memo: text english?
  id url  time at_
}
rule gifts { on article[title matches "acme AND memo:gifts"] emit url }
rule untitled { on article[memo matches "NOT title:acme"] emit url }
"""


@pytest.mark.slow
def test_a_query_may_name_another_text_field_in_both_engines(tmp_path: Path) -> None:
    """Also where that field is null: it holds no word, while a null field that is asked makes it unknown."""
    (tmp_path / "news.rules").write_text(TEXTS)
    rows: list[dict[str, object]] = [
        {"url": "both", "title": "Acme", "memo": "the gift"},
        {"url": "title only", "title": "acme", "memo": "none"},
        {"url": "null", "title": "acme"},
        {"url": "neither", "title": "other", "memo": "x"},
    ]
    write(tmp_path / "a.jsonl", [{**row, "at_": at(n)} for n, row in enumerate(rows)])
    found = {}
    for engine in ("compiled", "reference"):
        options = ("--events", "article=a.jsonl", "--output", "-", "--engine", engine)
        told = cep("eval", "news.rules", *options, cwd=tmp_path)
        assert told.code == 0, told.err
        found[engine] = [(a["rule"], a["emit"]["url"]) for a in map(json.loads, told.out.splitlines())]
    assert found["compiled"] == found["reference"]
    assert found["compiled"] == [("gifts", "both"), ("untitled", "neither")]


@pytest.mark.slow
def test_a_trace_tells_of_every_run(folder: Path) -> None:
    events = [payment(0, "c", 1.0), payment(60, "c", 1.5), payment(120, "c", 900.0)]
    (folder / "p.jsonl").write_text("".join(json.dumps(e) + "\n" for e in events))
    arguments = ("eval", "cards.rules", "--events", "payment=p.jsonl", "--output", "out.jsonl", "--drain")
    done = cep(*arguments, "--trace", "-", cwd=folder)
    assert (done.code, done.err) == (0, "3 events, 3 alerts, 0 withheld; 0 rejected, 0 late, 0 duplicates\n")
    assert 'rule probes, card "c"\n  run 1\n' in done.out
    assert "matched: small p0c p60c, big p120c" in done.out
    assert cep(*arguments, "--trace", "t.jsonl", "--format", "json", cwd=folder).code == 0
    records = [json.loads(line) for line in (folder / "t.jsonl").read_text().splitlines()]
    assert [r["kind"] for r in records if r["rule"] == "quiet" and "run" in r] == [
        "began",
        "passed",
        "matched",
    ]


@pytest.mark.parametrize(
    "more", [("--trace", "-", "--output", "-"), ("--trace", "t", "--output", "o", "--engine", "reference")]
)
def test_a_trace_needs_its_own_way_out_and_the_compiled_engine(folder: Path, more: tuple[str, ...]) -> None:
    (folder / "p.jsonl").write_text(json.dumps(payment(0, "c", 1.0)) + "\n")
    assert cep("eval", "cards.rules", "--events", "payment=p.jsonl", *more, cwd=folder).code == 2
