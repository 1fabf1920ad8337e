"""The layout of rule files: nothing but blanks and lines changes, and what has the layout is left alone."""

from __future__ import annotations

from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from random_packs import packs
from random_syntax import files, spread
from same_tree import bare, comments

from rules.format import formatted
from rules.grammar import parse
from rules.source import SourceFile
from rules.syntax import File


def read(text: str) -> File:
    file, problems = parse(SourceFile("x.rules", text))
    assert problems == (), f"{[p.message for p in problems]} in\n{text}"
    return file


def laid_out(text: str) -> str:
    found, problems = formatted(SourceFile("x.rules", text))
    assert found is not None, f"{[p.message for p in problems]} in\n{text}"
    return found


def assert_kept(text: str) -> str:
    """Fail unless the layout keeps what the text says, and its own layout is itself."""
    before, shown = read(text), laid_out(text)
    after = read(shown)
    assert bare(after.blocks) == bare(before.blocks), shown
    assert comments(after) == comments(before), shown
    assert laid_out(shown) == shown
    assert "\r" not in shown
    assert not any(line != line.rstrip() for line in shown.splitlines()), shown
    return shown


@settings(max_examples=examples(150), deadline=None)
@given(files().flatmap(spread))
def test_a_file_means_the_same_afterwards(text: str) -> None:
    assert_kept(text)
