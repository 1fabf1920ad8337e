"""The output of `cep test` about failures and coverage, as text, JSON and JUnit."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from cep_command import cep

from cep.cli.main import main

TEXTS = Path(__file__).parent / "texts"


@pytest.mark.parametrize(("pack", "options", "code"), [("failures", (), 1), ("covered", ("--coverage",), 0)])
def test_the_text_is_that_of_the_golden_file(pack: str, options: tuple[str, ...], code: int) -> None:
    """Made by `cep test PACK.rules [--coverage] > PACK.txt` in tests/cli/texts, and read."""
    told = cep("test", f"{pack}.rules", *options, cwd=TEXTS)
    assert (told.code, told.err) == (code, "")
    assert told.out == (TEXTS / f"{pack}.txt").read_text(encoding="utf-8")


@pytest.mark.slow
def test_json_tells_how_far_the_nearest_run_came() -> None:
    told = cep("test", "failures.rules", "--format", "json", "--run", "stopped", cwd=TEXTS)
    (test,) = json.loads(told.out)["tests"]
    (missing,) = test["missing"]
    text = (TEXTS / "failures.txt").read_text(encoding="utf-8")
    assert missing["nearest"]
    assert "\n".join(f"    {line}" for line in missing["nearest"]) in text


@pytest.mark.slow
def test_json_has_every_side_of_every_part_with_its_place() -> None:
    told = cep("test", "covered.rules", "--format", "json", "--coverage", cwd=TEXTS)
    (pack,) = json.loads(told.out)["coverage"]
    assert (pack["covered"], pack["total"], pack["percent"]) == (21, 44, 47.73)
    rules = {rule["rule"]: rule for rule in pack["rules"]}
    assert {name: (rule["tests"], rule["alerts"]) for name, rule in rules.items()} == {
        "probes": (1, 1), "quiet": (1, 1), "large": (1, 0), "untried": (0, 0),
    }  # fmt: skip
    items = {(item["kind"], item["text"]): item for item in rules["probes"]["items"]}
    between = items["range", "amount between 100 and 500"]
    assert between["sides"] == {"below": 0, "inside": 1, "above": 0}
    place = [between[name] for name in ("line", "column", "end_line", "end_column")]
    assert place == [20, 12, 20, 38]
    assert items["comparison", 'country == "NG"']["sides"] == {"true": 0, "false": 0}
    assert items["comparison", 'country == "NG"']["unknown"] == 1
    assert items["step", "seen:  refund"]["sides"] == {"taken": 0, "left out": 1}
    assert items["within", "within 30 minutes"]["sides"] == {"kept": 2, "ended a run": 0}
    (guard,) = [item for item in rules["quiet"]["items"] if item["kind"] == "guard"]
    assert (guard["text"], guard["sides"]) == ("refund", {"fired": 0, "held": 1})


@pytest.mark.parametrize(("least", "code"), [("47", 0), ("47.8%", 1), ("100", 1)])
def test_too_little_coverage_fails(least: str, code: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["test", str(TEXTS / "covered.rules"), "--coverage-min", least]) == code
    out, err = capsys.readouterr()
    assert "coverage of cards" in out
    assert ("47.7 % of cards is covered, less than" in err) == bool(code)


@pytest.mark.parametrize("least", ["101", "-1", "half", "nan"])
def test_a_percentage_is_one(least: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["test", str(TEXTS), f"--coverage-min={least}"])
    assert ended.value.code == 2
    assert "is no percentage from 0 to 100" in capsys.readouterr().err


@pytest.mark.slow
def test_junit_has_a_case_for_every_test_with_what_the_text_says() -> None:
    told = cep("test", "failures.rules", "covered.rules", "--format", "junit", "--coverage", cwd=TEXTS)
    assert told.code == 1
    assert "coverage of cards: 47.7 %" in told.err
    root = ElementTree.fromstring(told.out)
    suites = {suite.get("name"): suite for suite in root}
    assert {name: (s.get("tests"), s.get("failures")) for name, s in suites.items()} == {
        "fraud": ("17", "17"), "cards": ("2", "0"),
    }  # fmt: skip
    case = suites["fraud"][0]
    assert (case.get("classname"), case.get("name")) == (
        "fraud.card_testing",
        "the condition that stopped it",
    )
    assert float(case.get("time", "")) > 0
    failure = case[0]
    assert failure.get("message") == "1 expected alert did not come"
    assert "at 5m payment-4 is not `big`:" in (failure.text or "")
    several = next(c for c in suites["fraud"] if "tolerance" in c.get("name", ""))
    assert several[0].get("message") == "2 expected alerts did not come; 1 alert came unexpected"


@pytest.mark.slow
def test_junit_tells_of_packs_that_cannot_run_and_of_no_tests(tmp_path: Path) -> None:
    (tmp_path / "bad.rules").write_text("pack p version 1")
    told = cep("test", "bad.rules", "--format", "junit", cwd=tmp_path)
    (suite,) = ElementTree.fromstring(told.out)
    assert (told.code, suite.get("name"), suite.get("errors")) == (1, "cep", "1")
    told = cep("test", str(TEXTS / "covered.rules"), "--format", "junit", "--run", "nowhere", cwd=tmp_path)
    (suite,) = ElementTree.fromstring(told.out)
    assert told.code == 1
    assert suite[0][0].get("message") == "no test fits --run 'nowhere'"
