"""Text searches of rules' conditions as resources: compiled for the percolator, asked of whole tables."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import pyarrow as pa

from cep.expressions.conditions import Identity, identity
from cep.resources.resource import Places
from rules.typed import Path, Stream, TextMatch

if TYPE_CHECKING:
    from percolator.matching.matcher import Matcher


@dataclass(frozen=True, slots=True)
class TextSearches:
    """The distinct text conditions that rules have on one stream. They are part of the packs' texts."""

    stream: Stream
    searches: tuple[TextMatch, ...]
    kind: ClassVar[str] = "searches"
    most: ClassVar[int] = 64

    @property
    def name(self) -> str:
        """The stream's."""
        return self.stream.name

    @property
    def version(self) -> str:
        """None of their own: the packs' revisions pin them."""
        return ""

    def identity(self, version: str) -> Hashable:  # noqa: ARG002
        """The fields and the conditions."""
        return self

    def open(self, version: str, places: Places) -> OpenSearches:  # noqa: ARG002
        """Matchers of the conditions, by field.

        A query without field names means the field that its condition names; so each field has a matcher
        whose only default field it is.
        """
        # Packs without text conditions do not pay for the percolator's import.
        from percolator.build import build
        from percolator.matching.matcher import Matcher
        from percolator.query.parse import parse
        from rules.text_schema import text_schema

        fields = [(f.name, f.type, f.analyser) for f in self.stream.fields]
        found = []
        for path in dict.fromkeys(search.path for search in self.searches):
            mine = tuple(search for search in self.searches if search.path == path)
            schema = text_schema(fields, path)
            queries = [(str(n), parse(search.query)) for n, search in enumerate(mine)]
            names = tuple(map(identity, mine))
            found.append((path, Matcher(schema, [build(queries, schema)]), names))
        return OpenSearches(tuple(found))


@dataclass(frozen=True, slots=True)
class OpenSearches:
    """For every field asked for, a matcher of its conditions and their identities, by number of query."""

    by_field: tuple[tuple[Path, Matcher, tuple[Identity, ...]], ...]

    def answers(self, rows: int, field: Callable[[Path], pa.Array]) -> Mapping[Identity, pa.BooleanArray]:
        """For each condition a truth per row of a table, null where its field is. `field` reads a column."""
        found: dict[Identity, pa.BooleanArray] = {}
        for path, matcher, names in self.by_field:
            columns = {name: field(tuple(name.split("."))) for name in matcher.fields | {".".join(path)}}
            hits = matcher.match_batch(columns)
            null = np.asarray(columns[".".join(path)].is_null().to_numpy(zero_copy_only=False))
            for number, name in enumerate(names):
                truth = np.zeros(rows, bool)
                truth[hits.document[hits.query == number]] = True
                found[name] = pa.array(truth, mask=null)
        return found
