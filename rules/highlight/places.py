"""The words of the language by their place: what a highlighter can know without a parser.

Most keywords are such by their place alone, and elsewhere are names. So a place where only a name can
stand is taken together with the word before it: in `emit by, within = 3` neither is a keyword. The
expressions are the common part of Python's and Oniguruma's and none needs more than one line.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal[
    "comment", "string", "number", "keyword", "word", "constant", "type", "function", "name", "operator",
    "punctuation", "",
]  # fmt: skip
"""What characters are; `word` are the operators that are words, an empty kind is white space."""


@dataclass(frozen=True, slots=True)
class Words:
    """Characters, the kinds of the groups of their expression, and the place that begins behind them."""

    pattern: str
    kinds: tuple[Kind, ...]
    opens: str = ""


@dataclass(frozen=True, slots=True)
class LexerState:
    """The alternatives of a place, the first that fits; and what ends the place, as a punctuation."""

    words: tuple[Words, ...]
    end: str = ""


RESERVED = "and|or|not|in|between|like|is|matches|true|false|null"
NAME = rf"(?:(?!(?:{RESERVED})\b)[^\W\d]\w*\b|`[^`\n]+`)"
DOTTED = rf"{NAME}(?:\s*\.\s*{NAME})*"
_UNIT = "milliseconds?|seconds?|minutes?|hours?|days?|weeks?"
DURATION = rf"[0-9][0-9_]*(?:\.[0-9]+)?(?:(?:ms|[smhdw])\b|\s+(?:{_UNIT})\b)"
NUMBER = r"[0-9][0-9_]*(?:\.[0-9][0-9_]*)?(?:[eE][+-]?[0-9]+)?\b"


def _then(pattern: str, what: str = NAME, kind: Kind = "name") -> Words:
    """A keyword with what stands behind it."""
    return Words(rf"\b({pattern})(\s+)({what})", ("keyword", "", kind))


def _keyword(pattern: str) -> Words:
    return Words(rf"\b({pattern})\b", ("keyword",))


_COMMENT = Words(r"(#.*)", ("comment",))
_STRING = Words(r'("(?:[^"\\\n]|\\.)*")', ("string",))
_TEXTS = (_COMMENT, _STRING)
_CALL = Words(rf"({NAME})(\s*)(\()", ("function", "", "punctuation"), "brackets")
_VALUES = (
    Words(rf"({DURATION})", ("number",)),
    Words(rf"({NUMBER})", ("number",)),
    Words(r"\b(is(?:\s+not)?\s+null)\b", ("word",)),
    Words(r"\b(true|false|null)\b", ("constant",)),
    Words(r"\b(and|or|not|in|between|like|is|matches)\b", ("word",)),
    _CALL,
    Words(rf"({NAME})", ("name",)),
    Words(r"(->|=>|~>|==|!=|<=|>=|=~|[-+*/%<>=?|&!])", ("operator",)),
)
_MARKS = (
    Words(r"([(\[])", ("punctuation",), "brackets"),
    Words(r"(\{)(?=\s*[0-9])", ("punctuation",), "counts"),
    Words(r"(\{)", ("punctuation",), "map"),
    Words(r"([,.:\])}])", ("punctuation",)),
)
_REST = (*_VALUES, *_MARKS)
_LABEL = Words(rf"({NAME})(\s*)(:)", ("name", "", "punctuation"))
_PATTERN = (
    Words(rf"(->|=>|~>)(\s*)(absent|not)(\s+)({NAME})", ("operator", "", "keyword", "", "name")),
    Words(rf"(->|=>|~>)(\s*)({NAME})", ("operator", "", "name")),
    _then("absent|not|until|matching"),
    _then("gap|for", DURATION, "number"),
    Words(r"\b(each|contiguous|any)\b(?!\s*(?:[.:(,\[]|=(?!>)))", ("keyword",)),
    Words(r"(\()", ("punctuation",), "group"),
)
_RULE = (
    Words(
        rf"\b(on)(\s+)(timeout)(\s+)(emit)(\s+)({NAME})",
        ("keyword", "", "keyword", "", "keyword", "", "name"),
    ),
    Words(rf"\b(match)(\s+)(absent)(\s+)({NAME})", ("keyword", "", "keyword", "", "name")),
    _then("by|emit|severity|into|on|over|match"),
    _keyword("match"),
    Words(
        rf"\b(suppress)(\s+)({DURATION})(\s+)(by)(\s+)({NAME})",
        ("keyword", "", "number", "", "keyword", "", "name"),
    ),
    Words(
        rf"\b(tumbling|every|sliding|max)(\s+)({DURATION})(\s+)(early)\b",
        ("keyword", "", "number", "", "keyword"),
    ),
    _then("tumbling|hopping|sliding|every|suppress|episode|within|max", DURATION, "number"),
    _then("within", "unbounded", "keyword"),
    Words(
        rf"\b(session)(\s+)(gap)(\s+)({DURATION})(\s+)(early)\b",
        ("keyword", "", "keyword", "", "number", "", "keyword"),
    ),
    Words(rf"\b(session)(\s+)(gap)(\s+)({DURATION})", ("keyword", "", "keyword", "", "number")),
    Words(r'\b(zone)(\s+)("[^"]*")(\s+)(early)\b', ("keyword", "", "string", "", "keyword")),
    Words(r'\b(zone)(?=\s*")', ("keyword",)),
    Words(rf"\b(last|limit)(\s+)({NUMBER})(\s+)(events|runs)\b", ("keyword", "", "number", "", "keyword")),
    Words(r"\b(skip)(\s+)(past)(\s+)(last)\b", ("keyword", "", "keyword", "", "keyword")),
    Words(
        rf"\b(skip)(\s+)(to)(\s+)(first|last)(\s+)({NAME})",
        ("keyword", "", "keyword", "", "keyword", "", "name"),
    ),
    Words(r"\b(skip)(\s+)(to)(\s+)(next)\b", ("keyword", "", "keyword", "", "keyword")),
    _then("skip", "none", "keyword"),
    Words(r"\b(summary|tags|runbook)(?=\s*\")", ("keyword",)),
    Words(r"\b(having)(?=\s|\()", ("keyword",)),
)
_TYPE = "string|long|double|decimal|boolean|timestamp|duration|text|list"
_SETTING = "id|time|lateness|idle|future"


def _head(opens: str, *words: Words) -> LexerState:
    """From a block's keyword to its end."""
    brace = Words(r"(\{)", ("punctuation",), opens)
    return LexerState(
        (*_TEXTS, *words, Words(rf"({NAME})", ("name",)), Words(r"([,*])", ("punctuation",)), brace),
        r"(?<=\})",
    )


PLACES: dict[str, LexerState] = {
    "file": LexerState(
        (
            *_TEXTS,
            Words(rf"\b(pack|let)(\s+)({NAME})", ("keyword", "", "name")),
            Words(r"\b(version)(?=\s*\")", ("keyword",)),
            Words(rf"\b(rule)(\s+)({NAME})(?=\s*(?:\{{|#|$))", ("keyword", "", "name"), "rule head"),
            Words(rf"\b(stream)(\s+)({NAME})(?=\s*(?:\{{|#|$))", ("keyword", "", "name"), "stream head"),
            Words(rf"\b(table)(\s+)({NAME})(?=\s*(?:key\b|#|$))", ("keyword", "", "name"), "table head"),
            Words(rf"\b(queries)(\s+)({NAME})(?=\s*(?:\{{|#|$))", ("keyword", "", "name"), "queries head"),
            Words(rf"\b(test)(?=\s+(?:\*|{NAME}))", ("keyword",), "test head"),
            *_REST,
        )
    ),
    "rule head": _head("rule"),
    "stream head": _head("stream"),
    "table head": _head("stream", _then("key")),
    "queries head": _head("queries"),
    "test head": _head("test"),
    "rule": LexerState(
        (
            *_TEXTS,
            Words(r"\b(match|having)(?=\s*\()", ("keyword",)),
            _CALL,
            _LABEL,
            Words(rf"(,)(\s*)({NAME})(?!\s*\()", ("punctuation", "", "name")),
            Words(rf"(=)(\s*)({NAME})(?!\s*\()", ("operator", "", "name")),
            *_PATTERN,
            *_RULE,
            *_REST,
        ),
        r"\}",
    ),
    "stream": LexerState(
        (
            *_TEXTS,
            _LABEL,
            Words(
                rf"\b(corrected)(\s+)(by)(\s+)({DOTTED})(\s*)(,)(\s*)({DOTTED})",
                ("keyword", "", "keyword", "", "name", "", "punctuation", "", "name"),
            ),
            _then("id|time", DOTTED),
            _then("lateness|idle|future", DURATION, "number"),
            Words(rf"\b(text)(\s+)(?!(?:{_SETTING}|secret)\b)({NAME})(?!\s*:)", ("type", "", "name")),
            Words(rf"\b({_TYPE})\b", ("type",)),
            Words(r"\b(secret)\b(?!\s*:)", ("keyword",)),
            Words(r"(\{)", ("punctuation",), "stream"),
            *_REST,
        ),
        r"\}",
    ),
    "queries": LexerState((*_TEXTS, Words(r"\b(from)(?=\s*\")", ("keyword",)), *_REST), r"\}"),
    "test": LexerState(
        (
            *_TEXTS,
            Words(rf"\b(expect)(\s+)(at)(\s+)({DURATION})", ("keyword", "", "keyword", "", "number")),
            Words(
                rf"\b(at)(\s+)({DURATION})(\s+)(late|future)(\s+)({NAME})",
                ("keyword", "", "number", "", "keyword", "", "name"),
            ),
            Words(
                rf"\b(at)(\s+)({DURATION})(\s+)(watermark)\b(?!\s*\{{)",
                ("keyword", "", "number", "", "keyword"),
            ),
            Words(rf"\b(at)(\s+)({DURATION})(\s+)({NAME})", ("keyword", "", "number", "", "name")),
            _then("at|every", DURATION, "number"),
            _then("expect", "nothing", "keyword"),
            _then("allow", "other", "keyword"),
            Words(r"\b(expect)(?=\s*\{)", ("keyword",)),
            Words(r"\b(start)(?=\s*\")", ("keyword",)),
            Words(rf"\b(x)(\s*)({NUMBER})", ("keyword", "", "number")),
            *_REST,
        ),
        r"\}",
    ),
    "map": LexerState((*_TEXTS, _LABEL, Words(r"\b(within)(?=\s+[-0-9(])", ("keyword",)), *_REST), r"\}"),
    "counts": LexerState((Words(r"([0-9]+)", ("number",)), Words(r"(,)", ("punctuation",)), _COMMENT), r"\}"),
    "brackets": LexerState((*_TEXTS, *_REST), r"[\])]"),
    "group": LexerState((*_TEXTS, _CALL, _LABEL, *_PATTERN, *_REST), r"\)"),
}
"""Every place by its name; a file begins in `file`."""
