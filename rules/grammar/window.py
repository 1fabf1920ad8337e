"""The windows of `over`."""

from __future__ import annotations

from functools import cache
from typing import cast

from pyparsing import ParserElement

from rules.grammar.lexical import duration, keyword, whole
from rules.grammar.lookahead import first_of
from rules.grammar.nodes import spanned
from rules.syntax import Duration, Hopping, LastEvents, Number, Session, Sliding, Tumbling

WINDOWS = ("tumbling", "hopping", "sliding", "session gap", "last")
"""The words that begin a window."""
SHOWN = "a window: `tumbling d`, `hopping d every h`, `sliding d`, `session gap d` or `last n events`"


@cache
def window() -> ParserElement:
    """A window, as a rules.syntax.Window."""
    tumbling, hopping, sliding, session, last = (keyword(word) for word in WINDOWS)
    return first_of(
        spanned(tumbling - duration(), lambda p, s: Tumbling(cast(Duration, p[1]), s)),
        spanned(
            hopping - duration() - keyword("every") - duration(),
            lambda p, s: Hopping(cast(Duration, p[1]), cast(Duration, p[3]), s),
        ),
        spanned(sliding - duration(), lambda p, s: Sliding(cast(Duration, p[1]), s)),
        spanned(session - duration(), lambda p, s: Session(cast(Duration, p[1]), s)),
        spanned(last - whole() - keyword("events"), lambda p, s: LastEvents(cast(Number, p[1]), s)),
    ).set_name(SHOWN)
