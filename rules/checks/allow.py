"""`# allow CEP0301: reason` on the line above a finding silences it there."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from rules import syntax
from rules.checks.subject import warning
from rules.diagnostics import Allowed, Diagnostic

_ALLOW = re.compile(r"#\s*allow\s+(CEP[0-9]{4})\b\s*(?::\s*(\S.*))?")


def sort_out(
    found: Iterable[Diagnostic], files: Sequence[syntax.File]
) -> tuple[list[Diagnostic], list[Allowed]]:
    """The findings that no comment silences, with CEP0306 for comments that silence none; the silenced."""
    allows: dict[tuple[int, int], tuple[syntax.Comment, re.Match[str]]] = {}
    for file in files:
        for comment in file.comments:
            match = _ALLOW.match(comment.span.text)
            if match is not None:
                allows[id(file.source), comment.span.line] = (comment, match)
    used: set[tuple[int, int]] = set()
    kept: list[Diagnostic] = []
    allowed: list[Allowed] = []
    for finding in found:
        reason = _reason(finding, allows, used)
        if reason is None:
            kept.append(finding)
        else:
            allowed.append(Allowed(finding, reason))
    for place, (comment, match) in allows.items():
        if place in used:
            continue
        message = f"this `allow` silences nothing: there is no {match[1]} on the next line"
        help_ = "remove it"
        if match[2] is None:
            message, help_ = "an `allow` needs a reason", f"write `# allow {match[1]}: why`"
        kept.append(warning("CEP0306", message, comment.span, help_=help_))
    return kept, allowed


def _reason(
    diagnostic: Diagnostic,
    allows: dict[tuple[int, int], tuple[syntax.Comment, re.Match[str]]],
    used: set[tuple[int, int]],
) -> str | None:
    """The reason in one of the `allow` lines right above the finding that names its code."""
    if diagnostic.span is None or diagnostic.level == "error":
        return None
    file, line = id(diagnostic.span.file), diagnostic.span.line - 1
    while (file, line) in allows:
        _, match = allows[file, line]
        if match[1] == diagnostic.code and match[2] is not None:
            used.add((file, line))
            return match[2].rstrip()
        line -= 1
    return None
