"""The grammar of the language: a file's text -> its untyped syntax tree.

`blocks` cuts the text into top-level blocks; each is then read on its own by pyparsing elements, one
module a construct; `members` goes on after an error at the next clause, field or line, so that each gets
its diagnostic. The elements are built once, when the first block is read, and keep no state: several
threads may read at the same time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache

from pyparsing import ParseBaseException, ParserElement

from rules.diagnostics import Diagnostic
from rules.grammar.blocks import KEYWORDS, RawBlock, cut
from rules.grammar.characters import paths_among, unseen_in
from rules.grammar.lexical import NAME, Lexeme, read_name, read_span
from rules.grammar.members import ERRORS
from rules.grammar.nodes import series
from rules.grammar.pack import header, let
from rules.grammar.queries import queries
from rules.grammar.rule import rule
from rules.grammar.stream import stream
from rules.grammar.table import table
from rules.grammar.test import test
from rules.source import SourceFile, Span
from rules.syntax import Block, Broken, File, Lost, Name, Rule, Stream, Table, TestBlock

SIZE = 16 * 1024 * 1024
"""Greatest length of a file, in characters."""

_GRAMMARS: dict[str, Callable[[], ParserElement]] = {
    "pack": header,
    "stream": stream,
    "table": table,
    "queries": queries,
    "let": let,
    "rule": rule,
    "test": test,
}


def parse(source: SourceFile) -> tuple[File, tuple[Diagnostic, ...]]:
    """The file's syntax tree and everything that is wrong with its syntax."""
    if len(source.text) > SIZE:
        message = f"the file has more than {SIZE:,} characters"
        help_ = "split it: all files of a folder with one header form one pack"
        return File(source, (), ()), (
            Diagnostic("CEP0111", "error", message, Span(source, 0, 0), help=help_),
        )
    pieces = cut(source)
    reader = _Reader()
    for raw in pieces.blocks:
        reader.read(raw)
        if len(reader.diagnostics) >= ERRORS:
            break
    unseen = unseen_in(source)
    places = {finding.span.start for finding in unseen if finding.span is not None}
    foreign = (d for d in pieces.diagnostics if not reader.explains(d))
    own = (d for d in (*foreign, *reader.diagnostics) if d.span is None or d.span.start not in places)
    diagnostics = [*unseen, *own, *paths_among(reader.blocks)]
    if len(diagnostics) >= ERRORS:
        place = diagnostics[ERRORS - 1].span
        message = f"the file has {ERRORS:,} errors: what follows was not read"
        diagnostics[ERRORS:] = [
            Diagnostic(
                "CEP0111", "error", message, place, help="mend those that are shown; then the rest is read"
            )
        ]
    return File(source, tuple(reader.blocks), pieces.comments), tuple(diagnostics)


class _Reader:
    """Reads block after block. What stands between them after an error is taken for its continuation."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self.diagnostics: list[Diagnostic] = []
        self._astray: int | None = None
        self._regions: list[tuple[int, int]] = []
        self._prefixed = False

    def read(self, raw: RawBlock) -> None:
        """Add the next block, and what is wrong with it."""
        if not raw.keyword:
            self._read_stray(raw)
            return
        if self._astray is not None:
            self._regions.append((self._astray, raw.text.base))
        block, problems = _block(raw)
        if self._prefixed and isinstance(block, Broken):
            problems = []  # `create table t (`: what stands before the keyword has its finding
        self._prefixed = False
        self.blocks.append(block)
        self.diagnostics.extend(problems)
        self._astray = raw.text.base if problems or isinstance(block, Broken) else None

    def _read_stray(self, raw: RawBlock) -> None:
        from rules.grammar.explain import TOO_EARLY, stray

        before = self.blocks[-1] if self.blocks else None
        self._prefixed = "\n" not in raw.text[len(raw.text.rstrip()) :]
        self.blocks.append(_broken(raw))
        if self._astray is not None:
            return
        self._astray = raw.text.base
        keyword = _keyword(before)
        finding = stray(raw.text, keyword)
        self.diagnostics.append(finding)
        if isinstance(before, Stream | Table | Rule | TestBlock) and finding.help.startswith(TOO_EARLY):
            lost = Lost(frozenset([""]), finding, raw.text.span(0, len(raw.text)))
            self.blocks[-2] = replace(before, broken=(*before.broken, lost))

    def explains(self, finding: Diagnostic) -> bool:
        """True if a finding only follows from text that could not be read: a stray `}` or `;`.

        Also if it is about a foreign character, such as a quote, in text that is no block.
        """
        if finding.span is None or finding.code == "CEP0114":
            return False
        at = finding.span.start
        if finding.code == "CEP0108":
            around = (b for b in self.blocks if isinstance(b, Broken) and b.span.start <= at < b.span.end)
            return any(not b.keyword or finding.span.text == ";" for b in around)
        if finding.span.text != "}":
            return False
        open_ = self._astray is not None and self._astray <= at
        return open_ or any(start <= at < end for start, end in self._regions)


def _keyword(block: Block | None) -> str:
    """The keyword of a block with members; empty for others."""
    match block:
        case Stream():
            return "stream"
        case Table():
            return "table"
        case Rule():
            return "rule"
        case TestBlock():
            return "test"
        case _:
            return ""


def _block(raw: RawBlock) -> tuple[Block, list[Diagnostic]]:
    if not raw.whole:
        return _broken(raw), []
    try:
        block = _read(raw)
    except ParseBaseException as problem:
        from rules.grammar.explain import explain

        return _broken(raw), [explain(raw.text, problem, raw.keyword)]
    assert isinstance(block, Block)
    broken = block.broken if isinstance(block, Stream | Table | Rule | TestBlock) else ()
    return block, [lost.finding for lost in broken]


def _read(raw: RawBlock) -> object:
    """The block as a node. Raises ParseBaseException."""
    element = _whole(raw.keyword)
    end, (block, *_) = element._parse(raw.text, 0)
    if raw.text[end:].isspace() or end == len(raw.text):
        return block
    return element.parse_string(raw.text, parse_all=True)[0]  # says what is wrong with the rest


@cache
def _whole(word: str) -> ParserElement:
    # spans count the characters of the file, so tabs must stay what they are
    return _GRAMMARS[word]().parse_with_tabs()


@cache
def _first_name() -> ParserElement:
    words = Lexeme(rf"(?:{'|'.join(KEYWORDS)})(?!\w)", "a block", read_span)
    return series(words + Lexeme(NAME, "a name", read_name))


def _broken(raw: RawBlock) -> Broken:
    """The known parts of a block that could not be read: its kind and, mostly, its name."""
    found: Name | None = None
    try:
        _, (_, found) = _first_name()._parse(raw.text, 0)
    except ParseBaseException:
        found = None  # the block has no name; its diagnostic says so
    return Broken(raw.keyword, found, raw.text.span(0, len(raw.text)))
