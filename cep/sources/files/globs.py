"""Wildcards of a feed's path, as Spark reads them: `*` `?` `[a-z]` `[^a]` `{a,b}`, `\\` before a plain sign.

They are read to tell mistakes in a job file, and to list files where there is no Spark. A part between two
slashes is one automaton. Braces are branches of it: twenty pairs of them cost as much as twenty names.

GlobError       a pattern that Spark would refuse, or that is too long; `help` says what to write
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache

LONGEST = 1_000
"""Signs of a part with wildcards between two slashes; a file's name has at most 255 bytes."""
DEEPEST = 20
"""Braces within braces."""

_SIGNS = "".join(map(chr, range(32, 127)))
_WILD = re.compile(r"[*?\[{]")
_PLAIN = re.compile(r"[^*?{}\[\]\\]*")

Sign = str | re.Pattern[str]
"""One sign of a name: itself, or a class."""

_ANY = re.compile(".", re.DOTALL)


class GlobError(ValueError):
    """The text says what is wrong with a pattern."""

    def __init__(self, said: str, help: str) -> None:  # noqa: A002  as diagnostics call it
        super().__init__(said)
        self.help = help


@dataclass(slots=True)
class GlobAutomaton:
    """The automaton of a pattern between two slashes: state 0 is its start, `end` its only accepting state.

    `moves` has the signs that lead from a state to others, `free` the states that are reached without one.
    `expression` says the same in the syntax of RE2.
    """

    moves: list[list[tuple[Sign, int]]] = field(default_factory=lambda: [[]])
    free: list[list[int]] = field(default_factory=lambda: [[]])
    end: int = 0
    expression: str = ""

    def state(self) -> int:
        """A new state."""
        self.moves.append([])
        self.free.append([])
        return len(self.moves) - 1


def parse(path: str) -> list[GlobAutomaton]:
    """The automaton of every part between slashes. Raises GlobError."""
    return [_part(text) for text in path.split("/")]


def wild(part: str) -> bool:
    """True if a part between slashes has a wildcard."""
    return _WILD.search(part) is not None


def matcher(part: str) -> Callable[[str], bool]:
    """A test of whether a name fits a pattern without slashes, in linear time. Raises GlobError."""
    import re2  # only where files are listed in this process

    wanted = re2.compile(f"(?s){_part(part).expression}")
    # A name that is not UTF-8 has no such letters, and fits a wildcard.
    return lambda name: wanted.fullmatch(name.encode(errors="replace").decode()) is not None


def escaped(path: str) -> str:
    """A pattern that one path fits and no other."""
    return re.sub(r"([*?{}\[\]\\])", r"\\\1", path)


def meet(one: str, other: str) -> bool:
    """True if there can be a path that both patterns match."""
    left, right = one.split("/"), other.split("/")
    return len(left) == len(right) and all(map(_meet, left, right))


def fits(pattern: str, path: str) -> bool:
    """True if the pattern matches the path."""
    return meet(pattern, escaped(path))


def reaches(pattern: str, folder: str) -> bool:
    """True if the pattern can match a file in the folder, at any depth."""
    folders, plain = parse(pattern)[:-1], parse(escaped(folder))
    return len(folders) >= len(plain) and all(map(_overlap, folders, plain))


def _meet(one: str, other: str) -> bool:
    """True if some name fits both parts. Plain ones are compared: of many feeds each is tried with each."""
    if _PLAIN.fullmatch(one) and _PLAIN.fullmatch(other):
        return one == other
    return _overlap(_part(one), _part(other))


def _overlap(one: GlobAutomaton, other: GlobAutomaton) -> bool:
    """True if some text matches both: the product of the two automata is searched, from the start."""
    waiting, seen = [(0, 0)], {(0, 0)}
    while waiting:
        i, j = waiting.pop()
        if (i, j) == (one.end, other.end):
            return True
        found = [(k, j) for k in one.free[i]] + [(i, k) for k in other.free[j]]
        found += [(k, m) for left, k in one.moves[i] for right, m in other.moves[j] if _common(left, right)]
        fresh = [pair for pair in found if pair not in seen]
        seen.update(fresh)
        waiting += fresh
    return False


@lru_cache(maxsize=4096)
def _common(one: Sign, other: Sign) -> bool:
    match one, other:
        case str(), str():
            return one == other
        case str(), re.Pattern():
            return other.fullmatch(one) is not None
        case re.Pattern(), str():
            return one.fullmatch(other) is not None
        case re.Pattern(), re.Pattern():
            return any(one.fullmatch(sign) and other.fullmatch(sign) for sign in _SIGNS)
    raise AssertionError(one, other)


def _part(text: str) -> GlobAutomaton:
    """Read a part sign by sign. Raises GlobError."""
    if len(text) > LONGEST and wild(text):
        raise GlobError(
            f"it has {len(text):,} signs between two slashes, at most {LONGEST:,} are read",
            "a few wildcards do: `*.jsonl` stands for all such files",
        )
    part, at, opened = GlobAutomaton(), 0, []
    while at < len(text):
        sign, at = text[at], at + 1
        match sign:
            case "*":
                _repeated(part)
            case "?":
                _one(part, _ANY, ".")
            case "\\":
                plain, at = text[at : at + 1], at + 1
                _one(part, re.compile(re.escape(plain)), re.escape(plain))
            case "[":
                class_, at = _class(text, at)
                _one(part, class_, class_.pattern)
            case "{":
                opened.append(_Braces(part.end, part.state()))
                part.expression += "(?:"
                if len(opened) > DEEPEST:
                    raise GlobError(f"its braces stand more than {DEEPEST} deep", "write them side by side")
            case "," if opened:
                part.free[part.end].append(opened[-1].after)
                part.end = opened[-1].before
                _next(part)
                part.expression += "|"
            case "}" if opened:
                part.free[part.end].append(opened[-1].after)
                part.end = opened.pop().after
                part.expression += ")"
            case "}":
                raise GlobError("its `}` has no partner", _CLOSE)
            case _:
                _one(part, sign, re.escape(sign))
    if opened:
        raise GlobError("its `{` has no partner", _CLOSE)
    return part


_CLOSE = "close it; `?` stands for any one sign, also a bracket"


@dataclass(frozen=True, slots=True)
class _Braces:
    """The states in which the branches of braces begin, and in which they end."""

    before: int
    after: int


def _next(part: GlobAutomaton) -> None:
    """Go on in a new state that is reached without a sign: nothing leads back into the one before."""
    state = part.state()
    part.free[part.end].append(state)
    part.end = state


def _one(part: GlobAutomaton, sign: Sign, expression: str) -> None:
    state = part.state()
    part.moves[part.end].append((sign, state))
    part.end = state
    part.expression += expression


def _repeated(part: GlobAutomaton) -> None:
    """Any number of signs: a state of its own that leads to itself."""
    _next(part)
    part.moves[part.end].append((_ANY, part.end))
    _next(part)
    part.expression += ".*"


def _class(text: str, at: int) -> tuple[re.Pattern[str], int]:
    """The class whose first sign stands at `at`, and the place behind it. Raises GlobError."""
    end = text.find("]", at + 1)
    if end < 0:
        raise GlobError("its `[` is never closed", _CLOSE)
    inside = text[at:end].replace("\\", "\\\\").replace("[", "\\[")
    inside = "^" + inside[1:] if inside[0] in "!^" else inside
    try:
        return re.compile(f"[{inside}]"), end + 1
    except re.error:
        raise GlobError(f"`[{text[at:end]}]` names no signs", _CLOSE) from None
