"""A digest changes with every byte of a family and of the loader, and with what else makes machine code."""

from __future__ import annotations

import ast
import os
from dataclasses import replace
from importlib.machinery import ModuleSpec
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import llvmlite
import numba
import numpy as np
import pytest
from numba.core import config

from cep.decode.by_schema.compiled import BY_SCHEMA
from cep.decode.compiled import DECODING
from cep.hashing.compiled import FAMILY as STRINGS
from cep.operators.patterns.runtime.compiled import PATTERNS
from kernels import digest as digests
from kernels import kept
from kernels.digest import LOADER, digest
from kernels.family import Family
from kernels.kept import AT_REST, MOST_FOLDERS, remove_old
from kernels.signatures import signature
from percolator.matching.compiled import PERCOLATOR

FAMILIES = (PATTERNS, PERCOLATOR, STRINGS, DECODING, BY_SCHEMA)
EVERY_MODULE = [(family, number) for family in FAMILIES for number in range(len(family.modules))]
HOUR = 3600.0


def changed(module: ModuleType, folder: Path) -> ModuleSpec:
    """A copy of a module's file whose last byte is another one."""
    data = Path(str(module.__file__)).read_bytes()
    copy = folder / "copy.py"
    copy.write_bytes(data[:-1] + b" ")
    found = spec_from_file_location(module.__name__, copy)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("family", "number"), EVERY_MODULE, ids=[f.modules[n].__name__ for f, n in EVERY_MODULE]
)
def test_a_byte_of_any_module_changes_the_digest(family: Family, number: int, tmp_path: Path) -> None:
    modules = list(family.modules)
    modules[number] = module_from_spec(changed(modules[number], tmp_path))
    assert digest(replace(family, modules=tuple(modules))) != digest(family)


@pytest.mark.parametrize("name", LOADER)
def test_a_byte_of_the_loader_changes_the_digest(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = find_spec(name)
    assert spec is not None
    before = digest(STRINGS)
    other = changed(module_from_spec(spec), tmp_path)
    monkeypatch.setattr(digests, "find_spec", lambda asked: other if asked == name else find_spec(asked))
    assert digest(STRINGS) != before


def test_every_module_of_the_loader_counts() -> None:
    folder = Path(str(kept.__file__)).parent
    assert {f"kernels.{file.stem}" for file in folder.glob("*.py")} - {"kernels.__init__"} == set(LOADER)


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_a_family_has_all_that_it_imports(family: Family) -> None:
    for position, module in enumerate(family.modules):
        before = {one.__name__ for one in family.modules[:position]}
        tree = ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8"))
        imported = {str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
        imported |= {
            one.name for node in ast.walk(tree) if isinstance(node, ast.Import) for one in node.names
        }
        others = {name for name in imported if name.split(".")[0] in ("cep", "rules", "percolator", "alerts")}
        assert others <= before, f"{module.__name__} comes after what it calls, which is all in the family"


@pytest.mark.parametrize(
    ("where", "name", "value"),
    [
        (numba, "__version__", "0.0"),
        (llvmlite, "__version__", "0.0"),
        (np, "__version__", "0.0"),
        (config, "BOUNDSCHECK", 1),
        (config, "OPT", 0),
    ],
)
def test_versions_and_settings_change_the_digest(
    where: ModuleType, name: str, value: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = digest(STRINGS)
    monkeypatch.setattr(where, name, value)
    assert digest(STRINGS) != before


def test_options_change_the_digest() -> None:
    other_entries = replace(STRINGS, entries=STRINGS.entries[:1])
    assert digest(other_entries) != digest(STRINGS)


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_every_function_has_a_signature_and_few_arguments(family: Family) -> None:
    for module in family.modules:
        for name, function in family.functions(module).items():
            assert signature(function).return_type is not None, name
            assert function.__code__.co_argcount <= 10, name


def test_folders_that_nobody_uses_go_and_others_stay(tmp_path: Path) -> None:
    now = 1e9
    names = [f"sums-{n:02}" for n in range(MOST_FOLDERS + 5)]
    for age, name in enumerate(names):
        (tmp_path / name).mkdir()
        (tmp_path / name / "add_up.code").touch()
        used = now - age * HOUR * (1 if age < MOST_FOLDERS + 2 else 30)
        os.utime(tmp_path / name, (used, used))
    for other in ("sums-of-squares-00", "strings-00"):
        (tmp_path / other).mkdir()
        os.utime(tmp_path / other, (0, 0))
    removed = remove_old(tmp_path / names[0], now)
    assert {one.name for one in removed} == set(names[MOST_FOLDERS + 2 :])
    assert AT_REST < HOUR * (MOST_FOLDERS + 2) * 30
    assert {one.name for one in tmp_path.iterdir()} == {
        *names[: MOST_FOLDERS + 2],
        "sums-of-squares-00",
        "strings-00",
    }
