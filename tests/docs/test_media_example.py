"""examples/media is what its README says."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from cep.cli.main import main

MEDIA = Path(__file__).parents[2] / "examples" / "media"


def test_the_pack_has_no_finding_and_its_tests_pass(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--strict", str(MEDIA / "packs")]) == 0, capsys.readouterr().out
    assert main(["test", str(MEDIA / "packs")]) == 0, capsys.readouterr().out


def test_the_readme_counts_the_queries() -> None:
    lines = (MEDIA / "packs" / "watchlist.jsonl").read_text("utf-8").splitlines()
    readme = (MEDIA / "README.md").read_text("utf-8")
    assert f"watchlist of {len(lines):,} standing queries" in readme
    by_hand = sum('"id": "desk-' in line for line in lines)
    assert re.search(rf"{by_hand} queries written by hand", readme)


@pytest.mark.slow
def test_the_watchlist_is_what_its_script_writes() -> None:
    text = "import watchlist; print('\\n'.join(watchlist.lines()))"
    done = subprocess.run(
        [sys.executable, "-c", text], cwd=MEDIA, capture_output=True, text=True, check=True, timeout=120
    )
    assert done.stdout == (MEDIA / "packs" / "watchlist.jsonl").read_text("utf-8")


@pytest.mark.slow
def test_a_day_raises_alerts_of_every_rule(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "import sys, articles, pathlib; articles.write(pathlib.Path(sys.argv[1]), 2)"
    subprocess.run([sys.executable, "-c", text, str(tmp_path)], cwd=MEDIA, check=True, timeout=120)
    events = [f"article={path}" for path in sorted(tmp_path.glob("articles-*"))]
    command = ["eval", str(MEDIA / "packs"), "--events", *events, "--drain", "--output", "-"]
    assert main(command) == 0
    found = set(re.findall(r'"rule":"(\w+)"', capsys.readouterr().out))
    assert found == {"watched", "war_in_two_editions", "club_then_final"}
