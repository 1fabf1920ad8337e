"""Why a text query is dear: its tree, looked at without any article."""

from __future__ import annotations

from collections.abc import Iterator

from percolator.query import tree
from percolator.query.parse import parse

BRANCHES = 1000
"""Branches of one OR above which a list of standing queries serves better."""


def reason_of(query: str) -> tuple[str, str] | None:
    """Why the query is dear, and what would help; the first that is found. Raises QueryError."""
    node = parse(query)
    if _true_without_words(node):
        return (
            "it is true of nearly every text, so every text is an answer",
            "add a word that must be there",
        )
    return next(filter(None, (_own(part) for part in _walk(node))), None)


def _own(node: tree.Node) -> tuple[str, str] | None:
    match node:
        case tree.Wildcard(pattern=pattern) if pattern[:1] in ("*", "?"):
            return (
                f"`{pattern}` begins with a wildcard and is tried on every new word",
                "give its first letters",
            )
        case tree.Regex(pattern=pattern):
            return f"`/{pattern}/` is tried on every new word", "a wildcard or an OR of words is cheaper"
        case tree.Or(operands=operands) if len(operands) > BRANCHES:
            return (
                f"one OR has {len(operands):,} branches",
                "make them standing queries of a `queries` block, each with its own id",
            )
        case _:
            return None


def _true_without_words(node: tree.Node) -> bool:
    """True if a text of none of the query's words satisfies it."""
    match node:
        case tree.Not():
            return not _true_without_words(node.operand)
        case tree.Everything():
            return True
        case tree.And():
            return all(_true_without_words(operand) for operand in node.operands)
        case tree.Or():
            return any(_true_without_words(operand) for operand in node.operands)
        case tree.SomeOf():
            return sum(_true_without_words(operand) for operand in node.operands) >= node.count
        case tree.Fielded() | tree.Named():
            return _true_without_words(node.operand)
        case _:
            return False


def _walk(node: tree.Node) -> Iterator[tree.Node]:
    yield node
    for child in tree.children(node):
        yield from _walk(child)
