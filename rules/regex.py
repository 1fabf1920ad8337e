r"""The check that a regular expression is one of RE2's, with the place where it is not: RE2 names none.

RE2 (github.com/google/re2/wiki/Syntax) has no look-around, no back references, no possessive or atomic
groups. What it has and Python lacks (`\pL`, `\z`, `\C`, `\Q..\E`, `(?U)`) is replaced by as many
harmless characters before Python's parser checks the rest.
"""

from __future__ import annotations

import re

NESTING = 100
LONGEST = 10_000
MOST = 1_000
"""RE2 repeats a piece so often at most."""

_ONLY_PYTHON = (
    (re.compile(r"\(\?(?:=|!|<=|<!)"), "RE2 has no look-around"),
    (re.compile(r"\(\?P=|\(\?\("), "RE2 has no back references"),
    (re.compile(r"\(\?>"), "RE2 has no atomic groups"),
    (re.compile(r"\(\?#"), "RE2 has no comments"),
    (re.compile(r"(?:[*+?]|\{[0-9]+(?:,[0-9]*)?\})\+"), "RE2 has no possessive repetition"),
)
_ESCAPE = re.compile(r"\\(?:Q.*?(?:\\E|\Z)|[pP](?:\{\^?\w+\}|\w)|x\{[0-9A-Fa-f]+\}|.)?", re.DOTALL)
_FLAGS = re.compile(r"\(\?([imsU]*(?:-[imsU]+)?)([:)])")
_NAMED = re.compile(r"\(\?P?<\w+>")
_CLASS = re.compile(r"\[\^?\]?(?:\[:\^?\w+:\]|\\.|[^\]\\])*\]", re.DOTALL)
_CLASS_OF_RE2 = re.compile(r"\[:|\\[pPzCQ]|\\x\{")
_COUNT = re.compile(r"\{([0-9]+)(?:,([0-9]*))?\}")
_ESCAPES = frozenset("aftnrvdDsSwWbBAzCpPQEx")


def problem_in(pattern: str) -> tuple[str, int] | None:
    """The mistake in the expression and its character, or None."""
    if len(pattern) > LONGEST:
        return f"it has more than {LONGEST:,} characters", 0
    neutral = _neutral(pattern)
    if isinstance(neutral, tuple):
        return neutral
    depth = 0
    for at, char in enumerate(neutral):
        depth += {"(": 1, ")": -1}.get(char, 0)
        if depth > NESTING:
            return f"groups are nested more than {NESTING} deep", at
    for forbidden, why in _ONLY_PYTHON:
        if found := forbidden.search(neutral):
            return why, found.start()
    for counts in _COUNT.finditer(neutral):
        if any(len(n) > 4 or int(n) > MOST for n in counts.groups() if n):
            return f"RE2 repeats {MOST:,} times at most", counts.start()
    plain = _NAMED.sub(lambda f: "(?:".ljust(len(f[0]), "x"), _FLAGS.sub(_plain_group, neutral))
    return _python_error(plain, 0) or _too_large(pattern)


def _too_large(pattern: str) -> tuple[str, int] | None:
    """RE2's own refusal of the expression: repetitions of repetitions, say, need too much memory."""
    import re2

    options = re2.Options()
    options.log_errors = False
    try:
        re2.compile(pattern, options)
    except re2.error as problem:
        (reason,) = problem.args
        return reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason), 0
    return None


def _python_error(pattern: str, base: int) -> tuple[str, int] | None:
    try:
        re.compile(pattern)
    except re.error as problem:
        return problem.msg, base + (problem.pos or 0)
    return None


def _plain_group(found: re.Match[str]) -> str:
    """A group without flags, as long as the one with them."""
    flags = len(found[1])
    return "(?:" + "x" * flags if found[2] == ":" else "(?:" + "x" * (flags - 1) + ")"


def _neutral(pattern: str) -> str | tuple[str, int]:
    """The expression with escapes and classes replaced, or what is wrong with one of them."""
    pieces: list[str] = []
    at = 0
    while at < len(pattern):
        if pattern[at] not in "\\[":
            pieces.append(pattern[at])
            at += 1
            continue
        escape = pattern[at] == "\\"
        found = (_ESCAPE if escape else _CLASS).match(pattern, at)
        if found is None:
            return "`[` is never closed", at
        problem = _in_escape(found[0], at) if escape else _in_class(found[0], at)
        if problem is not None:
            return problem
        pieces.append("x" * len(found[0]))
        at = found.end()
    return "".join(pieces)


def _in_escape(written: str, at: int) -> tuple[str, int] | None:
    char = written[1:2]
    if not char:
        return "a `\\` at the end escapes nothing", at
    if char.isdigit() and char != "0":
        return "RE2 has no back references", at
    if char.isascii() and char.isalpha() and char not in _ESCAPES:
        return f"RE2 does not know `\\{char}`", at
    return None


def _in_class(written: str, at: int) -> tuple[str, int] | None:
    if _CLASS_OF_RE2.search(written) or "[" in written[1:]:
        return None  # Python reads these differently; RE2 has the last word
    return _python_error(written, at)
