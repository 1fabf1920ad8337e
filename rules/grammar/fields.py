"""A field of a stream: `name: type? secret`, whose type may be a list or a record of fields, nested."""

from __future__ import annotations

import re

from pyparsing import ParseException, Token

from rules.grammar.cursor import Cursor
from rules.grammar.errors import Refusal
from rules.grammar.lexical import NAME, BlockText, read_name
from rules.syntax import Field, FieldType, ListType, Name, RecordType, ScalarType

NESTING = 16
"""Records and lists may stand in one another so deep."""

SETTINGS = r"(?:id|time|lateness|idle|future)(?!\w)"
"""The words that begin a setting of a stream."""

_LABEL = re.compile(rf"{NAME}(?=\s*:)")
_COLON = re.compile(":")
_LIST = re.compile(r"list\s*<")
_BARE_LIST = re.compile(r"list(?!\w)")
_SCALAR = re.compile(rf"text(?:\s+(?!{SETTINGS}|secret(?!\w)){NAME}(?!\s*:)(?!\w))?(?!\w)|{NAME}")
_SHUT = re.compile(">")
_OPEN = re.compile(r"\{")
_CLOSE = re.compile(r"\}")
_NULLABLE = re.compile(r"\?")
_SECRET = re.compile(r"secret(?!\w)(?!\s*:)")


class FieldToken(Token):
    """One field, as a rules.syntax.Field."""

    def __init__(self) -> None:
        super().__init__()
        self.set_name("a field")
        self.errmsg = "expected a field"
        self.mayReturnEmpty = False
        self.mayIndexError = False

    def _generateDefaultName(self) -> str:  # noqa: N802  # pyparsing's own name
        return "field"

    def parseImpl(  # noqa: N802  # pyparsing's own name
        self, instring: BlockText, loc: int, _do_actions: bool = True
    ) -> tuple[int, list[Field]]:
        cursor = Cursor(instring, loc)
        if not cursor.sees(_LABEL):
            raise ParseException(instring, loc, self.errmsg, self)
        field = _field(cursor, 0)
        return cursor.end, [field]


def _field(cursor: Cursor, depth: int) -> Field:
    start = cursor.skip()
    label = cursor.need(_LABEL, "a field `name: type` or `}`")
    name = read_name(cursor.text, label.start(), label.group())
    cursor.need(_COLON, "`:`")
    of = _type(cursor, depth)
    nullable = cursor.take(_NULLABLE) is not None
    word = cursor.take(_SECRET)
    secret = None if word is None else cursor.text.span(*word.span())
    return Field(name, of, nullable, secret, cursor.span(start))


def _type(cursor: Cursor, depth: int) -> FieldType:
    start = cursor.skip()
    opened = cursor.take(_LIST) or cursor.take(_OPEN)
    if opened is None:
        return _scalar(cursor)
    if depth >= NESTING:
        message = f"records and lists are nested more than {NESTING} deep"
        raise Refusal(
            cursor.text,
            start,
            opened.end(),
            "CEP0104",
            message,
            help_="give the inner values fields of their own",
        )
    if opened.group() != "{":
        element = _type(cursor, depth + 1)
        if nullable := cursor.take(_NULLABLE):
            help_ = "put the `?` after the `>` if the whole list may be null"
            message = "the values of a list are never null"
            raise Refusal(cursor.text, nullable.start(), nullable.end(), "CEP0101", message, help_=help_)
        cursor.need(_SHUT, "`>`")
        return ListType(element, cursor.span(start))
    fields: list[Field] = []
    while not fields or not cursor.sees(_CLOSE):
        fields.append(_field(cursor, depth + 1))
    cursor.take(_CLOSE)
    return RecordType(tuple(fields), cursor.span(start))


def _scalar(cursor: Cursor) -> ScalarType:
    if cursor.sees(_BARE_LIST):
        bare = cursor.need(_BARE_LIST, "a type")
        message = "a list says what it is a list of"
        raise Refusal(
            cursor.text, bare.start(), bare.end(), "CEP0101", message, help_="such as `list<string>`"
        )
    written = cursor.need(_SCALAR, "a type")
    start, end = written.span()
    words = written.group().split()
    analyser = None
    if len(words) > 1:
        analyser = Name(words[1], cursor.text.span(end - len(words[1]), end))
    name = Name(words[0], cursor.text.span(start, start + len(words[0])))
    return ScalarType(name, analyser, cursor.text.span(start, end))
