"""The ranges of a document's text that made a query true, and the named parts.

    highlighter = Highlighter(node, schema)          once a query
    analysed = Analysed(document, schema)            once a document
    highlighter.hit(analysed)                        what percolator.reference.hit gives

A query becomes a tree of closures: each returns whether its part is true, and adds the ranges that
made it true to a list.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from typing import assert_never

from percolator.analysed import MOST_STEPS, Analysed, BudgetError, Leaf, Places, leaf
from percolator.hit import Hit, Range, apart
from percolator.query import tree
from percolator.schema import Kind, Schema
from percolator.values import Terms, field_values, range_test, value_test

__all__ = ["Analysed", "BudgetError", "Highlighter"]

FieldRanges = list[tuple[str, Sequence[Range], bool]]
"""Field, ranges, and whether they are words, of which no two overlap."""
Test = Callable[[Analysed, FieldRanges, set[int]], bool]
"""Whether a part is true; adds to the ranges found and to the numbers of the true named parts."""
Reading = Callable[[Analysed], Places]


class Highlighter:
    """One query, which percolator.checks lets pass; may be used by several threads."""

    def __init__(self, node: tree.Node, schema: Schema, default: Sequence[str] | None = None) -> None:
        compiler = _Compiler(schema)
        self._test = compiler.test(node, tuple(schema.default if default is None else default))
        self._names = tuple(compiler.names)
        self._order = {name: number for number, name in enumerate(schema.fields)}

    def hit(self, analysed: Analysed) -> Hit | None:
        """The hit of the query, None where it is not true.

        Raises BudgetError where its places are too many to be looked at.
        """
        found: FieldRanges = []
        named: set[int] = set()
        if not self._test(analysed, found, named):
            return None
        names = tuple(dict.fromkeys([self._names[number] for number in sorted(named)])) if named else ()
        if not found:
            return Hit(names, {})
        first = found[0][0]
        if all(name == first for name, _, _ in found):
            return Hit(names, {first: _highlight(found)})
        fields = sorted({name for name, _, _ in found}, key=self._order.__getitem__)
        return Hit(names, {name: _highlight([one for one in found if one[0] == name]) for name in fields})


def _highlight(found: FieldRanges) -> list[Range]:
    if all(words for _, _, words in found):
        return sorted(set().union(*[ranges for _, ranges, _ in found]))
    return apart({one for _, ranges, _ in found for one in ranges})


class _Compiler:
    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.texts = [name for name, type_ in schema.fields.items() if type_.kind is Kind.TEXT]
        self.names: list[str] = []

    def test(self, node: tree.Node, names: tuple[str, ...]) -> Test:
        """`names` are the fields that a term is looked for in."""
        match node:
            case tree.And():
                known = len(self.names)
                return _every([self.test(operand, names) for operand in node.operands], self.names[known:])
            case tree.Or():
                return _some([self.test(operand, names) for operand in node.operands], 1)
            case tree.SomeOf():
                return _some([self.test(operand, names) for operand in node.operands], node.count)
            case tree.Not():
                return _opposite(self.test(node.operand, names))
            case tree.Fielded():
                return self.test(node.operand, (node.name,))
            case tree.Named():
                number = len(self.names)
                self.names.append(node.name)
                return _naming(self.test(node.operand, names), number)
            case tree.Everything():
                return lambda _analysed, _found, _named: True
            case tree.Present():
                name = node.name
                return lambda analysed, _found, _named: bool(field_values(analysed.document, name))
            case tree.Range():
                in_range = range_test(node, self.schema.fields[node.name].kind)
                return lambda analysed, _found, _named: in_range(analysed.document)
            case tree.Near() | tree.NotNear() | tree.AtLeast() | tree.First() | tree.Together():
                tests = [_standing(self.top(node, name, names), name) for name in self.texts]
                return tests[0] if len(tests) == 1 else _some(tests, 1)
            case tree.Word() | tree.Exact() | tree.Wildcard() | tree.Regex() | tree.Fuzzy() | tree.Phrase():
                tests = [self.term(node, name) for name in names]
                return tests[0] if len(tests) == 1 else _some(tests, 1)
            case _:
                assert_never(node)

    def term(self, node: Terms, name: str) -> Test:
        kind = self.schema.fields[name].kind
        if kind is Kind.TEXT:
            return _term(leaf(node, name, self.schema))
        has_value = value_test(node, kind, name)
        return lambda analysed, _found, _named: has_value(analysed.document)

    def top(self, node: tree.Node, name: str, names: tuple[str, ...]) -> Reading:
        """As `reading`; of a NEAR only the operands' places that take part, not all pairs of them."""
        if isinstance(node, tree.Near):
            left, right = self.reading(node.left, name, names), self.reading(node.right, name, names)
            return _taking_part(left, right, node.distance, node.ordered)
        return self.reading(node, name, names)

    def reading(self, node: tree.Node, name: str, names: tuple[str, ...]) -> Reading:
        """The places of a node in one field."""
        match node:
            case tree.Or():
                return _union([self.reading(operand, name, names) for operand in node.operands])
            case tree.Fielded():
                return self.reading(node.operand, name, (node.name,))
            case tree.Near():
                left, right = self.reading(node.left, name, names), self.reading(node.right, name, names)
                return _pairs(left, right, node.distance, node.ordered)
            case tree.NotNear():
                left, right = self.reading(node.left, name, names), self.reading(node.right, name, names)
                return _away(left, right, node.distance)
            case tree.AtLeast():
                return _often(self.reading(node.operand, name, names), node.count)
            case tree.First():
                return _early(self.reading(node.operand, name, names), node.within)
            case tree.Together():
                operands = [self.reading(operand, name, names) for operand in node.operands]
                return _together(operands, name, 0 if node.unit == "sentence" else 1)
            case tree.Word() | tree.Exact() | tree.Wildcard() | tree.Regex() | tree.Fuzzy() | tree.Phrase():
                if name not in names:
                    return lambda _analysed: {}
                wanted = leaf(node, name, self.schema)
                return lambda analysed: analysed.places(wanted)
            case _:
                raise AssertionError(f"{type(node).__name__} has no places")


def _term(wanted: Leaf) -> Test:
    name = wanted.field
    one_word = len(wanted.parts) == 1 and not wanted.ends_in_unit

    def test(analysed: Analysed, found: FieldRanges, _named: set[int]) -> bool:
        ranges = analysed.ranges(wanted)
        if not ranges:
            return False
        found.append((name, ranges, one_word and not analysed.words(name).overlap))
        return True

    return test


def _standing(reading: Reading, name: str) -> Test:
    def test(analysed: Analysed, found: FieldRanges, _named: set[int]) -> bool:
        places = reading(analysed)
        if not places:
            return False
        found.append((name, [one for ranges in places.values() for one in ranges], False))
        return True

    return test


def _every(operands: list[Test], names: list[str]) -> Test:
    def test(analysed: Analysed, found: FieldRanges, named: set[int]) -> bool:
        before = len(found)
        for number, operand in enumerate(operands):
            if not operand(analysed, found, named):
                if names:
                    # Named parts count also where they do not matter to the whole.
                    for other in operands[number + 1 :]:
                        other(analysed, found, named)
                del found[before:]
                return False
        return True

    return test


def _some(operands: list[Test], count: int) -> Test:
    def test(analysed: Analysed, found: FieldRanges, named: set[int]) -> bool:
        before, true = len(found), 0
        for operand in operands:
            true += operand(analysed, found, named)
        if true >= count:
            return True
        del found[before:]
        return False

    return test


def _opposite(operand: Test) -> Test:
    def test(analysed: Analysed, found: FieldRanges, named: set[int]) -> bool:
        before = len(found)
        value = operand(analysed, found, named)
        del found[before:]
        return not value

    return test


def _naming(operand: Test, number: int) -> Test:
    def test(analysed: Analysed, found: FieldRanges, named: set[int]) -> bool:
        value = operand(analysed, found, named)
        if value:
            named.add(number)
        return value

    return test


def _union(readings: list[Reading]) -> Reading:
    def read(analysed: Analysed) -> Places:
        return _joined([reading(analysed) for reading in readings])

    return read


def _joined(operands: list[Places]) -> Places:
    filled = [places for places in operands if places]
    if len(filled) < 2:
        return filled[0] if filled else {}
    found = dict(filled[0])
    for places in filled[1:]:
        for place, ranges in places.items():
            known = found.get(place)
            found[place] = ranges if known is None else known | ranges
    return found


def _pairs(left: Reading, right: Reading, distance: int, ordered: bool) -> Reading:
    """The enclosing places of all pairs."""

    def read(analysed: Analysed) -> Places:
        ones, others = left(analysed), right(analysed)
        found: Places = {}
        steps = 0
        for first, second in ((ones, others),) if ordered else ((ones, others), (others, ones)):
            ordered_second = sorted(second)
            for place, ranges in first.items():
                at = bisect_left(ordered_second, (place[1], 0))
                behind = bisect_left(ordered_second, (place[1] + distance + 1, 0))
                steps += behind - at
                if steps > MOST_STEPS:
                    raise BudgetError("a NEAR inside another has too many places")
                for other in ordered_second[at:behind]:
                    enclosing = (place[0], other[1])
                    both = ranges | second[other]
                    known = found.get(enclosing)
                    found[enclosing] = both if known is None else known | both
        return found

    return read


def _taking_part(left: Reading, right: Reading, distance: int, ordered: bool) -> Reading:
    """The places of both operands that have one of the other near enough."""

    def read(analysed: Analysed) -> Places:
        ones, others = left(analysed), right(analysed)
        if not ones or not others:
            return {}
        taken: list[Places] = []
        for first, second in ((ones, others),) if ordered else ((ones, others), (others, ones)):
            starts = sorted([place[0] for place in second])
            ends = sorted([place[1] for place in first])
            taken.append({p: r for p, r in first.items() if _any_from(starts, p[1], p[1] + distance)})
            taken.append({p: r for p, r in second.items() if _any_from(ends, p[0] - distance, p[0])})
        return _joined(taken)

    return read


def _any_from(values: list[int], lowest: int, highest: int) -> bool:
    return bisect_left(values, lowest) < bisect_right(values, highest)


def _away(left: Reading, right: Reading, distance: int) -> Reading:
    """For NOT NEAR/n: what has no other place in it or in the n words on each side."""

    def read(analysed: Analysed) -> Places:
        ones, others = left(analysed), right(analysed)
        if not ones or not others:
            return ones
        ordered = sorted(others)
        starts = [place[0] for place in ordered]
        furthest: list[int] = []
        for _, end in ordered:
            furthest.append(max(end, furthest[-1]) if furthest else end)

        def near(start: int, end: int) -> bool:
            # Of the places that begin before the end of the reach, one ends behind its beginning.
            before = bisect_left(starts, end + distance)
            return before > 0 and furthest[before - 1] > start - distance

        return {place: ranges for place, ranges in ones.items() if not near(*place)}

    return read


def _often(operand: Reading, count: int) -> Reading:
    def read(analysed: Analysed) -> Places:
        places = operand(analysed)
        return places if len(places) >= count else {}

    return read


def _early(operand: Reading, within: int) -> Reading:
    def read(analysed: Analysed) -> Places:
        return {place: ranges for place, ranges in operand(analysed).items() if place[1] <= within}

    return read


def _together(operands: list[Reading], name: str, unit: int) -> Reading:
    """`unit` 0 is the sentence, 1 the paragraph."""

    def read(analysed: Analysed) -> Places:
        places = [operand(analysed) for operand in operands]
        if not all(places):
            return {}
        sections = analysed.words(name).sections
        shared: set[int] | None = None
        for found in places:
            units = {
                sections[place[0]][unit]
                for place in found
                if sections[place[0]][unit] == sections[place[1] - 1][unit]
            }
            shared = units if shared is None else shared & units
        assert shared is not None
        return {
            place: ranges
            for place, ranges in _joined(places).items()
            if sections[place[0]][unit] in shared and sections[place[0]][unit] == sections[place[1] - 1][unit]
        }

    return read
