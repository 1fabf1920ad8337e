"""The lexer for pygments: rules in web pages, terminals and documents."""

from __future__ import annotations

from typing import Any, ClassVar

from pygments.lexer import RegexLexer, bygroups
from pygments.token import Comment, Keyword, Name, Number, Operator, Punctuation, String, Text, Whitespace

from rules.highlight.places import PLACES, Kind, LexerState

TOKENS: dict[Kind, Any] = {
    "comment": Comment.Single,
    "string": String.Double,
    "number": Number,
    "keyword": Keyword,
    "word": Operator.Word,
    "constant": Keyword.Constant,
    "type": Keyword.Type,
    "function": Name.Function,
    "name": Name,
    "operator": Operator,
    "punctuation": Punctuation,
    "": Whitespace,
}


def _state(place: LexerState) -> list[Any]:
    rules: list[Any] = [(r"\s+", Whitespace)]
    if place.end:
        rules.insert(0, (place.end, Punctuation, "#pop"))
    for words in place.words:
        rules.append(
            (words.pattern, bygroups(*(TOKENS[kind] for kind in words.kinds)), *filter(None, [words.opens]))
        )
    return [*rules, (r".", Text)]


class RulesLexer(RegexLexer):  # type: ignore[misc]  # pygments is shipped without types
    """Rule files: `*.rules`."""

    name = "CEP rules"
    aliases: ClassVar = ["rules", "cep"]
    filenames: ClassVar = ["*.rules"]
    url = ""
    tokens: ClassVar = {
        "root": _state(PLACES["file"]),
        **{name: _state(place) for name, place in PLACES.items() if name != "file"},
    }
