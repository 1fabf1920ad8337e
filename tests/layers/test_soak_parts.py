"""`make soak` leaves no long test out, goes on where it was stopped, and tells what failed."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import pytest

from tests import soak_in_parts
from tests.soak_in_parts import JVM, NO_JVM, ROOT, Piece, part_passes, pieces

OPTIONS = argparse.Namespace(effort=2.0, seed=5, at_once=1, told=False)
TEST = """
import os, pathlib, pytest
@pytest.mark.parametrize("n", [1, 2])
def test_it(n):
    print(f"seeds from 1: {os.environ['CEP_SEED']} programs, 1,000 lines")
    assert pathlib.Path("FLAG").exists()
"""


def named(part: str) -> set[Path]:
    return {ROOT / piece.arguments[0] for piece in pieces(part, 10)}


def test_every_test_that_is_marked_so_is_in_a_part() -> None:
    mark = "pytest.mark." + "soak"
    marked = {path for path in (ROOT / "tests").rglob("test_*.py") if mark in path.read_text("utf-8")}
    assert len(marked) >= 4
    all_of_them = [
        ROOT / piece.arguments[0]
        for part in (*NO_JVM, *JVM)
        for piece in pieces(part, 10)
        if piece.arguments[-2:] == ("-m", "soak") and "::" not in piece.arguments[0]
    ]
    assert marked <= set(all_of_them)


def test_every_folder_s_generated_tests_are_in_a_part() -> None:
    found = {path for part in (*NO_JVM, *JVM) for path in named(part)}
    given = {path for path in (ROOT / "tests").rglob("test_*.py") if "@given(" in path.read_text("utf-8")}
    assert len(given) > 60
    assert given <= found


@pytest.mark.parametrize("part", ["programs", "windows", "queries", "lines"])
@pytest.mark.parametrize("effort", [0.1, 1, 10])
def test_pieces_share_the_work(part: str, effort: float) -> None:
    shares = [float(piece.environ["CEP_EFFORT"]) for piece in pieces(part, effort)]
    assert sum(shares) == pytest.approx(effort / 10, rel=1e-4)


@pytest.mark.slow
def test_what_failed_is_run_again_with_its_seed_and_what_passed_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(soak_in_parts, "KEPT", tmp_path)
    both = []
    for name in ("one", "two"):
        test = tmp_path / f"test_{name}.py"
        test.write_text(TEST.replace("FLAG", str(tmp_path / name)), "utf-8")
        both.append(Piece("some", name, (str(test), "-s", "-c", "/dev/null", "--rootdir", str(tmp_path)), {}))
    (tmp_path / "one").touch()
    assert not part_passes("some", both, OPTIONS)
    said = capsys.readouterr().out
    assert "1 of 2 passed" in said
    assert "failed: two (seed 1000005)" in said
    (tmp_path / "two").touch()
    assert part_passes("some", both, argparse.Namespace(**{**vars(OPTIONS), "seed": 77}))
    said = capsys.readouterr().out
    assert "2 of 2 passed" in said
    assert "2,000,020 programs, 4,000 lines; seeds 5 to 1000005" in said
    lines = [json.loads(line) for line in (tmp_path / "pieces.jsonl").read_text("utf-8").splitlines()]
    assert [(one["piece"], one["seed"], one["code"]) for one in lines] == [
        ("one", 5, 0),
        ("two", 1_000_005, 1),
        ("two", 1_000_005, 0),
    ]
