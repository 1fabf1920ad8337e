"""Why a query is true on a document, and why not: trees for people, with the reference's exactness.

    explain(node, document, schema)    every part of the query, its truth, and the text that made it true
    why_not(node, document, schema)    of a false query only what keeps it from being true, with measures

Both are values; `text()` draws them, `json()` gives plain data.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, assert_never

from percolator.hit import Range, apart
from percolator.query import tree
from percolator.query.pieces import pieces
from percolator.query.print import to_text
from percolator.reference import PositionSpan, Reader
from percolator.schema import Kind, Schema
from percolator.values import Document, field_values, texts

SHOWN = 10
"""Parts or places that `text()` shows of one node; the others are counted."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """One part of a query. `span` is where it stands in the query's text.

    `highlights` are the ranges that made it true, by field; `found` the text of them.
    """

    query: str
    span: tree.Span
    true: bool
    highlights: Mapping[str, Sequence[Range]]
    found: Mapping[str, Sequence[str]]
    operands: tuple[Explanation, ...]

    def json(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "query": self.query,
            "span": list(self.span),
            "true": self.true,
            "highlights": {name: [list(one) for one in ranges] for name, ranges in self.highlights.items()},
            "operands": [operand.json() for operand in self.operands],
        }

    def text(self) -> str:
        """A line for each part, operands below and further in."""
        return "\n".join(self._lines(0))

    def _lines(self, depth: int) -> Iterator[str]:
        shown = [f"{name}: {_listed([repr(one) for one in found])}" for name, found in self.found.items()]
        places = f"    {'; '.join(shown)}" if shown and not self.operands else ""
        yield f"{'  ' * depth}{'yes' if self.true else 'no '} {self.query}{places}"
        for operand in self.operands:
            yield from operand._lines(depth + 1)


@dataclass(frozen=True, slots=True)
class Reason:
    """One thing that keeps a query from being true; with `parts`, all or enough of them have to change."""

    query: str
    span: tree.Span
    message: str
    parts: tuple[Reason, ...] = ()

    def json(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "query": self.query,
            "span": list(self.span),
            "message": self.message,
            "parts": [part.json() for part in self.parts],
        }

    def text(self) -> str:
        """A line for each reason, its parts below and further in."""
        return "\n".join(self._lines(0))

    def _lines(self, depth: int) -> Iterator[str]:
        yield f"{'  ' * depth}{self.message}"
        for part in self.parts[:SHOWN]:
            yield from part._lines(depth + 1)
        if len(self.parts) > SHOWN:
            yield f"{'  ' * (depth + 1)}and {len(self.parts) - SHOWN} more"


def explain(
    node: tree.Node, document: Document, schema: Schema, default: Sequence[str] | None = None
) -> Explanation:
    """Every part of the query with its truth. Raises DocumentError."""
    names = tuple(schema.default if default is None else default)
    return _explained(node, Reader(document, schema), names)


def why_not(
    node: tree.Node, document: Document, schema: Schema, default: Sequence[str] | None = None
) -> Reason | None:
    """The reason why the query is not true; None where it is true. Raises DocumentError."""
    reader, names = Reader(document, schema), tuple(schema.default if default is None else default)
    return None if reader.true(node, names) else _Doubt(reader).reason(node, names)


def _explained(node: tree.Node, reader: Reader, names: tuple[str, ...]) -> Explanation:
    inner = (node.name,) if isinstance(node, tree.Fielded) else names
    operands = tuple([_explained(operand, reader, inner) for operand in tree.children(node)])
    if isinstance(node, tree.Fielded) and not operands[0].operands:
        operands = ()  # `title:x` is one part
    found: dict[str, set[Range]] = {}
    true = reader.true(node, names)
    if true:
        for name, ranges in reader.true_parts(node, names):
            found.setdefault(name, set()).update(ranges)
    highlights = {name: apart(ranges) for name, ranges in found.items() if ranges}
    excerpts: dict[str, list[str]] = {}
    for name, ranges_ in highlights.items():
        joined = " ".join(texts(reader.document, name))
        excerpts[name] = [joined[start:end] for start, end in ranges_]
    return Explanation(to_text(node), node.span, true, highlights, excerpts, operands)


@dataclass(frozen=True, slots=True)
class _Doubt:
    """Reasons for nodes that are false on the document."""

    reader: Reader

    def reason(self, node: tree.Node, names: tuple[str, ...]) -> Reason:
        match node:
            case tree.And():
                return self.parts(node, "all of these are needed, and are not true:", node.operands, names)
            case tree.Or():
                return self.parts(node, "none of these is true:", node.operands, names)
            case tree.SomeOf():
                false = [operand for operand in node.operands if not self.reader.true(operand, names)]
                true = len(node.operands) - len(false)
                message = f"{true} of {len(node.operands)} branches are true, {node.count} are needed:"
                parts = tuple([self.reason(operand, names) for operand in false])
                return Reason(to_text(node), node.span, message, parts)
            case tree.Not():
                return self.because_true(node, names)
            case tree.Fielded():
                return self.reason(node.operand, (node.name,))
            case tree.Named():
                return self.reason(node.operand, names)
            case tree.Everything():
                raise AssertionError("`*:*` is true")
            case tree.Present():
                return _of(node, f"{node.name} has no value")
            case tree.Range():
                return _of(node, f"{self.values(node.name)}; `{to_text(node)}` is asked for")
            case tree.Near() | tree.NotNear() | tree.AtLeast() | tree.First() | tree.Together():
                return self.places(node, names)
            case tree.Word() | tree.Exact() | tree.Wildcard() | tree.Regex() | tree.Fuzzy() | tree.Phrase():
                return _of(node, self.absent(node, names))
            case _:
                assert_never(node)

    def parts(
        self, node: tree.Node, message: str, operands: Sequence[tree.Node], names: tuple[str, ...]
    ) -> Reason:
        """The reasons of the false operands; that of a single one alone."""
        false = [operand for operand in operands if not self.reader.true(operand, names)]
        reasons = tuple([self.reason(operand, names) for operand in false])
        return reasons[0] if len(reasons) == 1 else Reason(to_text(node), node.span, message, reasons)

    def because_true(self, node: tree.Not, names: tuple[str, ...]) -> Reason:
        shown = _explained(node.operand, self.reader, names)
        found = [f"{name}: {_listed([repr(one) for one in some])}" for name, some in shown.found.items()]
        where = f" ({'; '.join(found)})" if found else ""
        return _of(node, f"`{to_text(node.operand)}` is true{where}, and must not be")

    def values(self, name: str) -> str:
        found = field_values(self.reader.document, name)
        return f"{name} is {_listed([str(one) for one in found])}" if found else f"{name} has no value"

    def absent(self, node: tree.Node, names: tuple[str, ...]) -> str:
        written = to_text(node)
        other = [name for name in names if self.reader.schema.fields[name].kind is not Kind.TEXT]
        if other:
            return f"{self.values(other[0])}; `{written}` is asked for"
        where = _listed(list(names))
        if isinstance(node, tree.Phrase | tree.Word) and len(parts := pieces(node)) > 1:
            missing = [text for kind, text in parts if not self.stands(kind, text, names)]
            if missing:
                return f"`{written}` is not in {where}: there is no {_listed(missing)}"
            return f"`{written}` is not in {where}: its words are there, but not together like this"
        return f"`{written}` is not in {where}{self.similar(node, names)}"

    def stands(self, kind: str, text: str, names: tuple[str, ...]) -> bool:
        nodes: dict[str, tree.Node] = {"word": tree.Word(text), "exact": tree.Exact(text)}
        return self.reader.true(nodes.get(kind, tree.Wildcard(text)), names)

    def similar(self, node: tree.Node, names: tuple[str, ...]) -> str:
        if not isinstance(node, tree.Word | tree.Exact | tree.Fuzzy):
            return ""
        words = {word.surface for name in names for word in self.reader.words[name]}
        near = get_close_matches(node.text, sorted(words), 1, 0.75)
        return f"; the nearest word is {near[0]!r}" if near else ""

    def places(self, node: tree.Node, names: tuple[str, ...]) -> Reason:
        """For operators on places: an operand that stands nowhere, or how far it was from true."""
        operands = tree.children(node)[:1] if isinstance(node, tree.NotNear) else tree.children(node)
        missing = [operand for operand in operands if not self.reader.true(operand, names)]
        if missing:
            return self.parts(node, "these are needed, and stand nowhere:", missing, names)
        return _of(node, f"`{to_text(node)}`: {self.measure(node, names)}")

    def measure(self, node: tree.Node, names: tuple[str, ...]) -> str:
        match node:
            case tree.Near():
                gaps = [
                    gap
                    for left, right in self.by_field(names, node.left, node.right)
                    for gap in _gaps(left, right, node.ordered)
                ]
                order = " in this order" if node.ordered else ""
                if not gaps:
                    return f"the two never stand{order} in one field, each for itself"
                return f"the nearest two{order} have {min(gaps)} words between them, {node.distance} may be"
            case tree.NotNear():
                return "wherever the first stands, the second is that near"
            case tree.AtLeast():
                most = max(len(found) for (found,) in self.by_field(names, node.operand))
                return f"places in one field: {most}; needed: {node.count}"
            case tree.First():
                ends = [place.end for (found,) in self.by_field(names, node.operand) for place in found]
                return f"the first place ends at word {min(ends)}, {node.within} are looked at"
            case tree.Together():
                return f"each stands in some {node.unit}, but in none of them all"
            case _:
                raise AssertionError(f"{type(node).__name__} has no places")

    def by_field(self, names: tuple[str, ...], *nodes: tree.Node) -> list[tuple[list[PositionSpan], ...]]:
        """The places of the nodes in each text field."""
        return [
            tuple([list(self.reader.places(node, name, names)) for node in nodes])
            for name in self.reader.words
        ]


def _gaps(left: Iterable[PositionSpan], right: Iterable[PositionSpan], ordered: bool) -> Iterator[int]:
    rights = list(right)
    for one in left:
        for other in rights:
            if other.start >= one.end:
                yield other.start - one.end
            elif one.start >= other.end and not ordered:
                yield one.start - other.end


def _of(node: tree.Node, message: str) -> Reason:
    return Reason(to_text(node), node.span, message)


def _listed(items: Sequence[str]) -> str:
    more = f" and {len(items) - SHOWN} more" if len(items) > SHOWN else ""
    return ", ".join(items[:SHOWN]) + more
