"""CEP0318, CEP0320: a word of a text query that looks like an operator, or like another word."""

from __future__ import annotations

from collections.abc import Iterator

from rules import typed
from rules.checks.subject import Subject, warning
from rules.diagnostics import Diagnostic
from rules.grammar.lexical import offset_in
from rules.source import Span
from rules.syntax import String

_STRANGE = ("PQ17", "PQ18")


def check(subject: Subject) -> Iterator[Diagnostic]:
    """A warning at the first place of every such word, inside the string."""
    for rule in subject.pack.rules:
        for part in typed.walk(rule):
            if isinstance(part, typed.TextMatch):
                from percolator.query.lookalikes import lookalikes  # only where a pack searches texts
                from percolator.query.parse import parse

                for one in lookalikes(part.query, parse(part.query)):
                    help_ = one.help.replace('"', '\\"')  # as it is written in a string
                    code = "CEP0320" if one.code in _STRANGE else "CEP0318"
                    yield warning(code, one.message, _inside(part, one.span), help_=help_, note=str(one.code))


def _inside(part: typed.TextMatch, place: tuple[int, int]) -> Span:
    """Some characters of the query, where they are written."""
    literal = String(part.query, part.literal)
    return Span(part.literal.file, *(offset_in(literal, index) for index in place))
