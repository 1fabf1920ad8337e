"""Machine code is found again by every process, and never where anything that it was made of is different."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow  # each test starts processes that compile
ROOT = Path(__file__).parents[2]

WEIGHTS = """
from typing import Annotated, NamedTuple
import numpy as np
import numpy.typing as npt
from kernels.family import READ_ONLY, inlined

Ints = npt.NDArray[np.int64]
WEIGHT = 10

class Scales(NamedTuple):
    values: Annotated[Ints, READ_ONLY]
    sums: Ints

@inlined
def weighed(value: int) -> int:
    return value * WEIGHT
"""
SUMS = """
from parts.weights import Scales, weighed

def add_up(scales: Scales, offset: int) -> int:
    total = offset
    for n in range(len(scales.values)):
        total += weighed(scales.values[n])
        scales.sums[n] = total
    return total
"""
CALLER = """
import os

import numpy as np
from kernels import loader
from kernels.family import Family
from parts import sums, weights

family = Family("sums", (weights, sums), ("add_up",))
compile_ = loader.compiled
loader.compiled = lambda *given: print("compiles") or compile_(*given)
values = np.arange(3)
values.flags.writeable = False
scales = weights.Scales(values, np.zeros(3, np.int64))
if "LOOKS_FIRST" in os.environ:
    print("there" if loader.load_kept(family) else "missing")
compiled = loader.load(family)["add_up"](scales, 1), scales.sums.tolist()
scales.sums[:] = 0
assert compiled == (family.interpreted()["add_up"](scales, 1), scales.sums.tolist())
print(compiled[0])
"""


@pytest.fixture
def parts(tmp_path: Path) -> Path:
    """The folder of a family of two modules; the second calls what is inlined of the first."""
    folder = tmp_path / "source" / "parts"
    folder.mkdir(parents=True)
    write(folder / "weights.py", WEIGHTS)
    write(folder / "sums.py", SUMS)
    return folder


def write(file: Path, text: str) -> None:
    """Write a file as it was before any process that reads it now began."""
    file.write_text(text, encoding="utf-8")
    before = time.time() - 3600
    os.utime(file, (before, before))


def start(parts: Path, cache: Path, **more: str) -> subprocess.Popen[str]:
    environment = {
        **os.environ,
        "PYTHONPATH": f"{parts.parent}:{ROOT}",
        "NUMBA_CACHE_DIR": str(cache),
        **more,
    }
    command = [sys.executable, "-B", "-c", CALLER]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(command, env=environment, text=True, **pipes)  # type: ignore[call-overload, no-any-return]


def said(process: subprocess.Popen[str]) -> tuple[list[str], str]:
    out, err = process.communicate()
    assert process.returncode == 0, err
    return out.split(), err


def folders(cache: Path) -> set[str]:
    return {one.name for one in cache.iterdir()}


def test_a_second_process_compiles_only_what_has_changed(parts: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    assert said(start(parts, cache)) == (["compiles", "31"], "")
    assert said(start(parts, cache)) == (["31"], "")
    first = folders(cache)
    # The file of the entry is the same: numba's own cache would answer 31 again.
    write(parts / "weights.py", WEIGHTS.replace("WEIGHT = 10", "WEIGHT = 20"))
    assert said(start(parts, cache)) == (["compiles", "61"], "")
    assert len(folders(cache) - first) == 1
    write(parts / "weights.py", WEIGHTS.replace("@inlined", ""))
    assert said(start(parts, cache)) == (["compiles", "31"], "")
    # What numba compiles differently has its own place, and what was there before is still there.
    assert said(start(parts, cache, NUMBA_BOUNDSCHECK="1")) == (["compiles", "31"], "")
    write(parts / "weights.py", WEIGHTS)
    assert said(start(parts, cache)) == (["31"], "")


def test_of_processes_that_begin_together_one_compiles(parts: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    together = [start(parts, cache) for _ in range(4)]
    outputs = [said(one) for one in together]
    assert sorted(outputs) == [(["31"], "")] * 3 + [(["compiles", "31"], "")]
    (folder,) = cache.iterdir()
    assert {one.name for one in folder.iterdir()} == {"add_up.code", "lock"}


def test_what_looks_for_compiled_code_compiles_none(parts: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    assert said(start(parts, cache, LOOKS_FIRST="1")) == (["missing", "compiles", "31"], "")
    assert said(start(parts, cache, LOOKS_FIRST="1")) == (["there", "31"], "")
    (code,) = cache.glob("*/add_up.code")
    code.write_bytes(code.read_bytes()[:-1])
    assert said(start(parts, cache, LOOKS_FIRST="1")) == (["missing", "compiles", "31"], "")


def test_damaged_code_is_not_loaded(parts: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    said(start(parts, cache))
    (code,) = cache.glob("*/add_up.code")
    data = code.read_bytes()
    for damaged in (b"", data[:-1], data[:1000] + bytes([data[1000] ^ 1]) + data[1001:]):
        code.write_bytes(damaged)
        assert said(start(parts, cache)) == (["compiles", "31"], "")
        assert said(start(parts, cache)) == (["31"], ""), "it was written anew"


def test_where_nothing_can_be_written_it_is_told_and_compiled(parts: Path, tmp_path: Path) -> None:
    no_folder = tmp_path / "file"
    no_folder.touch()
    out, err = said(start(parts, no_folder))
    assert out == ["compiles", "31"]
    assert err.count("CEP0960") == 1
    assert f"({no_folder}: Not a directory)" in err
    assert "set NUMBA_CACHE_DIR to a folder that can be written" in err


def test_code_that_holds_addresses_is_told_and_not_kept(parts: Path, tmp_path: Path) -> None:
    for _ in range(2):
        out, err = said(start(parts, tmp_path / "cache", NUMBA_OPT="0"))
        assert out == ["compiles", "31"]
        assert err.count("CEP0960") == 1
        assert "leave NUMBA_OPT as it is" in err


def test_files_changed_since_the_process_began_are_not_kept(parts: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    later = time.time() + 3600
    os.utime(parts / "weights.py", (later, later))
    out, err = said(start(parts, cache))
    assert out == ["compiles", "31"]
    assert "CEP0960" in err
    assert "start the program again" in err
    assert not cache.exists()
