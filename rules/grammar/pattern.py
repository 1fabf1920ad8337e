"""Patterns: a flat run of steps, signs and parentheses, folded into sequences and groups.

As with expressions the run is flat so that nested parentheses cost no recursion; the fold keeps the
open groups on a stack.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, Literal, cast

from pyparsing import ParserElement

from rules.grammar.boundaries import CLAUSES
from rules.grammar.errors import Refusal
from rules.grammar.expression import expression
from rules.grammar.lexical import NAME, BlockText, Lexeme, duration, keyword, mark, name, read_span
from rules.grammar.lookahead import first_of, many, maybe
from rules.grammar.nodes import folded, spanned
from rules.source import Span
from rules.syntax import (
    Absent,
    Duration,
    Element,
    Expression,
    Group,
    Modifier,
    Name,
    Quantifier,
    Sequence,
    Sign,
    Source,
    Step,
    Unless,
)

NESTING = 32
"""Groups may stand in groups so deep."""
STEPS = 500
"""A pattern may have so many steps."""
MOST = 1_000_000
"""Greatest number in a quantifier."""

_QUANTIFIER = r"(?:[+*?]|\{\s*[0-9]*\s*(?:,\s*[0-9]*\s*)?\})\??"
_NEXT = re.compile(r"\s*([^\W\d]\w*|,)")
_COUNTS = re.compile(r"\{\s*([0-9]*)\s*(,?)\s*([0-9]*)\s*\}")
_SHORT = {"+": (1, None), "*": (0, None), "?": (0, 1)}


@cache
def source() -> ParserElement:
    """`S[cond]`, also `S matching Q[cond]`."""

    def build(parts: list[object], span: Span) -> Source:
        names = [p for p in parts if isinstance(p, Name)]
        conditions: list[Expression] = [p for p in parts if not isinstance(p, Name | Span)]  # type: ignore[misc]
        return Source(names[0], names[1] if len(names) > 1 else None, next(iter(conditions), None), span)

    matching = Lexeme(rf"matching(?=\s+{NAME})", "`matching`", read_span) - name("the name of `queries`")
    condition = mark("[") - expression() - _closing_square()
    return spanned(name("a stream") + maybe(matching) + maybe(condition), build)


def _closing_square() -> ParserElement:
    return Lexeme(r"\]", "an operator or `]`", read_span)


def _read_quantifier(text: BlockText, start: int, written: str) -> Quantifier:
    reluctant = len(written) > 1 and written.endswith("?")
    shape = written[:-1] if reluctant else written
    least, most = _SHORT[shape] if shape in _SHORT else _counts(text, start, shape)
    return Quantifier(least, most, reluctant, text.span(start, start + len(written)))


def _counts(text: BlockText, start: int, shape: str) -> tuple[int, int | None]:
    low, comma, high = _COUNTS.fullmatch(shape).groups()  # type: ignore[union-attr]  # as in _QUANTIFIER
    problem = help_ = ""
    if not low:
        problem, help_ = (
            "a quantifier needs its lower count",
            f"write `{{0,{high}}}`" if high else "write `{1,}`",
        )
    elif max(len(low), len(high)) > 7 or int(low) > MOST or int(high or 0) > MOST:
        problem, help_ = f"a quantifier counts to {MOST:,} at most", "write a smaller number"
    elif int(high or low) == 0 and (high or not comma):
        problem, help_ = "a step that is taken no times has no place in a pattern", "remove the step"
    elif high and int(high) < int(low):
        problem, help_ = f"at least {low} and at most {high} cannot be", f"did you mean `{{{high},{low}}}`?"
    if problem:
        raise Refusal(text, start, start + len(shape), "CEP0407", problem, help_=help_)
    return int(low), int(high) if high else None if comma else int(low)


@cache
def _modifier() -> ParserElement:
    def build(parts: list[object], span: Span) -> Modifier:
        match parts[-1]:
            case Source() as guard:
                return Modifier("until", guard, None, span)
            case Duration() as least:
                return Modifier("gap", None, least, span)
            case _:
                word = cast(Literal["each", "contiguous", "any"], span.text)
                return Modifier(word, None, None, span)

    words = Lexeme(r"(?:each|contiguous|any)(?!\w)", "a modifier", read_span)
    return spanned(first_of(words, keyword("until") - source(), keyword("gap") - duration()), build)


@cache
def _element() -> ParserElement:
    def step(parts: list[object], span: Span) -> Step:
        named = parts[0] if isinstance(parts[0], Name) else None
        of = parts[-1]
        assert isinstance(of, Source)
        return Step(named, of, (), (), span)

    def unless(parts: list[object], span: Span) -> Unless:
        assert isinstance(parts[1], Source)
        return Unless(parts[1], span)

    def absent(parts: list[object], span: Span) -> Absent:
        assert isinstance(parts[1], Source)
        return Absent(parts[1], parts[-1] if isinstance(parts[-1], Duration) else None, span)

    word = Lexeme(rf"absent(?=\s+{NAME})", "`absent`", read_span)
    label = Lexeme(rf"{NAME}(?=\s*:)", "a step's name", _read_label) + mark(":")
    return first_of(
        spanned(keyword("not") - source(), unless),
        spanned(word - source() - maybe(keyword("for") - duration()), absent),
        spanned(maybe(label) + source(), step),
    ).set_name("a step")


def _read_label(text: BlockText, start: int, written: str) -> Name:
    return Name(written.strip("`"), text.span(start, start + len(written)))


@dataclass(slots=True)
class _Open:
    """A group that is being read, or the pattern itself (opened None)."""

    opened: Span | None
    branches: list[Sequence] = field(default_factory=list)
    bars: list[Sign] = field(default_factory=list)
    elements: list[Element] = field(default_factory=list)
    signs: list[Sign] = field(default_factory=list)

    def end_branch(self) -> None:
        """End a branch: the parts read since the last bar are a whole sequence."""
        span = self.elements[0].span.to(self.elements[-1].span)
        self.branches.append(Sequence(tuple(self.elements), tuple(self.signs), span))
        self.elements, self.signs = [], []


def _fold(text: BlockText, tokens: list[Any]) -> Sequence:
    stack = [_Open(None)]
    elements = 0
    for token in tokens:
        match token:
            case Span() if token.text == "(":
                if len(stack) > NESTING:
                    raise _refusal(
                        text,
                        token,
                        "CEP0104",
                        f"groups are nested more than {NESTING} deep",
                        help_="split the rule, or put steps that need no group outside of it",
                    )
                stack.append(_Open(token))
            case Span():
                group = stack.pop()
                if group.opened is None:
                    raise _refusal(
                        text,
                        token,
                        "CEP0103",
                        "`)` closes nothing",
                        help_="remove it, or write the `(` that it closes",
                    )
                group.end_branch()
                span = group.opened.to(token)
                stack[-1].elements.append(Group(tuple(group.branches), tuple(group.bars), (), (), span))
            case Sign(text="|" | "&"):
                _bar(text, token, stack[-1])
            case Sign():
                stack[-1].signs.append(token)
            case Quantifier() | Modifier():
                stack[-1].elements[-1] = _suffixed(text, stack[-1].elements[-1], token)
            case _:
                elements += 1
                if elements > STEPS:
                    raise _refusal(
                        text,
                        token.span,
                        "CEP0104",
                        f"a pattern has at most {STEPS} steps",
                        help_="split the rule: one emits `into` a stream that the other reads",
                    )
                stack[-1].elements.append(token)
    last = stack[-1]
    if last.opened is not None:
        _refuse_what_follows(text, tokens)
        raise _refusal(
            text, last.opened, "CEP0103", "`(` is never closed", help_="write `)` where the group ends"
        )
    last.end_branch()
    return last.branches[0]


def _refuse_what_follows(text: BlockText, tokens: list[Any]) -> None:
    """Raise Refusal where a group is open because something stands in it that joins no steps."""
    end = tokens[-1].end if isinstance(tokens[-1], Span) else tokens[-1].span.end
    at = end - text.base
    following = _NEXT.match(text, at)
    if following is not None and following[1] not in CLAUSES:
        raise Refusal(
            text,
            following.start(1),
            following.end(1),
            "CEP0101",
            "expected `->`, `=>`, `~>`, `|`, `&` or `)`",
            help_="steps are joined by `->`, `=>` or `~>`",
        )


def _bar(text: BlockText, bar: Sign, group: _Open) -> None:
    if group.opened is None:
        message = f"`{bar.text}` stands only in parentheses"
        raise _refusal(text, bar.span, "CEP0415", message, "put the whole alternative in `( ... )`")
    if group.bars and group.bars[0].text != bar.text:
        message = "`|` and `&` are not mixed in one group"
        raise _refusal(text, bar.span, "CEP0404", message, "put one of them in parentheses of its own")
    group.end_branch()
    group.bars.append(bar)


def _suffixed(text: BlockText, element: Element, suffix: Quantifier | Modifier) -> Element:
    match element:
        case Unless() | Absent():
            word = "not" if isinstance(element, Unless) else "absent"
            raise _refusal(
                text,
                suffix.span,
                "CEP0408",
                f"`{word}` takes no `{suffix.span.text}`",
                help_="remove it; a guard stands once, between the steps that it is about",
            )
        case _ if isinstance(suffix, Quantifier):
            span = element.span.to(suffix.span)
            return replace(element, quantifiers=(*element.quantifiers, suffix), span=span)
        case _:
            return replace(element, modifiers=(*element.modifiers, suffix), span=element.span.to(suffix.span))


def _refusal(text: BlockText, span: Span, code: str, message: str, help_: str) -> Refusal:
    return Refusal(text, span.start - text.base, span.end - text.base, code, message, help_=help_)


@cache
def pattern() -> ParserElement:
    """A pattern, as a rules.syntax.Sequence."""

    def read_sign(text: BlockText, start: int, written: str) -> Sign:
        return Sign(written, text.span(start, start + len(written)))

    sign = Lexeme(r"->|=>|~>|\||&", "`->`, `=>` or `~>`", read_sign)
    quantifier = Lexeme(_QUANTIFIER, "a quantifier", _read_quantifier)
    suffix = first_of(quantifier, _modifier(), mark(")"))
    part = many(mark("(")) + _element() + many(suffix)
    return folded(part + many(sign - part), _fold)
