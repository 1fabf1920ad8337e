"""Test blocks become timelines of typed values."""

from __future__ import annotations

import pytest
from writing import errors, loaded

from rules import typed
from rules.instants import parse_instant
from rules.packs import load_texts

SECOND = 10**9
RULE = """rule r { by card_id  match a: payment{2} -> b: login  within 1 hour
  emit card_id, n = count(a), spent = sum(a.amount), at = last(a.at), all = list(a.n) }
rule single { on login emit n }
"""


def block(lines: str, rules: str = "r") -> typed.Test:
    return loaded(f'{RULE} test {rules} "why" {{ {lines} }}').need().tests[0]


def test_events_have_the_types_of_their_fields() -> None:
    (given, *_) = block(
        'start "2026-01-05T09:00Z" at 1s payment { card_id: "c", amount: 2, n: -3, flag: null, took: 5m, '
        'at: "2026-01-05T08:59Z", country: (true ? "x" : "y") } expect nothing'
    ).timeline
    assert isinstance(given, typed.Given)
    assert given.at == parse_instant("2026-01-05T09:00:01Z")
    values = dict(given.values)
    assert values == {
        "card_id": "c",
        "amount": 2.0,
        "n": -3,
        "flag": None,
        "took": 300 * SECOND,
        "at": parse_instant("2026-01-05T08:59:00Z"),
        "country": "x",
    }
    assert isinstance(values["amount"], float)


def test_repeated_events_are_unrolled() -> None:
    lines = block(
        "at 10s payment {} x 3 every 5s at 20s late login {} at 30s watermark expect nothing"
    ).timeline
    assert [(type(x).__name__, getattr(x, "at", None)) for x in lines] == [
        ("Given", 10 * SECOND),
        ("Given", 15 * SECOND),
        ("Given", 20 * SECOND),
        ("Given", 20 * SECOND),
        ("MoveWatermark", 30 * SECOND),
    ]
    assert [x.late for x in lines if isinstance(x, typed.Given)] == [False, False, False, True]


def test_expectations_have_the_types_of_what_is_emitted() -> None:
    test = block(
        'at 1s payment {} expect at 5s { n: 2, spent: 3, at: 1s, all: [1, 2], severity: "medium", '
        'key: { card_id: "c" }, events: { a: ("1", "2"), b: "3" } } allow other'
    )
    expected = test.timeline[-1]
    assert isinstance(expected, typed.Expected)
    assert expected.at == 5 * SECOND
    assert dict(expected.values) == {
        "n": 2,
        "spent": 3.0,
        "at": SECOND,
        "all": (1, 2),
        "severity": "medium",
        "key": (("card_id", "c"),),
        "events": (("a", ("1", "2")), ("b", "3")),
    }
    assert (test.nothing, test.allow_other) == (False, True)


def test_a_star_means_all_rules_and_a_list_those_named() -> None:
    assert block("expect nothing", "*").rules == ("r", "single")
    assert block("expect nothing", "single, r").rules == ("single", "r")
    assert block("expect nothing").nothing


@pytest.mark.parametrize(
    ("lines", "code"),
    [
        ("at 1s payment { nope: 1 } expect nothing", "CEP0602"),
        ("at 1s nope {} expect nothing", "CEP0201"),
        ("at 1s payment { n: null } expect nothing", "CEP0603"),
        ('at 1s payment { n: "x" } expect nothing', "CEP0211"),
        ("at 1s payment { n: [1] } expect nothing", "CEP0603"),
        ("at 1s payment { n: amount } expect nothing", "CEP0205"),
        ('at 1s payment { n: length("x") } expect nothing', "CEP0226"),
        ("at 1s payment { n: 1, n: 2 } expect nothing", "CEP0206"),
        ("at 5s payment {} at 1s payment {} expect nothing", "CEP0604"),
        ("at 5s payment {} x 5 every 10s at 9s watermark expect nothing", "CEP0604"),
        ("at 1s payment {} x 0 expect nothing", "CEP0608"),
        ("at 1s payment {} expect { m: 1 }", "CEP0605"),
        ('at 1s payment {} expect { key: { kind: "x" } }', "CEP0605"),
        ('at 1s payment {} expect { events: { c: "x" } }', "CEP0605"),
        ('at 1s payment {} expect { severity: "hihg" }', "CEP0603"),
        ("at 1s payment {} expect { key: 1 }", "CEP0603"),
        ("at 1s payment {} expect { n: 1.5 }", "CEP0211"),
        ("at 1s payment {}", "CEP0606"),
        ("at 1s payment {} expect nothing expect { n: 1 }", "CEP0606"),
        ('at 1s payment {} start "2026-01-05T09:00Z" expect nothing', "CEP0607"),
        ('start "soon" at 1s payment {} expect nothing', "CEP0227"),
        ("at 200000d payment {} expect nothing", "CEP0105"),
        ('start "2262-01-01T00:00Z" at 150d payment {} expect nothing', "CEP0604"),
        ("at 1 payment {} expect nothing", "CEP0105"),
        ("at 1s payment { n: 1 m: 2 } expect nothing", "CEP0101"),
    ],
)
def test_what_a_test_cannot_mean_is_refused(lines: str, code: str) -> None:
    assert [c for c, _ in errors(f'{RULE} test r "why" {{ {lines} }}')] == [code]


def test_tests_of_rules_that_are_wrong_say_nothing_more() -> None:
    text = RULE.replace("amount)", "amuont)") + 'test r, q "x" { at 1s payment {} expect { n: 1, spent: 2 } }'
    assert [c for c, _ in errors(text)] == ["CEP0202", "CEP0601"]


def test_tests_may_stand_in_another_file() -> None:
    header = 'pack p version "1"\n'
    rules = header + "stream s { t: timestamp  id t  time t }\nrule r { on s }"
    tests = header + 'test r "x" { at 1s s {} expect {} }'
    assert len(load_texts([("b.rules", tests), ("a.rules", rules)]).need().tests) == 1


def test_an_emitted_value_may_have_a_tolerance() -> None:
    test = block(
        "expect { n: 2 within 1, spent: -3.5 within 0.01, at: 1s within 250ms, all: [1, 2] within 1 }"
    )
    (expected,) = test.timeline
    assert isinstance(expected, typed.Expected)
    assert dict(expected.values) == {
        "n": typed.Near(2, 1),
        "spent": typed.Near(-3.5, 0.01),
        "at": typed.Near(SECOND, SECOND // 4),
        "all": typed.Near((1, 2), 1),
    }


@pytest.mark.parametrize(
    ("lines", "place"),
    [
        ('expect { card_id: "c" within 1 }', '"c"'),
        ("expect { n: null within 1 }", "null"),
        ("expect { n: 1 within 1s }", "1s"),
        ("expect { at: 1s within 1 }", "1"),
        ("expect { spent: 1 within -0.5 }", "-0.5"),
        ("expect { spent: 12.5 +- 0.1 }", "12.5 +- 0.1"),
        ('expect { severity: "medium" within 1 }', "1"),
        ('expect { key: { card_id: "c" within 1 } }', "1"),
        ("at 1s payment { amount: 1 within 2 } expect nothing", "2"),
    ],
)
def test_a_tolerance_that_cannot_be_one_is_refused_where_it_stands(lines: str, place: str) -> None:
    found = [d for d in loaded(f'{RULE} test r "why" {{ {lines} }}').diagnostics if d.level == "error"]
    assert [(d.code, d.span.text if d.span else "") for d in found] == [("CEP0609", place)]
