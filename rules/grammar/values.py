"""The values of a test: expressions, `[a, b]` and `{ name: value }`, as deep as records and lists go.

An entry of an expectation may say how far its value may be off: `name: value within tolerance`.
"""

from __future__ import annotations

import re

from pyparsing import ParseException, ParseSyntaxException, Token

from rules.grammar.cursor import Cursor
from rules.grammar.errors import Refusal
from rules.grammar.expression import Run
from rules.grammar.lexical import NAME, BlockText, read_name
from rules.grammar.precedence import tree
from rules.syntax import Entry, Expression, ListValue, MapValue, Value

NESTING = 24
"""Maps and lists may stand in one another so deep: a little deeper than the records of a stream."""

_OPEN = re.compile(r"\{")
_CLOSE = re.compile(r"\}")
_OPEN_LIST = re.compile(r"\[")
_CLOSE_LIST = re.compile(r"\]")
_NAME = re.compile(NAME)
_COLON = re.compile(":")
_COMMA = re.compile(",")
_WITHIN = re.compile(r"within(?!\w)")


class MapToken(Token):
    """`{ name: value, ... }`, as a rules.syntax.MapValue."""

    def __init__(self) -> None:
        super().__init__()
        self.set_name("`{`")
        self.errmsg = "expected `{`"
        self.mayReturnEmpty = False
        self.mayIndexError = False
        self._run = Run()

    def _generateDefaultName(self) -> str:  # noqa: N802  # pyparsing's own name
        return "values"

    def parseImpl(  # noqa: N802  # pyparsing's own name
        self, instring: BlockText, loc: int, _do_actions: bool = True
    ) -> tuple[int, list[MapValue]]:
        cursor = Cursor(instring, loc)
        if not cursor.sees(_OPEN):
            raise ParseException(instring, loc, self.errmsg, self)
        found = self._map(cursor, 0)
        return cursor.end, [found]

    def _map(self, cursor: Cursor, depth: int) -> MapValue:
        start = cursor.skip()
        cursor.need(_OPEN, "`{`")
        entries: list[Entry] = []
        while not (cursor.sees(_CLOSE) and not entries):
            entries.append(self._entry(cursor, depth))
            if cursor.take(_COMMA) is None:
                break
        cursor.need(_CLOSE, "`,` or `}`")
        return MapValue(tuple(entries), cursor.span(start))

    def _entry(self, cursor: Cursor, depth: int) -> Entry:
        written = cursor.need(_NAME, "a field")
        name = read_name(cursor.text, written.start(), written.group())
        cursor.need(_COLON, "`:`")
        value = self._value(cursor, depth + 1)
        tolerance = self._expression(cursor) if cursor.take(_WITHIN) else None
        return Entry(name, value, tolerance, cursor.span(written.start()))

    def _value(self, cursor: Cursor, depth: int) -> Value:
        nests = cursor.sees(_OPEN) or cursor.sees(_OPEN_LIST)
        if nests and depth > NESTING:
            message = f"values are nested more than {NESTING} deep"
            raise Refusal(
                cursor.text,
                cursor.at,
                cursor.at + 1,
                "CEP0104",
                message,
                help_="give a value that is nested less",
            )
        if not nests:
            return self._expression(cursor)
        return self._map(cursor, depth) if cursor.sees(_OPEN) else self._list(cursor, depth)

    def _list(self, cursor: Cursor, depth: int) -> ListValue:
        start = cursor.skip()
        cursor.need(_OPEN_LIST, "`[`")
        items: list[Value] = []
        while not (cursor.sees(_CLOSE_LIST) and not items):
            items.append(self._value(cursor, depth + 1))
            if cursor.take(_COMMA) is None:
                break
        cursor.need(_CLOSE_LIST, "`,` or `]`")
        return ListValue(tuple(items), cursor.span(start))

    def _expression(self, cursor: Cursor) -> Expression:
        try:
            end, pieces = self._run.parseImpl(cursor.text, cursor.skip())
        except ParseException as problem:
            raise ParseSyntaxException(cursor.text, problem.loc, problem.msg) from problem
        cursor.at = cursor.end = end
        return tree(cursor.text, pieces)
