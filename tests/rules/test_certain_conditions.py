"""The certain truth of conditions before there is an event is found, and no other is called certain."""

from __future__ import annotations

import itertools

import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from cep.expressions.scalar import compiled
from rules import typed
from rules.checks.truth import truth_of
from rules.packs import load_texts

STREAM = """pack p version "1"
stream e { id_: string  at: timestamp  k: string  s: string?  n: long  m: long?  x: double  f: boolean
           g: boolean?  d: { os: string  v: long? }?  r: { os: string }  t: text  id id_  time at }
"""


def findings(rule: str) -> list[tuple[str, str]]:
    found = load_texts([("p", STREAM + rule)])
    assert found.pack is not None, found.diagnostics
    return [(d.code, d.span.text if d.span else "") for d in found.diagnostics]


def certain(condition: str) -> list[tuple[str, str]]:
    return findings(f"rule r {{ on e[{condition}] }}")


LOOPS = {
    "n > avg(a.n)": True,
    "n > 5 and (n > last(a.n) or k == last(a.k))": True,
    "count(a) > 0 and n > 5": True,
    "0 < count(a)": True,
    "not count(a) < 1": True,
    "distinct(a.k) in (1, 2)": True,
    'lower(last(a.k)) like "a%"': True,
    "last(a.k) is not null": True,
    "(n > 5 ? last(a.n) : -first(a.n)) == 1": True,
    "n > (count(a) == 0 ? 0 : last(a.n))": False,
    "count(a) == 0 or n > last(a.n)": False,
    "n > coalesce(avg(a.n), 0.0)": False,
    "last(a.k) is null": False,
    "not (n > 5 and n > last(a.n))": False,
    "count(a) < 3": False,
}


@pytest.mark.parametrize("condition", LOOPS)
def test_a_loop_that_nothing_can_begin_is_found(condition: str) -> None:
    rule = f"rule r {{ by k  match a: e[{condition}]{{2,}} -> b: e[n > 9]  within 1h }}"
    assert (("CEP0305", condition) in findings(rule)) is LOOPS[condition]
    again = f"rule r {{ by k  match a: e{{2}} -> b: e[{condition}]  within 1h }}"
    assert "CEP0305" not in {code for code, _ in findings(again)}, "another step's events"


NEVER = [
    "n > 5 and n < 3",
    "n > 5 and n < 6",
    "n > 5.5 and n < 6",
    "n == 2.5",
    "n > 9_223_372_036_854_775_807",
    "n < -9_223_372_036_854_775_808",
    "x > 5 and x <= 5",
    'k == "a" and k == "b"',
    'k in ("a", "b") and k == "c"',
    'k in ("a", "b") and k != "a" and k != "b"',
    'k not in ("a", null)',
    'k > "b" and k < "a"',
    "m is null and m > 3",
    "m > 3 and m is null",
    "k is null",
    "n between 5 and 3",
    "hour(at) == 24",
    "weekday(at) < 1",
    "length(k) < 0",
    "f and not f",
    "x != x",
    "n < n",
    "not (n > 5 or n <= 5)",
    "n > 5 and (n < 3 or n == 4)",
    'd.os == "a" and d.os == "b"',
    "r.os is null",
    't matches "acme" and not t matches "acme"',
    'k like "a%" and k not like "a%"',
    "2 * n > 5 and 2 * n < 3",
    'at > "2026-01-05T09:00Z" and at < "2026-01-05T08:00Z"',
]
ALWAYS = [
    "n > 5 or n <= 5",
    "k is not null",
    "length(k) >= 0",
    "n != 2.5",
    "n >= -9_223_372_036_854_775_808",
    "not (n > 5 and n < 3)",
    "f or not f",
    "x == x",
    "hour(at) between 0 and 23",
    'k == "a" or k != "a"',
]


@pytest.mark.parametrize("condition", NEVER + ALWAYS)
def test_a_condition_that_is_certain_is_found(condition: str) -> None:
    assert certain(condition) == [("CEP0305", condition)]


@pytest.mark.parametrize(
    "condition",
    [
        "n > 5 and n < 7",
        "x > 5 and x < 6",
        "m > 5 or m <= 5",
        "m is not null and m > 5",
        "m > 5 and m is not null",
        "d is null or d.v > 3",
        "m == m",
        "not (m > 5 and m < 3)",
        'k not in ("a", "b") and k != "c"',
        'coalesce(s, "x") == "x"',
        "n > 5 and n + 1 < 3",
        's =~ "a" or k =~ "a"',
        "n > m and n < m or f",
        "x * 0 == 0",
        "abs(x) >= 0 or g",
    ],
)
def test_a_condition_that_may_be_either_is_left_alone(condition: str) -> None:
    assert [code for code, _ in certain(condition)] in ([], ["CEP0235"])


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("n > 5 and n > 3", [("CEP0233", "n > 3")]),
        ('k == "a" and (n > 5 or k == "b")', [("CEP0233", 'k == "b"')]),
        ('n > 5 or k == "a" or k == "a"', [("CEP0233", 'k == "a"')]),
        ('n > 5 or k in ("a") and k == "b"', [("CEP0233", 'k == "b"')]),
        ("n > 5 or k is null", [("CEP0235", "k is null")]),
        ("n > 5 and r.os is not null", [("CEP0235", "r.os is not null")]),
    ],
)
def test_a_part_that_decides_nothing_is_found(condition: str, expected: list[tuple[str, str]]) -> None:
    assert certain(condition) == expected


def test_a_step_that_never_takes_an_event_is_named() -> None:
    text = "rule r { by k  match a: e -> b: e[n > a.n and x > 2 and x < 1]  within 1h }"
    (found,) = (d for d in load_texts([("p", STREAM + text)]).diagnostics if d.code == "CEP0305")
    assert "step `b` never takes an event" in found.message
    assert [label.span.text for label in found.labels] == ["x < 1", "x > 2"]


@pytest.mark.parametrize(
    ("pattern", "dead"),
    [
        ("(a: e[n > 5] | b: e[n > 5])", ["b: e[n > 5]"]),
        ("(a: e | b: e[n > 5])", ["b: e[n > 5]"]),
        ("(a: e[n > 5] | b: e[n > 7])", ["b: e[n > 7]"]),
        ("(a: e[n > 5] -> c: e | b: e[n > 7] -> c: e)", ["b: e[n > 7] -> c: e"]),
        ("(a: e[n > 5] | b: e[n == 1] | c: e[n == 1 and x > 2])", ["c: e[n == 1 and x > 2]"]),
        ("(a: e[n > 7] | b: e[n > 5])", []),
        ("(a: e[n > 5] | b: e[n > 5]{2})", []),
        ("(a: e[n > 5] -> c: e | b: e[n > 7] => c: e)", []),
        ("(a: e[n > 5]{2} | b: e[n > 7]{2})", []),
        ("(a: e[m > 5] | b: e[m is not null])", []),
        ("z: e ~> (a: e[n > 5] | b: e[n > 5])", []),
    ],
)
def test_a_branch_that_is_never_taken_is_found(pattern: str, dead: list[str]) -> None:
    rule = f"rule r {{ by k  match {pattern}  within 1h }}"
    assert [place for code, place in findings(rule) if code == "CEP0234"] == dead


class Row:
    """One event of five fields."""

    def __init__(self, values: dict[str, object]) -> None:
        self.values = values

    def field(self, path: tuple[str, ...]) -> object:
        return self.values[path[0]]


SMALL = st.sampled_from(("0", "1", "2", "1.5"))
COMPARE = st.sampled_from(("==", "!=", "<", "<=", ">", ">="))
ATOMS = st.one_of(
    st.tuples(st.sampled_from(("n", "m", "x")), COMPARE, SMALL).map(" ".join),
    st.tuples(SMALL, COMPARE, st.sampled_from(("n", "m"))).map(" ".join),
    st.sampled_from(("m is null", "m is not null", "n is null", "f", "g", "n in (0, 1)", "m not in (1, 2)")),
    st.sampled_from(("m in (0, null)", "n not in (0, null)", "n between 1 and 2", "m not between 0 and 1")),
)
CONDITIONS = st.recursive(
    ATOMS,
    lambda below: st.one_of(
        st.tuples(below, below).map(lambda p: f"({p[0]} and {p[1]})"),
        st.tuples(below, below).map(lambda p: f"({p[0]} or {p[1]})"),
        below.map(lambda c: f"not ({c})"),
    ),
    max_leaves=6,
)
ROWS = [
    Row(dict(zip(("n", "m", "x", "f", "g"), values, strict=True)))
    for values in itertools.product(
        (-1, 0, 1, 2, 3),
        (None, -1, 0, 1, 2, 3),
        (0.0, 1.0, 1.25, 1.5, 1.75, 2.0),
        (True, False),
        (True, None),
    )
]


@settings(max_examples=examples(150), deadline=None)
@given(CONDITIONS)
def test_what_is_said_to_be_certain_is_so_for_every_event(condition: str) -> None:
    pack = load_texts([("p", STREAM + f"rule r {{ on e[{condition}] }}")]).need()
    body = pack.rules[0].body
    assert isinstance(body, typed.On)
    assert body.condition is not None
    truth = truth_of(body.condition, pack.stream("e"))
    if truth.certainty == "open":
        return
    evaluate = compiled(body.condition)
    truths = {evaluate(row) is True for row in ROWS}  # type: ignore[arg-type]  # these conditions read fields alone
    assert truths == {truth.certainty == "always"}, condition


@pytest.mark.slow
@settings(max_examples=examples(150), deadline=None)
@given(st.lists(CONDITIONS, min_size=2, max_size=4))
def test_a_part_that_decides_nothing_may_be_left_out(parts: list[str]) -> None:
    """The condition means the same with `true` or `false` in the place of each part that is reported."""
    condition = " and ".join(f"({part})" for part in parts)
    pack = load_texts([("p", STREAM + f"rule r {{ on e[{condition}] }}")]).need()
    body = pack.rules[0].body
    assert isinstance(body, typed.On)
    assert body.condition is not None
    for part in truth_of(body.condition, pack.stream("e")).parts:
        at, text = part.node.span, part.node.span.file.text
        changed = f"{text[: at.start]}{str(part.certainty == 'always').lower()}{text[at.end :]}"
        other = load_texts([("p", changed)]).need().rules[0].body
        assert isinstance(other, typed.On)
        assert other.condition is not None
        before, after = compiled(body.condition), compiled(other.condition)
        for row in ROWS:
            same = (before(row) is True) == (after(row) is True)  # type: ignore[arg-type]
            assert same, (condition, at.text, row.values)
