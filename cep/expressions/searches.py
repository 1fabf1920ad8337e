"""Text conditions of a stream, answered by the percolator for a whole table at once."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np
import pyarrow as pa

from cep.automata.conditions import identity
from percolator.build import build
from percolator.matching.matcher import Matcher
from percolator.query.parse import parse
from rules.text_schema import text_schema
from rules.typed import Path, Stream, TextMatch


@lru_cache(maxsize=64)
def matchers_of(
    stream: Stream, searches: tuple[TextMatch, ...]
) -> tuple[tuple[Path, Matcher, tuple[int, ...]], ...]:
    """For every field asked for, a matcher of its queries and their places in `searches`.

    A query without field names means the field that the condition names; so each field has a matcher whose
    only default field it is.
    """
    fields = [(f.name, f.type, f.analyser) for f in stream.fields]
    found = []
    for path in dict.fromkeys(search.path for search in searches):
        mine = tuple(n for n, search in enumerate(searches) if search.path == path)
        schema = text_schema(fields, path)
        queries = [(str(n), parse(searches[n].query)) for n in mine]
        found.append((path, Matcher(schema, [build(queries, schema)]), mine))
    return tuple(found)


def answers(
    stream: Stream, searches: tuple[TextMatch, ...], table: pa.Table, field: Callable[[Path], pa.Array]
) -> dict[tuple[object, ...], pa.BooleanArray]:
    """By condition, whether each row satisfies it: null where its field is null. `field` reads a column."""
    found: dict[tuple[object, ...], pa.BooleanArray] = {}
    for path, matcher, places in matchers_of(stream, searches):
        columns = {name: field(tuple(name.split("."))) for name in matcher.fields | {".".join(path)}}
        hits = matcher.match_batch(columns)
        null = np.asarray(columns[".".join(path)].is_null().to_numpy(zero_copy_only=False))
        for number, place in enumerate(places):
            truth = np.zeros(len(table), bool)
            truth[hits.document[hits.query == number]] = True
            found[identity(searches[place])] = pa.array(truth, mask=null)
    return found
