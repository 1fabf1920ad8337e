"""`cep percolate` on documents that no writer should have written: refused one by one."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from cep_command import Outcome, cep


def percolated(folder: Path, documents: str) -> Outcome:
    (folder / "q.jsonl").write_text('{"id": "q", "query": "fire"}\n')
    (folder / "hits.jsonl").unlink(missing_ok=True)
    options = ("--queries", "q.jsonl", "--documents", documents, "--field", "body=text")
    return cep("percolate", *options, "--output", "hits.jsonl", cwd=folder)


def hits(folder: Path) -> list[str]:
    return [json.loads(line)["document"] for line in (folder / "hits.jsonl").read_text().splitlines()]


def test_a_text_that_is_no_utf8_is_rejected_by_itself(tmp_path: Path) -> None:
    values = [b"fire", b"f\xff fire", b"fire"]
    ends = np.cumsum([0, *map(len, values)], dtype=np.int32)
    body = pa.StringArray.from_buffers(3, pa.py_buffer(ends), pa.py_buffer(b"".join(values)))
    pq.write_table(pa.table({"id": ["a", "b", "c"], "body": body}), tmp_path / "d.parquet")
    found = percolated(tmp_path, "d.parquet")
    assert found.code == 0, found.err
    assert hits(tmp_path) == ["a", "c"]
    assert "d.parquet:2: `body` is not valid UTF-8" in found.err


def test_a_time_out_of_reach_is_rejected_by_itself(tmp_path: Path) -> None:
    times = pa.array([0, 2**62, 0], pa.timestamp("ms"))
    table = pa.table({"id": ["a", "b", "c"], "body": ["fire"] * 3, "at": times})
    pq.write_table(table, tmp_path / "d.parquet")
    found = percolated(tmp_path, "d.parquet")
    assert hits(tmp_path) == ["a", "c"]
    assert "d.parquet:2: `at` cannot be read" in found.err


def test_a_page_that_is_not_what_was_written_costs_its_row_group(tmp_path: Path) -> None:
    table = pa.table({"id": list("abcd"), "body": ["fire", "fire", "fire x", "fire"]})
    pq.write_table(
        table, tmp_path / "d.parquet", row_group_size=2, compression="none", use_dictionary=False,
        write_page_checksum=True, write_statistics=False,
    )  # fmt: skip
    data = (tmp_path / "d.parquet").read_bytes().replace(b"fire x", b"fire y", 1)
    (tmp_path / "d.parquet").write_bytes(data)
    found = percolated(tmp_path, "d.parquet")
    assert hits(tmp_path) == ["a", "b"]
    assert "d.parquet:3: rows 3 to 4 cannot be read" in found.err


def test_half_a_surrogate_pair_is_no_id(tmp_path: Path) -> None:
    (tmp_path / "d.jsonl").write_text('{"id": "a\\ud800", "body": "fire"}\n{"id": "b", "body": "fire"}\n')
    found = percolated(tmp_path, "d.jsonl")
    assert hits(tmp_path) == ["b"]
    assert "d.jsonl:1: `id` holds half a surrogate pair" in found.err
