"""`stream NAME { fields and settings }`."""

from __future__ import annotations

from functools import cache
from typing import Literal

from pyparsing import ParserElement

from rules.grammar.fields import FieldToken
from rules.grammar.lexical import dotted, duration, keyword, mark, name
from rules.grammar.lookahead import first_of, maybe
from rules.grammar.members import Members, lost
from rules.grammar.nodes import spanned
from rules.source import Span
from rules.syntax import Corrected, Dotted, Duration, DurationSetting, Field, Name, PathSetting, Stream


@cache
def _setting() -> ParserElement:
    def path_setting(parts: list[object], span: Span) -> PathSetting:
        path = parts[1]
        assert isinstance(path, Dotted)
        corrected = parts[2] if len(parts) > 2 else None
        assert corrected is None or isinstance(corrected, Corrected)
        return PathSetting("id" if span.text.startswith("id") else "time", path, corrected, span)

    def duration_setting(kind: Literal["lateness", "idle", "future"]) -> ParserElement:
        def build(parts: list[object], span: Span) -> DurationSetting:
            length = parts[1]
            assert isinstance(length, Duration)
            return DurationSetting(kind, length, span)

        return spanned(keyword(kind) - duration(), build)

    def clocks(parts: list[object], span: Span) -> Corrected:
        sent, received = (p for p in parts if isinstance(p, Dotted))
        return Corrected(sent, received, span)

    corrected = spanned(keyword("corrected by") - dotted() - mark(",") - dotted(), clocks)
    paths = spanned(first_of(keyword("id"), keyword("time")) - dotted() - maybe(corrected), path_setting)
    durations = (duration_setting("lateness"), duration_setting("idle"), duration_setting("future"))
    return first_of(paths, *durations)


@cache
def stream() -> ParserElement:
    """A stream's declaration, as a rules.syntax.Stream."""

    def build(parts: list[object], span: Span) -> Stream:
        stream_name = parts[1]
        assert isinstance(stream_name, Name)
        members = [p for p in parts if isinstance(p, Field | PathSetting | DurationSetting)]
        return Stream(stream_name, tuple(members), span, lost(parts))

    shown = "a field `name: type`, a setting (`id`, `time`, `lateness`, `idle`, `future`)"
    body = mark("{") - Members(first_of(FieldToken(), _setting()), "stream", shown)
    return spanned(keyword("stream") - name("the stream's name") - body, build)
