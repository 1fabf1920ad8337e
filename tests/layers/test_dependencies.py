"""Imports are declared where they are needed, and what is declared is imported or says why not."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow  # every file of the project is read
ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
PACKAGES = ("alerts", "cep", "kernels", "percolator", "rules")
BESIDE = ("benchmarks", "docs", "editors", "examples", "tests")

UNIMPORTED = {
    "grpcio-tools": "protoc, run in a process of its own",
    "flask": "moto's server imports it",
    "flask-cors": "moto's server imports it",
    "grpcio": "Spark's transformWithState imports it, and pyspark does not require it",
    "itsdangerous": "Starlette's sessions import it, and Starlette does not require it",
    "kafka-python": "the broker of tests imports it, by a name that folders of ours have, too",
    "mypy": "a command",
    "pandas": "Spark asks for its version before it takes a function of Arrow",
    "psycopg": "SQLAlchemy's driver of PostgreSQL",
    "pytest-timeout": "a plugin of pytest",
    "pytest-xdist": "a plugin of pytest",
    "ruff": "a command",
    "types-jsonschema": "types for mypy",
    "types-psutil": "types for mypy",
}
"""What is declared though no module of ours imports it. An entry that is needed no longer fails the test."""

FROM_OTHERS = {
    "llvmlite": "of a version that numba requires",
    "markupsafe": "of a version that jinja2 requires",
    "py4j": "of exactly the version that pyspark requires",
    "pydantic-core": "of exactly the version that pydantic requires",
    "typing-extensions": "for types alone; pydantic requires it",
}
"""What is imported though it is not declared: another dependency brings it."""


def canonical(name: str) -> str:
    """A distribution's name as indexes compare them."""
    return re.sub(r"[-_.]+", "-", name).lower()


def names(requirements: Iterable[str]) -> set[str]:
    """The distributions that requirements name."""
    found = (re.match(r"[\w.-]*\w", one) for one in requirements)
    return {canonical(one[0]) for one in found if one}


def tops(text: str) -> Iterator[str]:
    """The first part of every module that a text imports, wherever in it."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (one.name.partition(".")[0] for one in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield str(node.module).partition(".")[0]


@cache
def imported(*folders: str) -> set[str]:
    """The distributions whose modules the files of some folders import; a module of none by its own name."""
    files = [file for folder in folders for file in (ROOT / folder).rglob("*.py")]
    ours = {*PACKAGES, *BESIDE, *(file.stem for file in files), *(file.parent.name for file in files)}
    found = (
        {name for file in files for name in tops(file.read_text("utf-8"))} - ours - sys.stdlib_module_names
    )
    of_module = packages_distributions()
    return {canonical(one) for name in found for one in of_module.get(name, [name])}


RUNNING = names(PROJECT["dependencies"])
EXTRAS = {extra: names(of_extra) for extra, of_extra in PROJECT["optional-dependencies"].items()}
ALL = (*PACKAGES, *BESIDE)


def test_the_packages_import_nothing_that_an_installation_lacks() -> None:
    assert imported(*PACKAGES) - RUNNING - EXTRAS["highlight"] - EXTRAS["s3"] - FROM_OTHERS.keys() == set()


def test_tests_and_examples_import_nothing_that_is_not_declared() -> None:
    assert imported(*ALL) - RUNNING.union(*EXTRAS.values()) - FROM_OTHERS.keys() == set()


def test_an_installation_brings_nothing_that_the_packages_do_not_import() -> None:
    """Packages that only tests, examples or benchmarks import belongs to the extra `dev`."""
    assert RUNNING - imported(*PACKAGES) - UNIMPORTED.keys() == set()


@pytest.mark.parametrize("extra", EXTRAS)
def test_an_extra_brings_nothing_that_is_not_imported(extra: str) -> None:
    assert EXTRAS[extra] - imported(*ALL) - UNIMPORTED.keys() == set()


def test_every_exception_is_still_one() -> None:
    declared = RUNNING.union(*EXTRAS.values())
    needed = imported(*PACKAGES) & RUNNING | imported(*ALL) - RUNNING
    assert {one for one in UNIMPORTED if one in needed or one not in declared} == set()
    assert {one for one in FROM_OTHERS if one in declared or one not in imported(*ALL)} == set()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("import a.b as c, d", ["a", "d"]),
        ("def f():\n    from a.b import c", ["a"]),
        ("if TYPE_CHECKING:\n    import a", ["a"]),
        ("from . import a\nfrom .b import c", []),
        ("'import a'", []),
    ],
)
def test_imports_are_found_wherever_they_stand(text: str, found: list[str]) -> None:
    assert list(tops(text)) == found
