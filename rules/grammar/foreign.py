"""Signs of other languages that are certainly meant as one of ours: comments, quotes, spaces, semicolons.

`blocks` finds them while it cuts a file, reads on as if ours stood there, and reports each kind once a
block. So a habit costs one message, and what else is wrong is reported beside it.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import Literal, assert_never

from rules.diagnostics import Diagnostic
from rules.grammar.boundaries import CLAUSES, LINES, SETTINGS
from rules.source import Span

Kind = Literal["remark", "literal", "quoted", "pattern", "semicolon", "alike", "blank"]
"""The names of the groups of `SIGNS`."""

_QUOTED = r"'(?:[^'\\\n]|\\[^\n]|'')*'|[“”„‟«][^“”„‟«»\n]*[“”„‟»\"]|[‘’‚][^‘’‚\n]*[‘’]"
_LITERAL = r"\b(?i:interval|timestamp|date)\s+'[^'\n]*'"
"""SQL's times: the grammar has more to say of them than that their quotes are wrong."""
_ALIKE = "−–×÷\uff01\uff05-\uff5e"
"""Signs that look like one of ASCII; of the full-width ones all but `＂`, `＃` and `＄`."""
_BLANK = r"[^\S \t\r\n]|[\u00ad\u200b-\u200f\u2060]|(?!\A)\ufeff"
_MEMBERS = "|".join((*CLAUSES, *SETTINGS, *LINES))
SIGNS = (
    r"(?P<remark>(?<!:)//[^\n]*|/\*(?s:.*?)\*/|(?<!\S)--(?!\S)[^\n]*|^[ \t]*--(?=[^\W\d])[^\n]*)"
    rf"|(?P<pattern>=~\s*/(?:[^/\\\n]|\\[^\n])+/[a-z]*)|(?P<literal>{_LITERAL})|(?P<quoted>{_QUOTED})"
    rf"|(?P<alike>[{_ALIKE}])|(?P<blank>{_BLANK})"
    rf"|(?P<semicolon>;(?=[ \t]*(?:$|[}}#]|(?:{_MEMBERS})\b(?![ \t]*[:\[=]))))"
)
"""An alternative for each kind, for a text whose strings, comments and names in backquotes are known."""
_LOOKS_LIKE = {"−": "-", "–": "-", "×": "*", "÷": "/"}


def ours(kind: Kind, written: str) -> str:
    """Our text that is read in place of a foreign one, of the same length, so that places stay right."""
    match kind:
        case "remark" | "semicolon" | "blank":
            return " " * len(written)
        case "quoted":
            return f'"{_inside(written[1:-1])}"'
        case "literal":
            return written.replace("'", '"')
        case "pattern":
            start, end = written.index("/"), written.rindex("/")
            return f'{written[:start]}"{_inside(written[start + 1 : end])}"'.ljust(len(written))
        case "alike":
            return _ascii(written)
        case _:
            assert_never(kind)


def begins(kind: Kind, written: str) -> int:
    """Index in the match `written` where the sign itself begins."""
    if kind == "pattern":
        return written.index("/")
    return len(written) - len(written.lstrip()) if kind == "remark" else 0


def of_block(found: Sequence[tuple[Kind, Span]]) -> list[Diagnostic]:
    """One finding for each kind, at its first place; none for what the grammar speaks of."""
    places: dict[tuple[Kind, str], list[Span]] = {}
    for kind, span in found:
        if kind == "literal":
            continue
        which = span.text if kind in ("alike", "blank") else ""
        places.setdefault((kind, which), []).append(span)
    return [_finding(kind, spans) for (kind, _), spans in places.items()]


def _finding(kind: Kind, spans: Sequence[Span]) -> Diagnostic:
    first = spans[0]
    code, message, help_ = _said(kind, first.text)
    note = f"the first of {len(spans)}" if len(spans) > 1 else ""
    end = first.start + {"remark": 2, "quoted": 1}.get(kind, len(first.text))
    return Diagnostic(code, "error", message, Span(first.file, first.start, end), note, help=help_)


def _said(kind: Kind, written: str) -> tuple[str, str, str]:
    """Code, message and help for the first sign of a kind."""
    match kind:
        case "remark":
            help_ = "comments begin with `#` and end with their line"
            return "CEP0114", f"`{written[:2]}` begins no comment here", help_
        case "quoted" | "literal":
            help_ = f'strings stand in double quotes: `"{_inside(written[1:-1])}"`'
            return "CEP0108", f"`{written[0]}` is not a character of the language", help_
        case "pattern":
            within, flags = written[1:].rsplit("/", 1)
            small = "(?i)" if "i" in flags else ""
            return "CEP0101", "expected a string after `=~`", f'a pattern is a string: `"{small}{within}"`'
        case "semicolon":
            message = "`;` is not a character of the language"
            return "CEP0108", message, "nothing is needed between clauses: remove it"
        case "alike":
            message = f"`{written}` (U+{ord(written):04X}) is not a character of the language"
            return "CEP0108", message, f"write `{_ascii(written)}`"
        case "blank":
            name = unicodedata.name(written, "control character").lower()
            message = f"a {name} (U+{ord(written):04X}) stands between the words"
            return "CEP0108", message, "write an ordinary space, or nothing: it came with a copied text"
        case _:
            assert_never(kind)


def _ascii(written: str) -> str:
    return _LOOKS_LIKE.get(written) or chr(ord(written) - 0xFEE0)


def _inside(text: str) -> str:
    """A text as it may stand in double quotes, as long as before."""
    return text.replace('"', "'")
