"""Patterns become the typed tree that engines run; what has no meaning is refused."""

from __future__ import annotations

import pytest
from writing import errors, loaded, matching, on, pattern_of

from rules import typed
from rules.typed import ONCE, Quantifier

MINUTE = 60 * 10**9


def shown(node: object) -> str:
    """A typed pattern in short."""
    match node:
        case typed.Sequence():
            parts = [f"{sign if n else ''}{shown(e)}" for n, (sign, e) in enumerate(node.elements)]
            return "".join(parts)
        case typed.Step():
            return f"{node.name}:{node.stream}{loop(node)}"
        case typed.Unless():
            return f"not {node.guard.stream}"
        case typed.Absent():
            return f"absent {node.guard.stream} {node.duration}"
        case typed.Group():
            return f"({shown(node.body)}){loop(node)}"
        case typed.Either():
            return "(" + "|".join(map(shown, node.branches)) + ")" + loop(node)
        case typed.AnyOrder():
            return "(" + "&".join(map(shown, node.operands)) + ")" + loop(node)
    raise AssertionError(node)


def loop(node: typed.Step | typed.Group | typed.Either | typed.AnyOrder) -> str:
    q = node.quantifier
    text = "" if q == ONCE else f"{{{q.least},{q.most},{q.mode},{q.own}}}"
    text += "" if node.until is None else f" until {node.until.stream}"
    return text + ("" if node.gap is None else f" gap {node.gap}")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("payment -> login", "payment:payment->login:login"),
        ("a: payment => b: payment ~> c: login", "a:payment=>b:payment~>c:login"),
        ("a: payment{3}", "a:payment{3,3,greedy,relaxed}"),
        ("a: payment+", "a:payment{1,None,greedy,relaxed}"),
        ("a: payment*?", "a:payment{0,None,reluctant,relaxed}"),
        ("a: payment??", "a:payment{0,1,reluctant,relaxed}"),
        ("a: payment+ each", "a:payment{1,None,each,relaxed}"),
        ("a: payment{2,} any", "a:payment{2,None,each,any}"),
        ("a: payment{2,4} contiguous", "a:payment{2,4,greedy,contiguous}"),
        ("a: payment{2,4}? contiguous", "a:payment{2,4,reluctant,contiguous}"),
        ("a: payment+ gap 1m each until login", "a:payment{1,None,each,relaxed} until login gap 60000000000"),
        ("a: payment -> not login => b: payment", "a:payment->not login=>b:payment"),
        ("a: payment -> absent login for 1m", "a:payment->absent login 60000000000"),
        ("a: payment -> absent login", "a:payment->absent login None"),
        ("(a: payment -> b: login){2}", "(a:payment->b:login){2,2,greedy,relaxed}"),
        ("(a: payment | b: login => c: payment)+", "(a:payment|b:login=>c:payment){1,None,greedy,relaxed}"),
        ("(a: payment & (b: login | c: login))", "(a:payment&(b:login|c:login))"),
        ("((a: payment{3})? -> b: login)", "((a:payment{3,3,greedy,relaxed}){0,1,greedy,relaxed}->b:login)"),
        ("absent: payment -> not_: login", "absent:payment->not_:login"),
    ],
)
def test_patterns_keep_their_shape(text: str, expected: str) -> None:
    assert shown(pattern_of(text).pattern) == expected


def test_a_step_without_quantifier_is_taken_once() -> None:
    (_, step), *_ = pattern_of("a: payment").pattern.elements
    assert isinstance(step, typed.Step)
    assert step.quantifier == Quantifier(1, 1, "greedy", "relaxed") == ONCE


def test_streams_are_those_named_anywhere_in_order_of_declaration() -> None:
    assert pattern_of("a: login -> not payment -> b: login").streams == ("payment", "login")
    assert pattern_of("a: login+ until payment").streams == ("payment", "login")
    assert pattern_of("a: login").streams == ("login",)


@pytest.mark.parametrize(
    ("pattern", "clauses", "skip"),
    [
        ("a: payment -> b: login", "", typed.Skip("past last")),
        ("a: payment ~> b: login", "", typed.Skip("none")),
        ("a: payment -> (b: login{2,} each)", "", typed.Skip("none")),
        ("a: payment{2} any", "", typed.Skip("none")),
        ("a: payment ~> b: login", "skip to next", typed.Skip("next")),
        ("a: payment -> b: login", "skip to last b", typed.Skip("last", "b")),
        ("a: payment -> b: login", "skip none", typed.Skip("none")),
    ],
)
def test_skip_has_its_default(pattern: str, clauses: str, skip: typed.Skip) -> None:
    assert pattern_of(pattern, f"within 1m {clauses}").skip == skip


def test_defaults_of_a_rule() -> None:
    rule = loaded(matching("a: payment")).need().rules[0]
    assert isinstance(rule.body, typed.Match)
    assert (rule.body.limit, rule.body.having, rule.body.on_timeout) == (1000, None, None)
    assert (rule.severity, rule.summary, rule.tags, rule.runbook, rule.suppress) == (
        "medium",
        None,
        (),
        None,
        None,
    )
    assert rule.emit == ()


BOUNDED = [
    ("a: payment", ""),
    ("a: payment{3} gap 5m", ""),
    ("a: payment{3}", ""),
    ("a: payment -> b: login gap 5m", ""),
    ("a: payment+ gap 5m", ""),
    ("a: payment -> absent login for 5m", ""),
    ("absent login for 5m -> a: payment", ""),
    ("(a: payment | b: login)", ""),
    ("a: payment -> (b: login -> c: payment) gap 5m", ""),
    ("(absent login for 5m & a: payment)", ""),
    ("a: payment -> b: login{2,}", "within unbounded"),
    ("a: payment => not login", "within unbounded"),
    ("a: payment -> absent login for 2h", "within 1h"),
    ("absent login for 2h -> a: payment -> b: login", "within 1h"),
]


@pytest.mark.parametrize(("pattern", "clauses"), BOUNDED)
def test_what_is_bounded_is_taken(pattern: str, clauses: str) -> None:
    assert errors(matching(pattern, clauses)) == []


REFUSED = {
    ("a: payment -> b: login", ""): "CEP0401",
    ("a: payment+", ""): "CEP0401",
    ("(a: payment -> b: login gap 5m){2}", ""): "CEP0401",
    ("(a: payment & b: login)", ""): "CEP0401",
    ("a: payment => not login", ""): "CEP0401",
    ("a: payment -> absent login", ""): "CEP0401",
    ("a: payment -> absent login", "within unbounded"): "CEP0401",
    ("a: payment -> absent login for 5m -> b: payment", ""): "CEP0401",
    ("a: payment", "within 0s"): "CEP0402",
    ("a: payment -> b: login gap 0s", ""): "CEP0402",
    ("a: payment -> absent login for 0s", ""): "CEP0402",
    ("a: payment", "within 5m limit 0 runs"): "CEP0402",
    ("a: payment", "within 5m limit 100001 runs"): "CEP0425",
    ("a: payment", "within 5m limit 9223372036854775807 runs"): "CEP0425",
    ("not login -> a: payment", "within 5m"): "CEP0403",
    ("a: payment ~> not login -> b: payment", "within 5m"): "CEP0403",
    ("a: payment -> not login", "within 5m"): "CEP0403",
    ("a: payment -> (not login -> b: payment)", "within 5m"): "CEP0403",
    ("(a: payment | b: login & c: payment)", "within 5m"): "CEP0404",
    ("a: payment => absent login for 5m", "within 5m"): "CEP0405",
    ("a: payment ~> absent login for 5m", "within 5m"): "CEP0405",
    ("absent login -> a: payment", "within 5m"): "CEP0405",
    ("a: payment -> absent login -> b: payment", "within 5m"): "CEP0405",
    ("a: payment{3}{2}", "within 5m"): "CEP0406",
    ("a: payment+*", "within 5m"): "CEP0406",
    ("a: payment{3} ?", "within 5m"): "CEP0406",
    ("a: payment{3,2}", "within 5m"): "CEP0407",
    ("a: payment{0}", "within 5m"): "CEP0407",
    ("a: payment{0,0}", "within 5m"): "CEP0407",
    ("a: payment{,3}", "within 5m"): "CEP0407",
    ("a: payment{9999999}", "within 5m"): "CEP0407",
    ("a: payment each", "within 5m"): "CEP0408",
    ("a: payment until login", "within 5m"): "CEP0408",
    ("a: payment -> not login+ -> b: payment", "within 5m"): "CEP0408",
    ("a: payment+ any contiguous", "within 5m"): "CEP0409",
    ("a: payment+? each", "within 5m"): "CEP0409",
    ("a: payment+ each each", "within 5m"): "CEP0409",
    ("(a: payment | a: login)", "within 5m"): "CEP0411",
    ("a: payment -> a: login", "within 5m"): "CEP0411",
    ("a: payment -> a: payment -> b: payment[n > a.n]", "within 5m"): "CEP0213",
    ("a: payment -> a: payment[n > a.n]", "within 5m"): "CEP0213",
    ("(a: payment & a: payment) -> b: payment[n > a.n]", "within 5m"): "CEP0213",
    ("(a: payment | b: login) -> (a: payment[n > a.n] | c: login)", "within 5m"): "CEP0213",
    ("a: payment -> absent login for 5m -> b: payment", "within 5m"): "CEP0413",
    ("a: payment", "within unbounded on timeout emit card_id"): "CEP0413",
    ("a: payment | b: login", "within 5m"): "CEP0415",
    ("absent login for 5m", ""): "CEP0416",
    ("(a: payment", "within 5m"): "CEP0103",
    ("a: payment)", "within 5m"): "CEP0103",
    ("a: payment", "within 5m skip to first b"): "CEP0203",
    ("a: payment", "within 5m within 5m"): "CEP0112",
    ("a: payment", "within 5m emit n = a.n, n = 2"): "CEP0206",
    ("a: payment", 'within 5m summary "{n}"'): "CEP0220",
    ("a: payment", "within 5m suppress 1h by n"): "CEP0220",
    ("a: payment", 'within 5m emit card_id summary "{card_id"'): "CEP0221",
    ("a: payment", "within 5m having a.n"): "CEP0209",
    ("a: payment", "within 5m having n > 1"): "CEP0205",
}


@pytest.mark.parametrize(("pattern", "clauses"), REFUSED)
def test_what_has_no_meaning_is_refused(pattern: str, clauses: str) -> None:
    assert [code for code, _ in errors(matching(pattern, clauses))] == [REFUSED[pattern, clauses]]


@pytest.mark.parametrize(
    ("clause", "word"),
    [
        ("within 5m", "within"),
        ("having n > 1", "having"),
        ("skip none", "skip"),
        ("limit 5 runs", "limit"),
        ("on timeout emit n", "on timeout"),
    ],
)
def test_clauses_of_patterns_stand_in_no_other_rule(clause: str, word: str) -> None:
    assert errors(f"rule r {{ on payment {clause} }}") == [("CEP0414", word)]


def key_of(by: str, pattern: str = "payment -> login") -> typed.By | None:
    return loaded(f"rule r {{ by {by}  match {pattern}  within 5m }}").need().rules[0].by


def test_keys_are_fields_of_every_stream() -> None:
    by = key_of("card_id, n")
    assert by is not None
    assert by.names == ("card_id", "n")
    assert by.of("payment") == by.of("login") == (("card_id",), ("n",))


def test_streams_may_name_their_own_key_field() -> None:
    by = key_of("payment.card_id = login.user_card, n")
    assert by is not None
    assert by.names == ("card_id", "n")
    assert by.of("payment") == (("card_id",), ("n",))
    assert by.of("login") == (("user_card",), ("n",))


@pytest.mark.parametrize(
    ("by", "code"),
    [
        ("kind", "CEP0218"),
        ("payment.kind = login.ok", "CEP0219"),
        ("payment.kind = other.kind", "CEP0218"),
        ("payment.kidn = login.user_card", "CEP0218"),
        ("card_id, card_id", "CEP0206"),
    ],
)
def test_keys_that_cannot_be_are_refused(by: str, code: str) -> None:
    assert [c for c, _ in errors(f"rule r {{ by {by}  match payment -> login  within 5m }}")] == [code]


def test_a_bare_name_in_emit_is_a_field_of_the_key() -> None:
    rule = loaded(matching("a: payment", "within 5m emit card_id, x = card_id, n = a.n")).need().rules[0]
    assert [type(e.value).__name__ for e in rule.emit] == ["KeyRef", "KeyRef", "StepRef"]
    single = loaded(on("n > 1").replace("]", "] by card_id emit card_id, m = n + 1")).need().rules[0]
    assert [type(e.value).__name__ for e in single.emit] == ["FieldRef", "Arithmetic"]


def test_summaries_are_cut_at_their_names() -> None:
    rule = (
        loaded(matching("a: payment", 'within 5m emit card_id, n = a.n summary "{{x}} {n} on {card_id}!"'))
        .need()
        .rules[0]
    )
    assert rule.summary is not None
    assert (rule.summary.texts, rule.summary.names) == (("{x} ", " on ", "!"), ("n", "card_id"))
