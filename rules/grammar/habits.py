"""Help for syntax errors that authors bring from SQL, EPL, Siddhi, Sigma, KQL or Python.

Looked up by what the grammar expected, by the word found there, without regard to case, and in a rule by the
clause before it. `foreign_phrases` looks at the text around a word, `foreign_words` at the word alone;
`foreign_times` has the durations, `foreign` the signs, `rules.called_elsewhere` the functions.
"""

from __future__ import annotations

from rules.grammar.foreign_phrases import PHRASES
from rules.grammar.foreign_words import BETWEEN_BLOCKS, CHARACTERS, HABITS
from rules.grammar.phrases import UnexpectedToken


def said_here(found: UnexpectedToken) -> str:
    """The help for a word of another language, empty for others."""
    for phrase in PHRASES:
        if help_ := phrase.said(found):
            return help_
    for wanted, habits in HABITS:
        if wanted in found.expected and found.word.lower() in habits:
            return habits[found.word.lower()]
    return ""


def block_meant(word: str) -> str:
    """The help for a word where a block should begin; empty for others."""
    return BETWEEN_BLOCKS.get(word.lower(), "")


def character_meant(character: str) -> str:
    """The help for a character that the language does not have."""
    return CHARACTERS.get(character, "remove it")
