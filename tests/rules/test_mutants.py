"""Every pack that we show, with one token wrong: still a pack, or a diagnostic on the right line.

Right is the line of the token, of its neighbours, or of the bracket that belongs to one of them.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
from effort import each
from mutants import mutants
from writing import LANGUAGE

from rules.packs import load_texts

ROOT = Path(__file__).parents[2]
PART = 1_500
"""All mutants of a large pack take some minutes: tests of about so many characters share them."""
EACH = each(3)
"""Of a pack of several parts, every so manieth token is changed."""
FENCE = re.compile(r"```rules[^\n]*\n(.*?)```", re.DOTALL)


def packs() -> dict[str, str]:
    """The packs of examples and pages that stand on their own, each text once."""
    texts = {
        str(file.relative_to(ROOT)): file.read_text("utf-8") for file in ROOT.glob("examples/**/*.rules")
    }
    for file in sorted(ROOT.glob("docs/*.md")):
        for number, text in enumerate(FENCE.findall(file.read_text("utf-8"))):
            texts[f"{file.name}:{number}"] = text
    texts["language"] = LANGUAGE
    alone = {text: name for name, text in texts.items() if load_texts([("p.rules", text)]).pack is not None}
    return {name: text for text, name in alone.items()}


def misplaced(text: str, every: int, first: int, counted: Counter[str]) -> list[str]:
    """The mutants whose diagnostics all stand on other lines; counts how the others came out."""
    wrong: list[str] = []
    for mutant in mutants(text, every, first):
        found = load_texts([("p.rules", mutant.text)]).diagnostics
        lines = {d.span.line if d.span else 0 for d in found if d.level == "error"}
        counted["all"] += 1
        counted["still a pack" if not lines else "reported"] += 1
        counted["reported at the place only"] += bool(lines) and lines <= mutant.lines
        if lines and not lines & mutant.lines:
            wrong.append(f"{mutant.done}: reported on {sorted(lines)}, not on {sorted(mutant.lines)}")
    return wrong


@pytest.mark.slow
def test_a_wrong_token_is_reported_on_its_line() -> None:
    counted: Counter[str] = Counter()
    text = (ROOT / "examples/cards/cards.rules").read_text("utf-8")
    assert misplaced(text, 3, 0, counted) == []
    assert counted["reported"] > 0.9 * counted["all"]
    assert counted["reported at the place only"] > 0.9 * counted["reported"], "errors follow from errors"


def parts() -> list[tuple[str, int, int]]:
    """Name of a pack, number of the part, and how many parts there are."""
    counts = {name: 1 + len(text) // PART for name, text in packs().items()}
    return [(name, part, count) for name, count in counts.items() for part in range(count)]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "part", "count"), parts())
def test_any_wrong_token_of_any_pack_is_reported_on_its_line(name: str, part: int, count: int) -> None:
    counted: Counter[str] = Counter()
    wrong = misplaced(packs()[name], count * (EACH if count > 1 else 1), part, counted)
    print(name, dict(counted), *wrong, sep="\n")
    assert len(wrong) <= 0.01 * counted["all"] + 1
    assert counted["reported at the place only"] > 0.9 * counted["reported"], "errors follow from errors"
