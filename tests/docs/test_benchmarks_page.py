"""benchmarks/README.md and `make bench` name every benchmark that there is."""

from __future__ import annotations

import re
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

from rule_pages import DOCS, table

BENCHMARKS = DOCS.parent / "benchmarks"


def scripts() -> set[str]:
    """The files that are commands, but for the one that runs the others."""
    commands = {path.name for path in BENCHMARKS.glob("*.py") if "__main__" in path.read_text("utf-8")}
    return commands - {"all.py"}


def test_the_page_names_every_benchmark() -> None:
    rows = table((BENCHMARKS / "README.md").read_text("utf-8"), "| script | measures |")
    assert sorted(script for script, _ in rows) == sorted(scripts())


def test_make_bench_runs_every_benchmark_with_options_that_it_has() -> None:
    spec = spec_from_file_location("all_benchmarks", BENCHMARKS / "all.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    for sizes in (module.FULL, module.SMALL):
        assert sorted(f"{name}.py" for name in sizes) == sorted(scripts())
        for name, arguments in sizes.items():
            text = Path(BENCHMARKS / f"{name}.py").read_text("utf-8")
            assert all(f'"{option}"' in text for option in re.findall(r"--\w+", arguments)), name
    assert "benchmarks/all.py" in (DOCS.parent / "Makefile").read_text("utf-8")
