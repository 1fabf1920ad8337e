"""The Spark job raises what the engine raises in process: random rules, streams, cuts and restarts."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from duel import Program, pack_of, programs
from hypothesis import HealthCheck, Phase, given, settings
from job_folder import JobFolder, in_process

from alerts.notation import json_value
from rules.typed import Stream

pytestmark = pytest.mark.spark


def _json(stream: Stream, values: dict[str, Any]) -> dict[str, Any]:
    return {f.name: json_value(values[f.name], f.type) for f in stream.fields}


# Every batch starts a query: few examples, none of them trivial, and no shrinking.
@settings(
    max_examples=5,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    database=None,
    phases=(Phase.generate,),
)
@given(program=programs().filter(lambda p: sum(map(len, p.batches)) >= 8))
def test_the_job_raises_what_the_engine_raises(
    spark: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory, program: Program
) -> None:
    root = Path(tempfile.mkdtemp(dir=tmp_path_factory.getbasetemp()))
    folder = JobFolder(root / "job", program.text, ("e", "f"), shards=program.shards)
    pack = pack_of(program.text)
    batches = []
    for batch in program.batches:
        files = []
        for stream in ("e", "f"):
            came = [_json(pack.stream(stream), a.values) for a in batch if a.stream == stream]
            half = len(came) // 2
            files += [(stream, folder.put(stream, part)) for part in (came[:half], came[half:]) if part]
        batches.append(files)
        if files:
            folder.once(spark)
    folder.once(spark, drain=True)

    expected = in_process(folder, [files for files in batches if files])
    found = [{name: value for name, value in alert.items() if name != "batch"} for alert in folder.alerts()]
    assert sorted(found, key=str) == sorted(expected, key=str), str(program)
