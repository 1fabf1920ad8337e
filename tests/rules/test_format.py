"""The layout of rule files: nothing but blanks and lines changes, and what has the layout is left alone."""

from __future__ import annotations

import json
import re
from functools import partial
from pathlib import Path

import pytest
from calls import calls
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from random_packs import packs
from random_syntax import Tokens, blocks, files, spread
from same_tree import bare, comments
from test_no_text_breaks_the_reader import EVERYTHING

from rules.format import formatted, laid_out
from rules.grammar import parse
from rules.source import SourceFile
from rules.syntax import File

ROOT = Path(__file__).parents[2]
PACKS = sorted((ROOT / "examples").rglob("*.rules"))
PAGES = sorted((ROOT / "docs").rglob("*.md"))
TOKEN = re.compile(
    r'"(?:[^"\\\n]|\\.)*"|`[^`\n]+`|#[^\n]*|[0-9][0-9_]*(?:\.[0-9_]+)?(?:[eE][+-]?[0-9]+)?\w*|\w+'
    r"|[+*?}]\?|->|=>|~>|==|!=|<=|>=|=~|\S"
)
WIDTH = 100


def read(text: str) -> File:
    file, problems = parse(SourceFile("x.rules", text))
    assert problems == (), f"{[p.message for p in problems]} in\n{text}"
    return file


def layout(text: str) -> str:
    found, problems = formatted(SourceFile("x.rules", text))
    assert found is not None, f"{[p.message for p in problems]} in\n{text}"
    return found


def tokens_of(text: str) -> Tokens:
    """The tokens of a text, without its comments."""
    return [token for token in TOKEN.findall(text) if not token.startswith("#")]


def squeezed(text: str) -> str:
    """The text with every token on a line of its own, comments behind what they stood behind."""
    lines: list[str] = []
    for line in text.splitlines():
        if lines and not line.strip():
            lines.append("")
        for place, token in enumerate(TOKEN.findall(line)):
            if place and token.startswith("#"):
                lines[-1] += token
            else:
                lines.append(token)
    return "\n".join(lines)


def assert_kept(text: str) -> str:
    """Fail unless the layout keeps what the text says, and its own layout is itself."""
    before, shown = read(text), layout(text)
    after = read(shown)
    assert bare(after.blocks) == bare(before.blocks), shown
    assert comments(after) == comments(before), shown
    assert layout(shown) == shown
    assert "\r" not in shown
    assert not any(line != line.rstrip() for line in shown.split("\n")), shown
    return shown


@pytest.mark.slow
@settings(max_examples=examples(300), deadline=None)
@given(files().flatmap(spread))
def test_any_file_means_the_same_in_its_layout(text: str) -> None:
    assert_kept(text)


@settings(max_examples=examples(20), deadline=None)
@given(packs().map(tokens_of).flatmap(spread))
def test_any_pack_means_the_same_in_its_layout(text: str) -> None:
    assert_kept(text)


@pytest.mark.slow
def test_any_comment_may_stand_between_any_two_tokens() -> None:
    words = tokens_of(EVERYTHING)
    for comment in (" # why\n", "\n# why\n", "\n\n# why\n\n"):
        assert_kept(comment.join(words))
        for place in range(0, len(words), 60):
            assert_kept(" ".join(words[:place]) + comment + " ".join(words[place:]))


@settings(max_examples=examples(60), deadline=None)
@given(st.data())
def test_the_layout_depends_on_no_blank_and_no_line_end_of_an_open_block(data: st.DataObject) -> None:
    tokens = data.draw(blocks())
    if "{" in tokens:
        tokens.insert(tokens.index("{") + 1, "\n")  # a block that begins on one line may stay on it
    one = data.draw(spread(tokens, (" ", "\t", "\n", " \r\n"), comments=False))
    assert layout(one) == layout("\n".join(tokens)), one


def conformance() -> list[tuple[str, str]]:
    lines = (ROOT / "tests" / "conformance" / "cases.jsonl").read_text(encoding="utf-8").splitlines()
    return [(case["id"], case["rules"]) for case in map(json.loads, lines)]


@pytest.mark.slow
def test_the_packs_of_all_conformance_cases_mean_the_same_in_their_layout() -> None:
    refused = 0
    for _, text in conformance():
        _, problems = parse(SourceFile("case", text))
        refused += bool(problems)
        if not problems:
            assert_kept(text)
    assert refused < len(conformance()) / 4


@pytest.mark.slow
@pytest.mark.parametrize("path", PACKS, ids=lambda p: str(p.relative_to(ROOT)))
def test_every_example_has_the_layout(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert assert_kept(text) == text, "run `make layout`"
    assert layout(squeezed(text)) == text


def rule_blocks(page: Path) -> list[str]:
    """The rule blocks of a page whose syntax is right."""
    found = re.findall(
        r"^```rules[^\n]*\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    )
    return [text for text in found if not parse(SourceFile("page", text))[1]]


@pytest.mark.slow
def test_every_rule_of_the_pages_has_the_layout() -> None:
    other = [
        f"{page.relative_to(ROOT)}: {text}"
        for page in PAGES
        for text in rule_blocks(page)
        if assert_kept(text) != text
    ]
    assert not other, "run `make layout`:\n" + "\n".join(other)


def test_what_the_page_of_the_layout_shows_is_what_becomes_of_any_other_layout() -> None:
    shown = rule_blocks(ROOT / "docs" / "format.md")
    on_one_line = [text for text in shown if re.search(r"^\w.*\}$", text, re.MULTILINE)]
    assert (len(shown), len(on_one_line)) == (4, 1)
    for text in shown:
        assert layout(text) == text
        assert text in on_one_line or layout(squeezed(text)) == text


def test_lines_are_broken_at_the_width() -> None:
    text = layout(EVERYTHING)
    assert max(map(len, text.splitlines())) <= WIDTH


def test_a_file_with_an_error_has_no_layout() -> None:
    found, problems = formatted(SourceFile("x.rules", "rule a { on }\nrule b { on x }"))
    assert found is None
    assert [p.code for p in problems] == ["CEP0101"]


@pytest.mark.parametrize("lost", [slice(0, 0), slice(0, 1), slice(1, 2)])
def test_what_a_layout_would_lose_stops_it(lost: slice) -> None:
    file = read('pack p version "1"  rule a { on x }')
    with pytest.raises(ValueError, match="where the layout has"):
        laid_out(File(file.source, file.blocks[lost], file.comments))


@pytest.mark.slow
def test_work_grows_with_the_text() -> None:
    text = (ROOT / "examples/fraud/packs/fraud.rules").read_text(encoding="utf-8")
    few, many = read(text * 2), read(text * 20)
    of_few, of_many = (calls(partial(laid_out, file)) for file in (few, many))
    assert of_many < 11 * of_few
    assert of_many < calls(partial(read, text * 20)), "the layout is more work than reading"
