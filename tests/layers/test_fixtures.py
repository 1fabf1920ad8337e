"""Fixtures that many tests ask for have one meaning each."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

TESTS = Path(__file__).parents[1]


def fixtures(path: Path) -> list[str]:
    """The fixtures that a file defines."""
    return [
        one.name
        for one in ast.parse(path.read_text("utf-8")).body
        if isinstance(one, ast.FunctionDef)
        and any("pytest.fixture" in ast.unparse(decorator) for decorator in one.decorator_list)
    ]


def test_no_fixture_hides_one_of_the_same_name() -> None:
    shared = [*TESTS.glob("strategies/*.py"), TESTS.parent / "conftest.py", *TESTS.rglob("conftest.py")]
    found = Counter(name for path in shared for name in fixtures(path))
    assert {"store", "s3"} <= set(found)
    assert [name for name, times in found.items() if times > 1] == []
