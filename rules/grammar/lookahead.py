"""Choices, options and repetitions that look at the next token before they try anything.

What pyparsing tries in vain costs it an exception with its frames, and most of what it tries is in vain.
Those here accept the same texts and refuse others with the same words: wherever the next token does not
decide, pyparsing's own way is gone.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence

from pyparsing import MatchFirst, Opt, ParseException, ParserElement, ZeroOrMore

from rules.grammar.lexical import BlockText, Lexeme
from rules.grammar.nodes import Series, series

Begins = Callable[[BlockText, int], bool]


class _Deciding(ParserElement):
    """A parser element that decides by the next token."""

    def _parse(  # type: ignore[override]  # as of a series
        self,
        instring: BlockText,
        loc: int,
        do_actions: bool = True,
        callPreParse: bool = True,  # noqa: ARG002, N803
    ) -> tuple[int, list[object]]:
        return self.decided(instring, loc, do_actions)

    @abstractmethod
    def decided(self, text: BlockText, at: int, do_actions: bool) -> tuple[int, list[object]]:
        """Where it ends, and its parts. Raises ParseBaseException."""


class _Choice(_Deciding, MatchFirst):
    """The first of its elements that matches."""

    def __init__(self, *elements: ParserElement) -> None:
        elements = tuple(map(series, elements))
        super().__init__(elements)
        self.ways = [(_beginning(element), element) for element in elements]

    def decided(self, text: BlockText, at: int, do_actions: bool) -> tuple[int, list[object]]:
        for begins, element in self.ways:
            if begins is None:
                break
            if begins(text, at):
                try:
                    end, parts = element._parse(text, at, do_actions)
                except ParseException:
                    break
                return end, list(parts)
        end, parts = self.parseImpl(text, self.preParse(text, at), do_actions)  # says what could stand here
        return end, list(parts)


class _Option(_Deciding, Opt):
    """Its element, or nothing."""

    def __init__(self, element: ParserElement) -> None:
        element = series(element)
        super().__init__(element)
        self.begins = _beginning(element)

    def decided(self, text: BlockText, at: int, do_actions: bool) -> tuple[int, list[object]]:
        if self.begins is not None and not self.begins(text, at):
            return at, []
        try:
            end, parts = self.expr._parse(text, at, do_actions)
        except ParseException:
            return at, []
        return end, list(parts)


class _Repetition(_Deciding, ZeroOrMore):
    """Its element, as often as it comes."""

    def __init__(self, element: ParserElement) -> None:
        element = series(element)
        super().__init__(element)
        self.begins = _beginning(element)

    def decided(self, text: BlockText, at: int, do_actions: bool) -> tuple[int, list[object]]:
        found: list[object] = []
        while self.begins is None or self.begins(text, at):
            try:
                at, parts = self.expr._parse(text, at, do_actions)
            except ParseException:
                break
            found.extend(parts)
        return at, found


def first_of(*elements: ParserElement) -> ParserElement:
    """`a | b | ...`."""
    return _Choice(*elements)


def maybe(element: ParserElement) -> ParserElement:
    """The element or nothing."""
    return _Option(element)


def many(element: ParserElement) -> ParserElement:
    """The element as often as it comes, perhaps never."""
    return _Repetition(element)


def _beginning(element: ParserElement) -> Begins | None:
    """True if the element's first token stands at a place of a text; None where more than a token decides."""
    match element:
        case Lexeme():
            return element.begins
        case _Choice():
            return _any_of([begins for begins, _ in element.ways])
        case Series():
            firsts: list[Begins | None] = []
            for part, _ in element.elements:
                if not isinstance(part, _Option | _Repetition):
                    firsts.append(_beginning(part))
                    break
                firsts.append(part.begins)
            return _any_of(firsts)
        case _:
            return None


def _any_of(firsts: Sequence[Begins | None]) -> Begins | None:
    known = [begins for begins in firsts if begins is not None]
    if len(known) < len(firsts):
        return None
    return known[0] if len(known) == 1 else lambda text, at: any(begins(text, at) for begins in known)
