"""docs/query-language.md shows queries that are ones, and names all codes of those that are none."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from percolator.checks import check
from percolator.query.errors import Code, QueryError
from percolator.query.foreign_words import LookalikeCode
from percolator.query.lookalikes import lookalikes
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
    assert set(re.findall(r"PQ\d\d", PAGE)) == set(map(str, (*Code, *LookalikeCode)))


def _foreign() -> list[tuple[str, str]]:
    """The rows of the table of other languages' forms, each with the code that it names."""
    table = (
        PAGE.split("## Coming from another language")[1].split("| --- | --- | --- |\n")[1].split("\n\n")[0]
    )
    rows = [line.replace(r"\|", "\x00").split(" | ") for line in table.splitlines()]
    return [
        (written.replace("\x00", "|"), str(re.findall(r"PQ\d\d", row[2])[0]))
        for row in rows
        for written in re.findall(r"`([^`]+)`", row[0])
    ]


@pytest.mark.parametrize(("written", "code"), _foreign())
def test_what_the_page_calls_foreign_is_reported(written: str, code: str) -> None:
    query = f"a {written} b" if re.fullmatch(r"[a-z]*/?\w+|\+[5sp]", written) else written
    try:
        found = [str(one.code) for one in lookalikes(query, parse(query))]
    except QueryError as error:
        found = [str(error.code)]
        code = "PQ03" if "/" in written else code
    assert found == [code]


def test_the_page_shows_the_whole_table_of_foreign_forms() -> None:
    assert len(_foreign()) > 35
