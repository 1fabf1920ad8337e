"""docs/tutorial.md is true: its files are written, its commands run and their outputs compared."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from rule_pages import Block, blocks, page

from rules.packs import load

TEXT = page("tutorial.md")


@pytest.mark.slow
def test_the_commands_print_what_the_page_shows(tmp_path: Path) -> None:
    folder, path = tmp_path / "cards", command(tmp_path / "bin")
    folder.mkdir()
    ran = 0
    for block in blocks(TEXT):
        if block.language == "console":
            for line, shown in commands(block):
                done = subprocess.run(
                    ["bash", "-c", line],
                    cwd=folder,
                    env={**os.environ, "PATH": path, "NO_COLOR": "1"},
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    text=True,
                    timeout=60,
                    check=False,
                )
                assert done.stdout == shown, f"docs/tutorial.md, line {block.line}: $ {line}"
                ran += 1
        else:
            write(folder / block.words, block.text)
    assert ran >= 8
    rules = load([folder / "cards.rules"]).need().rules
    assert [rule.name for rule in rules] == ["large_payment", "card_testing", "unconfirmed"]


def command(folder: Path) -> str:
    """A search path on which `cep` and `python3` are those of this environment."""
    folder.mkdir()
    for name, module in (("cep", "-m cep.cli.main "), ("python3", "")):
        script = folder / name
        script.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} {module}"$@"\n', encoding="utf-8")
        script.chmod(0o755)
    return f"{folder}{os.pathsep}{os.environ['PATH']}"


def commands(block: Block) -> list[tuple[str, str]]:
    """The commands of a block, each with the output shown below it."""
    return re.findall(r"^\$ (.+)\n((?:(?!\$ ).*\n)*)", block.text, re.MULTILINE)


def write(file: Path, text: str) -> None:
    """Add a block to a file, in place of the one that begins with the same line, if there is one."""
    before = file.read_text(encoding="utf-8") if file.exists() else ""
    first = re.escape(text.splitlines()[0])
    changed, times = re.subn(rf"^{first}\n.*?^\}}\n", lambda _: text, before, flags=re.MULTILINE | re.DOTALL)
    file.write_text(changed if times else f"{before}\n{text}" if before else text, encoding="utf-8")
