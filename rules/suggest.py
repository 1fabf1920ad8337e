"""Names that an author may have meant."""

from __future__ import annotations

from collections.abc import Iterable


def closest(word: str, known: Iterable[str]) -> str | None:
    """The known name most like the word, or None where none is like it.

    Likeness is Ratcliff and Obershelp's (difflib), without regard to case.
    """
    from difflib import get_close_matches  # only needed when something is wrong

    names = {name.lower(): name for name in known}
    found = get_close_matches(word.lower()[:100], names, n=1, cutoff=0.6)
    return names[found[0]] if found else None


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """The help for an unknown name, empty where no known one is like it."""
    guess = closest(word, known)
    return f"did you mean `{guess}`?" if guess is not None else ""
