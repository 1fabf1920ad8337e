"""Every code has a page, every page a code; its example gives that code, drawn as the golden file shows."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from golden import no_other_golden, same_as_golden

from cep.explanation.pages import titles
from cep.packs.unsupported import unsupported
from percolator.checks import parse_checked
from percolator.library.refusal import LifeCode
from percolator.query.errors import Code, QueryError
from percolator.query.foreign_words import LookalikeCode
from percolator.query.lookalikes import lookalikes
from percolator.schema import Schema
from rules.codes import LINTS
from rules.diagnostics import Diagnostic, in_order
from rules.packs import load_texts
from rules.render import render_all
from rules.source import SourceFile, Span

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "docs" / "errors"
GOLDEN = ROOT / "tests" / "golden"
PACKAGES = ("rules", "cep", "alerts", "percolator", "kernels")
NO_EXAMPLE = {"CEP0111", "CEP0505", "CEP0506", "CEP0507", "CEP0508", "CEP0509", "PQ08", "PQ09", *LifeCode}
"""What no text in a page can show: sizes, files, and what was there before."""
NOT_RULES = ("CEP07", "CEP08", "CEP092", "CEP095", "CEP096", "CEP097", "CEP0999")
"""Codes of job files, data and running: what triggers them is more than a text."""
SCHEMA = Schema.of({"title": "text", "body": "text english", "price": "number", "lang": "keyword"})

RANGES = {
    "CEP01": "Syntax",
    "CEP02": "Names and types",
    "CEP03": "Right, and still suspicious",
    "CEP04": "Patterns and bounds",
    "CEP05": "Packs and files",
    "CEP06": "Tests",
    "CEP07": "The job file",
    "CEP08": "Outbox and data",
    "CEP09": "Running",
    "PQ": "Text queries",
}


def page(code: str) -> str:
    return (PAGES / f"{code}.md").read_text(encoding="utf-8")


def examples(code: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", page(code), re.DOTALL)


RULE_CODES = [c for c in titles() if c not in NO_EXAMPLE and not c.startswith(("PQ", *NOT_RULES))]
QUERY_CODES = [c for c in titles() if c not in NO_EXAMPLE and c.startswith("PQ")]
LOOKALIKES = set(map(str, LookalikeCode))


def found_in(code: str) -> list[Diagnostic]:
    """The findings of loading a page's examples as the files of one pack, with what cannot run yet."""
    files = [
        (f"{number}.rules" if number else "example.rules", text)
        for number, text in enumerate(examples(code, "rules"))
    ]
    assert files, f"{code} has no example"
    loaded = load_texts(files)
    return in_order([*loaded.diagnostics, *(unsupported(loaded.pack) if loaded.pack else ())])


def of_query(code: str) -> Diagnostic:
    """The finding of the query of a page: a word that looks like an operator, or why it cannot be read."""
    (text,) = examples(code, "query")
    if code in LOOKALIKES:
        query = text.rstrip("\n")
        one = lookalikes(query, parse_checked(query, SCHEMA))[0]
        return Diagnostic(
            one.code, "warning", one.message, Span(SourceFile("query", text), *one.span), help=one.help
        )
    with pytest.raises(QueryError) as raised:
        parse_checked(text.rstrip("\n"), SCHEMA)
    error = raised.value
    file = SourceFile("query", text)
    span = None if error.position is None else Span(file, error.position, error.position + 1)
    return Diagnostic(error.code, "error", error.message, span, help="")


def test_every_code_has_a_page_and_every_page_a_code() -> None:
    assert {file.stem for file in PAGES.glob("*.md")} - {"README"} == set(titles())


def test_every_code_that_is_raised_has_a_title_and_none_more() -> None:
    sources = [p for name in PACKAGES for p in (ROOT / name).rglob("*.py") if p.name != "codes.py"]
    raised = {c for p in sources for c in re.findall(r'"(CEP\d{4})"', p.read_text(encoding="utf-8"))}
    named = {code for code in titles() if code.startswith("CEP08") and code < "CEP0850"}  # alerts.codes
    assert raised | named | set(map(str, (*Code, *LookalikeCode, *LifeCode))) == set(titles())


@pytest.mark.parametrize("code", titles())
def test_a_page_begins_with_code_and_title(code: str) -> None:
    assert page(code).splitlines()[0] == f"# {code}: {titles()[code]}"
    assert re.search(r"```\w+\n|^    \S", page(code), re.MULTILINE), "a page shows an example"


@pytest.mark.parametrize("code", RULE_CODES)
def test_the_example_of_a_page_gives_its_code(code: str) -> None:
    found = found_in(code)
    levels = {"warning", "hint"} if code in LINTS else {"error"}
    assert [d.code for d in found if d.level in levels] == [code]
    assert all(d.help for d in found), "a diagnostic says what to do"
    same_as_golden(render_all(d for d in found if d.code == code), GOLDEN / f"{code}.txt")


@pytest.mark.slow
def test_no_diagnostic_is_made_without_saying_what_to_do() -> None:
    """`help` has no default, so what is left are empty ones; helps that are computed are tried by texts."""
    empty = [
        f"{path.relative_to(ROOT)}:{call.lineno}"
        for name in PACKAGES
        for path in (ROOT / name).rglob("*.py")
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(call, ast.Call)
        for keyword in call.keywords
        if keyword.arg in ("help", "help_") and "" in _constants(keyword.value)
    ]
    assert empty == []


def _constants(value: ast.expr) -> list[object]:
    """The constants that an expression may be, as far as it is written there."""
    match value:
        case ast.Constant(constant):
            return [constant]
        case ast.IfExp(_, one, other):
            return _constants(one) + _constants(other)
        case ast.BoolOp(_, values):
            return _constants(values[-1])
        case _:
            return []


@pytest.mark.parametrize("code", QUERY_CODES)
def test_the_query_of_a_page_gives_its_code(code: str) -> None:
    finding = of_query(code)
    assert finding.code == code
    same_as_golden(render_all([finding]), GOLDEN / f"{code}.txt")


def test_no_golden_file_is_left_over() -> None:
    no_other_golden(GOLDEN, {*RULE_CODES, *QUERY_CODES})


def test_the_index_lists_all_pages() -> None:
    lines = ["# Diagnostics", "", "One page for every code. `cep explain CEP0207` prints one.", ""]
    for start, about in RANGES.items():
        lines += [
            f"## {start}{'xx' if start.startswith('CEP') else ''}: {about}",
            "",
            "| code | |",
            "| --- | --- |",
        ]
        codes = [code for code in titles() if code.startswith(start)]
        lines += [f"| [{code}]({code}.md) | {titles()[code]} |" for code in codes] + [""]
    same_as_golden("\n".join(lines), PAGES / "README.md")
