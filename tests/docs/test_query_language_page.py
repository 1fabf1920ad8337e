"""docs/query-language.md shows queries that are ones, and names all codes of those that are none."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from percolator.checks import check
from percolator.query.errors import Code
from percolator.query.parse import parse
from percolator.schema import Schema

PAGE = (Path(__file__).parents[2] / "docs" / "query-language.md").read_text("utf-8")
SCHEMA = Schema.of(
    {
        "title": "text",
        "body": "text english",
        "price": "number",
        "day": "date",
        "ip": "ip",
        "paid": "boolean",
        "lang": "keyword",
    }
)


def _written() -> list[str]:
    table = PAGE.split("## What can be written")[1].split("\n\n")[0]
    cells = [line.split(" | ")[0] for line in table.splitlines()[3:] if line.startswith("|")]
    return [query for cell in cells for query in re.findall(r"`([^`]+)`", cell) if query != "( )"]


@pytest.mark.parametrize("query", _written())
def test_what_the_page_says_can_be_written_can_be(query: str) -> None:
    check(parse(query), SCHEMA)


def test_the_page_shows_the_whole_table() -> None:
    assert len(_written()) > 35


def test_every_code_is_named() -> None:
    assert set(re.findall(r"PQ\d\d", PAGE)) == {str(code) for code in Code}
