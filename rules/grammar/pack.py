"""`pack NAME version "V"` and `let NAME = expr`."""

from __future__ import annotations

from functools import cache
from typing import cast

from pyparsing import ParserElement

from rules.grammar.expression import expression
from rules.grammar.lexical import keyword, mark, name, string
from rules.grammar.nodes import spanned
from rules.syntax import Expression, Header, Let, Name, String


@cache
def header() -> ParserElement:
    """A pack's header, as a rules.syntax.Header."""
    element = keyword("pack") - name("the pack's name") - keyword("version") - string("the version in quotes")
    return spanned(element, lambda p, s: Header(cast(Name, p[1]), cast(String, p[3]), s))


@cache
def let() -> ParserElement:
    """A constant, as a rules.syntax.Let."""
    element = keyword("let") - name("the constant's name") - mark("=") - expression()
    return spanned(element, lambda p, s: Let(cast(Name, p[1]), cast(Expression, p[3]), s))
