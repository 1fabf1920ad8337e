"""examples/fraud is what its README says; generated payments give each rule something to find."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Mapping
from pathlib import Path

import pytest
from fraud.generate import generate
from fraud.score import PURPOSE, RuleScore, scores
from fraud.trial import derive

from cep.cli.main import main
from rules.packs import load

FRAUD = Path(__file__).parents[2] / "examples" / "fraud"


@pytest.mark.slow
@pytest.mark.parametrize("packs", ["packs", "next"])
def test_the_pack_has_no_finding_and_its_tests_pass(capsys: pytest.CaptureFixture[str], packs: str) -> None:
    assert main(["check", "--strict", str(FRAUD / packs)]) == 0, capsys.readouterr().out
    assert main(["test", str(FRAUD / packs)]) == 0, capsys.readouterr().out


def test_the_page_and_the_score_name_every_rule() -> None:
    of_packs = [[rule.name for rule in load([FRAUD / packs]).need().rules] for packs in ("packs", "next")]
    named = re.findall(r"^\| `(\w+)` \|", (FRAUD / "README.md").read_text("utf-8"), re.MULTILINE)
    assert named == of_packs[0]
    assert sorted(PURPOSE) == sorted(of_packs[1])


@pytest.mark.slow
def test_the_same_seed_gives_the_same_payments(tmp_path: Path) -> None:
    def written(name: str, seed: int) -> list[str]:
        made = generate(tmp_path / name, 500, files=2, seed=seed)
        return [path.read_text("utf-8") for paths in made.files.values() for path in paths]

    first = written("a", 1)
    assert written("b", 1) == first
    assert written("c", 2) != first


HEAD = "TRANSACTION_ID,TX_DATETIME,CUSTOMER_ID,TERMINAL_ID,TX_AMOUNT,TX_FRAUD,TX_FRAUD_SCENARIO\n"


def test_a_chargeback_tells_of_a_fraud_a_week_later_and_not_of_its_scenario(tmp_path: Path) -> None:
    data, out = tmp_path / "payments.csv", tmp_path / "chargebacks.jsonl"
    data.write_text(
        f"{HEAD}1,2018-07-01 10:00:00,5,6,9.5,1,2\n2,2018-07-02 00:00:00,5,6,9.5,0,0\n"
        "3,2018-07-08 10:00:00,5,7,300,1,1\n",
        "utf-8",
    )
    assert derive(data, out) == {"1": 2, "2": 0, "3": 1}
    assert [json.loads(line) for line in out.read_text("utf-8").splitlines()] == [
        {
            "chargeback_id": "b1", "reported_at": "2018-07-08T10:00:00Z", "payment_id": "1",
            "card_id": "5", "terminal_id": "6", "amount": 9.5,
        }
    ]  # fmt: skip


def test_a_window_accuses_its_newest_payment_and_a_pattern_its_last_step() -> None:
    found = scores(
        [
            {"rule": "far_above_median", "kind": "window", "events": {"payment": ["p1", "p2"]}},
            {"rule": "spending_jump", "kind": "match", "events": {"usual": ["p1"], "odd": ["p3"]}},
            {"rule": "velocity", "kind": "window", "events": {"payment": ["p1"]}},
        ]
    )
    assert {rule: score.accused for rule, score in found.items() if score.alerts} == {
        "far_above_median": {"p2"},
        "spending_jump": {"p3"},
        "velocity": set(),
    }


def recall_and_precision(
    found: Mapping[str, RuleScore], labels: Mapping[str, int], of: int
) -> tuple[float, float]:
    """Of a scenario, by the rules that are after it; of scenario 1 any fraud is right."""
    accused = set().union(
        *(found[rule].accused for rule, (_, scenario, _) in PURPOSE.items() if scenario == of)
    )
    right = sum(labels[p] > 0 if of == 1 else labels[p] == of for p in accused)
    caught = sum(labels[p] == of for p in accused)
    return caught / sum(scenario == of for scenario in labels.values()), right / len(accused)


@pytest.mark.slow
def test_generated_payments_are_judged_as_well_as_the_page_says(tmp_path: Path) -> None:
    """Of another seed than the one with which the bounds of the rules were chosen."""
    made = generate(tmp_path, 200_000, files=1, seed=12)
    events = [part for stream, (path,) in made.files.items() for part in ("--events", f"{stream}={path}")]
    output = tmp_path / "alerts.jsonl"
    assert main(["eval", str(FRAUD / "packs"), *events, "--drain", "--output", str(output)]) in (0, 1)
    with (tmp_path / "labels.csv").open(encoding="utf-8") as text:
        labels = {row["payment_id"]: int(row["scenario"]) for row in csv.DictReader(text)}
    found = scores(json.loads(line) for line in output.read_text("utf-8").splitlines())
    assert [rule for rule, score in found.items() if not score.alerts] == ["large_in_a_row"]
    for scenario, recall, precision in ((1, 1.0, 1.0), (2, 0.37, 0.49), (3, 0.33, 0.57)):
        reached = recall_and_precision(found, labels, scenario)
        assert (reached[0] >= recall, reached[1] >= precision) == (True, True), (scenario, *reached)
