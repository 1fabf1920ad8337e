"""`table NAME key FIELD { fields }`."""

from __future__ import annotations

from functools import cache
from typing import cast

from pyparsing import ParserElement

from rules.grammar.fields import FieldToken
from rules.grammar.lexical import dotted, keyword, mark, name
from rules.grammar.lookahead import first_of
from rules.grammar.members import Members, lost
from rules.grammar.nodes import spanned
from rules.source import Span
from rules.syntax import Dotted, Field, Name, PathSetting, Table


@cache
def table() -> ParserElement:
    """A table's declaration, as a rules.syntax.Table."""

    def build(parts: list[object], span: Span) -> Table:
        members = tuple(p for p in parts[4:] if isinstance(p, Field | PathSetting))
        return Table(cast(Name, parts[1]), cast(Name, parts[3]), members, span, lost(parts))

    time = spanned(keyword("time") - dotted(), lambda p, s: PathSetting("time", cast(Dotted, p[1]), None, s))
    members = Members(first_of(FieldToken(), time), "table", "a field `name: type`, the setting `time`")
    head = keyword("table") - name("the table's name") - keyword("key") - name("the key field")
    return spanned(head - mark("{") - members, build)
