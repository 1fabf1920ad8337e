"""`cep explain CODE`: the page of a diagnostic, from a checkout as from a wheel."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from cep_command import cep

from cep.cli.main import main
from cep.cli.markdown import text_of
from cep.explanation.pages import page, titles

ROOT = Path(__file__).parents[2]
FUNCTIONS = ROOT / "docs" / "functions.md"
PERCENTILE = """\
percentile(step.field, 0.99)  over the events that a step took
  The value below which that part of the values lies, between two of them by their distance.
  over          long, double, decimal
  gives         double
  of no events  null

percentile(field, 0.99)  over the events of a window
  The value below which that part of the values lies, between two of them by their distance.
  over          long, double, decimal
  gives         double
  of no events  null
"""


@pytest.mark.parametrize("written", ["CEP0207", "cep0207", "Cep-0207", "[CEP0207]"])
def test_a_code_is_explained_however_it_is_written(written: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", written]) == 0
    out = capsys.readouterr().out
    assert out.startswith("CEP0207: values of different types are compared\n\n    pack cards")
    assert "\nWhat to do. Compare with a field" in out


def test_codes_of_queries_and_of_running_are_explained_too(capsys: pytest.CaptureFixture[str]) -> None:
    for code in ("pq05", "CEP0701", "CEP0801", "CEP0912", "CEP0999"):
        assert main(["explain", code]) == 0
        assert capsys.readouterr().out.startswith(f"{code.upper()}: {titles()[code.upper()]}")


@pytest.mark.parametrize(
    ("written", "help_"),
    [
        ("CEP0270", "did you mean `CEP0207`: values of different types are compared?"),
        ("PQ50", "did you mean `PQ05`: something is missing beside an operator?"),
        ("0207", "did you mean `CEP0207`: values of different types are compared?"),
        ("207", "did you mean `CEP0207`: values of different types are compared?"),
        ("05", "did you mean `PQ05`: something is missing beside an operator?"),
        (
            "CEP",
            "codes are such as CEP0207 and PQ05, in brackets in a message; `cep explain codes` lists them",
        ),
    ],
)
def test_an_unknown_code_is_wrong_usage(written: str, help_: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", written]) == 2
    assert capsys.readouterr().err == f"error: there is no code `{written}`\n  = help: {help_}\n"


def test_only_what_is_missing_is_asked_for() -> None:
    told = cep("explain")
    assert told.code == 2
    assert told.err.startswith("error: the following arguments are required: CODE|FUNCTION|RULE\n")


def test_functions_lists_every_call_of_the_language(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "functions"]) == 0
    out = capsys.readouterr().out
    calls = [*re.findall(r"^\| `([^`]+)` \|", FUNCTIONS.read_text(encoding="utf-8"), re.MULTILINE)]
    written = {call.split("(")[0] for call in calls if not call[0].isupper()}
    assert written <= set(re.findall(r"^  (\w+)\(", out, re.MULTILINE))
    assert max(map(len, out.splitlines())) <= 100
    assert main(["explain", "functions", "--format", "json"]) == 0
    assert written <= {one["name"] for one in json.loads(capsys.readouterr().out)["functions"]}


def test_a_function_is_told_with_all_that_it_stands_for(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "percentile"]) == 0
    assert capsys.readouterr().out == PERCENTILE
    assert main(["explain", "round"]) == 0
    assert "  example  round(1250, -2) is 1300\n" in capsys.readouterr().out


def test_codes_lists_every_code_with_its_title(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "codes"]) == 0
    listed = dict(line.split(None, 1) for line in capsys.readouterr().out.splitlines())
    assert listed == dict(titles())
    assert main(["explain", "codes", "--format", "json"]) == 0
    told = json.loads(capsys.readouterr().out)["codes"]
    assert {one["code"]: one["title"] for one in told} == listed


def test_a_rule_called_like_a_function_is_explained_where_its_path_is_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    head = 'pack p version "1"\nstream s { id_: string  at: timestamp  id id_  time at }\n'
    (tmp_path / "p.rules").write_text(f"{head}rule count {{ on s }}\n")
    monkeypatch.chdir(tmp_path)
    assert main(["explain", "count"]) == 0
    assert "How many events the step took." in capsys.readouterr().out
    assert main(["explain", "count", "."]) == 0
    assert capsys.readouterr().out.startswith("rule count")


def test_a_function_of_another_language_is_told_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["explain", "haversine"]) == 2
    assert "  = help: write `distance_km(lat, lon, lat, lon)`" in capsys.readouterr().err


def test_json_has_the_page_as_it_is_written(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "CEP0301", "--format", "json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["code"], told["title"], told["page"]) == ("CEP0301", titles()["CEP0301"], page("CEP0301"))


def test_a_command_of_its_own_needs_no_colours(tmp_path: Path) -> None:
    told = cep("explain", "PQ11", cwd=tmp_path)
    assert (told.code, told.err) == (0, "")
    assert "\x1b" not in told.out


@pytest.mark.parametrize("code", titles())
def test_every_page_is_shown_whole(code: str) -> None:
    shown = text_of(page(code), lambda text, _: text, 80)
    words = re.compile(r"\w+")
    links = re.sub(r"\]\((?!http)[^)]*\)", "]", page(code))
    written = [w for line in links.splitlines() if not line.startswith("```") for w in words.findall(line)]
    assert words.findall(shown) == written
    assert not [line for line in shown.splitlines() if len(line) > 80 and not line.startswith("    ")]


def test_the_signs_of_markdown_are_drawn() -> None:
    table = "| a | b |\n| --- | --- |\n| 1 | `2` |\n"
    text = f"# A `b`\n\none **two** [three](x.md)\n- four\n  five\n\n{table}\n```rules\nx\n```\n"
    drawn = text_of(text, lambda part, colour: f"<{colour}:{part}>", 40)
    assert drawn == (
        "<bold:A `b`>\n\none <bold:two> three\n- four five\n\na   b\n1   <bold:`2`>\n\n<dim:    x>\n"
    )


@pytest.mark.slow
def test_a_wheel_brings_the_pages(tmp_path: Path) -> None:
    build = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--no-deps",
        "-q",
        "-w",
        str(tmp_path),
    ]
    source = tmp_path / "source"
    subprocess.run(["git", "clone", "-q", "--no-local", str(ROOT), str(source)], check=True)
    subprocess.run([*build, str(source)], check=True)
    (wheel,) = tmp_path.glob("*.whl")
    installed = tmp_path / "installed"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(installed)
    program = (
        "import cep.explanation.pages as pages; print(pages.__file__); "
        "[pages.page(c) for c in pages.titles()]"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, env={"PYTHONPATH": str(installed)},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.startswith(str(installed))
