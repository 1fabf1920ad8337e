"""`rule NAME { clauses }`."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Literal, TypeVar, cast

from pyparsing import ParserElement

from rules.grammar.expression import expression
from rules.grammar.lexical import (
    dotted,
    duration,
    keyword,
    mark,
    name,
    string,
    whole,
)
from rules.grammar.lookahead import first_of, many, maybe
from rules.grammar.members import Members, lost
from rules.grammar.nodes import spanned
from rules.grammar.pattern import pattern, source
from rules.grammar.window import window
from rules.source import Span
from rules.syntax import (
    By,
    Clause,
    Dotted,
    Duration,
    Emit,
    Episode,
    Expression,
    Having,
    Into,
    Limit,
    Lost,
    Match,
    Name,
    Number,
    On,
    OnTimeout,
    Output,
    Over,
    Rule,
    Runbook,
    Sequence,
    Severity,
    Skip,
    Source,
    String,
    Summary,
    Suppress,
    Tags,
    Window,
    Within,
)

Node = TypeVar("Node")


def _all(kind: type[Node], parts: list[object]) -> tuple[Node, ...]:
    return tuple(p for p in parts if isinstance(p, kind))


def _listed(item: ParserElement) -> ParserElement:
    return item + many(mark(",") - item)


def _clause(word: str, rest: ParserElement, build: Callable[[list[object], Span], Clause]) -> ParserElement:
    return spanned(keyword(word) - rest, build)


@cache
def _outputs() -> ParserElement:
    def build(parts: list[object], span: Span) -> Output:
        value = cast(Expression, parts[2]) if len(parts) > 2 else None
        return Output(cast(Name, parts[0]), value, span)

    return _listed(spanned(name("an emitted name") + maybe(mark("=") - expression()), build))


@cache
def _key() -> ParserElement:
    """`f`, or `a.f = b.g` in a list of its own, which differs from a list of several keys."""

    def build(parts: list[object], span: Span) -> By:
        return By((_all(Dotted, parts),), span)

    return spanned(dotted("a key field") + many(mark("=") - dotted("a key field")), build)


@cache
def _skip() -> ParserElement:
    def build(parts: list[object], span: Span) -> Skip:
        how = " ".join(re.sub(r"#[^\n]*", "", cast(Span, parts[1]).text).split())
        step = parts[2] if len(parts) > 2 else None
        to = cast(Literal["past last", "next", "first", "last", "none"], how.removeprefix("to "))
        return Skip(to, cast(Name | None, step), span)

    to_step = first_of(keyword("to first"), keyword("to last")) - name("a step")
    plain = (keyword("past last"), keyword("to next"), keyword("none"))
    shown = "`past last`, `to next`, `to first STEP`, `to last STEP` or `none`"
    return spanned(keyword("skip") - first_of(*plain, to_step).set_name(shown), build)


@cache
def _limit() -> ParserElement:
    def build(parts: list[object], span: Span) -> Limit:
        of = cast(Literal["runs", "events"], cast(Span, parts[2]).text)
        return Limit(cast(Number, parts[1]), of, span)

    unit = first_of(keyword("runs"), keyword("events")).set_name("`runs`, or of a window `events`")
    return _clause("limit", whole() - unit, build)


@cache
def _over() -> ParserElement:
    def build(parts: list[object], span: Span) -> Over:
        return Over(cast(Source, parts[1]), cast(Window, parts[2]), span)

    return _clause("over", source() - window(), build)


@cache
def clause() -> ParserElement:
    """One clause, as a rules.syntax.Clause."""
    within = first_of(duration(), keyword("unbounded"))
    elements = [
        _clause("match", pattern(), lambda p, s: Match(cast(Sequence, p[1]), s)),
        _clause("on timeout", keyword("emit") - _outputs(), lambda p, s: OnTimeout(_all(Output, p), s)),
        _clause("on", source(), lambda p, s: On(cast(Source, p[1]), s)),
        _over(),
        _clause(
            "within",
            within.set_name("a duration or `unbounded`"),
            lambda p, s: Within(p[1] if isinstance(p[1], Duration) else None, s),
        ),
        _clause("having", expression(), lambda p, s: Having(cast(Expression, p[1]), s)),
        _skip(),
        _limit(),
        _clause("by", _listed(_key()), lambda p, s: By(tuple(k.keys[0] for k in _all(By, p)), s)),
        _clause("emit", _outputs(), lambda p, s: Emit(_all(Output, p), s)),
        _clause("severity", name("a severity"), lambda p, s: Severity(cast(Name, p[1]), s)),
        _clause("summary", string(), lambda p, s: Summary(cast(String, p[1]), s)),
        _clause("tags", _listed(string()), lambda p, s: Tags(_all(String, p), s)),
        _clause("runbook", string(), lambda p, s: Runbook(cast(String, p[1]), s)),
        _clause(
            "suppress",
            duration() - maybe(keyword("by") - _listed(name("a key field or an emitted name"))),
            lambda p, s: Suppress(cast(Duration, p[1]), _all(Name, p), s),
        ),
        _clause("episode", duration(), lambda p, s: Episode(cast(Duration, p[1]), s)),
        _clause("into", name("a stream's name"), lambda p, s: Into(cast(Name, p[1]), s)),
    ]
    return first_of(*elements)


@cache
def rule() -> ParserElement:
    """A rule, as a rules.syntax.Rule."""

    def build(parts: list[object], span: Span) -> Rule:
        clauses = tuple(p for p in parts if not isinstance(p, Span | Name | Lost))
        return Rule(cast(Name, parts[1]), cast(tuple[Clause, ...], clauses), span, lost(parts))

    clauses = Members(clause(), "rule", "a clause of a rule")
    return spanned(keyword("rule") - name("the rule's name") - mark("{") - clauses, build)
