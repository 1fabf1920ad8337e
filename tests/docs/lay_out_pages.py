"""Gives the rule blocks of all pages and the packs of the examples their layout: `make layout`."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from cep.cli.main import main
from rules.format import formatted
from rules.source import SourceFile

ROOT = Path(__file__).parents[2]
_BLOCK = re.compile(r"^(```rules[^\n]*\n)(.*?)^```$", re.MULTILINE | re.DOTALL)


def laid_out(page: str) -> str:
    """The page with every rule block in its layout, but for those whose mistake is one of syntax."""
    return _BLOCK.sub(lambda block: f"{block[1]}{_layout(block[2])}```", page)


def _layout(text: str) -> str:
    shown, _ = formatted(SourceFile("page", text))
    return text if shown is None else shown


if __name__ == "__main__":
    for path in sorted((ROOT / "docs").rglob("*.md")):
        page = path.read_text(encoding="utf-8")
        if laid_out(page) != page:
            path.write_text(laid_out(page), encoding="utf-8")
            print(path.relative_to(ROOT))
    sys.exit(main(["fmt", str(ROOT / "examples")]))
