"""`queries NAME { from "FILE" }`."""

from __future__ import annotations

from functools import cache
from typing import cast

from pyparsing import ParserElement

from rules.grammar.lexical import keyword, mark, name, string
from rules.grammar.nodes import spanned
from rules.syntax import Name, Queries, String


@cache
def queries() -> ParserElement:
    """A set of standing queries, as a rules.syntax.Queries."""
    file = keyword("from") - string("the file's name in quotes")
    element = keyword("queries") - name("the name of the queries") - mark("{") - file - mark("}")
    return spanned(element, lambda p, s: Queries(cast(Name, p[1]), cast(String, p[4]), s))
