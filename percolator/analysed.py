"""One document, analysed once for all the queries that hit it: where every leaf of a query stands.

A *leaf* is a term or phrase in one text field (`Leaf`). `ranges` gives the code points that it takes up,
`places` the positions; both are kept, as many hits share their leaves. The meaning is that of
percolator.reference; here every step takes about as long as what it finds.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Literal, NamedTuple, assert_never

from percolator.analysis import Analyser, analyser
from percolator.edges import edges
from percolator.patterns import regex, takes, wildcard, within
from percolator.query import tree
from percolator.query.pieces import pieces
from percolator.schema import Schema
from percolator.values import Document, texts
from percolator.words import exact, is_unit, sections, token_spans

VALUE_GAP = 100
"""Positions that lie between two values of a field."""

MOST_STEPS = 300_000
"""Places that are looked at for one query at one document before `BudgetError` is raised."""

Range = tuple[int, int]
PositionSpan = tuple[int, int]
Places = dict[PositionSpan, frozenset[Range]]
Terms = tree.Word | tree.Exact | tree.Wildcard | tree.Regex | tree.Fuzzy | tree.Phrase


class BudgetError(Exception):
    """A query has more places in a document than anybody would want to see."""


class LeafWord(NamedTuple):
    """The requirement on one word of a leaf; `text` is analysed as the words of the field are."""

    kind: Literal["word", "exact", "prefix", "pattern", "regex", "fuzzy"]
    text: str
    distance: int = 0
    term: str = ""


class Leaf(NamedTuple):
    """A term or phrase in a field; `ends_in_unit` where its last word is one CJK character."""

    field: str
    parts: tuple[LeafWord, ...]
    slop: int
    ends_in_unit: bool


def leaf(node: Terms, name: str, schema: Schema) -> Leaf:
    """The leaf of a term or phrase in a text field."""
    analysed = analyser(schema.fields[name].analyser)
    match node:
        case tree.Regex():
            return Leaf(name, (LeafWord("regex", node.pattern),), 0, False)
        case tree.Fuzzy():
            part = LeafWord("fuzzy", analysed.fold(node.text), node.distance, analysed.term(node.text))
            return Leaf(name, (part,), 0, False)
        case _:
            written = pieces(node)
            last = written[-1]
            slop = node.slop if isinstance(node, tree.Phrase) else 0
            unit = last.kind == "pattern" and is_unit(last.text[:-1])
            return Leaf(name, tuple(_part(kind, text, analysed) for kind, text in written), slop, unit)


def _part(kind: Literal["word", "pattern", "exact"], text: str, analysed: Analyser) -> LeafWord:
    match kind:
        case "word":
            return LeafWord("word", analysed.term(text))
        case "exact":
            return LeafWord("exact", exact(text))
        case "pattern":
            folded = analysed.fold(text)
            letters = folded[:-1]
            if folded.endswith("*") and "*" not in letters and "?" not in letters:
                return LeafWord("prefix", letters)
            return LeafWord("pattern", folded)
        case _:
            assert_never(kind)


class Analysed:
    """A document over a schema. Raises DocumentError where a text field holds no text."""

    def __init__(self, document: Document, schema: Schema) -> None:
        self.document = document
        self.schema = schema
        self._fields: dict[str, FieldWords] = {}
        self._ranges: dict[Leaf, list[Range]] = {}
        self._places: dict[Leaf, Places] = {}

    def ranges(self, wanted: Leaf) -> list[Range]:
        """The code points that a leaf takes up, in order; overlapping ranges are not made one."""
        found = self._ranges.get(wanted)
        if found is None:
            found = self._ranges[wanted] = self.words(wanted.field).ranges(wanted)
        return found

    def places(self, wanted: Leaf) -> Places:
        """The positions at which a leaf stands, `end` exclusive, each with its ranges."""
        found = self._places.get(wanted)
        if found is None:
            found = self._places[wanted] = self.words(wanted.field).places(wanted)
        return found

    def words(self, name: str) -> FieldWords:
        """The words of a text field."""
        found = self._fields.get(name)
        if found is None:
            values = texts(self.document, name)
            found = self._fields[name] = FieldWords(values, analyser(self.schema.fields[name].analyser))
        return found


class FieldWords:
    """The words of one field, known by their number; `positions` are those of the numbers."""

    def __init__(self, values: Sequence[str], analysed: Analyser) -> None:
        self._values = values
        self._analysed = analysed
        self._numbers: dict[LeafWord, list[int]] = {}
        self._read_edges()
        self._by_term: Mapping[str, list[int]]
        if len(values) == 1 and analysed.name == "plain" and values[0].isascii():
            self._by_term = self._inverted([values[0].lower()])
        else:
            self._by_term = _mapped(self._by_surface, analysed.term)

    def _read_edges(self) -> None:
        """`_starts`, `_ends`, `_unit_ends`: code points of the words, `_firsts`: first word of each value."""
        starts: list[int] = []
        ends: list[int] = []
        unit_ends: list[int] = []
        self._firsts: list[int] = []
        offset = 0
        for text in self._values:
            self._firsts.append(len(starts))
            for found, more in zip((starts, ends, unit_ends), edges(text), strict=True):
                found += [offset + edge for edge in more] if offset else more
            offset += len(text) + 1
        self._starts, self._ends, self._unit_ends = starts, ends, unit_ends
        self.overlap = self._unit_ends != self._ends

    def _inverted(self, values: Sequence[str]) -> Mapping[str, list[int]]:
        """The numbers of each word in these texts, which are as long as the values."""
        found: defaultdict[str, list[int]] = defaultdict(list)
        text = " ".join(values)
        for number, (start, end) in enumerate(zip(self._starts, self._ends, strict=True)):
            found[text[start:end]].append(number)
        return found

    def ranges(self, wanted: Leaf) -> list[Range]:
        """The code points of every way to read a leaf; of a sloppy one, of all ways together."""
        if len(wanted.parts) == 1:
            numbers = self._numbers_of(wanted.parts[0])
            if wanted.ends_in_unit:
                return [(self._starts[number], self._unit_ends[number]) for number in numbers]
            pairs = self._pairs
            return [pairs[number] for number in numbers]
        if wanted.slop:
            found = self._windows(wanted)
            if found is not None:
                return found
        return sorted({one for ranges in self.places(wanted).values() for one in ranges})

    def places(self, wanted: Leaf) -> Places:
        """The positions of every way to read a leaf. Raises BudgetError."""
        positions, starts, ends = self.positions, self._starts, self._ends
        lists = [self._numbers_of(part) for part in wanted.parts]
        last_ends = self._unit_ends if wanted.ends_in_unit else ends
        if not wanted.slop:
            behind = len(lists) - 1
            sets = [set(numbers) for numbers in lists[1:]]
            return {
                (positions[first], positions[first + behind] + 1): frozenset(
                    ((starts[first], last_ends[first + behind]),)
                )
                for first in lists[0]
                if all(first + index in numbers for index, numbers in enumerate(sets, 1))
                and positions[first + behind] - positions[first] == behind
            }
        found: dict[PositionSpan, set[Range]] = {}
        for chosen in self._choices(lists, wanted.slop):
            first, last = min(chosen), max(chosen)
            end = last_ends[last] if last == chosen[-1] else ends[last]
            found.setdefault((positions[first], positions[last] + 1), set()).add((starts[first], end))
        return {place: frozenset(ranges) for place, ranges in found.items()}

    def _choices(self, lists: list[list[int]], slop: int) -> Iterator[tuple[int, ...]]:
        """Numbers of different words, one of each list, whose (position - index) spreads so much at most."""
        positions = self.positions
        shifted = [[positions[number] - index for number in numbers] for index, numbers in enumerate(lists)]
        steps = 0
        waiting: list[tuple[tuple[int, ...], int, int]] = [((), 0, 0)]
        while waiting:
            chosen, lowest, highest = waiting.pop()
            index = len(chosen)
            if index == len(lists):
                yield chosen
                continue
            numbers, values = lists[index], shifted[index]
            from_, to = 0, len(values)
            if chosen:
                from_, to = bisect_left(values, highest - slop), bisect_right(values, lowest + slop)
            steps += to - from_
            if steps > MOST_STEPS:
                raise BudgetError("a phrase with slop can be read in too many ways")
            for at in range(from_, to):
                if numbers[at] not in chosen:
                    here = values[at]
                    low, high = (min(lowest, here), max(highest, here)) if chosen else (here, here)
                    waiting.append(((*chosen, numbers[at]), low, high))

    def _windows(self, wanted: Leaf) -> list[Range] | None:
        """The ranges of a phrase with slop; None where two parts can want the same word.

        In each window of (position - index) every part has its words; any of them go together, so the
        window is taken up from the first word to the last.
        """
        lists = [self._numbers_of(part) for part in wanted.parts]
        if not all(lists):
            return []
        if sum(map(len, lists)) != len(set().union(*lists)):
            return None
        positions, starts, slop = self.positions, self._starts, wanted.slop
        shifted = [[positions[number] - index for number in numbers] for index, numbers in enumerate(lists)]
        found: list[Range] = []
        for lowest in sorted(set().union(*shifted)):
            begins = [bisect_left(values, lowest) for values in shifted]
            behind = [bisect_right(values, lowest + slop) for values in shifted]
            if all(begin < end for begin, end in zip(begins, behind, strict=True)):
                first = min(numbers[begin] for numbers, begin in zip(lists, begins, strict=True))
                last = max(numbers[end - 1] for numbers, end in zip(lists, behind, strict=True))
                unit = wanted.ends_in_unit and last == lists[-1][behind[-1] - 1]
                found.append((starts[first], self._unit_ends[last] if unit else self._ends[last]))
        return found

    def _numbers_of(self, part: LeafWord) -> list[int]:
        if part.kind == "word":
            return self._by_term.get(part.text, [])
        found = self._numbers.get(part)
        if found is None:
            found = self._numbers[part] = self._search(part)
        return found

    def _search(self, part: LeafWord) -> list[int]:
        text = part.text
        match part.kind:
            case "word":
                return self._by_term.get(text, [])
            case "exact":
                return self._by_exact.get(text, [])
            case "prefix":
                forms = self._sorted_forms
                at = bisect_left(forms, text)
                taken = []
                while at < len(forms) and forms[at].startswith(text):
                    taken.append(forms[at])
                    at += 1
            case "pattern":
                taken = self._taken(_wildcard(text).fullmatch)
            case "regex":
                expression = regex(tree.Regex(text))
                taken = self._taken(lambda form: takes(expression, form))
            case "fuzzy":
                found = set(self._by_term.get(part.term, ()))
                fold = self._analysed.fold
                for surface, numbers in self._by_surface.items():
                    if within(text, fold(surface), part.distance):
                        found.update(numbers)
                return sorted(found)
            case _:
                assert_never(part.kind)
        if len(taken) == 1:
            return self._by_form[taken[0]]
        return sorted({number for form in taken for number in self._by_form[form]})

    def _taken(self, test: Callable[[str], object]) -> list[str]:
        return [form for form in self._sorted_forms if test(form)]

    @cached_property
    def _by_surface(self) -> Mapping[str, list[int]]:
        return self._inverted(self._values)

    @cached_property
    def _pairs(self) -> list[Range]:
        return list(zip(self._starts, self._ends, strict=True))

    @cached_property
    def _by_exact(self) -> Mapping[str, list[int]]:
        return _mapped(self._by_surface, exact)

    @cached_property
    def _by_form(self) -> Mapping[str, list[int]]:
        if self._analysed.name == "plain":
            return self._by_term
        found: dict[str, list[int]] = {}
        for surface, numbers in self._by_surface.items():
            for form in self._analysed.forms(surface):
                found.setdefault(form, []).extend(numbers)
        return {form: sorted(numbers) for form, numbers in found.items()}

    @cached_property
    def _sorted_forms(self) -> list[str]:
        return sorted(self._by_form)

    @cached_property
    def positions(self) -> Sequence[int]:
        """The position of every word."""
        count = len(self._starts)
        if len(self._values) == 1:
            return range(count)
        found: list[int] = []
        position = 0
        for first, behind in pairwise((*self._firsts, count)):
            found.extend(range(position, position + behind - first))
            position += behind - first + VALUE_GAP
        return found

    @cached_property
    def sections(self) -> dict[int, tuple[int, int]]:
        """By position, the numbers of the word's sentence and paragraph."""
        found: list[tuple[int, int]] = []
        sentences = paragraphs = 0
        for text in self._values:
            numbered = sections(text, token_spans(text))
            found.extend((sentences + sentence, paragraphs + paragraph) for sentence, paragraph in numbered)
            if numbered:
                sentences, paragraphs = found[-1][0] + 1, found[-1][1] + 1
        return dict(zip(self.positions, found, strict=True))


def _mapped(found: Mapping[str, list[int]], term: Callable[[str], str]) -> dict[str, list[int]]:
    """The numbers by what is made of the words."""
    merged: dict[str, list[int]] = {}
    for surface, numbers in found.items():
        made = term(surface)
        known = merged.get(made)
        merged[made] = numbers if known is None else sorted(known + numbers)
    return merged


_wildcard = lru_cache(4096)(wildcard)
