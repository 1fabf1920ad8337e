"""The long run of windows: random programs with windows, reference against both forms of the engine.

    pytest -s -m soak tests/windows/test_windows_agree_for_long.py

As tests/cep/test_agreement_for_long.py, with nothing but windows: of any kind, over days of three zones, and
beside patterns. Segments keep even few windows as bytes, and few are evaluated at once. CEP_SEED is the first
chunk's seed, CEP_EFFORT scales the number of chunks.
"""

from __future__ import annotations

import os
import random

import pytest
import soak
from duel import Program
from effort import examples
from hypothesis import strategies as st
from random_windows import alike_packs, calendar_families, mixed_packs, window_packs

from cep.operators.windows.runtime import run_windows, window_rows

PACKS = 40
"""In a chunk, each with several feeds."""
CHUNKS = 110


def of_windows() -> st.SearchStrategy[list[Program]]:
    """Two fifths of them any windows; a fifth each of windows over days, of windows beside patterns, and of
    rules that run together."""
    windows, mixed, alike = (soak.families(packs) for packs in (window_packs(), mixed_packs(), alike_packs()))
    return st.one_of(windows, windows, calendar_families(), mixed, alike)


@pytest.mark.soak
@pytest.mark.timeout(0)
def test_all_engines_agree_on_windows_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(window_rows, "FEW", 0)
    monkeypatch.setattr(run_windows, "AT_ONCE", 20)
    first = int(os.environ.get("CEP_SEED") or random.SystemRandom().randrange(10**9))
    total = soak.Tally()
    for number in range(first, first + examples(CHUNKS)):
        tally = soak.run_chunk(number, PACKS, of_windows(), lambda found: print(found, flush=True))
        total.add(tally)
        print(f"seed {number}: {tally}", flush=True)
    print(f"seeds from {first}: {total}")
    for name, count in total.constructs.most_common():
        print(f"  {name}: {count:,} programs, {total.matched[name]:,} with alerts")
    assert total.differences == 0
