"""Wildcards of a feed's path are read as Spark reads them: compared with what Spark lists."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cep.sources.files.globs import fits
from cep.sources.files.names import matching

pytestmark = pytest.mark.spark

NAMES = """
in/a.csv in/b.csv in/ab.csv in/A.csv in/c.jsonl in/é.csv in/100%.csv in/a,b.csv in/a#b.csv in/[x].csv
in/a%20b.csv in/day/a.csv in/night/b.csv
"""
PATTERNS = r"""
in/*.csv in/?.csv in/[ab].csv in/[a-b].csv in/[^a].csv in/[!a].csv in/[]a].csv in/{a,b}.csv in/{a,b}*
in/{a*,c}.{csv,jsonl} in/{a,{b,c}}.* in/\[x\].csv in/* in/a.csv in/100%.csv in/a%20b.csv in/é.csv
in/*/*.csv in/*/a.csv in/{day,night}/* i*/*.csv in/d?y/*
"""


def test_a_pattern_takes_what_spark_lists(spark: Callable[..., Any], tmp_path: Path) -> None:
    for name in NAMES.split():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
    with spark() as session:
        for pattern in PATTERNS.split():
            folder, below = matching(f"{tmp_path}/{pattern}")
            reader = session.read.format("binaryFile")  # as a feed of files lists
            files = (
                reader.load(f"{folder}/{below}")
                if "/" in below
                else reader.option("pathGlobFilter", below).load(folder)
            )
            listed = [row.path.partition(f"{tmp_path}/")[2] for row in files.select("path").collect()]
            assert sorted(listed) == sorted(name for name in NAMES.split() if fits(pattern, name)), pattern
