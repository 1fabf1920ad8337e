"""examples/trading is what its README says; pandas and the reference find the same in generated trades."""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import demo_job
import pytest
from reference_tests import results
from trading.demo import table_of
from trading.generate import KINDS, LATENESS, Generated, generate, sample
from trading.in_pandas import RULES, Found, found_by_pandas
from trading.score import PURPOSE, found_by_pack, in_time, report
from trading.trial import DemoError, trades_of, write_events

from cep.cli.main import main
from cep.reference import Decided, decided
from rules.packs import load_texts
from rules.testing.run import label
from rules.typed import Pack

TRADING = Path(__file__).parents[2] / "examples" / "trading"


@pytest.fixture(scope="module")
def pack() -> Pack:
    path = TRADING / "packs" / "trading.rules"
    return load_texts([(path.name, path.read_text("utf-8"))]).need()


@pytest.fixture(scope="module")
def ten_minutes(tmp_path_factory: pytest.TempPathFactory) -> Generated:
    """Minutes of trades in which everything is done that can be."""
    return generate(tmp_path_factory.mktemp("trades"), minutes=10, files=3, seed=5, first=125, every=18)


def test_the_page_names_every_rule_and_what_it_is_after(pack: Pack) -> None:
    page = (TRADING / "README.md").read_text("utf-8")
    named = re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)
    assert named == [rule.name for rule in pack.rules] == list(PURPOSE) == list(RULES)
    assert {kind for kind, _ in PURPOSE.values()} == set(KINDS)


@pytest.mark.slow
def test_the_pack_has_no_finding_and_its_tests_pass(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--strict", str(TRADING / "packs")]) == 0, capsys.readouterr().out
    assert main(["test", str(TRADING / "packs")]) == 0, capsys.readouterr().out


def test_every_rule_has_a_test_and_the_reference_passes_them(pack: Pack) -> None:
    assert {name for test in pack.tests for name in test.rules} == {rule.name for rule in pack.rules}
    assert [label(result.test) for result in results(pack) if not result.passed] == []


@pytest.mark.slow
def test_the_same_seed_gives_the_same_trades(tmp_path: Path) -> None:
    def written(name: str, seed: int) -> list[str]:
        folder = tmp_path / name
        made = generate(folder, minutes=7, files=2, seed=seed, first=60, every=20)
        return [path.read_text("utf-8") for path in (*made.files, folder / "labels.json")]

    first = written("a", 1)
    assert written("b", 1) == first
    assert written("c", 2) != first


@pytest.mark.slow
def test_the_sample_is_what_the_generator_writes(tmp_path: Path) -> None:
    sample(tmp_path / "sample.csv.gz")
    written, shipped = ((folder / "sample.csv.gz").read_bytes() for folder in (tmp_path, TRADING))
    assert gzip.decompress(written) == gzip.decompress(shipped)


def test_trades_arrive_out_of_order_by_no_more_than_said_and_in_order_on_each_market(
    ten_minutes: Generated,
) -> None:
    trades = table_of(ten_minutes.files).drop_duplicates("trade_id")
    behind = trades.ms.cummax() - trades.ms
    assert (behind > 0).mean() > 0.05
    assert behind.max() <= LATENESS
    assert len(in_time(trades)) == len(trades) == ten_minutes.trades
    for _, of in trades.groupby(["market", "symbol"]):
        assert of.ms.is_monotonic_increasing
    lines = [line for path in ten_minutes.files for line in path.read_text("utf-8").splitlines()]
    assert len(lines) == ten_minutes.lines
    assert ten_minutes.redelivered
    assert ten_minutes.malformed


def by_reference(pack: Pack, rule: str, events: list[tuple[str, str, dict[str, object]]]) -> Counter[Found]:
    one = replace(pack, rules=tuple(r for r in pack.rules if r.name == rule))
    return Counter((named(alert), alert.time // 10**6) for alert in decided(one, events))


def named(alert: Decided) -> tuple[str, ...]:
    return tuple(repr(v) if isinstance(v, float) else str(v) for _, v in alert.key)


@pytest.mark.slow
@pytest.mark.parametrize("rule", PURPOSE)
def test_pandas_and_the_reference_find_the_same(pack: Pack, ten_minutes: Generated, rule: str) -> None:
    """A volume of the hour before there is none in ten minutes.

    The reference takes the square of a market's trades for `outsized_trade`: of one market.
    """
    trades = table_of(ten_minutes.files)
    if rule == "outsized_trade":
        trades = trades[trades.symbol == "ETHUSD_PERP"]
    once = trades.drop_duplicates("trade_id").to_dict("records")
    events = [("trade", str(t["trade_id"]), {**t, "traded_at": t["ms"] * 10**6}) for t in once]
    found = by_reference(pack, rule, events)
    assert found == found_by_pandas(trades)[rule]
    assert found or rule == "volume_burst"


@pytest.mark.slow
def test_pandas_and_the_engine_find_the_same_in_hours_of_trades(tmp_path: Path) -> None:
    """Each rule finds something, and something of each kind is found on purpose."""
    made = generate(tmp_path, minutes=100, files=7, seed=21)
    output = tmp_path / "alerts.jsonl"
    files = [f"trade={made.files[0]}", *map(str, made.files[1:])]
    command = ["eval", str(TRADING / "packs"), "--events", *files, "--drain", "--output", str(output)]
    assert main(command) in (0, 1)  # 1: malformed lines
    found = found_by_pack(map(json.loads, output.read_text("utf-8").splitlines()))
    text, same = report(found, in_time(table_of(made.files)), made.labels)
    assert same, text
    assert all(found.values()), text


@pytest.mark.slow
def test_each_thing_done_is_labelled_where_it_was_done(ten_minutes: Generated) -> None:
    """The rule that is after it finds it, but for what it takes an hour to know."""
    trades = in_time(table_of(ten_minutes.files))
    found = found_by_pandas(trades)
    text, same = report(found, trades, ten_minutes.labels)
    assert same
    rows = {line.split()[0]: line for line in text.splitlines()[2:]}
    assert list(rows) == list(PURPOSE)
    done, caught = ([int(row.split()[-place]) for row in rows.values()] for place in (8, 7))
    assert min(done) >= 1
    caught_kinds = {kind for (kind, _), n in zip(PURPOSE.values(), caught, strict=True) if n}
    assert caught_kinds == set(KINDS)


@pytest.mark.slow
def test_a_difference_from_pandas_is_told(ten_minutes: Generated) -> None:
    trades = in_time(table_of(ten_minutes.files))
    found = found_by_pandas(trades)
    ((at, _),) = found["momentum_ignition"].most_common(1)
    found["momentum_ignition"] -= Counter([at])
    found["thin_market"] += Counter([at])
    text, same = report(found, trades)
    assert not same
    (ignited,) = (line.split() for line in text.splitlines() if line.startswith("momentum_ignition"))
    assert ignited[-2:] == ["0", "1"]
    (thin,) = (line.split() for line in text.splitlines() if line.startswith("thin_market"))
    assert thin[-2:] == ["1", "0"]


def test_a_recording_gives_the_events_that_its_columns_say(tmp_path: Path) -> None:
    data = tmp_path / "trades.csv"
    data.write_text(
        "recv_ns,market,symbol,trade_id,trade_ms,price,qty,buyer_is_maker\n"
        "9,spot,BTCUSDT,17,1723161255342,61837.63,0.02,1\n8,cm,ETHUSD_PERP,3,1723161255340,2683,5,0\n",
        "utf-8",
    )
    write_events(trades_of(data), tmp_path / "trades.jsonl")
    first, second = map(json.loads, (tmp_path / "trades.jsonl").read_text("utf-8").splitlines())
    assert first == {
        "trade_id": "spot-BTCUSDT-17", "traded_at": "2024-08-08T23:54:15.342Z", "market": "spot",
        "symbol": "BTCUSDT", "price": 61837.63, "qty": 0.02, "buyer_is_maker": True,
    }  # fmt: skip
    assert (second["trade_id"], second["qty"], second["buyer_is_maker"]) == ("cm-ETHUSD_PERP-3", 5.0, False)


HEAD = "market,symbol,trade_id,trade_ms,price,qty,buyer_is_maker\n"


@pytest.mark.parametrize("text", ["a,b\n1,2\n", "", f"{HEAD}a,b,c,d,e,f,g\n"])
def test_a_file_that_is_no_recording_is_refused_with_the_columns_of_one(tmp_path: Path, text: str) -> None:
    (tmp_path / "x.csv").write_text(text, "utf-8")
    with pytest.raises(DemoError, match="trade_ms, price, qty, buyer_is_maker"):
        trades_of(tmp_path / "x.csv")


def test_a_drain_that_takes_too_long_is_told_in_a_sentence(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """As on a machine with much else to do."""
    (waiting := tmp_path / "cep").write_text("#!/bin/sh\nexec sleep 600\n")
    waiting.chmod(0o755)
    monkeypatch.setattr(demo_job, "CEP", waiting)
    monkeypatch.setattr(demo_job, "PATIENCE", 0.01)
    with pytest.raises(demo_job.DemoError, match=r"has not ended within 0 seconds; see .*drain\.log$"):
        demo_job.drain(demo_job.DemoRun(tmp_path, 0, 0, {}))
