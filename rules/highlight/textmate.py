"""The TextMate grammar, for editors: `python -m rules.highlight.textmate` prints it."""

from __future__ import annotations

import json
from typing import Any

from rules.highlight.places import PLACES, Kind, LexerState, Words

SCOPES: dict[Kind, str] = {
    "comment": "comment.line.number-sign.cep",
    "string": "string.quoted.double.cep",
    "number": "constant.numeric.cep",
    "keyword": "keyword.control.cep",
    "word": "keyword.operator.word.cep",
    "constant": "constant.language.cep",
    "type": "support.type.cep",
    "function": "support.function.cep",
    "name": "variable.other.cep",
    "operator": "keyword.operator.cep",
    "punctuation": "punctuation.cep",
}


def grammar() -> dict[str, Any]:
    """The grammar as editors read it."""
    return {
        "$schema": "https://raw.githubusercontent.com/martinring/tmlanguage/master/tmlanguage.json",
        "name": "CEP rules",
        "scopeName": "source.cep",
        "fileTypes": ["rules"],
        "patterns": [{"include": "#file"}],
        "repository": {_key(name): {"patterns": _patterns(place)} for name, place in PLACES.items()},
    }


def text() -> str:
    """The grammar's file."""
    return json.dumps(grammar(), indent=2) + "\n"


def _patterns(place: LexerState) -> list[dict[str, Any]]:
    return [_pattern(words) for words in place.words]


def _pattern(words: Words) -> dict[str, Any]:
    captures = {str(n): {"name": SCOPES[kind]} for n, kind in enumerate(words.kinds, start=1) if kind}
    if not words.opens:
        return {"match": words.pattern, "captures": captures}
    end = PLACES[words.opens].end
    return {
        "begin": words.pattern,
        "beginCaptures": captures,
        "end": end,
        "endCaptures": {"0": {"name": SCOPES["punctuation"]}},
        "patterns": [{"include": f"#{_key(words.opens)}"}],
    }


def _key(place: str) -> str:
    return place.replace(" ", "-")


if __name__ == "__main__":
    print(text(), end="")
