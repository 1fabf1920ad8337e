r"""Words: the first stage of analysis, the same for every field, document and query.

This is the definition; every other scanner has to give the same words. Over code points:

    mark       general category M (`marks`)
    letter     what Python's `\w` takes (str.isalnum or `_`), but no mark and no CJK character
    joiner     `.` `'` `’`
    part       letter (letter | mark)*
    word       part (joiner part)*            longest match, from the left: `U.S`, `O'Neil`, `3.14`
    CJK        Han, Kana and Hangul (`_CJK`), or the jamo of one syllable, with the marks behind it
    token      a word; or, at every CJK character, that one and the CJK character right behind it

So a run of n CJK characters is n tokens, each beginning one character later: n - 1 pairs, and the last
character alone. `東京都` is `東京` `京都` `都`. Everything else separates, NUL and lone surrogates too. The
position of a token is its number; nothing is left out.

Sentences: between two tokens one ends where the signs between them have
    `。` `！` `？`, or
    `!` `?` `…` `.`, then any of `"'”’»)]`, then white space; but a `.` right behind a part of one
        character that is no digit ends none (`J. Smith`, `U.S. Army`, `e.g. this`), or
    the end of a paragraph: two line ends with nothing but white space between, or U+2029.
Each value of a field ends both.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

_ASCII_WORD = re.compile(r"\w+(?:[.']\w+)*", re.ASCII)

_CJK = (
    "\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff66-\uff9d\U00020000-\U0003fffd"
)
_JAMO = "\u1100-\u11ff\ua960-\ua97c\ud7b0-\ud7fb"
_SYLLABLE = "[\u1100-\u115f\ua960-\ua97c][\u1160-\u11a7\ud7b0-\ud7c6]*[\u11a8-\u11ff\ud7cb-\ud7fb]*"
_HAS_CJK = re.compile(f"[{_CJK}{_JAMO}]")

_SENTENCE_END = re.compile(r"[。！？]|(\.[.!?…]*|[!?…][.!?…]*)[\"'”’»)\]]*\s")
_PARAGRAPH_END = re.compile("(?>\r\n?|\n)[^\\S\r\n]*(?:\r\n?|\n)|\u2029")


@cache
def marks() -> str:
    """All combining marks (general category M) as the inside of a regular expression's class."""
    ranges: list[str] = []
    start = None
    # No mark stands outside of these blocks; looking at all 1.1 million code points costs ten times more.
    for code in (*range(0x300, 0x1E960), *range(0xE0100, 0xE01F1)):
        if unicodedata.category(chr(code))[0] == "M":
            start = code if start is None else start
        elif start is not None:
            ranges.append(f"{chr(start)}-{chr(code - 1)}")
            start = None
    return "".join(ranges)


def units() -> str:
    """All CJK characters, and the jamo of syllables, as the inside of a regular expression's class."""
    return _CJK + _JAMO


@cache
def _unicode_word() -> re.Pattern[str]:
    # A run of letters first, without a look at the many ranges of the marks.
    part = rf"\w+(?:[{marks()}]+\w*)*"
    return re.compile(rf"{part}(?:[.'’]{part})*")


@cache
def _unit() -> str:
    # Half-width voice marks (U+FF9E, U+FF9F) are letters to Unicode, marks to a reader.
    return rf"(?:(?:[{_CJK}]|{_SYLLABLE}|[{_JAMO}])[{marks()}\uff9e\uff9f]*)"


@cache
def _cjk_token() -> re.Pattern[str]:
    """Group 1 is the token, a match without it what the next token begins behind."""
    letters = rf"[^\W{_CJK}{_JAMO}]"
    part = rf"{letters}+(?:[{marks()}]+{letters}*)*"
    word = rf"{part}(?:[.'’]{part})*"
    return re.compile(rf"(?=({_unit()}{_unit()}?|{word}))(?:{_unit()}|{word})")


@cache
def _single_unit() -> re.Pattern[str]:
    return re.compile(_unit())


def pattern_for(text: str) -> re.Pattern[str]:
    """The regular expression whose `findall` in this text gives its tokens.

    ASCII has a faster one; that of CJK has the token in a group.
    """
    if text.isascii():
        return _ASCII_WORD
    return _cjk_token() if _HAS_CJK.search(text) else _unicode_word()


def split(text: str) -> list[str]:
    """The tokens of a text as they are written, in order."""
    return pattern_for(text).findall(text)


class TokenSpan(NamedTuple):
    """Where a token stands, in code points; `end` is exclusive.

    `unit_end` is the end of its first character where that is CJK, else `end`.
    """

    start: int
    end: int
    unit_end: int


def token_spans(text: str) -> list[TokenSpan]:
    """Where each token of `split(text)` stands."""
    pattern = pattern_for(text)
    if not pattern.groups:
        return [TokenSpan(start, end, end) for start, end in map(re.Match.span, pattern.finditer(text))]
    return [TokenSpan(found.start(1), found.end(1), found.end()) for found in pattern.finditer(text)]


def has_cjk(text: str) -> bool:
    """True if some character is one that is searched by pairs."""
    return not text.isascii() and _HAS_CJK.search(text) is not None


def is_unit(text: str) -> bool:
    """True if the text is one CJK character."""
    return not text.isascii() and _single_unit().fullmatch(text) is not None


def sections(text: str, tokens: Sequence[TokenSpan]) -> list[tuple[int, int]]:
    """For each token the numbers of its sentence and of its paragraph, both from 0."""
    found: list[tuple[int, int]] = []
    sentence = paragraph = 0
    for number, token in enumerate(tokens):
        if number:
            before = tokens[number - 1]
            between = text[before.end : token.start]
            if _PARAGRAPH_END.search(between):
                paragraph += 1
                sentence += 1
            elif _ends_sentence(text, before, between):
                sentence += 1
        found.append((sentence, paragraph))
    return found


def _ends_sentence(text: str, before: TokenSpan, between: str) -> bool:
    for found in _SENTENCE_END.finditer(between):
        initial = found.start() == 0 and (found[1] or "") == "."
        if not (initial and _is_initial(text[before.start : before.end])):
            return True
    return False


def _is_initial(word: str) -> bool:
    last = re.split(r"[.'’]", word)[-1]
    return len(last) == 1 and not last.isdigit()


def exact(surface: str) -> str:
    """One word in the form that `{WHO}` compares: NFKC, apostrophes made `'`, case as written.

    Compatibility composition makes `ﬁrm` and full-width letters what they look like.
    """
    if surface.isascii():
        return surface
    return unicodedata.normalize("NFKC", surface.replace("’", "'"))


def lower(surface: str) -> str:
    """One word in its plain form: as `exact`, in lower case.

    Each word is lowered by itself, so that `İzmir` stays one word.
    """
    if surface.isascii():
        return surface.lower()
    # Lowering can leave a letter and a mark that compose: normalise again.
    return unicodedata.normalize("NFKC", exact(surface).lower())
