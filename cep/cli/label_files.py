"""Labels of alerts as a file of CSV or Parquet, which is whole or not there."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cep.cli.failure import UsageError

if TYPE_CHECKING:
    import pyarrow as pa

    from alerts.episodes.labels import Label

SUFFIXES = (".csv", ".parquet")


def check(path: Path) -> None:
    """Raises UsageError for a file of another kind."""
    if path.suffix not in SUFFIXES:
        raise UsageError(f"{path} is neither CSV nor Parquet", "name a file that ends in .csv or .parquet")


def write(path: Path, labels: Iterable[list[Label]]) -> int:
    """Write labels; how many there were. Raises OSError."""
    aside = path.with_name(f".{path.name}.{os.getpid()}")
    schema, count = _schema(), 0
    try:
        with _opened(aside, path.suffix, schema) as file:
            for some in labels:
                file.write_table(_table(some, schema))
                count += len(some)
        aside.replace(path)
    except BaseException:
        aside.unlink(missing_ok=True)
        raise
    return count


def _schema() -> pa.Schema:
    import pyarrow as pa

    from alerts.episodes.labels import Label

    return pa.schema([(name, pa.int8() if name == "label" else pa.string()) for name in Label._fields])


def _opened(path: Path, suffix: str, schema: pa.Schema) -> Any:
    if suffix == ".csv":
        from pyarrow import csv

        return csv.CSVWriter(str(path), schema)
    from pyarrow import parquet

    return parquet.ParquetWriter(str(path), schema)


def _table(some: list[Label], schema: pa.Schema) -> pa.Table:
    import pyarrow as pa

    columns = zip(*some, strict=True) if some else ((),) * len(schema)
    return pa.table([pa.array(column, one.type) for column, one in zip(columns, schema, strict=True)], schema)
