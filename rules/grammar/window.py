"""The windows of `over`."""

from __future__ import annotations

from functools import cache
from typing import cast

from pyparsing import ParserElement

from rules.grammar.lexical import Lexeme, duration, keyword, read_span, string, whole
from rules.grammar.lookahead import first_of, many
from rules.grammar.nodes import spanned
from rules.syntax import (
    Duration,
    Hopping,
    LastEvents,
    Number,
    Session,
    Sliding,
    String,
    Tumbling,
    WindowModifier,
)

WINDOWS = ("tumbling", "hopping", "sliding", "session gap", "last")
"""The words that begin a window."""
SHOWN = "a window: `tumbling d`, `hopping d every h`, `sliding d`, `session gap d` or `last n events`"


@cache
def window() -> ParserElement:
    """A window, as a rules.syntax.Window. `within` behind other windows than the last is a clause."""
    tumbling, hopping, sliding, session, last = (keyword(word) for word in WINDOWS)
    modifiers = many(_modifier())
    return first_of(
        spanned(
            tumbling - duration() + modifiers,
            lambda p, s: Tumbling(cast(Duration, p[1]), _modifiers(p), s),
        ),
        spanned(
            hopping - duration() - keyword("every") - duration() + modifiers,
            lambda p, s: Hopping(cast(Duration, p[1]), cast(Duration, p[3]), _modifiers(p), s),
        ),
        spanned(
            sliding - duration() + modifiers,
            lambda p, s: Sliding(cast(Duration, p[1]), _modifiers(p), s),
        ),
        spanned(
            session - duration() + modifiers,
            lambda p, s: Session(cast(Duration, p[1]), _modifiers(p), s),
        ),
        spanned(
            last - whole() - keyword("events") + many(first_of(_modifier(), _within())),
            lambda p, s: LastEvents(cast(Number, p[1]), _modifiers(p), s),
        ),
    ).set_name(SHOWN)


@cache
def _modifier() -> ParserElement:
    return first_of(
        spanned(keyword("zone") - string(), lambda p, s: WindowModifier("zone", cast(String, p[1]), None, s)),
        spanned(keyword("early"), lambda _, s: WindowModifier("early", None, None, s)),
        spanned(
            keyword("max") - duration(), lambda p, s: WindowModifier("max", None, cast(Duration, p[1]), s)
        ),
    )


def _within() -> ParserElement:
    timed = Lexeme(r"within(?=\s+[0-9])", "`within`", read_span)  # `within unbounded` is of patterns
    return spanned(timed - duration(), lambda p, s: WindowModifier("within", None, cast(Duration, p[1]), s))


def _modifiers(parts: list[object]) -> tuple[WindowModifier, ...]:
    return tuple(part for part in parts if isinstance(part, WindowModifier))
