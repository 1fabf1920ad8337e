"""Expressions get the types of the language's page, and conversions where operands need them."""

from __future__ import annotations

import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from writing import condition_of, errors, loaded, matching, on, pattern_of

from rules import typed
from rules.grammar.expression import expression
from rules.grammar.lexical import BlockText
from rules.instants import parse_instant
from rules.source import SourceFile
from rules.syntax import Binary, Bracketed, Chain, Conditional, Dotted, Expression, Number, Unary
from rules.types import Scalar

D, L = Scalar.DURATION, Scalar.LONG


def compared(condition: str) -> typed.Compare:
    found = condition_of(condition)
    assert isinstance(found, typed.Compare)
    return found


def test_longs_are_widened_beside_doubles() -> None:
    both = compared("n > amount")
    assert both.left == typed.Convert(both.left.operand, Scalar.DOUBLE, both.left.span)  # type: ignore[union-attr]
    assert both.right.type is Scalar.DOUBLE


def test_constants_are_converted_at_once() -> None:
    right = compared("amount > 2").right
    assert isinstance(right, typed.Literal)
    assert (right.value, type(right.value), right.type) == (2.0, float, Scalar.DOUBLE)


def test_two_longs_divide_to_a_double() -> None:
    left = compared("n / 2 > 0.3").left
    assert isinstance(left, typed.Arithmetic)
    assert left.type is Scalar.DOUBLE
    assert isinstance(left.left, typed.Convert)


@pytest.mark.parametrize(
    ("text", "type_"),
    [
        ("at - at", Scalar.DURATION),
        ('at - "2026-01-05T09:00Z"', Scalar.DURATION),
        ("at + 5m", Scalar.TIMESTAMP),
        ("5m + at", Scalar.TIMESTAMP),
        ("at - took", Scalar.TIMESTAMP),
        ("took - 5m", Scalar.DURATION),
        ("took * 2", Scalar.DURATION),
        ("2.5 * took", Scalar.DURATION),
        ("took / 2", Scalar.DURATION),
        ("took / 5m", Scalar.DOUBLE),
        ("-took", Scalar.DURATION),
        ("n % 3", Scalar.LONG),
        ("n + 1.5", Scalar.DOUBLE),
        ("round(amount, 2)", Scalar.DOUBLE),
        ("round(n)", Scalar.LONG),
        ("abs(n)", Scalar.LONG),
        ("length(kind)", Scalar.LONG),
        ("coalesce(n, 1.5)", Scalar.DOUBLE),
        ("coalesce(null, kind)", Scalar.STRING),
        ("flag ? 1 : 2.5", Scalar.DOUBLE),
        ("flag ? null : kind", Scalar.STRING),
        ("hour(at)", Scalar.LONG),
        ("lower(title)", Scalar.TEXT),
    ],
)
def test_results_have_their_type(text: str, type_: Scalar) -> None:
    found = condition_of(f"({text}) is null")
    assert isinstance(found, typed.IsNull)
    assert found.operand.type is type_


@pytest.mark.parametrize(
    "text",
    [
        *(
            "kind + kind > n",
            "at + at > at",
            "took + 1 > took",
            "took * took > took",
            "flag * 2 > 1",
            "-kind > 1",
        ),
        *("n > kind", "flag > true", "at > 5m", "kind in (1, 2)", "flag ? 1 : kind", 'n like "x"'),
        *('n =~ "x"', "length(n) > 1", "hour(kind) > 1", "coalesce(n, kind) > 1", "n and flag", "not n"),
        *(
            "round(amount, 1.5) > 1",
            "weekday(at, kind) > 1",
            'hour(at, "Mars/Base") > 1',
            'in_cidr(kind, "x")',
        ),
        *(
            'kind like "x\\"',
            'kind =~ "("',
            'kind =~ "(?=a)"',
            'kind =~ "a{2000}"',
            'kind =~ "\\1"',
            "n == null",
        ),
        *(
            'at > "yesterday"',
            'at > "2026-01-05T09:00"',
            'at > "2026-13-05T09:00Z"',
            "prev(n) > 1",
            "sum(a.n) > 1",
        ),
        *(
            "n.x > 1",
            "substr(kind) == kind",
            "amount > 1 > 2",
            "n is n",
            "n > ",
            "(n, 2) > 1",
            "kind matches kind",
        ),
        *(
            "1 > 99999999999999999999",
            "n > 5x",
            "kind == 'x'",
            "n ! 2",
            "a[1] > 2",
            "unknown(1)",
            'kind == "\\u1"',
        ),
    ],
)
def test_what_has_no_meaning_is_refused_once(text: str) -> None:
    assert len(errors(on(text))) == 1, errors(on(text))


def test_strings_beside_timestamps_are_instants() -> None:
    expected = parse_instant("2026-01-05T09:00:00Z")
    for text in ('at > "2026-01-05T10:00+01:00"', 'at in ("2026-01-05T09:00Z")', "at >= moment"):
        body = loaded('let moment = "2026-01-05T09:00Z"\n' + on(text)).need().rules[0].body
        assert isinstance(body, typed.On)
        literals = [p for p in typed.walk(body) if isinstance(p, typed.Literal)]
        assert [(p.value, p.type) for p in literals] == [(expected, Scalar.TIMESTAMP)]


def test_constants_stand_for_their_values() -> None:
    text = 'let risky = ("NG", "RU")\nlet top = base * 3 - -4\nlet base = 1_000\nlet all = (top, base)\n'
    text += on('country in risky and n > top and n in all and country in ("X", risky)')
    body = loaded(text).need().rules[0].body
    assert isinstance(body, typed.On)
    values = [p.value for p in typed.walk(body) if isinstance(p, typed.Literal)]
    assert values == ["NG", "RU", 3004, 3004, 1000, "X", "NG", "RU"]


def test_and_or_of_many_are_one_node() -> None:
    found = condition_of("n > 1 and n > 2 and n > 3")
    assert isinstance(found, typed.Logical)
    assert len(found.operands) == 3


def test_in_takes_what_its_page_says() -> None:
    for text in (
        'country in ("NG", null)',
        'country in ("NG")',
        'country in "NG"',
        "country in (kind, country)",
    ):
        assert isinstance(condition_of(text), typed.In)


def test_steps_are_seen_after_they_are_bound() -> None:
    pattern = pattern_of(
        "a: payment -> b: payment[n > a.n and prev(n, 2) > 1]{2,} -> c: payment[n > max(b.n)]"
    )
    conditions = [e.condition for _, e in pattern.pattern.elements if isinstance(e, typed.Step)]
    found = [[type(p).__name__ for p in typed.walk(c)] for c in conditions[1:] if c is not None]
    assert "StepRef" in found[0]
    assert "PrevRef" in found[0]
    assert "Aggregate" in found[1]


@pytest.mark.parametrize(
    ("pattern", "code"),
    [
        ("a: payment[n > b.n] -> b: payment", "CEP0212"),
        ("a: payment[n > a.n]", "CEP0212"),
        ("a: payment[n > last(a.n)]", "CEP0212"),
        ("(a: payment | b: payment[n > a.n])", "CEP0212"),
        ("(a: payment & b: payment[n > a.n])", "CEP0212"),
        ("a: payment -> not payment[n > b.n] -> b: payment", "CEP0212"),
        ("a: payment{2} -> b: payment[n > a.n]", "CEP0213"),
        ("(a: payment -> b: login){2} -> c: payment[n > a.n]", "CEP0213"),
        ("a: payment+ until payment[n > a.n]", "CEP0213"),
        ("a: payment -> b: payment[n > count(a.n)]", "CEP0225"),
        ("a: payment -> b: payment[list(a.n) is null]", "CEP0225"),
        ("a: payment -> b: payment[sum(a.kind) > 1]", "CEP0211"),
        ("a: payment -> b: payment[percentile(a.n, 2) > 1]", "CEP0214"),
        ("a: payment -> b: payment[first(a.n, n) > 1]", "CEP0214"),
        ("a: payment -> b: payment[a > 1]", "CEP0205"),
        ('a: payment -> b: login[a.title matches "x"]', "CEP0216"),
    ],
)
def test_what_cannot_be_seen_is_refused(pattern: str, code: str) -> None:
    assert [c for c, _ in errors(matching(pattern))] == [code]


@pytest.mark.parametrize(
    "pattern",
    [
        "a: payment[n >= last(a.n) or count(a) == 0]+",
        "a: payment+ until payment[n > sum(a.n)]",
        "(a: payment -> b: login[n > a.n]){2} -> c: payment[n > last(a.n) and n > max(b.n)]",
        "(a: payment[n > last(a.n)] -> b: login){2}",
        "(a: payment | a: payment[n > 2]) -> b: payment[n > a.n]",
        "(a: payment | b: login) -> c: payment[n > a.n or n > b.n]",
        "(a: payment & b: login) -> c: payment[n > a.n + b.n]",
        "a: payment? -> b: payment[n > a.n] -> c: payment{1} -> d: payment[n > c.n]",
        "a: payment -> (b: payment[n > a.n] -> c: payment[n > b.n + a.n])+ -> d: payment",
    ],
)
def test_what_can_be_seen_is_taken(pattern: str) -> None:
    assert errors(matching(pattern)) == []


# --- precedence, against an oracle that writes every bracket -----------------------------------

LEVELS = {
    **dict.fromkeys(["or"], 1),
    **dict.fromkeys(["and"], 2),
    **dict.fromkeys(["==", "!=", "<", "<=", ">", ">="], 4),
    **dict.fromkeys(["+", "-"], 5),
    **dict.fromkeys(["*", "/", "%"], 6),
}

Tree = tuple[str, ...] | tuple[object, ...]
trees = st.recursive(
    st.sampled_from(["a", "b", "1"]).map(lambda name: (name,)),
    lambda inner: st.one_of(
        st.tuples(st.sampled_from(sorted(LEVELS)), inner, inner),
        st.tuples(st.sampled_from(["not", "neg"]), inner),
        st.tuples(st.just("?"), inner, inner, inner),
    ),
    max_leaves=12,
)


def level(tree: tuple) -> int:  # type: ignore[type-arg]
    if len(tree) == 1:
        return 9
    return {"?": 0, "not": 3, "neg": 7}.get(tree[0], 0) or LEVELS.get(tree[0], 0)


def sparing(tree: tuple) -> str:  # type: ignore[type-arg]
    """The tree with brackets only where it would be read otherwise."""

    def inner(part: tuple, least: int) -> str:  # type: ignore[type-arg]
        text = sparing(part)
        return text if level(part) >= least else f"({text})"

    match tree:
        case (name,):
            return str(name)
        case ("?", test, yes, no):
            return f"{inner(test, 1)} ? {inner(yes, 0)} : {inner(no, 0)}"
        case ("not", operand):
            return f"not {inner(operand, 3)}"
        case ("neg", operand):
            return f"- {inner(operand, 7)}"
        case (operator, left, right):
            own = LEVELS[operator]
            comparing = own == 4
            return f"{inner(left, own + comparing)} {operator} {inner(right, own + 1)}"
    raise AssertionError(tree)


def full(tree: tuple) -> str:  # type: ignore[type-arg]
    match tree:
        case (name,):
            return str(name)
        case ("?", *parts):
            return "(" + " ? ".join(full(p) for p in parts) + ")"
        case ("not" | "neg" as word, operand):
            return f"({word} {full(operand)})"
        case (operator, left, right):
            return f"({full(left)} {operator} {full(right)})"
    raise AssertionError(tree)


def read(node: Expression) -> str:
    match node:
        case Dotted() | Number():
            return node.span.text
        case Bracketed():
            return read(node.items[0])
        case Unary():
            return f"({'neg' if node.operator == '-' else 'not'} {read(node.operand)})"
        case Binary():
            return f"({read(node.left)} {node.operator} {read(node.right)})"
        case Chain():
            text = read(node.operands[0])
            for operand in node.operands[1:]:
                text = f"({text} {node.operator} {read(operand)})"
            return text
        case Conditional():
            return f"({read(node.test)} ? {read(node.yes)} ? {read(node.no)})"
    raise AssertionError(node)


@settings(max_examples=examples(300), deadline=None)
@given(trees)
def test_precedence_is_that_of_the_page(tree: tuple) -> None:  # type: ignore[type-arg]
    text = sparing(tree)
    block = BlockText.of(SourceFile("t", text), 0, text)
    (node,) = expression().copy().parse_with_tabs().parse_string(block, parse_all=True)
    assert read(node) == full(tree)
