"""`cep eval --trace`: which runs it tells of, where to, how much, and what is said where that is not all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cep.batch.selection import KeyTest
from cep.batch.trace import Trace
from cep.cli.failure import UsageError
from cep.cli.main import main
from cep.cli.trace_option import MOST, Asked, asked
from cep.inprocess.engines import Compiled
from cep.inprocess.following import Following
from cep.inprocess.replay import in_step
from cep.inprocess.report import Report
from cep.inprocess.sources import of_files
from cep.packs.compile import compile_plan
from rules.packs import load

RULES = """pack cards version "1"
stream payment {
  pid: string  at_: timestamp  card: string  shop: long  amount: double
  id pid  time at_
}
rule probes {
  by card  match small: payment[amount < 2]{2} -> big: payment[amount > 100]  within 30 minutes
}
rule pairs { by card, shop  match a: payment -> b: payment[amount > a.amount]  within 5 minutes }
rule anywhere { match a: payment[amount > 500] -> b: payment[amount > 600]  within 1 hour }
rule large { on payment[amount > 100] by card }
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "cards.rules").write_text(RULES)
    rows = [
        {"pid": f"p{n}", "at_": f"2026-01-05T08:{n:02}:00Z", "card": ["a", "b,c"][n % 2], "shop": n % 3,
         "amount": [1.0, 1.5, 150.0, 700.0, 1.25][n % 5]}
        for n in range(60)
    ]  # fmt: skip
    (tmp_path / "p.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*more: str) -> int:
    return main(["eval", "cards.rules", "--events", "payment=p.jsonl", *more])


def records(*more: str) -> list[dict[str, Any]]:
    """The records of a trace as JSON."""
    words = [part for one in more for part in ("--trace", one)]
    assert run(*words, "--trace", "to=t.jsonl", "--format", "json") == 0
    return [json.loads(line) for line in Path("t.jsonl").read_text().splitlines()]


@pytest.mark.slow
@pytest.mark.usefixtures("folder")
def test_a_rule_a_key_and_a_run_are_told_of_alone() -> None:
    everything = records("most=all")
    assert {one["rule"] for one in everything} == {"probes", "pairs", "anywhere"}
    for words, fits in (
        ("rule=probes", lambda r: r["rule"] == "probes"),
        ("rule=probes,rule=anywhere", lambda r: r["rule"] != "pairs"),
        ("rule=probes,key=a", lambda r: r["rule"] == "probes" and r["key"] == {"card": "a"}),
        ('rule=probes,key="b,c"', lambda r: r["rule"] == "probes" and r["key"] == {"card": "b,c"}),
        ("key=a", lambda r: r["key"].get("card") == "a"),
        ("key.card=a,key.shop=2", lambda r: r["key"] == {"card": "a", "shop": 2}),
        ("key=2", lambda r: r["key"].get("shop") == 2),
        (
            "rule=probes,key=a,run=3",
            lambda r: (r["rule"], r["key"], r.get("run")) == ("probes", {"card": "a"}, 3),
        ),
        ("rule=anywhere,run=2", lambda r: r["rule"] == "anywhere" and r.get("run") == 2),
    ):  # fmt: skip
        expected = [one for one in everything if fits(one)]
        assert expected, words
        assert _sorted(records(words)) == _sorted(expected), words


def _sorted(found: list[dict[str, Any]]) -> list[str]:
    return sorted(json.dumps(one, sort_keys=True) for one in found)


@pytest.mark.usefixtures("folder")
def test_records_stand_in_the_order_in_which_things_happened() -> None:
    times = [one["time"] for one in records("most=all") if one["kind"] != "waiting"]
    assert times == sorted(times)
    assert len(times) > 200


@pytest.mark.slow
def test_alerts_are_those_of_a_run_without_a_trace(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--output", "plain.jsonl") == 0
    for words in ("rule=probes,key=a", "most=3"):
        assert run("--output", "traced.jsonl", "--trace", f"to=t.txt,{words}") == 0
        assert (folder / "traced.jsonl").read_text() == (folder / "plain.jsonl").read_text()
    capsys.readouterr()
    assert run("--trace", "rule=probes,key=a") == 0  # without alerts, to stdout
    assert capsys.readouterr().out.startswith('rule probes, card "a"\n  run 1\n')


@pytest.mark.slow
def test_a_bounded_trace_says_what_is_left_out(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    everything = records("most=all")
    few = records("most=40")
    assert _sorted(few[:-1]) == _sorted(everything[:40])
    assert few[-1] == {"kind": "left out", "time": everything[40]["time"], "most": 40}
    capsys.readouterr()
    assert run("--trace", "t.txt", "--trace", "most=40") == 0
    said = f"left out is what happened from {everything[40]['time']} on"
    *_, last = (folder / "t.txt").read_text().splitlines()
    assert last.startswith(f"trace: the first 40 things; {said}, and what waits in the end")
    assert "--trace most=all tells of it, --trace rule=NAME,key=VALUE tells of less" in last
    assert capsys.readouterr().err.splitlines()[-1] == last
    assert run("--trace", "rule=probes,key=a,most=2") == 0
    told = capsys.readouterr()
    assert "tells of less" not in told.out
    assert "left out" in told.out
    assert "left out" not in told.err


def test_what_follows_runs_stops_when_the_trace_is_full(folder: Path) -> None:
    """Nothing is kept then but the records: neither runs nor events that wait."""
    pack = load([folder / "cards.rules"]).need()
    engine = Compiled(compile_plan([pack]), one_partition=False)
    following = Following.of(engine, [pack], Trace(most=5))
    report, batches = Report(), 0
    source = of_files(pack.stream("payment"), ("p.jsonl",) * 4)
    for events, now in in_step([source], {"payment"}, report):
        following.feed(events, now)
        batches = batches or following.session.start.number
    assert report.events == 240
    assert following.session.start.number == batches
    assert len(following.trace.records) == 5
    assert following.waiting == 0
    assert not following.session.memories


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("key=zz", 'no event has that key\n  = help: keys are such as "'),
        ("rule=pairs,key.card=a,key.shop=9", 'keys are such as "a", 0 and "b,c", 1'),
        ("rule=probes,key=a,run=99", "there is no run 99\n  = help: leave run= out"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_a_trace_of_nothing_is_a_failure(capsys: pytest.CaptureFixture[str], words: str, said: str) -> None:
    assert run("--trace", words) == 1
    err = capsys.readouterr().err
    assert "error: the trace is empty: " in err
    assert said in err


@pytest.mark.parametrize(
    ("words", "said", "fix"),
    [
        ("rule=prob", "there is no such rule", "did you mean `probes`?"),
        ("rule=zzzzzz", "there is no such rule", "the rules with runs or windows are `probes`, `pairs`"),
        ("rule=large", "a rule with `on` has no runs", "`probes`, `pairs`, `anywhere`"),
        ("rule=anywhere,key=a", "rule `anywhere` has no key", "leave it out"),
        ("key.crad=a", "there is no field `crad`", "did you mean `card`?"),
        ("rule=probes,key.shop=1", "there is no field `shop`", "the only one is `card`"),
        ("run=3", "every key has a run of that number", "name the key, too"),
        ("rule=probes,run=3", "every key has a run of that number", "--trace rule=probes,key=VALUE,run=3"),
        ("key=a,run=3", "every rule has a run of that number", "name the rule, too"),
    ],
)
def test_what_cannot_be_told_of_is_refused(
    folder: Path, capsys: pytest.CaptureFixture[str], words: str, said: str, fix: str
) -> None:
    before = sorted(folder.iterdir())
    assert run("--trace", words, "--output", "out.jsonl") == 2
    err = capsys.readouterr().err
    assert said in err
    assert fix in err
    assert sorted(folder.iterdir()) == before


@pytest.mark.parametrize("more", [("--trace", "-"), ("--trace", "rule=probes"), ("--trace", "to=-,most=all")])
@pytest.mark.usefixtures("folder")
def test_a_trace_and_alerts_do_not_share_a_place(more: tuple[str, ...]) -> None:
    assert run("--output", "-", *more) == 2
    assert run("--output", "x", "--trace", "to=x") == 2


def test_words_are_told_from_files() -> None:
    one = KeyTest(None, "c1")
    for texts, meant in (
        (["out.txt"], Asked("out.txt")),
        (["-"], Asked("-")),
        (["a/b=c.txt"], Asked("a/b=c.txt")),
        (["to=rule=x"], Asked("rule=x")),
        (["rule=r"], Asked(rules=("r",))),
        (["rule=r,key=c1,run=3"], Asked(rules=("r",), keys=(one,), run=3)),
        (["out.txt", "rule=r, key=c1"], Asked("out.txt", rules=("r",), keys=(one,))),
        (["rule=a,rule=b", "most=all"], Asked(rules=("a", "b"), most=None)),
        (['key.card_id="a,\\"b",to=x'], Asked("x", keys=(KeyTest("card_id", 'a,"b', True),))),
        (['key="5"'], Asked(keys=(KeyTest(None, "5", True),))),
        (['key=a"b'], Asked(keys=(KeyTest(None, 'a"b'),))),
        (["key=2026-01-05T09:00:00Z"], Asked(keys=(KeyTest(None, "2026-01-05T09:00:00Z"),))),
        (["most=7"], Asked(most=7)),
    ):  # fmt: skip
        assert asked(texts) == meant
    assert Asked().most == MOST


@pytest.mark.parametrize(
    ("texts", "said", "fix"),
    [
        (["rul=r"], "knows no `rul=`", "did you mean `rule`? a file of that name is to=rul=r"),
        (["out=x.txt"], "knows no `out=`", "words are rule, key, run, most, to; a file"),
        (["rule.x=r"], "knows no `rule.x=`", "rule"),
        (["key=a,b"], "`b` is no word", "double quotes"),
        (['key="a'], "a quote is not closed", '"a,b"'),
        (['key="a"b'], "a comma is missing", '"a,b"'),
        (["key="], "a value is missing", "key=VALUE"),
        (["rule=r,"], "a word is missing behind the last comma", "key=VALUE"),
        (["run=x"], "run=x is no number from 1 on", "run=NUMBER"),
        (["run=0"], "no number from 1 on", "run=NUMBER"),
        (["most=0"], "no number from 1 on", "most=NUMBER"),
        (["run=1", "run=2"], "says run= twice", "leave one of them out"),
        (["a.txt", "b.txt"], "says to= twice", "leave one of them out"),
    ],
)
def test_words_that_cannot_be_meant_are_refused(texts: list[str], said: str, fix: str) -> None:
    with pytest.raises(UsageError) as refused:
        asked(texts)
    assert said in refused.value.message
    assert fix in refused.value.help


@pytest.mark.slow
@pytest.mark.usefixtures("folder")
def test_rules_of_one_name_in_two_packs_are_told_of_apart() -> None:
    """In a job packs run together, and each has its runs."""
    Path("packs").mkdir()
    for name, amount in (("a", 100), ("b", 140)):
        text = RULES[: RULES.index("rule pairs")].replace("pack cards", f"pack {name}")
        Path("packs", f"{name}.rules").write_text(text.replace("amount > 100", f"amount > {amount}"))
    Path("job.toml").write_text(
        '[job]\nname = "j"\npacks = "packs/"\nstate = "state/"\n'
        '[feeds.payment]\nsource = "files"\npath = "p.jsonl"\n'
    )

    def told(*what: str) -> list[dict[str, Any]]:
        words = ["--trace", "to=t.jsonl,most=all", "--format", "json"]
        assert main(["eval", *what, *words]) == 0
        return [json.loads(line) for line in Path("t.jsonl").read_text().splitlines()]

    together = told("--job", "job.toml")
    for name in "ab":
        alone = told(f"packs/{name}.rules", "--job", "job.toml")
        assert any(one["kind"] == "waiting" for one in alone)
        assert [one for one in together if one["pack"] == name] == alone
    assert main(["eval", "--job", "job.toml", "--trace", "t.txt"]) == 0
    heads = {line for line in Path("t.txt").read_text().splitlines() if line.startswith("rule")}
    assert heads == {f'rule probes of pack {name}, card "{card}"' for name in "ab" for card in ("a", "b,c")}
