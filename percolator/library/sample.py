"""Documents as they come, kept beside a library: the words that are rare in them.

That decides under which words a query is looked for, and so how fast it is found; never whether. Segments
that are built before there is a sample go by the lengths of words.
"""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from percolator.build import build
from percolator.disk import Disk
from percolator.library.damage import DamagedError
from percolator.matching.documents import Column
from percolator.matching.matcher import Matcher
from percolator.query.tree import Present
from percolator.schema import Schema

_NAME = "sample.arrow"


def write_sample(folder: Path, documents: pa.Table, schema: Schema, disk: Disk) -> None:
    """Keeps documents, columns as `Matcher.match_batch` takes them; a field without a column has no values.

    Raises DocumentError where a column is not what its field holds.
    """
    kept = documents.select([name for name in documents.column_names if name in schema.fields])
    for name in schema.fields.keys() - set(kept.column_names):
        kept = kept.append_column(name, pa.nulls(len(kept), pa.string()))
    Matcher(schema, [build([(name, Present(name)) for name in schema.fields], schema)]).match_batch(kept)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, kept.schema) as writer:
        writer.write_table(kept)
    disk.write_whole(folder / _NAME, [memoryview(sink.getvalue())])


def read_sample(folder: Path) -> dict[str, Column] | None:
    """The documents' columns, None where there are none. Raises DamagedError."""
    path = folder / _NAME
    if not path.exists():
        return None
    try:
        found = pa.ipc.open_file(pa.memory_map(str(path))).read_all()
        return {name: found.column(name) for name in found.column_names}
    except (pa.ArrowException, OSError) as problem:
        raise DamagedError(path, f"no documents: {problem}") from None
