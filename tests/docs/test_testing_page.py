"""docs/testing.md is true: its packs are written, its commands run and their outputs compared."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from rule_pages import blocks, page

TEXT = page("testing.md")


@pytest.mark.slow
def test_the_commands_print_what_the_page_shows(tmp_path: Path) -> None:
    ran = 0
    for block in blocks(TEXT):
        if block.language == "rules":
            (tmp_path / block.words).write_text(block.text, encoding="utf-8")
            continue
        (found,) = re.findall(r"^\$ cep (.+)\n((?:.*\n)*)", block.text, re.MULTILINE)
        done = subprocess.run(
            [sys.executable, "-m", "cep.cli.main", *found[0].split()],
            cwd=tmp_path,
            env={**os.environ, "NO_COLOR": "1"},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert (done.stdout, done.stderr) == (found[1], ""), f"docs/testing.md, line {block.line}"
        ran += 1
    assert ran == 3
