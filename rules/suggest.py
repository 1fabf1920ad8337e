"""Names that an author may have meant."""

from __future__ import annotations

from collections.abc import Iterable

LONGEST = 100
"""Characters of a word that are looked at."""

LISTED = 6
"""Names that a help lists."""

_CONSTANTS = {
    "true": "true",
    "false": "false",
    "null": "null",
    **dict.fromkeys(["none", "nil", "undefined"], "null"),
}


def closest(word: str, known: Iterable[str]) -> str | None:
    """The known name nearest to a word, or None where none is near: a third of its letters may differ.

    Nearness is the number of letters left out, added, exchanged or swapped with their neighbour (optimal
    string alignment, Damerau 1964), case and `_` aside. After those come names that begin or end with the
    word or are shortened to it, or the other way round: `amt` for `amount`. Of equally near names the first.
    """
    written = _plain(word)
    best: tuple[float, str] | None = None
    for name in known:
        distance = _distance(written, _plain(name))
        if distance is not None and (best is None or distance < best[0]):
            best = distance, name
    return None if best is None else best[1]


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """The help for an unknown name, empty where no known one is like it.

    For `True`, `NULL` and `None` it is how the language writes them.
    """
    guess = _CONSTANTS.get(word.lower()) or closest(word, known)
    return f"did you mean `{guess}`?" if guess is not None else ""


def is_null(word: str) -> bool:
    """True if a word is null in some language: `NULL`, `None`, `nil`."""
    return _CONSTANTS.get(word.lower()) == "null"


def meant(word: str, known: Iterable[str], plural: str) -> str:
    """The help for an unknown name: the known one that is like it, or which there are, the first six.

    `plural` is what they are called.
    """
    names = list(known)
    if guess := did_you_mean(word, names):
        return guess
    if not names:
        return f"there are no {plural}"
    shown = ", ".join(f"`{name}`" for name in names[:LISTED])
    more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    return f"the {plural} are {shown}{more}" if len(names) > 1 else f"the only one is {shown}"


def _plain(word: str) -> str:
    return word[:LONGEST].casefold().replace("_", "")


def _distance(word: str, name: str) -> float | None:
    """The edit distance of the two, None where they are too far apart."""
    longest = max(len(word), len(name))
    most = max(1, longest // 3)
    found = edits(word, name) if abs(len(word) - len(name)) <= most else longest
    if found <= most and found < longest:
        return found
    short, long = sorted((word, name), key=len)
    if len(short) >= 3 and (long.endswith(short) or (long[0] == short[0] and _shortened(short, long))):
        return longest + len(long) - len(short)  # after all that are near by their letters
    return None


def _shortened(short: str, long: str) -> bool:
    """True if all letters of one word stand in the other in their order."""
    letters = iter(long)
    return all(char in letters for char in short)


def edits(one: str, other: str) -> int:
    """Letters left out, added, exchanged, or swapped with their neighbour, to make one word of the other."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, char in enumerate(one, 1):
        before, last, row = row, before, [i]
        for j, letter in enumerate(other, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (char != letter))
            if i > 1 and j > 1 and char == other[j - 2] and one[i - 2] == letter:
                cost = min(cost, last[j - 2] + 1)
            row.append(cost)
    return row[-1]
