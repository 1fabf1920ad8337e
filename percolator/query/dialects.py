"""The dialects of queries by name. All give the same tree; `percolator.query.print` writes it in ours."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from percolator.query import factiva, lucene, parse
from percolator.query.tree import Node

DIALECTS: Mapping[str, Callable[[str], Node]] = MappingProxyType(
    {"native": parse.parse, "lucene": lucene.parse, "factiva": factiva.parse}
)
