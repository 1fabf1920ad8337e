"""Findings that may only follow from a syntax error, and are therefore not reported beside it.

A block with a lost part is resolved like any other, so that all its other mistakes are found. Left out are
findings of the kinds that the lost part can cause.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from rules.resolve.findings import Findings
from rules.syntax import Broken, File, Lost, Rule, Stream, Table, TestBlock

_BODY = frozenset({"CEP0113"})
_NO_BOUND = frozenset({"CEP0401", "CEP0413"})
_OF_A_RULE: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "match": _BODY,
        "on": _BODY,
        "over": _BODY,
        "within": _NO_BOUND,
        "having": frozenset({"CEP0422"}),
        "by": frozenset({"CEP0205", "CEP0220"}),
        "emit": frozenset({"CEP0220"}),
    }
)
"""By the keyword of a lost clause."""
_OF_A_STREAM = frozenset({"CEP0202", "CEP0222"})
_UNKNOWN: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "stream": frozenset({"CEP0201"}),
        "rule": frozenset({"CEP0201", "CEP0601"}),
        "let": frozenset({"CEP0202", "CEP0205"}),
    }
)
"""What is said of a name that is not declared, by the keyword of the block that would declare it."""
_WITHOUT_BRACES = frozenset({"pack", "let"})
_OF_A_TEST = frozenset({"CEP0606", "CEP0607"})


def drop_what_follows(findings: Findings, since: int, node: Stream | Table | Rule | TestBlock) -> None:
    """Take back those findings of a block, the ones from `since` on, that a part lost in it can explain."""
    if node.broken:
        explained = _explained(node)
        findings.diagnostics[since:] = [d for d in findings.diagnostics[since:] if d.code not in explained]


def drop_what_names_would_explain(
    findings: Findings, files: Iterable[File], again: Iterable[tuple[str, str]]
) -> None:
    """Take back findings of unknown names that a block would declare whose own name is lost or a repetition.

    `again` are kind and name of the blocks declared twice: a copy that was not renamed.
    """
    broken = [block for file in files for block in file.blocks if isinstance(block, Broken)]
    nameless = {block.keyword for block in broken if block.name is None} | {kind for kind, _ in again}
    if any(block.keyword in _WITHOUT_BRACES and "{" in block.span.text for block in broken):
        nameless.add("")  # it took in the next block, which has lost its keyword
    named = _UNKNOWN if "" in nameless else nameless
    explained = frozenset().union(*(_UNKNOWN.get(keyword, frozenset()) for keyword in named))
    findings.diagnostics[:] = [d for d in findings.diagnostics if d.code not in explained]


def _explained(node: Stream | Table | Rule | TestBlock) -> frozenset[str]:
    match node:
        case Rule():
            return _of_a_rule(node.broken)
        case Stream() | Table():
            return _OF_A_STREAM
        case TestBlock():
            return _OF_A_TEST


def _of_a_rule(broken: tuple[Lost, ...]) -> frozenset[str]:
    words = {word for lost in broken for word in lost.words}
    named = _OF_A_RULE if "" in words else words
    return frozenset().union(*(_OF_A_RULE.get(word, frozenset()) for word in named))
