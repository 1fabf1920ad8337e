"""Fenced blocks and tables of a page, for the tests that hold the page to what it says."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"

_FENCE = re.compile(r"^```(\w+)[ ]?([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_CELLS = re.compile(r"(?<!\\)\|")


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block: its language, the words after it, its text, and the line on which it begins."""

    language: str
    words: str
    text: str
    line: int


def page(name: str) -> str:
    """The text of a page of docs/."""
    return (DOCS / name).read_text(encoding="utf-8")


def blocks(text: str) -> Iterator[Block]:
    """The fenced blocks of a page, in order."""
    for found in _FENCE.finditer(text):
        yield Block(found[1], found[2].strip(), found[3], text.count("\n", 0, found.start()) + 1)


def table(text: str, head: str) -> list[tuple[str, ...]]:
    """The rows below the one line that begins with `head`; of a cell that is code, the code."""
    lines = text.splitlines()
    starts = [n for n, line in enumerate(lines) if line.startswith(head)]
    assert len(starts) == 1, f"{len(starts)} tables begin with {head!r}"
    rows = []
    for line in lines[starts[0] + 2 :]:
        if not line.startswith("|"):
            break
        rows.append(tuple(_cell(cell) for cell in _CELLS.split(line)[1:-1]))
    return rows


def _cell(written: str) -> str:
    text = written.strip().replace("\\|", "|")
    return text[1:-1] if re.fullmatch(r"`[^`]+`", text) else text
