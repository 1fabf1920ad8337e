"""`cep explain CODE`: the page of a diagnostic's code."""

from __future__ import annotations

import argparse
import json
import re
import sys
from typing import TYPE_CHECKING

from cep.cli.failure import OK, UsageError

if TYPE_CHECKING:
    from cep.cli.arguments import Subparsers

_CODE = re.compile(r"(?:cep|pq)[ _-]?\d+", re.IGNORECASE)
_WIDTH = 100
"""Cells of a line, where the terminal has more."""


def register(subparsers: Subparsers) -> None:
    """Add the verb's parser."""
    parser = subparsers.add_parser(
        "explain",
        help="what a diagnostic means, and what to do",
        description="Print the page of a code, such as CEP0207: an example, why, and what to do.",
    )
    parser.add_argument("subject", metavar="CODE", help="the code in brackets of a message")


def run(arguments: argparse.Namespace) -> int:
    """Print the page; returns the exit code. Raises UsageError for a code that there is none of."""
    _explain_code(arguments.subject, arguments.format)
    return OK


def _explain_code(written: str, form: str) -> None:
    from cep.cli.output import paint, terminal_width
    from cep.pages import address, page, titles

    code = re.sub(r"[ _\[\]-]", "", written).upper()
    if code not in titles():
        raise UsageError(f"there is no code `{written}`", _meant(code))
    if form == "json":
        told = {"code": code, "title": titles()[code], "page": page(code), "address": address(code)}
        print(json.dumps(told, ensure_ascii=False))
        return
    from cep.cli.markdown import text_of

    width = min(terminal_width(sys.stdout) or _WIDTH, _WIDTH)
    print(text_of(page(code), lambda text, colour: paint(text, colour, sys.stdout), width), end="")


def _meant(code: str) -> str:
    """What helps: the nearest code, with its title."""
    from cep.pages import titles
    from rules.suggest import closest

    near = closest(code, titles()) if _CODE.fullmatch(code) else None
    if near is None:
        return "codes are such as CEP0207 and PQ05; they stand in brackets in a message"
    return f"did you mean `{near}`: {titles()[near]}?"
