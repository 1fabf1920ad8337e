"""Wildcards of a feed's path, as Spark reads them: `*` `?` `[a-z]` `[^a]` `{a,b}`, `\\` before a plain sign.

They are read to tell mistakes in a job file, and to list files where there is no Spark.

GlobError       a pattern that Spark would refuse
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice

_MANY = 200
"""Alternatives in braces that are tried; a pattern with more of them is taken for `*`."""
_STAR = "*"
_ESCAPED = re.compile(r"\\.|.", re.DOTALL)
_SIGNS = "".join(map(chr, range(32, 127)))

Sign = str | re.Pattern[str]
"""One sign of a name: itself, a class, or `_STAR` as the string `*` (a plain star is a class)."""


class GlobError(ValueError):
    """A bracket or a brace that is never closed."""


def parse(path: str) -> list[list[list[Sign]]]:
    """For every part between slashes its alternatives, each sign by sign. Raises GlobError."""
    return [[list(_signs(one)) for one in _few(part)] for part in path.split("/")]


def escaped(path: str) -> str:
    """A pattern that one path fits and no other."""
    return re.sub(r"([*?{}\[\]\\])", r"\\\1", path)


def meet(one: str, other: str) -> bool:
    """True if there can be a path that both patterns match."""
    left, right = parse(one), parse(other)
    return len(left) == len(right) and all(map(_meet, left, right))


def fits(pattern: str, path: str) -> bool:
    """True if the pattern matches the path."""
    return meet(pattern, escaped(path))


def reaches(pattern: str, folder: str) -> bool:
    """True if the pattern can match a file in the folder, at any depth."""
    folders, plain = parse(pattern)[:-1], parse(escaped(folder))
    return len(folders) >= len(plain) and all(map(_meet, folders, plain))


def _meet(one: list[list[Sign]], other: list[list[Sign]]) -> bool:
    return any(_overlap(a, b) for a in one for b in other)


def _overlap(one: Sequence[Sign], other: Sequence[Sign]) -> bool:
    """True if some text matches both: the product of the two automata is searched, from the start."""
    waiting, seen = [(0, 0)], set()
    while waiting:
        i, j = at = waiting.pop()
        if at in seen:
            continue
        seen.add(at)
        left = one[i] if i < len(one) else None
        right = other[j] if j < len(other) else None
        if left is None and right is None:
            return True
        if left == _STAR:
            waiting += [(i + 1, j)] if right is None else [(i + 1, j), (i, j + 1)]
        elif right == _STAR:
            waiting += [(i, j + 1)] if left is None else [(i, j + 1), (i + 1, j)]
        elif left is not None and right is not None and _common(left, right):
            waiting.append((i + 1, j + 1))
    return False


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


def alternatives(pattern: str) -> Iterator[str]:
    """The patterns without braces that one with braces stands for, in the order written."""
    at = _braces(pattern)
    if at is None:
        yield pattern
        return
    for choice in _choices(pattern[at[0] + 1 : at[1]]):
        yield from alternatives(pattern[: at[0]] + choice + pattern[at[1] + 1 :])


def _few(part: str) -> list[str]:
    found = list(islice(alternatives(part), _MANY + 1))
    return found if len(found) <= _MANY else [_STAR]


def _braces(part: str) -> tuple[int, int] | None:
    """Indices of the first pair of braces that has no others inside; None if there is no pair."""
    opened = None
    for sign in _ESCAPED.finditer(part):
        if sign[0] == "{":
            opened = sign.start()
        elif sign[0] == "}" and opened is not None:
            return opened, sign.start()
    return None


def _choices(inside: str) -> list[str]:
    found = [""]
    for sign in _ESCAPED.findall(inside):
        if sign == ",":
            found.append("")
        else:
            found[-1] += sign
    return found


def _signs(part: str) -> Iterator[Sign]:
    at = 0
    while at < len(part):
        sign, at = part[at], at + 1
        match sign:
            case "*":
                yield _STAR
            case "?":
                yield re.compile(".", re.DOTALL)
            case "\\":
                yield re.compile(re.escape(part[at : at + 1]))
                at += 1
            case "[":
                end = part.find("]", at + 1)
                if end < 0:
                    raise GlobError("its `[` is never closed")
                inside = part[at:end].replace("\\", "\\\\").replace("[", "\\[")
                inside = "^" + inside[1:] if inside[0] in "!^" else inside
                try:
                    yield re.compile(f"[{inside}]")
                except re.error:
                    raise GlobError(f"`[{part[at:end]}]` names no signs") from None
                at = end + 1
            case "{" | "}":
                raise GlobError(f"its `{sign}` has no partner")
            case _:
                yield sign
