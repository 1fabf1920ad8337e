"""A verb loads what it needs and no more: what each loads in vain, everybody waits for."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

CARDS = Path(__file__).parents[2] / "examples" / "cards"
PROGRAM = """
import sys
from cep.cli.main import main
sys.argv = ["cep", *sys.argv[1:]]
code = main()
print(*sorted(sys.modules), file=sys.stderr)
sys.exit(code)
"""
ENGINE = {"numpy", "pyarrow", "numba", "cep.shard", "cep.batch", "cep.decode"}
JOB = {"pyspark", "sqlalchemy", "httpx", "pydantic", "uvicorn", "starlette", "pandas"}
QUERIES = {"percolator.analysis", "percolator.matching", "percolator.query.parse"}
DRAWING = {"rules.render", "rules.grammar.explain", "rules.grammar.habits"}


def loaded(arguments: Sequence[str | Path]) -> tuple[int, set[str]]:
    """The exit code of a command and the modules that it loaded."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=60
    )
    return done.returncode, set(done.stderr.splitlines()[-1].split())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "spared"),
    [
        (
            ["explain", "CEP0111"],
            ENGINE | JOB | DRAWING | {"pyparsing", "cep.operators.patterns.compile.states", "email"},
        ),
        (["fmt", "--check", CARDS], ENGINE | JOB | DRAWING | {"rules.checks"}),
        (["check", CARDS], ENGINE | JOB | DRAWING | {"xml", "http"} | QUERIES),
        (
            ["test", CARDS],
            JOB | DRAWING | {"xml", "http", "cep.reference", "pyarrow.parquet"} | QUERIES,
        ),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_a_verb_loads_nothing_in_vain(arguments: Sequence[str | Path], spared: set[str]) -> None:
    code, modules = loaded(arguments)
    assert code == 0
    assert sorted(modules & spared) == []


@pytest.mark.slow
def test_a_test_that_fails_is_explained_by_what_was_not_loaded(tmp_path: Path) -> None:
    wrong = tmp_path / "cards.rules"
    text = (CARDS / "cards.rules").read_text(encoding="utf-8")
    wrong.write_text(text.replace("n: 3, amount: 900", "n: 4, amount: 900"), encoding="utf-8")
    code, modules = loaded(["test", wrong])
    assert code == 1
    assert {"cep.reference", "cep.inprocess.observing"} <= modules


@pytest.mark.slow
def test_a_finding_is_drawn_by_what_was_not_loaded(tmp_path: Path) -> None:
    wrong = tmp_path / "cards.rules"
    text = (CARDS / "cards.rules").read_text(encoding="utf-8")
    wrong.write_text(text.replace("severity high", "severty high"), encoding="utf-8")
    code, modules = loaded(["check", wrong])
    assert code == 1
    assert {"rules.render", "rules.grammar.explain"} <= modules
