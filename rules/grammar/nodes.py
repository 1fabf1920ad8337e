"""Series of elements, and such whose parts become one node of the syntax tree with the place of all of them.

The parts are read here, not by pyparsing's `And`, which at every level copies them into results with names,
of which there are none here. What is read, and what is said of what cannot be, is the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from pyparsing import And, ParseBaseException, ParseElementEnhance, ParserElement, ParseSyntaxException

from rules.grammar.lexical import BlockText, place
from rules.source import Span

Build = Callable[[list[object], Span], object]
Fold = Callable[[BlockText, list[object]], object]


class Series(ParseElementEnhance):
    """`a + b - c`: all parts of its elements, in order."""

    def __init__(self, element: ParserElement) -> None:
        super().__init__(element)
        self.elements = tuple(_elements(element))

    def _parse(  # type: ignore[override]  # a list does for what looks at no names
        self,
        instring: BlockText,
        loc: int,
        do_actions: bool = True,
        callPreParse: bool = True,  # noqa: ARG002, N803  # white space belongs to the first element
    ) -> tuple[int, list[object]]:
        found: list[object] = []
        for element, certain in self.elements:
            try:
                loc, more = element._parse(instring, loc, do_actions)
            except ParseSyntaxException:
                raise
            except ParseBaseException as problem:
                if not certain:
                    raise
                problem.__traceback__ = None
                raise ParseSyntaxException._from_exception(problem) from None
            found.extend(more)
        return loc, self.made(instring, found) if do_actions else []

    def made(self, _text: BlockText, parts: list[object]) -> list[object]:
        """The node made of the parts."""
        return parts


class _Folded(Series):
    """A series whose parts become one value."""

    def __init__(self, element: ParserElement, fold: Fold) -> None:
        super().__init__(element)
        self._fold = fold

    def made(self, text: BlockText, parts: list[object]) -> list[object]:
        return [self._fold(text, parts)]


def series(element: ParserElement) -> ParserElement:
    """The element; if it is `a + b`, as a series."""
    return Series(element) if type(element) is And else element


def folded(element: ParserElement, fold: Fold) -> ParserElement:
    """The element with its parts made one value. The function may raise Refusal."""
    return _Folded(element, fold)


def spanned(element: ParserElement, build: Build) -> ParserElement:
    """The element with its parts made one node, which gets the span of all of them."""
    return _Folded(element, lambda _, parts: build(parts, place(parts[0]).to(place(parts[-1]))))


def _elements(element: ParserElement) -> Iterator[tuple[ParserElement, bool]]:
    """The elements of a series, each with whether it stands behind a `-`: it has to fit then."""
    certain = False
    for one in _flat(element):
        if isinstance(one, And._ErrorStop):
            certain = True
        else:
            yield one, certain


def _flat(element: Any) -> Iterator[ParserElement]:
    """As pyparsing streamlines it, a series at the beginning or the end of another is taken apart."""
    if type(element) is not And:
        yield element
        return
    first, *middle, last = element.exprs
    yield from _flat(first)
    yield from map(series, middle)
    yield from _flat(last)
