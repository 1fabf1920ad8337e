"""examples/media is what its README says."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from cep.cli.main import main

EXAMPLES = Path(__file__).parents[2] / "examples"
MEDIA = EXAMPLES / "media"


@pytest.mark.slow
def test_the_pack_has_no_finding_and_its_tests_pass(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--strict", str(MEDIA / "packs")]) == 0, capsys.readouterr().out
    assert main(["test", str(MEDIA / "packs")]) == 0, capsys.readouterr().out


def test_the_pages_count_the_queries() -> None:
    lines = (MEDIA / "packs" / "watchlist.jsonl").read_text("utf-8").splitlines()
    by_hand = sum(json.loads(line)["id"].startswith("desk-") for line in lines)
    readme = (MEDIA / "README.md").read_text("utf-8")
    assert f"{len(lines):,} standing queries: {by_hand} of a desk" in readme
    assert f"{len(lines):,} standing queries" in (MEDIA / "packs" / "media.rules").read_text("utf-8")


@pytest.mark.slow
def test_a_day_raises_alerts_of_every_rule(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from media.arrivals import arrive; "
        "arrive(Path(sys.argv[1]), files=2, seed=7)"
    )
    subprocess.run([sys.executable, "-c", program, str(tmp_path)], cwd=EXAMPLES, check=True, timeout=120)
    files = [str(path) for path in sorted((tmp_path / "article").iterdir())]
    output = tmp_path / "alerts.jsonl"
    events = ["--events", f"article={files[0]}", *files[1:]]
    assert main(["eval", str(MEDIA / "packs"), *events, "--drain", "--output", str(output)]) == 0
    alerts = [json.loads(line) for line in output.read_text("utf-8").splitlines()]
    patterns = {"disaster", "alarm", "conflict_grows", "taken_back", "election_trouble", "feed_silent"}
    assert {alert["rule"] for alert in alerts} == {*patterns, "topic_burst"}
    silent = {alert["key"]["source"] for alert in alerts if alert["rule"] == "feed_silent"}
    assert "southern post" in silent
    bursts = {(a["key"]["query"], a["time"][11:13]) for a in alerts if a["rule"] == "topic_burst"}
    assert ("desk-people-strike", "09") in bursts
