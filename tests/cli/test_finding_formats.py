"""Findings in the forms that other tools read: each valid by its own rules, and none loses a finding."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import unquote
from xml.etree import ElementTree

import pytest
import xmlschema
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft4Validator

from cep.cli.arguments import FORMATS
from cep.cli.findings import told
from cep.cli.found import Findings
from cep.cli.github import commands
from cep.cli.main import main
from cep.explanation.pages import page
from rules.diagnostics import Allowed, Diagnostic, Label
from rules.source import SourceFile, Span

SCHEMAS = Path(__file__).parent / "schemas"
SARIF = Draft4Validator(json.loads((SCHEMAS / "sarif-2.1.0-rtm.5.json").read_text(encoding="utf-8")))
JUNIT = xmlschema.XMLSchema(SCHEMAS / "junit-10.xsd")

PACK = """pack cards version "1"
stream payment { at_: timestamp  card: string  amount: double  time at_ }
# allow CEP0301: a handful of events a day
rule two { match a: payment[amount > 1] -> b: payment  within 1h }
rule big { on payment[title == "日本 🎉" and amont > 100] emit card, card }
"""
WARNS = PACK.replace('title == "日本 🎉" and amont', "amount").replace(", card }", " }")


def checked(tmp_path: Path, text: str, form: str, capsys: pytest.CaptureFixture[str]) -> str:
    file = tmp_path / "a folder" / "cards.rules"
    file.parent.mkdir(exist_ok=True)
    file.write_text(text, encoding="utf-8")
    main(["check", "--format", form, str(file)])
    return capsys.readouterr().out


def the_run(text: str) -> dict[str, Any]:
    log = json.loads(text)
    SARIF.validate(log)
    (run,) = log["runs"]
    return run  # type: ignore[no-any-return]


def test_sarif_points_at_the_characters(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = the_run(checked(tmp_path, PACK, "sarif", capsys))
    assert run["columnKind"] == "unicodeCodePoints"
    lines = PACK.split("\n")
    found = {}
    for result in run["results"]:
        (location,) = result["locations"]
        region = location["physicalLocation"]["region"]
        line = lines[region["startLine"] - 1]
        text = line[region["startColumn"] - 1 : region["endColumn"] - 1]
        start = region["charOffset"]
        assert PACK[start : start + region["charLength"]] == text
        found[text] = result["ruleId"]
    assert found == {"title": "CEP0202", "amont": "CEP0202", "card": "CEP0206"}


def test_sarif_says_what_a_rule_is_about(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = the_run(checked(tmp_path, PACK, "sarif", capsys))
    rules = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == ["CEP0202", "CEP0206"]
    assert all(rules[result["ruleIndex"]]["id"] == result["ruleId"] for result in run["results"])
    for rule in rules:
        assert rule["help"]["markdown"] == page(rule["id"])
        assert Path(unquote(rule["helpUri"].removeprefix("file://"))).read_text() == page(rule["id"])


def test_sarif_names_related_places(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = the_run(checked(tmp_path, PACK, "sarif", capsys))
    (related,) = [r["relatedLocations"] for r in run["results"] if r["ruleId"] == "CEP0206"]
    assert [place["message"]["text"] for place in related] == ["first emitted here"]
    (uri,) = {r["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for r in run["results"]}
    assert unquote(uri) == f"file://{tmp_path}/a folder/cards.rules"


def test_sarif_keeps_what_a_comment_silences(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = the_run(checked(tmp_path, WARNS, "sarif", capsys))
    told = {r["ruleId"]: r.get("suppressions") for r in run["results"]}
    assert told["CEP0301"] == [{"kind": "inSource", "justification": "a handful of events a day"}]
    assert told["CEP0302"] is None
    assert "CEP0301" not in checked(tmp_path, WARNS, "text", capsys)


def test_a_finding_that_moves_keeps_its_fingerprint(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = the_run(checked(tmp_path, PACK, "sarif", capsys))["results"]
    after = the_run(checked(tmp_path, "# a new line\n\n" + PACK, "sarif", capsys))["results"]
    prints = [[r["partialFingerprints"] for r in results] for results in (before, after)]
    assert prints[0] == prints[1]
    assert len({json.dumps(p) for p in prints[0]}) == len(before)


def test_github_annotates_the_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = checked(tmp_path, PACK, "github", capsys).splitlines()
    file = f"{tmp_path}/a folder/cards.rules"
    assert lines[1] == (
        f"::error title=CEP0202,file={file},line=5,endLine=5,col=43,endColumn=48::"
        "stream `payment` has no field `amont`%0Ahelp: did you mean `amount`?"
    )
    assert lines[-1] == "2 rules, 3 errors, 0 warnings"


def test_what_github_would_read_as_its_own_is_escaped() -> None:
    file = SourceFile("a:b,c%.rules", "x\ny")
    finding = Diagnostic("CEP0101", "hint", "100% of\r\n::x", Span(file, 0, 3), help="one\ntwo")
    assert commands([finding]) == (
        "::notice title=CEP0101,file=a%3Ab%2Cc%25.rules,line=1,endLine=2::"
        "100%25 of%0D%0A::x%0Ahelp: one%0Atwo\n"
    )


def test_junit_has_a_case_for_each_finding(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = checked(tmp_path, PACK, "junit", capsys)
    JUNIT.validate(text)
    root = ElementTree.fromstring(text.encode())
    assert [(c.get("name"), c[0].tag) for c in root.iter("testcase")] == [
        ("CEP0202 line 5", "failure"),
        ("CEP0202 line 5", "failure"),
        ("CEP0206 line 5", "failure"),
    ]
    assert root.get("failures") == "3"


def test_a_file_without_findings_is_a_case_that_passed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = checked(tmp_path, WARNS.replace("at_: t", "i: string id i at_: t"), "junit", capsys)
    JUNIT.validate(text)
    (case,) = ElementTree.fromstring(text.encode()).iter("testcase")
    assert (case.get("name"), len(case)) == ("no findings", 0)


def test_a_warning_fails_in_junit_only_if_strict(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "w.rules"
    file.write_text(WARNS, encoding="utf-8")
    for options, tag in (([], "skipped"), (["--strict"], "failure")):
        main(["check", "--format", "junit", str(file), *options])
        text = capsys.readouterr().out
        assert {c[0].tag for c in ElementTree.fromstring(text.encode()).iter("testcase")} == {tag}


FAILS = {
    "text": lambda out: "error[CEP0916]" in out,
    "json": lambda out: (
        (found := json.loads(out))["errors"] == 1 and found["diagnostics"][0]["level"] == "error"
    ),
    "sarif": lambda out: [r["level"] for r in the_run(out)["results"]] == ["error"],
    "github": lambda out: out.startswith("::error title=CEP0916"),
    "junit": lambda out: ElementTree.fromstring(out.encode()).get("failures") == "1",
}


@pytest.mark.parametrize("form", FORMATS)
def test_what_cannot_run_yet_is_an_error_in_every_form_if_strict(
    form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "w.rules"
    derived = "rule maker { on payment  emit card  into paid }\nrule reader { on paid }"
    file.write_text(
        f"{WARNS[: WARNS.index('# allow')].replace('at_: t', 'i: string id i at_: t')}{derived}\n"
    )
    for options, fails in (([], False), (["--strict"], True)):
        assert main(["check", "--format", form, str(file), *options]) == int(fails)
        assert FAILS[form](capsys.readouterr().out) is fails


@pytest.mark.parametrize("form", FORMATS)
def test_a_finding_without_a_place_is_told(
    form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", "--format", form, str(tmp_path)]) == 1
    out = capsys.readouterr().out
    assert "CEP0508" in out
    if form == "sarif":
        the_run(out)
    if form == "junit":
        JUNIT.validate(out)


texts = st.text(max_size=20)
levels = st.sampled_from(["error", "warning", "hint"])


@st.composite
def spans(draw: st.DrawFn) -> Span:
    file = SourceFile(draw(st.sampled_from(["a.rules", "b c.rules", "<stdin>", "/x/ü%.rules"])), draw(texts))
    start, end = sorted(draw(st.tuples(*[st.integers(0, len(file.text))] * 2)))
    return Span(file, start, end)


labels = st.lists(st.builds(Label, spans(), texts), max_size=2).map(tuple)
codes = st.sampled_from(["CEP0101", "CEP0207", "CEP0301", "CEP0999"])
findings = st.builds(Diagnostic, codes, levels, texts, st.none() | spans(), texts, labels, help=texts)


@settings(max_examples=examples(60), deadline=None)
@given(
    st.lists(findings, max_size=3), st.lists(st.builds(Allowed, findings, texts), max_size=2), st.booleans()
)
def test_any_findings_have_all_forms(found: list[Diagnostic], allowed: list[Allowed], strict: bool) -> None:
    all_of_them = Findings(found, allowed, ["a.rules"], 1, strict)
    run = the_run(told(all_of_them, "sarif"))
    assert len(run["results"]) == len(found) + len(allowed)
    assert sum("suppressions" in r for r in run["results"]) == len(allowed)
    text = told(all_of_them, "junit")
    JUNIT.validate(text)
    assert len(list(ElementTree.fromstring(text.encode()).iter("failure"))) == sum(
        d.level == "error" or (strict and d.level == "warning") for d in found
    )
    lines = told(all_of_them, "github").split("\n")
    assert len(lines) == len(found) + 2, "a command is one line"
    assert len(json.loads(told(all_of_them, "json"))["diagnostics"]) == len(found)
