"""Refusals of the grammar: pyparsing's own exceptions, and ours that carry a finding.

pyparsing.ParseSyntaxException
    Refusal    raised by an element that knows more than "something else was expected here"
"""

from __future__ import annotations

from pyparsing import ParseSyntaxException

UNITS = "units are ms s m h d w right after the number, or a word such as `minutes` after it"
"""The help for durations."""


def nothing_after(text: str, comma: int) -> Refusal:
    """The refusal of a list that ends with its comma."""
    message = "an item must follow the comma"
    return Refusal(text, comma, comma + 1, "CEP0109", message, help_="remove the comma")


class Refusal(ParseSyntaxException):
    """A syntax error with its own code, message, end and help. It is never backtracked over.

    `start` and `end` are offsets in the block's text; `note` is drawn under the span.
    """

    def __init__(
        self, text: str, start: int, end: int, code: str, message: str, *, help_: str, note: str = ""
    ) -> None:
        super().__init__(text, start, message)
        self.end = end
        self.code = code
        self.note = note
        self.help = help_
