"""Paths of feeds that are written as regular expressions, where wildcards are meant."""

from __future__ import annotations

import re

from cep.sources.files import globs

# What a regular expression has and no path of files needs.
_SURE = re.compile(r"\\[.dwsDWS]|\.\+|\][+*]|\([^()]*\|[^()]*\)|(?:^|/)\^|\$$|(?:^|/)\.\*")
_ANYTHING = re.compile(
    r"(?:\\[dwsDWS]|\.|\[[^\]]*\]|\([^()]*\))(?:[+*]|\{\d+(?:,\d*)?\})\??|(?<=\.)\+"
)  # a piece of a regular expression that stands for any number of signs


def from_regular_expression(path: str) -> str | None:
    """The path with wildcards for one that is written as a regular expression; None for any other."""
    if _SURE.search(path) is None:
        return None
    text = re.sub(r"(^|/)\^|\$$", r"\1", path)
    text = _ANYTHING.sub("*", text)
    text = re.sub(r"\((?:\?:)?([^()]*)\)", lambda found: f"{{{found[1].replace('|', ',')}}}", text)
    text = text.replace("\\d", "[0-9]")
    text = re.sub(r"\\[wsDWS]", "?", text)
    text = re.sub(r"\*+", "*", re.sub(r"\\([^*?\[\]{}\\])", r"\1", text))
    try:
        globs.parse(text)
    except globs.GlobError:
        return None
    return None if text == path else text
