"""Regular expressions of a segment on new words: RE2, some dozens tried at once before each alone."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from percolator.patterns import regex, takes
from percolator.query.errors import QueryError
from percolator.query.tree import Regex as Node
from percolator.schema import Kind, Schema
from percolator.segment import Regex

if TYPE_CHECKING:
    from re2 import _Regexp

TOGETHER = 32
"""So many expressions are made one; most words are taken by none of them."""


class Regexes:
    """Regular expressions by the field whose words they are tried on; fields have the matcher's numbers."""

    def __init__(self, asked: Sequence[Regex], schema: Schema, numbers: Mapping[str, int]) -> None:
        self._groups: dict[int, list[_Group]] = {}
        for name in {name for one in asked for name in one.fields}:
            whole_value = schema.fields[name].kind is not Kind.TEXT
            mine = [one for one in asked if name in one.fields]
            self._groups[numbers[name]] = [
                _Group(mine[start : start + TOGETHER], whole_value) for start in range(0, len(mine), TOGETHER)
            ]

    @property
    def fields(self) -> Collection[int]:
        """The fields that some expression looks at."""
        return self._groups.keys()

    def leaves(self, field: int, forms: Collection[str]) -> list[int]:
        """The leaves of the expressions that take some form of a word of that field."""
        return [leaf for group in self._groups[field] for leaf in group.leaves(forms)]


class _Group:
    def __init__(self, asked: Sequence[Regex], whole_value: bool) -> None:
        self._each = [(regex(Node(one.pattern), whole_value), one.leaf) for one in asked]
        self._any: _Regexp | None = None
        if any("\\Q" in one.pattern for one in asked):
            return  # what is quoted to the end of one would quote the beginning of the next
        with suppress(QueryError):  # too large together, or two groups of one name
            self._any = regex(Node("|".join(f"(?:{one.pattern})" for one in asked)), whole_value)

    def leaves(self, forms: Collection[str]) -> list[int]:
        if self._any is not None:
            forms = [form for form in forms if takes(self._any, form)]
        if not forms:
            return []
        return [leaf for expression, leaf in self._each if any(takes(expression, form) for form in forms)]
