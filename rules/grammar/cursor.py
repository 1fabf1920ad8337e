"""A place in a block's text that moves on token by token: for the constructs that nest.

Records in records and maps in maps are read by methods that count their own depth, so that hostile
text meets a limit and never Python's.
"""

from __future__ import annotations

import re

from pyparsing import ParseSyntaxException

from rules.grammar.lexical import BlockText
from rules.source import Span

_SPACE = re.compile(r"[ \t\r\n]*")


class Cursor:
    """The place `at` in a text, and the `end` of the last token taken.

    Every method that looks at a token skips the white space before it.
    """

    def __init__(self, text: BlockText, at: int) -> None:
        self.text = text
        self.at = self.end = at

    def skip(self) -> int:
        """The place of the next token."""
        self.at = _SPACE.match(self.text, self.at).end()  # type: ignore[union-attr]  # it matches nothing, too
        return self.at

    def sees(self, pattern: re.Pattern[str]) -> bool:
        """True if the next token is such a one."""
        return pattern.match(self.text, self.skip()) is not None

    def take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """The next token, if it is such a one."""
        found = pattern.match(self.text, self.skip())
        if found is not None:
            self.at = self.end = found.end()
        return found

    def need(self, pattern: re.Pattern[str], shown: str) -> re.Match[str]:
        """The next token. Raises pyparsing's ParseSyntaxException where it is another."""
        found = self.take(pattern)
        if found is None:
            raise ParseSyntaxException(self.text, self.at, f"expected {shown}")
        return found

    def span(self, start: int) -> Span:
        """From that offset up to the last token taken."""
        return self.text.span(start, self.end)
