"""Our pages as a terminal shows them: the Markdown that they are written in, without its signs.

Knows what the pages use: headings, paragraphs, lists, fenced and indented code, tables, `code`, **strong**
and [links](to). Anything else is printed as it stands.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterator

from rules.terminal import printable

Paint = Callable[[str, str], str]
"""A text in a colour of cep.cli.output.paint, or as it is."""

_LINK = re.compile(r"\[([^\]]+)\]\(([^)]+)\)")
_STRONG = re.compile(r"\*\*([^*]+)\*\*")
_CODE = re.compile(r"`([^`]+)`")
_BULLET = re.compile(r"(?:[*-]|\d+\.) ")
_RULE = re.compile(r"\|?(?:\s*:?-+:?\s*\|)+\s*(?::?-+:?)?\s*$")


def text_of(page: str, paint: Paint, width: int) -> str:
    """The page in lines of so many cells at most, code aside, each ended."""
    return "".join(f"{line}\n" for block in _blocks(page) for line in _shown(block, paint, width))


def _blocks(page: str) -> Iterator[list[str]]:
    """Paragraphs, headings, list items and pieces of code, with an empty block where a line is empty."""
    block: list[str] = []
    fenced = False
    for line in page.splitlines():
        fence = line.startswith("```")
        alone = fenced or fence or not line.strip() or line.startswith(("#", "    ", "|"))
        if block and (alone or _BULLET.match(line)):
            yield block
            block = []
        if fence:
            fenced = not fenced
        elif alone:
            yield [f"    {line}".rstrip() if fenced else line]
        else:
            block.append(line)
    if block:
        yield block


def _shown(block: list[str], paint: Paint, width: int) -> Iterator[str]:
    line = printable(block[0])
    if line.startswith("    ") or not line:
        yield paint(line, "dim") if line else ""
    elif line.startswith("#"):
        yield paint(_plain(line.lstrip("# ")), "bold")
    elif line.startswith("|"):
        if not _RULE.match(line):
            yield _coloured("   ".join(cell.strip() for cell in line.strip("|").split("|")), paint)
    else:
        text = " ".join(printable(part).strip() for part in block)
        bullet = _BULLET.match(text)
        hang = " " * len(bullet[0]) if bullet else ""
        wrapped = textwrap.wrap(
            _LINK.sub(_target, text),
            width,
            subsequent_indent=hang,
            break_long_words=False,
            break_on_hyphens=False,
        )
        yield from _coloured("\n".join(wrapped), paint).split("\n")


def _target(link: re.Match[str]) -> str:
    """The text of a link; its address too where that is one to open."""
    return f"{link[1]} ({link[2]})" if link[2].startswith("http") and link[1] != link[2] else link[1]


def _coloured(text: str, paint: Paint) -> str:
    strong = _STRONG.sub(lambda found: paint(found[1], "bold"), text)
    return _CODE.sub(lambda found: found[0] if "\n" in found[1] else paint(found[0], "bold"), strong)


def _plain(text: str) -> str:
    return _STRONG.sub(r"\1", text)
