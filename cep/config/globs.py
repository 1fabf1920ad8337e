"""Wildcards of a feed's path, as Spark reads them: `*` `?` `[a-z]` `[^a]` `{a,b}`, `\\` before a plain sign.

They are read to tell mistakes in a job file. Spark lists the files.

GlobError       a pattern that Spark would refuse
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

_MANY = 200
"""Alternatives in braces that are tried; a pattern with more of them is taken for `*`."""
_STAR = "*"
_SIGNS = "".join(map(chr, range(32, 127)))

Sign = str | re.Pattern[str]
"""One sign of a name: itself, a class, or `_STAR` as the string `*` (a plain star is a class)."""


class GlobError(ValueError):
    """A bracket or a brace that is never closed."""


def parse(path: str) -> list[list[list[Sign]]]:
    """For every part between slashes its alternatives, each sign by sign. Raises GlobError."""
    return [[list(_signs(one)) for one in _alternatives(part)] for part in path.split("/")]


def escaped(path: str) -> str:
    """A pattern that one path fits and no other."""
    return re.sub(r"([*?{}\[\]\\])", r"\\\1", path)


def meet(one: str, other: str) -> bool:
    """Whether a path may fit both patterns."""
    left, right = parse(one), parse(other)
    return len(left) == len(right) and all(map(_meet, left, right))


def fits(pattern: str, path: str) -> bool:
    """Whether a path without wildcards fits a pattern."""
    parts = parse(pattern)
    return len(parts) == path.count("/") + 1 and all(map(_meet, parts, _plain(path)))


def reaches(pattern: str, folder: str) -> bool:
    """Whether a file that fits the pattern may lie in a folder, at any depth; the folder has no wildcards."""
    folders, plain = parse(pattern)[:-1], _plain(folder)
    return len(folders) >= len(plain) and all(map(_meet, folders, plain))


def _plain(path: str) -> list[list[list[Sign]]]:
    return [[list(part)] for part in path.split("/")]


def _meet(one: list[list[Sign]], other: list[list[Sign]]) -> bool:
    return any(_overlap(tuple(a), tuple(b)) for a in one for b in other)


def _overlap(one: tuple[Sign, ...], other: tuple[Sign, ...]) -> bool:
    """Whether a text fits both: the product of two automata, walked from both beginnings."""

    @cache
    def ends(i: int, j: int) -> bool:
        if i < len(one) and one[i] == _STAR:
            return ends(i + 1, j) or (j < len(other) and ends(i, j + 1))
        if j < len(other) and other[j] == _STAR:
            return ends(i, j + 1) or (i < len(one) and ends(i + 1, j))
        if i == len(one) or j == len(other):
            return i == len(one) and j == len(other)
        return _common(one[i], other[j]) and ends(i + 1, j + 1)

    return ends(0, 0)


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


def _alternatives(part: str) -> list[str]:
    """The part once for every choice that its braces leave."""
    found = [part]
    while True:
        opened = [re.search(r"(?<!\\)\{([^{}]*)\}", one) for one in found]
        if not any(opened):
            return found
        found = [
            one if at is None else one[: at.start()] + choice + one[at.end() :]
            for one, at in zip(found, opened, strict=True)
            for choice in (at[1].split(",") if at else [""])
        ]
        if len(found) > _MANY:
            return [_STAR]


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
