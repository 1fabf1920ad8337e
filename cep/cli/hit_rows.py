"""Hits of documents as rows of a file: JSON lines, or Parquet by the name of the file."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from cep.cli.eval import output_file
from percolator.highlighted import RANGES
from percolator.library.answer import QueryHit

Row = dict[str, Any]

_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
"""One for all lines: `json.dumps` would make an encoder for each."""

_ROWS = 50_000
_SCHEMA = pa.schema(
    [
        ("document", pa.string()),
        ("query", pa.string()),
        ("version", pa.int64()),
        ("priority", pa.int64()),
        ("tags", pa.list_(pa.string())),
        ("names", pa.list_(pa.string())),
    ]
)


def hit_row(document: str, found: QueryHit) -> Row:
    """A hit: document, query, version, priority, tags, names, and where they were asked for highlights."""
    row: Row = {
        "document": document,
        "query": found.query.id,
        "version": found.query.version,
        "priority": found.query.priority,
        "tags": list(found.query.tags),
        "names": list(found.names),
    }
    if found.highlights is not None:
        row["highlights"] = found.highlights if found.complete else None
    return row


@contextlib.contextmanager
def writing(name: str, highlight: bool, read: Iterable[str]) -> Iterator[Callable[[Row], None]]:
    """A sink for the rows. A file appears under its name when it is complete, and is none of those `read`.

    Raises UsageError, OSError.
    """
    with output_file(name, read) as out:
        if not name.endswith(".parquet"):
            yield lambda row: _write_line(out.write, row)
            return
        schema = _SCHEMA.append(pa.field("highlights", RANGES)) if highlight else _SCHEMA
        rows: list[Row] = []
        with pq.ParquetWriter(out, schema) as writer:

            def take(row: Row) -> None:
                rows.append(_flat(row))
                if len(rows) >= _ROWS:
                    writer.write_table(pa.Table.from_pylist(rows, schema))
                    rows.clear()

            yield take
            writer.write_table(pa.Table.from_pylist(rows, schema))


def json_line(row: Mapping[str, Any]) -> bytes:
    """One line of JSON; half surrogates become escapes."""
    return _json(row).encode("utf-8", "backslashreplace") + b"\n"


def _write_line(write: Callable[[bytes], object], row: Row) -> None:
    write(json_line(row))


def _flat(row: Row) -> Row:
    """Parquet has no half surrogates, and of highlights one row a range."""
    texts = {name: _storable(value) for name, value in row.items() if name != "highlights"}
    if row.get("highlights") is not None:
        texts["highlights"] = [
            {"field": name, "start": start, "end": end}
            for name, ranges in row["highlights"].items()
            for start, end in ranges
        ]
    return texts


def _storable(value: Any) -> Any:
    if isinstance(value, list):
        return [_storable(one) for one in value]
    return value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value
