"""Highlighters agree with the parser, for every token of every example."""

from __future__ import annotations

import dataclasses
import json
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib import import_module

import pytest
from pygments.token import Error
from test_format import PACKS, PAGES, ROOT, TOKEN, conformance, rule_blocks
from textmate_engine import Grammar

from rules.grammar import parse
from rules.highlight.places import Kind
from rules.highlight.pygments_lexer import TOKENS, RulesLexer
from rules.highlight.textmate import SCOPES, text
from rules.source import SourceFile, Span
from rules.syntax import Constant, Duration, File, Name, Number, String

FILE = ROOT / "editors" / "cep.tmLanguage.json"
WORD = re.compile(r"[^\W\d]")
SAME = {"word": "keyword", "function": "name", "punctuation": "mark", "operator": "mark"}
"""Kinds that the parser's tree does not tell apart."""


@cache
def examples() -> list[str]:
    """The rules of the folder, the pages and the conformance cases; read when a test wants them."""
    texts = [path.read_text(encoding="utf-8") for path in PACKS]
    texts += [block for page in PAGES for block in rule_blocks(page)]
    return texts + [rules for _, rules in conformance() if not parse(SourceFile("x", rules))[1]]


def leaves(node: object) -> Iterator[tuple[Span, Kind]]:
    """The literals and names of a tree, with what they are."""
    match node:
        case Name():
            yield node.span, "name"
        case String():
            yield node.span, "string"
        case Number() | Duration():
            yield node.span, "number"
        case Constant():
            yield node.span, "constant"
        case tuple():
            for item in node:
                yield from leaves(item)
        case Span() | SourceFile():
            return
        case _ if dataclasses.is_dataclass(node):
            for field in dataclasses.fields(node):
                yield from leaves(getattr(node, field.name))


def expected(file: File) -> Iterator[tuple[int, int, str]]:
    """Every token and comment of a file with its kind: words that are no names are keywords."""
    source = file.source.text
    kinds: dict[int, str] = {}
    for span, kind in leaves(file.blocks):
        kinds.update(dict.fromkeys(range(span.start, span.end), kind))
    for found in TOKEN.finditer(source):
        start, end = found.span()
        if found.group().startswith("#"):
            yield start, len(source[start:end].rstrip()) + start, "comment"
        elif start in kinds:
            yield start, end, kinds[start]
        elif WORD.match(found.group()):
            yield start, end, "keyword"
        elif not found.group()[0].isdecimal():
            yield start, end, "mark"


def assert_agree(source: str, kinds: list[Kind | None]) -> None:
    file, _ = parse(SourceFile("x", source))
    wrong = []
    for start, end, kind in expected(file):
        for shown in {SAME.get(k or "", k or "") for k in kinds[start:end]}:
            if shown != kind and not (shown == "type" and kind in ("name", "keyword")):
                line = source.count("\n", 0, start)
                wrong.append((source[start:end], kind, shown, source.splitlines()[line]))
    assert wrong == []


def by_pygments(source: str) -> list[Kind | None]:
    named = {token: kind for kind, token in TOKENS.items()}
    kinds: list[Kind | None] = []
    for _, token, value in RulesLexer().get_tokens_unprocessed(source):
        assert token is not Error
        kinds += [named.get(token)] * len(value)
    assert "".join(value for _, _, value in RulesLexer().get_tokens_unprocessed(source)) == source
    return kinds


GRAMMAR = Grammar(json.loads(FILE.read_text(encoding="utf-8")))


def by_textmate(source: str) -> list[Kind | None]:
    named = {scope: kind for kind, scope in SCOPES.items()}
    kinds: list[Kind | None] = [None] * len(source)
    for start, end, scope in GRAMMAR.scopes(source):
        kinds[start:end] = [named[scope]] * (end - start)
    return kinds


@pytest.mark.slow
def test_there_are_examples_of_everything() -> None:
    assert len(examples()) > 300
    words = {word for text in examples() for word in re.findall(r"\w+", text)}
    assert {"until", "absent", "sliding", "table", "queries", "watermark", "suppress", "timeout"} <= words


@pytest.mark.slow
@pytest.mark.parametrize("part", range(8))
def test_the_lexer_agrees_with_the_parser(part: int) -> None:
    for source in examples()[part::8]:
        assert_agree(source, by_pygments(source))


@pytest.mark.slow
@pytest.mark.parametrize("part", range(8))
def test_the_editors_grammar_agrees_with_the_parser(part: int) -> None:
    for source in examples()[part::8]:
        assert_agree(source, by_textmate(source))


def test_keywords_in_the_places_of_names_are_names() -> None:
    source = """rule by {
  by       by, on
  match    match: on[by == "x" and emit > match.each]
        -> any:   within[limit is null]{2,}? each
  within   5m
  emit     by, emit = last(any.emit), within = 3
  severity low
}
"""
    assert_agree(source, by_pygments(source))
    assert_agree(source, by_textmate(source))


@pytest.mark.parametrize(
    "source", ["rule", "rule r {", 'pack p version "1', "}}}", "stream s { a: \x00 €", "", "\n"]
)
def test_any_text_is_taken(source: str) -> None:
    by_pygments(source)
    by_textmate(source)


def test_the_grammar_in_the_tree_is_that_of_the_table() -> None:
    assert FILE.read_text(encoding="utf-8") == text(), (
        "python -m rules.highlight.textmate > editors/cep.tmLanguage.json"
    )


def test_the_package_for_editors_names_its_files() -> None:
    package = json.loads((ROOT / "editors" / "package.json").read_text(encoding="utf-8"))
    (grammar,), (language,) = package["contributes"]["grammars"], package["contributes"]["languages"]
    assert (grammar["scopeName"], grammar["language"]) == ("source.cep", language["id"])
    for named in (grammar["path"], language["configuration"]):
        json.loads((ROOT / "editors" / named).read_text(encoding="utf-8"))


def test_pygments_is_told_where_the_lexer_is() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    module, name = project["entry-points"]["pygments.lexers"]["rules"].split(":")
    assert getattr(import_module(module), name) is RulesLexer
