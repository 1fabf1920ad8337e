"""`test RULES "title" { timeline }`."""

from __future__ import annotations

from functools import cache
from typing import cast

from pyparsing import Opt, ParserElement, ZeroOrMore

from rules.grammar.expression import expression
from rules.grammar.lexical import (
    NAME,
    Lexeme,
    duration,
    keyword,
    mark,
    name,
    read_span,
    spanned,
    string,
    whole,
)
from rules.source import Span
from rules.syntax import (
    AllowOther,
    Duration,
    Entry,
    Expected,
    ExpectNothing,
    Expression,
    Given,
    Line,
    ListValue,
    MapValue,
    MoveWatermark,
    Name,
    Number,
    Start,
    String,
    TestBlock,
)

Value = Expression | ListValue | MapValue


@cache
def _plain_value() -> ParserElement:
    """An expression, or a list in square brackets."""

    def build(parts: list[object], span: Span) -> ListValue:
        items = tuple(p for p in parts if not isinstance(p, Span))
        return ListValue(cast(tuple[Expression, ...], items), span)

    items = expression() + ZeroOrMore(mark(",") - expression())
    return spanned(mark("[") - Opt(items) - mark("]"), build) | expression()


def _map_of(value: ParserElement) -> ParserElement:
    def entry(parts: list[object], span: Span) -> Entry:
        return Entry(cast(Name, parts[0]), cast(Value, parts[2]), span)

    def build(parts: list[object], span: Span) -> MapValue:
        return MapValue(tuple(p for p in parts if isinstance(p, Entry)), span)

    item = spanned(name("a field") - mark(":") - value, entry)
    end = Lexeme(r"\}", "`,` or `}`", read_span)
    return spanned(mark("{") - Opt(item + ZeroOrMore(mark(",") - item)) - end, build)


@cache
def _values() -> ParserElement:
    """`{ name: value, ... }`; a value may be such a map itself (`key`, `events`), but no deeper."""
    inner = _map_of(_plain_value())
    return _map_of((inner | _plain_value()).set_name("a value"))


@cache
def _given() -> ParserElement:
    def build(parts: list[object], span: Span) -> Given | MoveWatermark:
        at = cast(Duration, parts[1])
        if not any(isinstance(p, MapValue) for p in parts):
            return MoveWatermark(at, span)
        stream = next(p for p in parts if isinstance(p, Name))
        values = next(p for p in parts if isinstance(p, MapValue))
        numbers = [p for p in parts if isinstance(p, Number)]
        periods = [p for p in parts[2:] if isinstance(p, Duration)]
        late = isinstance(parts[2], Span)
        times, every = next(iter(numbers), None), next(iter(periods), None)
        return Given(at, stream, values, late, times, every, span)

    watermark = Lexeme(r"watermark(?!\w)(?!\s*\{)", "`watermark`", read_span)
    late = Lexeme(rf"late(?=\s+{NAME})", "`late`", read_span)
    repeated = Lexeme(r"x(?=\s*[0-9])", "`x`", read_span) - whole() - Opt(keyword("every") - duration())
    event = Opt(late) + name("a stream") - _values() - Opt(repeated)
    return spanned(keyword("at") - duration() - (watermark | event).set_name("a stream"), build)


@cache
def _expect() -> ParserElement:
    def build(parts: list[object], span: Span) -> Expected | ExpectNothing:
        if not isinstance(parts[-1], MapValue):
            return ExpectNothing(span)
        at = next((p for p in parts if isinstance(p, Duration)), None)
        return Expected(at, parts[-1], span)

    nothing = keyword("nothing")
    alert = Opt(keyword("at") - duration()) + _values()
    shown = "`at T {...}`, `{...}` or `nothing`"
    return spanned(keyword("expect") - (nothing | alert).set_name(shown), build)


@cache
def test() -> ParserElement:
    """A test block, as a rules.syntax.TestBlock."""

    def build(parts: list[object], span: Span) -> TestBlock:
        title = next(p for p in parts if isinstance(p, String))
        named = tuple(p for p in parts if isinstance(p, Name))
        lines = [p for p in parts if not isinstance(p, Span | Name | String)]
        return TestBlock(named, title, cast(tuple[Line, ...], tuple(lines)), span)

    def start(parts: list[object], span: Span) -> Start:
        return Start(cast(String, parts[1]), span)

    def allow(_parts: list[object], span: Span) -> AllowOther:
        return AllowOther(span)

    line = (
        _given()
        | _expect()
        | spanned(keyword("allow") - keyword("other"), allow)
        | spanned(keyword("start") - string(), start)
    )
    named = name("a rule") + ZeroOrMore(mark(",") - name("a rule"))
    rules = (mark("*") | named).set_name("a rule or `*`")
    end = Lexeme(r"\}", "`at`, `expect`, `start`, `allow other` or `}`", read_span)
    head = keyword("test") - rules - string("the test's title in quotes")
    return spanned(head - mark("{") - ZeroOrMore(line) - end, build)
