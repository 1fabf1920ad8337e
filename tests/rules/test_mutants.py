"""Every pack that we show, with one token wrong: still a pack, or a diagnostic on the right line.

Right is the line of the token, of its neighbours, or of the bracket that belongs to one of them.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
from effort import each
from mutants import mutants, tokens
from writing import LANGUAGE

from rules.packs import load_texts

ROOT = Path(__file__).parents[2]
TOKENS = 30
"""Of each text at least about so many tokens are changed: a share of fewer says little."""
FENCE = re.compile(r"```rules[^\n]*\n(.*?)```", re.DOTALL)


PACKS = {
    "language": LANGUAGE,
    **{
        str(file.relative_to(ROOT)): file.read_text("utf-8")
        for file in sorted(ROOT.glob("examples/**/*.rules"))
    },
}


def alone(text: str) -> bool:
    """True if the text is a pack that stands on its own."""
    return load_texts([("p.rules", text)]).pack is not None


def shown() -> dict[str, str]:
    """The packs of pages that stand on their own, each text once, by page and number."""
    texts = {
        text: f"{file.name}:{number}"
        for file in sorted(ROOT.glob("docs/*.md"))
        for number, text in enumerate(FENCE.findall(file.read_text("utf-8")))
        if text not in PACKS.values()
    }
    return {name: text for text, name in texts.items() if alone(text)}


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


@pytest.mark.slow
@pytest.mark.parametrize("name", PACKS)
def test_any_wrong_token_of_any_pack_is_reported_on_its_line(name: str) -> None:
    if not alone(PACKS[name]):
        pytest.skip("a file of a pack of several")
    assert_reported(PACKS[name], each(9))


@pytest.mark.slow
def test_any_wrong_token_of_the_packs_of_pages_is_reported_on_its_line() -> None:
    packs = shown()
    assert packs
    for name, text in packs.items():
        print(name)
        assert_reported(text, each(3))


def assert_reported(text: str, every: int) -> None:
    """Fails if more than one in a hundred is reported elsewhere, or one mistake as many."""
    counted: Counter[str] = Counter()
    wrong = misplaced(text, min(every, 1 + len(tokens(text)) // TOKENS), 0, counted)
    print(dict(counted), *wrong, sep="\n")
    assert len(wrong) <= 0.01 * counted["all"] + 1
    assert counted["reported at the place only"] > 0.9 * counted["reported"], "errors follow from errors"
