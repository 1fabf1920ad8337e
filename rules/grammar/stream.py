"""`stream NAME { fields and settings }`."""

from __future__ import annotations

from functools import cache

from pyparsing import Opt, ParserElement, ZeroOrMore

from rules.grammar.lexical import (
    NAME,
    BlockText,
    Lexeme,
    dotted,
    duration,
    keyword,
    mark,
    name,
    read_name,
    read_span,
    spanned,
)
from rules.source import Span
from rules.syntax import (
    Dotted,
    Duration,
    DurationSetting,
    Field,
    ListType,
    Name,
    PathSetting,
    RecordType,
    ScalarType,
    Stream,
)

_SETTING = r"(?:id|time|lateness|idle)(?!\w)"
_RECORD = r"\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\}"
_LIST = r"list\s*<[\w\s<>?]*>"


def _read_scalar(text: BlockText, start: int, written: str) -> ScalarType:
    words = written.split()
    end = start + len(written)
    analyser = None
    if len(words) > 1:
        analyser = Name(words[1], text.span(end - len(words[1]), end))
    span = text.span(start, start + len(words[0]))
    return ScalarType(Name(words[0], span), analyser, text.span(start, end))


@cache
def _field() -> ParserElement:
    def build(parts: list[object], span: Span) -> Field:
        field_name, of = parts[0], parts[2]
        assert isinstance(field_name, Name)
        assert isinstance(of, ScalarType | ListType | RecordType)
        return Field(field_name, of, len(parts) > 3, span)

    analyser = rf"(?:\s+(?!{_SETTING}){NAME}(?!\s*:)(?!\w))?"
    scalar = Lexeme(rf"text{analyser}(?!\w)|{NAME}", "a type", _read_scalar)
    list_ = Lexeme(_LIST, "a list", lambda t, at, w: ListType(t.span(at, at + len(w))))
    record = Lexeme(_RECORD, "a record", lambda t, at, w: RecordType(t.span(at, at + len(w))))
    of = (list_ | record | scalar).set_name("a type")
    label = Lexeme(rf"{NAME}(?=\s*:)", "a field", read_name)
    return spanned(label + mark(":") - of - Opt(mark("?")), build)


@cache
def _setting() -> ParserElement:
    def path_setting(parts: list[object], span: Span) -> PathSetting:
        path = parts[1]
        assert isinstance(path, Dotted)
        corrected = parts[2] if len(parts) > 2 else None
        assert corrected is None or isinstance(corrected, Span)
        return PathSetting("id" if span.text.startswith("id") else "time", path, corrected, span)

    def duration_setting(parts: list[object], span: Span) -> DurationSetting:
        length = parts[1]
        assert isinstance(length, Duration)
        return DurationSetting("idle" if span.text.startswith("idle") else "lateness", length, span)

    corrected = keyword("corrected by") - dotted() - mark(",") - dotted()
    return spanned((keyword("id") | keyword("time")) - dotted() - Opt(corrected), path_setting) | spanned(
        (keyword("lateness") | keyword("idle")) - duration(), duration_setting
    )


@cache
def stream() -> ParserElement:
    """A stream's declaration, as a rules.syntax.Stream."""

    def build(parts: list[object], span: Span) -> Stream:
        stream_name = parts[1]
        assert isinstance(stream_name, Name)
        members = [p for p in parts if isinstance(p, Field | PathSetting | DurationSetting)]
        return Stream(stream_name, tuple(members), span)

    end = Lexeme(
        r"\}", "a field `name: type`, a setting (`id`, `time`, `lateness`, `idle`) or `}`", read_span
    )
    body = mark("{") - ZeroOrMore(_field() | _setting()) - end
    return spanned(keyword("stream") - name("the stream's name") - body, build)
