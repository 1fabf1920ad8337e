"""Strings of other languages that begin with a letter, such as Python's `f"{country}"`, and what is meant."""

from __future__ import annotations

import re

from rules.grammar.phrases import UnexpectedToken

LETTERS = r"\b(?:[fFrRbBuU]|[fFbB][rR]|[rR][fFbB])"
"""What stands before such a string."""
_ONE_NAME = re.compile(r"\{\s*([^\W\d][\w.]*)\s*\}")


def lettered(found: UnexpectedToken) -> str:
    """The help for a string with a letter before it; the string is the word that was found."""
    inside = found.word[1:-1]
    name = _ONE_NAME.fullmatch(inside)
    if "f" in found.last and name:
        return f"a field stands without quotes: `{name[1]}`"
    if "f" in found.last and _ONE_NAME.search(inside):
        return "no text is put together here but in `summary`: compare the fields themselves"
    return f"strings have no letter before them: remove `{found.last}`"
