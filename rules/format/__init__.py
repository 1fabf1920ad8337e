"""The one layout of rule files: a syntax tree -> the same tokens and comments, with other blanks and lines.

`tokens` hands out a file's tokens one after another, comments with them; a module for each construct
makes of them a `document`, in which every place is known where a line may end; `printer` decides which
of them do. What the layout is and why is said in docs/format.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from rules.diagnostics import Diagnostic
from rules.format.document import LINE, SPACE, Document, joined
from rules.format.expression import hanging
from rules.format.printer import WIDTH, printed
from rules.format.rule import rule
from rules.format.stream import queries, stream, table
from rules.format.test import test
from rules.format.tokens import Gap, Tokens
from rules.source import SourceFile
from rules.syntax import Block, Broken, File, Header, Let, Queries, Rule, Stream, Table, TestBlock


def formatted(source: SourceFile) -> tuple[str | None, tuple[Diagnostic, ...]]:
    """A file's text in the layout, its lines ended by line feeds; None with the errors of its syntax."""
    from rules.grammar import parse

    file, problems = parse(source)
    return (None, problems) if problems else (laid_out(file), ())


def laid_out(file: File) -> str:
    """The text of a file that was read without an error."""
    return printed(_documents(file))


def _documents(file: File) -> Iterator[Document]:
    """The blocks of a file with the comments before them, one after another, and the comments at its end."""
    tokens = Tokens(file)
    before: tuple[Block, Document] | None = None
    for block in file.blocks:
        inside, written, always = tokens.leads(Gap.INSIDE, Gap.WRITTEN, Gap.ALWAYS)
        here = block, _block(block, tokens)
        if before is None:
            yield joined(inside, here[1])
        else:
            yield joined(LINE, written if _touch(before, here) else always, here[1])
        before = here
    end = tokens.end()
    yield end if before is None else joined(LINE, end)


def _touch(one: tuple[Block, Document], other: tuple[Block, Document]) -> bool:
    """True if two blocks may stand without an empty line between them: two short ones of a kind."""
    if type(one[0]) is not type(other[0]):
        return False
    return isinstance(one[0], Let) or max(one[1].flat, other[1].flat) <= WIDTH


def _block(block: Block, tokens: Tokens) -> Document:
    match block:
        case Header():
            name = joined(tokens.take("pack"), SPACE, tokens.leaf(block.name.span))
            return joined(name, SPACE, tokens.take("version"), SPACE, tokens.leaf(block.version.span))
        case Let():
            name = joined(tokens.take("let"), SPACE, tokens.leaf(block.name.span))
            return joined(name, SPACE, tokens.take("="), SPACE, hanging(block.value, tokens))
        case Stream():
            return stream(block, tokens)
        case Table():
            return table(block, tokens)
        case Queries():
            return queries(block, tokens)
        case Rule():
            return rule(block, tokens)
        case TestBlock():
            return test(block, tokens)
        case Broken():
            raise ValueError(f"a block with an error has no layout: line {block.span.line}")
        case _:
            assert_never(block)
