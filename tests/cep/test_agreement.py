"""The running engine raises what the reference raises: same alerts, ids, times and order.

For random rules over random streams, whatever the cuts between batches, restarts and shards. The long run is
`pytest -s -m soak tests/cep/test_agreement_for_long.py`.
"""

from __future__ import annotations

import itertools
import random
import re
from dataclasses import replace

import pytest
from duel import Program, assert_agreement, by_engine, by_reference, disagreement, programs
from effort import examples
from hypothesis import HealthCheck, given, settings
from random_packs import header
from random_streams import long_stream

QUIET = {"deadline": None, "suppress_health_check": list(HealthCheck)}


@pytest.mark.timeout(0)
@settings(max_examples=examples(140), **QUIET)
@given(programs())
def test_engines_agree(program: Program) -> None:
    assert_agreement(program, feeds=3)


RULES = """
rule loops {
  by g  match a: e[k == "a"]{2,} -> b: e[k == "b" and v > avg(a.v)]  within 40s  emit n = count(a)
}
rule strict {
  by g  match a: e[k == "a"] => b: e[k == "b"] => c: e{1,2} contiguous  within 60s  skip to next
}
rule silence {
  by g  match a: e[k == "a"]{1,3} -> absent f[v == last(a.v)] for 20s  within 50s  emit s = sum(a.w)
}
rule many {
  by n  match a: e -> b: f[k == a.k and prev(k) != k]  within unbounded  skip none  limit 30 runs
}
rule greedy {
  by e.g = f.h  match a: e+ -> b: f? -> c: e[v > max(a.v)]  within 15s  emit g, all = list(a.k)
}
rule alone {
  match a: e[v == 3 and w == 2.0 and t matches "red"]{4}  within 100s
}
rule single {
  on f[w is null]  by g  emit g, v
}
"""


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_engines_agree_on_a_long_stream(seed: int) -> None:
    """Enough events for the pools to grow and their rows to be used again."""
    came = long_stream(seed, events=1_500, keys=12, seconds=400)
    ends = sorted(random.Random(seed).sample(range(len(came)), 6))
    batches = tuple(tuple(came[a:b]) for a, b in itertools.pairwise([0, *ends, len(came)]))
    program = Program(header(3) + RULES, batches, frozenset({1, 4}), shards=3, compiled=bool(seed))
    if found := disagreement(program):
        pytest.fail(found, pytrace=False)
    assert {alert["rule"] for alert in by_reference(program).alerts} == set(re.findall(r"rule (\w+)", RULES))


@pytest.mark.slow
@pytest.mark.timeout(0)
@settings(max_examples=examples(50), **QUIET)
@given(programs(compiled=True))
def test_the_compiled_kernel_agrees(program: Program) -> None:
    compiled, plain = by_engine(program), by_engine(replace(program, compiled=False))
    assert compiled.alerts == plain.alerts, f"{program}"
    assert compiled.counts == plain.counts, f"{program}"
