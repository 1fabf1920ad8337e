"""A syntax error costs one clause, field or line: the others are read, and what only follows is not said."""

from __future__ import annotations

import pytest
from calls import calls
from writing import errors

from rules.grammar import parse
from rules.source import SourceFile
from rules.syntax import Emit, Rule, Severity, Stream

TWO_EACH = [
    (
        "rule r {\n by n\n match a: payment[amount >] -> b: payment\n within 5 minuts\n emit n = b.n\n}",
        [("CEP0101", "]"), ("CEP0105", "5")],
    ),
    (
        "rule r { on payment[n = 1]  emit count(n)\n  severity }",
        [("CEP0107", "="), ("CEP0101", "("), ("CEP0101", "}")],
    ),
    ("rule r { on payment[amount > 5 emit n, a = }", [("CEP0101", "emit"), ("CEP0101", "}")]),
    (
        "stream q { a: string, b: string  c long\n  d: strin  t: timestamp  time t }\nrule r { on q }",
        [("CEP0101", ","), ("CEP0101", "c"), ("CEP0224", "strin")],
    ),
    (
        'rule r { on payment }\ntest r "" { at 1s payment { n: }\n at foo payment\n expect { kind: "y" } }',
        [("CEP0101", "}"), ("CEP0101", "foo"), ("CEP0603", '"y"')],
    ),
]


@pytest.mark.parametrize(("text", "expected"), TWO_EACH)
def test_each_broken_part_has_its_diagnostic(text: str, expected: list[tuple[str, str]]) -> None:
    assert errors(text) == expected


FOLLOWING = [
    # names that a lost `emit` would have given
    ('rule r { on payment  emit n = }\n', "summary"),
    ('rule r { on payment  emit n, m = count(  summary "{n} {m}"  suppress 1h by n }', "emit"),
    ("rule r { match a: payment -> b: payment  within five  emit n = b.n }", "within"),
    ("rule r { by card-id  match a: payment -> b: payment  within 1h  emit card }", "by"),
    ('rule r { mtch a: payment  within 1h  emit n = a.n }', "match"),
    ('rule r { match a: payment b: payment  within 1h  emit n = b.n }', "match goes on"),
    ("rule r { whatever this is }", "anything"),
    ('rule r { emit n on payment[ }\ntest r "x" { at 1s payment {} expect { m: 1 } }', "a rule's outputs"),
    ('rule r { on payment }\ntest r "x" { at 1s payment {} expct { n: 1 } }', "an expectation"),
    ("stream q { a string  t: timestamp  time t  id a }\nrule r { on q[a == 1] emit a }", "a field"),
    ("stream q { t: timestamp  tim t }\nrule r { on q }", "a setting"),
    ('rule r { on payment emit n = }\ntest r "x" { at 1s payment {} expect { n: 1 within 2 } }', "a type"),
    ("let x = 5\nq { t: timestamp  time t }\nrule r { on q }", "a block's keyword"),
]  # fmt: skip


@pytest.mark.parametrize("text", [text for text, _ in FOLLOWING], ids=[what for _, what in FOLLOWING])
def test_nothing_is_said_that_only_follows_from_what_was_lost(text: str) -> None:
    assert len(errors(text)) == 1


def test_a_severity_is_checked_beside_a_body_that_is_lost() -> None:
    assert errors("rule r { severity urgent  on payment where n > 1 }") == [
        ("CEP0228", "urgent"),
        ("CEP0101", "where"),
    ]


def test_mistakes_that_follow_from_nothing_are_still_found() -> None:
    found = errors("rule r { on payment[nope > 1]  within 1h  emit n = }")
    assert found == [("CEP0202", "nope"), ("CEP0414", "within"), ("CEP0101", "}")]


def test_the_rest_of_a_rule_keeps_its_clauses() -> None:
    text = "rule r { severity high  match a: s[ -> b: s\n  emit n = a.n }"
    tree, found = parse(SourceFile("t", text))
    (rule,) = tree.blocks
    assert isinstance(rule, Rule)
    assert [type(clause) for clause in rule.clauses] == [Severity, Emit]
    assert [lost.words for lost in rule.broken] == [{"match"}]
    assert [lost.finding for lost in rule.broken] == list(found)


def test_the_rest_of_a_stream_keeps_its_fields() -> None:
    tree, _ = parse(SourceFile("t", "stream s { a: string  b long  c: long  t: timestamp  time t }"))
    (stream,) = tree.blocks
    assert isinstance(stream, Stream)
    assert [part.span.text for part in stream.parts] == ["c: long", "t: timestamp", "time t"]


ASTRAY = [
    ("a brace too many", 'rule r {\n on payment }\n emit n\n summary "{n}"\n}', ["emit"]),
    ("a brace missing", "rule r\n on payment\n match a: payment{2}\n emit n\n}", ["on"]),
    ("no name", 'rule { on payment }\ntest r "x" { expect nothing }', ["{"]),
    ("no name of a stream", "stream { t: timestamp  time t }\nrule r { on q }", ["{"]),
    ("no keyword", "top = 5\nrule r { on payment[n > top] }", ["top"]),
    (
        "an inner brace",
        'rule r { on payment }\ntest r "x" {\n at 1s payment { n: 1\n expect nothing\n}',
        ["{"],
    ),
]


@pytest.mark.parametrize(("text", "places"), [a[1:] for a in ASTRAY], ids=[a[0] for a in ASTRAY])
def test_a_block_that_goes_astray_is_reported_once(text: str, places: list[str]) -> None:
    assert [place for _, place in errors(text)] == places


def test_an_open_bracket_is_reported_where_it_opens() -> None:
    text = "rule r {\n on payment[length(kind > 5]\n emit n\n}"
    assert errors(text) == [("CEP0103", "]")]
    assert errors("rule r {\n on payment[n > 5]\n emit m = abs((n),\n      o = n\n}") == [("CEP0103", "abs")]
    assert errors("rule r {\n on payment[n > 5]\n emit m = abs(n\n severity high\n}") == [("CEP0103", "abs")]


def test_an_open_brace_is_reported_where_the_layout_shows_it() -> None:
    text = (
        'rule r { on payment }\ntest r "x" {\n  at 1s payment {}\n  at 2s payment { n: 1\n  expect nothing\n}'
    )
    (found,) = [d for d in parse(SourceFile("t", text))[1] if d.code == "CEP0103"]
    assert found.span is not None
    assert found.span.line == 4


def test_words_that_are_names_by_their_place_do_not_end_what_is_lost() -> None:
    text = "rule r { on payment  emit by = n, on = 1, over = (  , within = 5, match = n }"
    assert len(errors(text)) == 1


@pytest.mark.slow
@pytest.mark.parametrize("part", [" foo bar", " within x", " emit a, within 5m", " on s[(", "\n emit a = "])
def test_work_grows_with_the_length_of_what_is_broken(part: str) -> None:
    def work(count: int) -> int:
        text = f'pack p version "1"\nrule r {{{part * count}}}'
        assert 1 <= len(parse(SourceFile("t", text))[1]) <= 1001
        return calls(lambda: parse(SourceFile("t", text)))

    work(10)
    assert work(20_000) < 12 * work(2_000)
