"""Comments that steer lints: `# allow CEP0301: reason` silences one there, `# require CEP0312: reason`
turns one on that is off unless a pack wants it.

An `allow` stands on the line above the finding, or above the clause or the block that it is in, so that it
holds however these are broken into lines; a `require` holds for the whole pack, wherever it stands.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import assert_never

from rules import syntax
from rules.checks.subject import warning
from rules.diagnostics import Allowed, Diagnostic
from rules.source import Span
from rules.suggest import did_you_mean

_WORD = re.compile(r"#\s*(allow|require)\s+(CEP[0-9]{4})\b\s*(?::\s*(\S.*))?")


@dataclass(frozen=True, slots=True)
class _Comment:
    """One of the two, with its code; without a reason (None) it counts for nothing."""

    comment: syntax.Comment
    code: str
    reason: str | None


def _comments(files: Sequence[syntax.File], word: str) -> Iterator[_Comment]:
    for file in files:
        for comment in file.comments:
            match = _WORD.match(comment.span.text)
            if match is not None and match[1] == word:
                yield _Comment(comment, match[2], None if match[3] is None else match[3].rstrip())


def required(files: Sequence[syntax.File]) -> frozenset[str]:
    """The codes that the pack requires."""
    return frozenset(one.code for one in _comments(files, "require") if one.reason is not None)


def sort_out(
    found: Iterable[Diagnostic], files: Sequence[syntax.File], optional: Collection[str]
) -> tuple[list[Diagnostic], list[Allowed]]:
    """The findings that no comment silences, with CEP0306 for comments that do nothing; the silenced.

    `optional` are the codes that are off unless required.
    """
    allows = {(id(one.comment.span.file), one.comment.span.line): one for one in _comments(files, "allow")}
    used: set[tuple[int, int]] = set()
    kept: list[Diagnostic] = []
    allowed: list[Allowed] = []
    for finding in found:
        reason = _reason(finding, files, allows, used)
        if reason is None:
            kept.append(finding)
        else:
            allowed.append(Allowed(finding, reason))
    for place, one in allows.items():
        if place not in used:
            message = f"this `allow` silences nothing: there is no {one.code} in what begins on the next line"
            kept.append(_useless(one, "allow", message, "remove it"))
    for one in _comments(files, "require"):
        if one.reason is None or one.code not in optional:
            message = f"this `require` turns nothing on: {one.code} is not off"
            can = "these can be required: " + ", ".join(sorted(optional))
            kept.append(_useless(one, "require", message, did_you_mean(one.code, optional) or can))
    return kept, allowed


def _useless(one: _Comment, word: str, message: str, help_: str) -> Diagnostic:
    if one.reason is None:
        message, help_ = f"`{word}` needs a reason", f"write `# {word} {one.code}: why`"
    return warning("CEP0306", message, one.comment.span, help_=help_)


def _reason(
    diagnostic: Diagnostic,
    files: Sequence[syntax.File],
    allows: Mapping[tuple[int, int], _Comment],
    used: set[tuple[int, int]],
) -> str | None:
    """The reason of one of the `allow` lines right above the finding, its clause or its block."""
    if diagnostic.span is None or diagnostic.level == "error" or not allows:
        return None
    file = id(diagnostic.span.file)
    for begin in _beginnings(diagnostic.span, files):
        line = begin - 1
        while (file, line) in allows:
            one = allows[file, line]
            if one.code == diagnostic.code and one.reason is not None:
                used.add((file, line))
                return one.reason
            line -= 1
    return None


def _beginnings(span: Span, files: Sequence[syntax.File]) -> Iterator[int]:
    """The lines on which a place, its clause and its block begin."""
    yield span.line
    for file in files:
        if file.source is span.file:
            block = next((b for b in file.blocks if b.span.start <= span.start < b.span.end), None)
            if block is not None:
                inside = (i for i in _items(block) if i.span.start <= span.start < i.span.end)
                yield from (item.span.line for item in inside)
                yield block.span.line


def _items(
    block: syntax.Block,
) -> Sequence[syntax.Clause | syntax.Field | syntax.PathSetting | syntax.DurationSetting | syntax.Line]:
    """The items that stand on lines of their own in a block."""
    match block:
        case syntax.Rule():
            return block.clauses
        case syntax.Stream() | syntax.Table():
            return block.parts
        case syntax.TestBlock():
            return block.lines
        case syntax.Header() | syntax.Let() | syntax.Queries() | syntax.Broken():
            return ()
        case _:
            assert_never(block)
