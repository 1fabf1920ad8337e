"""Characters that cannot be seen, and words that mix scripts: a text that is not what it looks like.

Signs that turn the direction of writing make an editor show other code than is there (CVE-2021-42574, "Trojan
Source"); control characters drive a terminal; a Cyrillic letter in a Latin word matches nothing that it looks
like. Scripts are known by the names of characters, mixtures as the "highly restrictive" level of Unicode's
UTS 39 has them, look-alikes by the letters of its table that most typefaces draw like Latin ones.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from types import MappingProxyType
from unicodedata import category, name, normalize

UNSEEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufff9-\ufffb]|\r(?!\n)"
)
"""Control characters, line ends that not everything takes for such, and signs that turn the direction."""

_NO_FORM = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_LETTERS = frozenset({"Lu", "Ll", "Lt", "Lo"})  # marks and apostrophes that modify a letter are of any script
_EAST_ASIAN = frozenset({"CJK", "HIRAGANA", "KATAKANA", "HANGUL", "BOPOMOFO"})
_LIKE_LATIN = str.maketrans(
    "аеёіїјорсухѕһԁԛԝАВЕІЈКМНОРСТУХЅ" + "αικνορυχΑΒΕΖΗΙΚΜΝΟΡΤΥΧ" + "օսհցզ",
    "aeëiïjopcyxshdqwABEIJKMHOPCTYXS" + "aikvopuxABEZHIKMNOPTYX" + "ouhgq",
)
LIKE_LATIN = MappingProxyType(_LIKE_LATIN)
"""Letters of Cyrillic, Greek and Armenian, by code point, and the Latin ones that they look like."""


def unseen(text: str) -> Iterator[tuple[int, str]]:
    """Where characters stand that cannot be seen, the first of each line, and what they are."""
    before = None
    for found in UNSEEN.finditer(text):
        line = text.rfind("\n", 0, found.start())
        if line != before:
            yield found.start(), described(found[0])
        before = line


def unseen_in_name(written: str) -> int | None:
    """The place of a character of a name that has no form of its own, such as a space of no width."""
    if written.isascii() and written.isprintable():
        return None
    return next((at for at, char in enumerate(written) if category(char) in _NO_FORM), None)


def described(char: str) -> str:
    """A character by number and name: `U+202E (right-to-left override)`."""
    return f"U+{ord(char):04X} ({name(char, 'control character').lower()})"


def scripts(word: str) -> frozenset[str]:
    """The scripts of a word's letters, by the first word of their names: LATIN, CYRILLIC, GREEK, ..."""
    letters = (char for char in normalize("NFKC", word) if category(char) in _LETTERS)
    return frozenset(name(char, "?").partition(" ")[0] for char in letters)


def mixes(word: str) -> bool:
    """True if a word mixes scripts that no writing mixes; Latin beside Chinese, Japanese, Korean is none."""
    if word.isascii():
        return False
    found = scripts(word)
    return len(found) > 1 and not found <= _EAST_ASIAN | {"LATIN"}


def skeleton(word: str) -> str:
    """The word as it looks: equal for words that most typefaces draw alike."""
    return normalize("NFKC", normalize("NFKC", word).translate(LIKE_LATIN))
