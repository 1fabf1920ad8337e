"""`test RULES "title" { timeline }`."""

from __future__ import annotations

from functools import cache
from typing import cast

from pyparsing import ParserElement

from rules.grammar.lexical import (
    NAME,
    Lexeme,
    duration,
    keyword,
    mark,
    name,
    read_span,
    string,
    whole,
)
from rules.grammar.lookahead import first_of, many, maybe
from rules.grammar.members import Members, lost
from rules.grammar.nodes import spanned
from rules.grammar.values import MapToken
from rules.source import Span
from rules.syntax import (
    AllowOther,
    Duration,
    Expected,
    ExpectNothing,
    Given,
    Line,
    Lost,
    MapValue,
    MoveWatermark,
    Name,
    Number,
    Start,
    String,
    TestBlock,
)


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
        marked = parts[2].text if isinstance(parts[2], Span) else ""
        times, every = next(iter(numbers), None), next(iter(periods), None)
        return Given(at, stream, values, marked == "late", times, every, span, marked == "future")

    watermark = Lexeme(r"watermark(?!\w)(?!\s*\{)", "`watermark`", read_span)
    marked = Lexeme(rf"(?:late|future)(?=\s+{NAME})", "`late` or `future`", read_span)
    repeated = Lexeme(r"x(?=\s*[0-9])", "`x`", read_span) - whole() - maybe(keyword("every") - duration())
    event = maybe(marked) + name("a stream") - MapToken() - maybe(repeated)
    return spanned(keyword("at") - duration() - first_of(watermark, event).set_name("a stream"), build)


@cache
def _expect() -> ParserElement:
    def build(parts: list[object], span: Span) -> Expected | ExpectNothing:
        if not isinstance(parts[-1], MapValue):
            return ExpectNothing(span)
        at = next((p for p in parts if isinstance(p, Duration)), None)
        return Expected(at, parts[-1], span)

    nothing = keyword("nothing")
    alert = maybe(keyword("at") - duration()) + MapToken()
    shown = "`at T {...}`, `{...}` or `nothing`"
    return spanned(keyword("expect") - first_of(nothing, alert).set_name(shown), build)


@cache
def test() -> ParserElement:
    """A test block, as a rules.syntax.TestBlock."""

    def build(parts: list[object], span: Span) -> TestBlock:
        title = next(p for p in parts if isinstance(p, String))
        named = tuple(p for p in parts if isinstance(p, Name))
        lines = [p for p in parts if not isinstance(p, Span | Name | String | Lost)]
        return TestBlock(named, title, cast(tuple[Line, ...], tuple(lines)), span, lost(parts))

    def start(parts: list[object], span: Span) -> Start:
        return Start(cast(String, parts[1]), span)

    def allow(_parts: list[object], span: Span) -> AllowOther:
        return AllowOther(span)

    line = first_of(
        _given(),
        _expect(),
        spanned(keyword("allow") - keyword("other"), allow),
        spanned(keyword("start") - string(), start),
    )
    named = name("a rule") + many(mark(",") - name("a rule"))
    rules = first_of(mark("*"), named).set_name("a rule or `*`")
    head = keyword("test") - rules - string("the test's title in quotes")
    return spanned(head - mark("{") - Members(line, "test", "`at`, `expect`, `start`, `allow other`"), build)
