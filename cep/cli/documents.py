"""The documents of a file, one by one: JSON lines or Parquet.

A document is {"id": ..., "fields": {...}, "metadata": {...}}, or one flat object: then the schema's fields
are fields, and of all other members those that hold texts are metadata. Rows of Parquet are flat.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from cep.cli.failure import OutsideError, UsageError
from cep.cli.report import remedy
from cep.decode.parquet_rows import opened
from cep.standing.lines import Unread, lines_of, readable_lines
from percolator.library.standing import moment
from percolator.schema import Schema
from percolator.values import DocumentError

_ROWS = 4096
_HALF = re.compile("[\ud800-\udfff]")


class BadDocumentError(ValueError):
    """A line that is no document; its text is one sentence."""


@dataclass(frozen=True, slots=True)
class Read:
    """`time` is in microseconds since 1970 UTC, None where the document has none."""

    id: str
    fields: Mapping[str, Any]
    metadata: Mapping[str, Any]
    time: int | None = None


def documents(name: str, schema: Schema, time: str | None) -> Iterator[tuple[int, Read | BadDocumentError]]:
    """Number of the line or row, from 1, and the document, or why it is none. Blank lines are none.

    `time` names the member that holds a document's time. Raises UsageError where the file cannot be opened,
    OutsideError where it cannot be read.
    """
    rows = _parquet(name) if name.endswith(".parquet") else _json_lines(name)
    for number, row in rows:
        try:
            yield number, _document(row, number, schema, time)
        except BadDocumentError as error:
            yield number, error


def lines(name: str) -> Iterator[bytes]:
    """The lines of a file, compressed or not by its suffix; - is stdin. Raises as `documents`."""
    if name == "-":
        yield from sys.stdin.buffer
        return
    with _reading(name):
        yield from lines_of(name)


def _lines(name: str) -> Iterator[bytes | Unread]:
    """The same, with what cannot be read where it stands."""
    if name == "-":
        yield from sys.stdin.buffer
        return
    with _reading(name):
        yield from readable_lines(name)


@contextmanager
def _reading(name: str) -> Iterator[None]:
    if Path(name).is_dir():
        raise UsageError(f"`{name}` is a folder", "name a file in it")
    if Path(name).suffix in (".rules", ".toml") and Path(name).is_file():
        raise UsageError(f"`{name}` holds no JSON lines", "name a file of documents or queries: `*.jsonl`")
    if " " in name and not Path(name).exists():
        line = json.dumps({"id": "q1", "query": name}, ensure_ascii=False)
        raise UsageError(f"there is no file `{name}`", f"a query stands in a file, as a line of JSON: {line}")
    try:
        yield
    except FileNotFoundError:
        from cep.cli.named_paths import absent

        raise absent(Path(name)) from None
    except PermissionError as problem:
        raise UsageError(f"`{name}` cannot be read: permission denied", remedy(problem)) from None
    except (OSError, pa.ArrowException) as problem:
        raise OutsideError(f"`{name}` cannot be read: {problem}", remedy(problem)) from None


def _json_lines(name: str) -> Iterator[tuple[int, object]]:
    for number, line in enumerate(_lines(name), 1):
        if isinstance(line, Unread):
            yield number, BadDocumentError(line.reason)
        elif line.strip():
            try:
                yield number, json.loads(line)
            except (ValueError, RecursionError) as problem:
                yield number, BadDocumentError(f"the line is not JSON: {problem}")


def _parquet(name: str) -> Iterator[tuple[int, object]]:
    with _reading(name), opened(name) as file:
        behind = 0
        for group in range(file.num_row_groups):
            number, behind = behind, behind + file.metadata.row_group(group).num_rows
            try:
                for batch in file.iter_batches(_ROWS, row_groups=[group]):
                    for row in _rows(batch):
                        number += 1
                        yield number, row
            except (OSError, pa.ArrowException) as problem:
                if isinstance(problem, OSError) and problem.errno:
                    raise
                yield number + 1, BadDocumentError(f"rows {number + 1} to {behind} cannot be read: {problem}")


def _rows(batch: pa.RecordBatch) -> Iterator[object]:
    """The rows of a batch; for one that holds what no document can, the reason."""
    try:
        yield from batch.to_pylist()
        return
    except (ValueError, OverflowError, IndexError):
        pass  # before the first row
    for number in range(batch.num_rows):
        yield _row(batch, number)


def _row(batch: pa.RecordBatch, number: int) -> object:
    row = {}
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        try:
            row[name] = column[number].as_py()
        except UnicodeDecodeError:
            return BadDocumentError(f"`{name}` is not valid UTF-8")
        except (ValueError, OverflowError, IndexError) as problem:
            return BadDocumentError(f"`{name}` cannot be read: {problem}")
    return row


def _document(row: object, number: int, schema: Schema, time: str | None) -> Read:
    if isinstance(row, BadDocumentError):
        raise row
    if not isinstance(row, dict):
        raise BadDocumentError("a document is a JSON object")
    id_ = row.get("id", number)
    if isinstance(id_, bool) or not isinstance(id_, str | int):
        raise BadDocumentError("`id` is a text or a whole number")
    if isinstance(id_, str) and _HALF.search(id_):
        raise BadDocumentError("`id` holds half a surrogate pair")
    metadata = row.get("metadata") or {}
    fields = row
    if isinstance(row.get("fields"), dict):
        fields = row["fields"]
        if unknown := sorted(fields.keys() - schema.fields.keys()):
            raise BadDocumentError(f"the schema has no field {unknown[0]}")
    elif not metadata:
        metadata = {
            key: value
            for key, value in row.items()
            if key not in schema.fields and key != "id" and _is_texts(value)
        }
    check_metadata(metadata)
    return Read(str(id_), fields, metadata, None if time is None else _time(row, fields, time))


def check_metadata(metadata: object) -> None:
    """Raises BadDocumentError where it is no object of texts and lists of them."""
    if not isinstance(metadata, dict):
        raise BadDocumentError("`metadata` is an object")
    for key, value in metadata.items():
        if not _is_texts(value):
            raise BadDocumentError(f"`metadata.{key}` is a text or a list of texts")


def _is_texts(value: object) -> bool:
    return isinstance(value, str) or (
        isinstance(value, list) and all(isinstance(text, str) for text in value)
    )


def _time(row: Mapping[str, Any], fields: Mapping[str, Any], name: str) -> int:
    value = row.get(name, fields.get(name))
    if value is None:
        raise BadDocumentError(f"it has no time `{name}`")
    try:
        return moment(value)
    except DocumentError:
        raise BadDocumentError(f"`{name}` is no time: {value!r}") from None
