"""Constructs that are checked but not executed yet are refused with code and place, and nothing else is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cep.packs.compile import compile_plan
from cep.packs.unsupported import TITLES, unsupported
from rules.diagnostics import DiagnosticsError
from rules.packs import load_texts

PAGES = Path(__file__).parents[2] / "docs" / "errors"
HEAD = """pack p version "1"
stream e { id_: string  at: timestamp  k: string  v: long  w: double  id id_  time at }
"""


@pytest.mark.slow
def test_too_many_states_are_refused_at_the_pattern() -> None:
    pattern = "(" + " & ".join(f"s{n}: e[v == {n}]" for n in range(12)) + ")"
    pack = load_texts([("p.rules", HEAD + f"rule r {{ match {pattern} within 1 hour }}")]).need()
    (found,) = unsupported(pack)
    assert found.span is not None
    assert (found.code, found.span.text) == ("CEP0906", pattern)
    with pytest.raises(DiagnosticsError):
        compile_plan([pack])


VALUES = HEAD.replace(
    "w: double", "w: double  tags: list<string>  d: { os: string  n: list<long> }  m: decimal"
)


@pytest.mark.parametrize(
    "rule",
    [
        'on e["x" in tags and length(d.n) > 1 and m > 1.5] emit d, tags, x = decimal(w) * m',
        "by m match a: e{2} -> b: e[tags == last(a.tags) and prev(d) is null] within 1h emit m",
        'match a: e -> b: e["x" in a.tags and m > 1.1 * a.m and length(prev(tags)) > 1] within 1h',
        "match a: e{2} within 1h emit all = list(a.tags), n = sum(a.m), d = last(a.d)",
        "match a: e -> b: e[k in a.tags and m - a.m > 1 and round(a.m * m, 2) != avg(a.m)] within 1h",
        "by d.os match a: e -> b: e[d.os != a.d.os] within 1h emit os, all = list(b.d.os)",
    ],
)
def test_lists_records_and_decimals_are_computed_with(rule: str) -> None:
    pack = load_texts([("p.rules", VALUES + f"rule r {{ {rule} }}")]).need()
    assert unsupported(pack) == []
    compile_plan([pack])


BLOCKS = """table m key k { k: string  risk: double }
queries q { from "q.jsonl" }
stream d { id_: string  at: timestamp  sent: timestamp  got: timestamp  x: text
           id id_  time at corrected by sent, got }
"""


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        ("rule r { by k  over e sliding 5m  having count() > 1 }", []),
        ("rule r { by k  over e sliding 5m  having sum(m[k].risk) > 1 }", [("CEP0914", "m[k].risk")]),
        (
            "rule r { on e  emit k  into s }\nrule t { over s sliding 5m  having count() > 1 }",
            [("CEP0916", "over s sliding 5m")],
        ),
        ("rule r { on e[m[k].risk > 1 and v > 1] }", [("CEP0914", "m[k].risk")]),
        ("rule r { by k  match a: e -> b: e[v > m[a.k].risk]  within 1h }", [("CEP0914", "m[a.k].risk")]),
        ("rule r { on e  emit x = m[k].risk }", [("CEP0914", "m[k].risk")]),
        ("rule r { on d }", [("CEP0917", "corrected by sent, got")]),
        (
            "rule r { match a: e -> absent d matching q for 5m  within 1h }",
            [("CEP0917", "corrected by sent, got")],
        ),
        ("rule r { on e  emit k  into s }\nrule t { match s{2}  within 1h }", [("CEP0916", "s{2}")]),
        ("rule r { on e  emit k  into s }", []),
        (
            "rule r { on d  emit x, id_  into s }\nrule t { on s matching q }",
            [("CEP0917", "corrected by sent, got"), ("CEP0916", "on s matching q")],
        ),
        ("rule r { on e }", []),
    ],
)
def test_only_what_a_rule_reads_is_refused(rules: str, expected: list[tuple[str, str]]) -> None:
    found = unsupported(load_texts([("p.rules", HEAD + BLOCKS + rules)]).need())
    assert [(d.code, d.span.text) for d in found if d.span is not None] == expected


def test_what_is_declared_and_not_read_is_in_no_plan() -> None:
    plan = compile_plan([load_texts([("p.rules", HEAD + BLOCKS + "rule r { on e  emit k  into s }")]).need()])
    assert sorted(plan.streams) == ["d", "e"]


def test_a_search_in_an_aggregate_is_not_refused() -> None:
    rule = 'over e tumbling 5m  having count() > 1  emit n = count(k matches "acme")'
    pack = load_texts([("p.rules", HEAD.replace("k: string", "k: text") + f"rule r {{ {rule} }}")]).need()
    assert unsupported(pack) == []


def test_a_search_in_emit_is_refused() -> None:
    text = HEAD.replace("k: string", "k: text") + 'rule r { on e emit hit = k matches "acme" }'
    (found,) = unsupported(load_texts([("p.rules", text)]).need())
    assert found.span is not None
    assert (found.code, found.span.text) == ("CEP0912", 'k matches "acme"')


@pytest.mark.parametrize(
    "pattern",
    [
        "a: e{2,} contiguous => b: e? -> c: e* -> absent e[v > sum(a.v)] for 5s",
        'a: e -> b: e[lower(a.k) == k and a.w <= w and a.k < k and a.k like "x%"]',
        "a: e{3,} -> b: e[v > avg(a.v) and v < max(a.v)]",
        "a: e -> b: e[at - a.at < 5 seconds and v * 1.5 > coalesce(a.v, 1) and prev(v, 3) is null]",
        "a: e{2} -> b: e[stddev(a.v) > 1 or k == substr(first(a.k), v)]",
        "a: e ~> b: e -> not e[v > 1] -> (c: e | d: e+ each until e[v == 2]){2,3}? -> absent e for 1m",
        "absent e[v > 1] for 1m -> (a: e & b: e gap 5s & absent e[v == 9] for 3s) -> absent e for 1s -> c: e",
    ],
)
def test_the_rest_is_executed(pattern: str) -> None:
    pack = load_texts([("p.rules", HEAD + f"rule r {{ match {pattern} within 1 hour }}")]).need()
    assert unsupported(pack) == []
    compile_plan([pack])


@pytest.mark.slow
@pytest.mark.parametrize("code", sorted(TITLES))
def test_every_code_has_a_page_whose_example_gives_it(code: str) -> None:
    page = (PAGES / f"{code}.md").read_text(encoding="utf-8")
    assert page.splitlines()[0] == f"# {code}: {TITLES[code]}"
    (example,) = re.findall(r"```rules\n(.*?)```", page, re.DOTALL)
    assert [d.code for d in unsupported(load_texts([("p.rules", example)]).need())] == [code]
