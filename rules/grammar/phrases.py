"""A mistake as `foreign_phrases` describes it: a word, where it stands, and what helps."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from string import Template

BEFORE_IT = re.compile(r"(\w+)\s*$")
"""The last word of a text."""


@dataclass(frozen=True, slots=True)
class UnexpectedToken:
    """A token that stands where something else was expected, with the text around it.

    `expected` is the parser's message, `word` the token; `before` and `following` are the text around it.
    `clause` is the keyword of the rule's clause that the token stands in; empty where there is none.
    """

    expected: str
    word: str
    before: str
    following: str
    clause: str = ""

    @property
    def last(self) -> str:
        """The word right before, in small letters; empty where there is none."""
        found = BEFORE_IT.search(self.before)
        return found[1].lower() if found else ""


@dataclass(frozen=True, slots=True)
class Phrase:
    """A help, and regular expressions for where it is given; an empty one takes anything.

    `word` and `clause` are matched as a whole, `expected` in a part, `before` at its end, `following` at its
    beginning; capitals are small letters in all but `expected` and `clause`. In the help stand `$word`,
    `$last`, the word before, and the named groups of `before` and `following`.
    """

    help: str | Callable[[UnexpectedToken], str]
    word: str = ""
    expected: str = ""
    clause: str = ""
    before: str = ""
    following: str = ""

    def said(self, found: UnexpectedToken) -> str:
        """The help, if everything fits; else an empty text."""
        if self.word and not re.fullmatch(self.word, found.word, re.IGNORECASE | re.DOTALL):
            return ""
        if self.expected and not re.search(self.expected, found.expected):
            return ""
        if self.clause and not re.fullmatch(self.clause, found.clause):
            return ""
        before = re.search(rf"(?:{self.before})\s*\Z", found.before, re.IGNORECASE | re.DOTALL)
        following = re.match(self.following, found.following, re.IGNORECASE)
        if (self.before and before is None) or following is None:
            return ""
        if callable(self.help):
            return self.help(found)
        named = {**(before.groupdict() if before else {}), **following.groupdict()}
        return Template(self.help).safe_substitute(named, word=found.word, last=found.last)
