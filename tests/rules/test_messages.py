"""Messages as people see them: the code, the smallest place, what helps; and none that only follows."""

from __future__ import annotations

import pytest
from writing import STREAMS, errors, fraud, loaded, matching, on

from rules.grammar.window import SHOWN
from rules.packs import load_texts
from rules.render import render


def test_the_message_of_the_language_page() -> None:
    text = fraud().replace("payment[amount > 20 *", "payment[country > 20 *")
    (diagnostic,) = [d for d in load_texts([("fraud.rules", text)]).diagnostics if d.level == "error"]
    assert render(diagnostic) == (
        "error[CEP0207]: step `big` compares string with double\n"
        "  --> fraud.rules:28:27\n"
        "   |\n"
        "28 |         -> big:   payment[country > 20 * avg(probe.amount) "
        "and country != last(probe.country)]\n"
        "   |                           ^^^^^^^ `country` is a string\n"
        "   = help: did you mean `amount`?\n"
    )


GOLDEN = {
    on("n => 5"): ("CEP0107", "=>", "`=>` does not compare", "did you mean `>=`?"),
    on("n = 5"): ("CEP0107", "=", "`=` does not compare", "did you mean `==`?"),
    on("amout > 5"): ("CEP0202", "amout", "stream `payment` has no field `amout`", "did you mean `amount`?"),
    "rule r { on paymnet }": ("CEP0201", "paymnet", "unknown stream `paymnet`", "did you mean `payment`?"),
    "ruel r { on payment }": (
        "CEP0101",
        "ruel",
        "expected a block: `pack`, `stream`, `table`, `queries`, `let`, `rule` or `test`",
        "did you mean `rule`?",
    ),
    "rule r { on payment  emitt n }": (
        "CEP0101",
        "emitt",
        "expected a clause of a rule or `}`",
        "did you mean `emit`?",
    ),
    "rule r { on payment  emit n, }": ("CEP0109", ",", "an item must follow the comma", "remove the comma"),
    "rule r { on payment  severity hihg }": (
        "CEP0228",
        "hihg",
        "unknown severity `hihg`",
        "did you mean `high`?",
    ),
    on("lenght(kind) > 1"): (
        "CEP0204",
        "lenght",
        "rule `r` calls an unknown function `lenght`",
        "did you mean `length`?",
    ),
    matching("a: payment -> b: payment[n > aa.n]"): (
        "CEP0203",
        "aa",
        "step `b` names an unknown step `aa`",
        "did you mean `a`?",
    ),
    matching("a: payment{2} -> b: payment", "within 5m emit n = a.n"): (
        "CEP0213",
        "a.n",
        "step `a` may take several events: which `n` is meant?",
        "write `last(a.n)` or `list(a.n)`",
    ),
    matching("a: payment -> b: payment", "within 5m emit n"): (
        "CEP0205",
        "n",
        "`n` is neither a `by` field nor a constant",
        "did you mean `a.n`?",
    ),
    matching("a: payment -> b: payment[n > avg(n)]"): (
        "CEP0225",
        "n",
        "`avg` needs a field of a step",
        "did you mean `avg(a.n)`?",
    ),
    matching("a: payment{2}", "within 5m emit card_id, count(a)"): (
        "CEP0101",
        "(",
        "expected a clause of a rule or `}`",
        "a value is emitted under a name: `name = count(...)`",
    ),
    "rule r { on payment where n > 5 }": (
        "CEP0101",
        "where",
        "expected a clause of a rule or `}`",
        "a condition stands in square brackets: `stream[...]`",
    ),
    matching("a: payment followed by b: payment"): (
        "CEP0101",
        "followed",
        "expected a clause of a rule or `}`",
        "steps are joined by `->`, `=>` or `~>`",
    ),
    'rule "r" { on payment }': (
        "CEP0101",
        '"r"',
        "expected the rule's name",
        "a name stands without quotes: `r`",
    ),
    "rule card-testing { on payment }": (
        "CEP0101",
        "-",
        "expected `{`",
        "a name has no `-`: write `_`, or put the name in backquotes",
    ),
    "stream s { a: string, b: string }": (
        "CEP0101",
        ",",
        "expected a field `name: type`, a setting (`id`, `time`, `lateness`, `idle`, `future`) or `}`",
        "nothing separates fields: remove it",
    ),
    on('kind in "a", "b"'): (
        "CEP0101",
        ",",
        "expected an operator or `]`",
        "a list stands in parentheses: `in (a, b)`",
    ),
    'rule r { on payment  tags ["a"] }': (
        "CEP0101",
        "[",
        "expected a string in quotes",
        "a list of tags needs no brackets",
    ),
    on('amount > "5"'): (
        "CEP0207",
        "amount",
        "rule `r` compares double with string",
        "a number stands without quotes",
    ),
    matching("a: payment -> b: payment[at - a.at < 5]"): (
        "CEP0207",
        "at - a.at",
        "step `b` compares duration with long",
        "a duration has a unit: `5s`",
    ),
    on("payment.n > 5"): (
        "CEP0203",
        "payment",
        "rule `r` names an unknown step `payment`",
        "a bare field name is the event's: `n`",
    ),
    "rule r { on payment  emit payment.n }": (
        "CEP0101",
        ".",
        "expected a clause of a rule or `}`",
        "a field of the event is emitted under its own name: `n`",
    ),
    on("at > now()"): (
        "CEP0204",
        "now",
        "rule `r` calls an unknown function `now`",
        "rules see no clock: compare event times; `absent STREAM[...] for 1 hour` waits for one",
    ),
    on('title matches "kind:x"'): (
        "CEP0217",
        "k",
        "this query cannot be read: there is no field kind",
        "a query searches fields of type text; join tests of other fields to it by `and`",
    ),
    "rule r { by card_id  over payment tumblng 5m  having count() > 1 }": (
        "CEP0101",
        "tumblng",
        f"expected {SHOWN}",
        "did you mean `tumbling`?",
    ),
    "rule r { by card_id  over payment session 5m  having count() > 1 }": (
        "CEP0101",
        "session",
        f"expected {SHOWN}",
        "write `session gap` and a duration",
    ),
    "rule r { by card_id  over payment having count() > 1 }": (
        "CEP0101",
        "having",
        f"expected {SHOWN}",
        "a window stands after its stream: `over stream sliding 5 minutes`",
    ),
    'rule r { on payment matching "acme" }': (
        "CEP0101",
        "matching",
        "expected a clause of a rule or `}`",
        "`matching` names a block of `queries`; a query in quotes stands in `[field matches ...]`",
    ),
    "table t { id: string }\nrule r { on payment }": (
        "CEP0101",
        "{",
        "expected `key`",
        "write that here, or remove `{`",
    ),
    "table t key id { id: string  lateness 5s }\nrule r { on payment }": (
        "CEP0101",
        "lateness",
        "expected a field `name: type`, the setting `time` or `}`",
        "write that here, or remove `lateness`",
    ),
    "queries w { from x }\nrule r { on payment }": (
        "CEP0101",
        "x",
        "expected the file's name in quotes",
        "write that here, or remove `x`",
    ),
    matching("a: payment -> b: payment", ""): (
        "CEP0401",
        "b: payment",
        "a step may wait for ever",
        "add `within 1 hour` to the rule (or `within unbounded`), or `gap` or `for` to the step",
    ),
    matching("a: payment b: payment"): (
        "CEP0101",
        "b",
        "expected a clause of a rule or `}`",
        "steps are joined by `->`, `=>` or `~>`",
    ),
    "stream in { t: timestamp  time t }\nrule r { on payment }": (
        "CEP0101",
        "in",
        "expected the stream's name",
        "`in` is reserved; in backquotes it is a name",
    ),
    "stream q { t: timestamp  x: int  time t }\nrule r { on q }": (
        "CEP0224",
        "int",
        "`int` is not a type",
        "did you mean `long`?",
    ),
}


@pytest.mark.parametrize("text", GOLDEN)
def test_a_mistake_has_its_message(text: str) -> None:
    found = [d for d in loaded(text).diagnostics if d.level == "error"]
    shown = [(d.code, d.span.text if d.span else "", d.message, d.help) for d in found]
    assert shown == [GOLDEN[text]]


def test_a_query_is_shown_inside_its_string() -> None:
    text = on('kind == "x" and title matches "one \\"two\\" (three"')
    (diagnostic,) = [d for d in loaded(text).diagnostics if d.level == "error"]
    assert diagnostic.code == "CEP0217"
    assert diagnostic.span is not None
    line = (STREAMS + text)[: diagnostic.span.start]
    assert line.endswith('"one \\"two\\" '), "the place is not the bracket that is never closed"


TWICE = {
    "field `a` is declared twice": "stream s { a: string  a: long  t: timestamp  time t }\n"
    'rule q { on s[a > 5 and a like "x"] }',
    "field `t` is declared twice": 'stream s { t: timestamp  t: string  time t }\nrule q { on s[t == "x"] }',
    "field `b` is declared twice": "stream s { d: { b: string  b: long }  t: timestamp  time t }\n"
    'rule q { on s[d.b == "x" and d.b > 5] }',
    "`n` is emitted twice": 'rule q { on payment  emit n, n = kind  summary "{n}" }\n'
    'test q "x" { at 0s payment { n: 1 }  expect { n: "a" } }',
    "stream `s` is declared twice": "stream s { a: string  t: timestamp  time t }\n"
    "stream s { b: long  t: timestamp  time t }\nrule q { on s[b > 5 and a > 5 and c]  emit b }",
    "table `k` is declared twice": "table k key i { i: string  a: long }\n"
    "table k key j { j: long  b: string }\n"
    'rule q { on payment[k[n].b == "x" and k[kind].a > 5] }',
    "constant `x` is declared twice": 'let x = 5\nlet x = "a"\nrule q { on payment[n > x and kind == x] }',
    "rule `q` is declared twice": "rule q { on payment  emit n }\nrule q { on payment  emit amount }\n"
    'test q "x" { at 0s payment { n: 1 }  expect { amount: 5 } }',
}


@pytest.mark.parametrize("message", TWICE)
def test_a_repeated_declaration_is_one_message_and_its_uses_none(message: str) -> None:
    found = [d for d in loaded(TWICE[message]).diagnostics if d.level == "error"]
    assert [(d.code, d.message) for d in found] == [("CEP0206", message)]


NOT_RENAMED = {
    "stream `s` is declared twice": "stream s { a: string  t: timestamp  time t }\n"
    "stream s { b: long  t: timestamp  time t }\nrule q { on other[b > 5] emit b }",
    "rule `q` is declared twice": "rule q { on payment  emit n }\nrule q { on payment  emit amount }\n"
    'test p "x" { at 0s payment { n: 1 }  expect { amount: 5 } }',
}


@pytest.mark.parametrize("message", NOT_RENAMED)
def test_a_name_that_a_repeated_block_may_have_meant_is_not_reported(message: str) -> None:
    found = [d for d in loaded(NOT_RENAMED[message]).diagnostics if d.level == "error"]
    assert [(d.code, d.message) for d in found] == [("CEP0206", message)]


def test_an_unknown_stream_is_reported_beside_other_names_declared_twice() -> None:
    text = "let top = 5\nlet top = 6\nrule q { on nope[n > top] }"
    assert [d.code for d in loaded(text).diagnostics if d.level == "error"] == ["CEP0206", "CEP0201"]


def test_a_setting_given_twice_is_reported_once() -> None:
    text = "stream s { a: string  t: timestamp  id a  id t  time t  time a }\nrule q { on s }"
    found = [d for d in loaded(text).diagnostics if d.level == "error"]
    assert [(d.code, d.message) for d in found] == [
        ("CEP0112", "`id` is given twice"),
        ("CEP0112", "`time` is given twice"),
    ]


FOLLOWING = [
    (on("nope > 1 and kind in (1, 2) and length(nope) > 2"), ["CEP0202", "CEP0207", "CEP0202"]),
    ("let top = nope\n" + on("n > top and amount * top > top"), ["CEP0205"]),
    ('stream q { t: timestamp  x: flot  time t }\nrule r { on q[x > 1 and x == "a"] emit x }', ["CEP0224"]),
    ("stream q { t: timestamp x  time t }\nrule r { by z on q[x > 1] }", ["CEP0101"]),
    ("let top = )\n" + on("n > top"), ["CEP0101"]),
    ('rule r { on }\ntest r "x" { at 1s payment {} expect { x: 1 } }', ["CEP0101"]),
    (
        'rule r { on nope[x > 1] by y emit z }\ntest r "x" { at 1s nope { x: 1 } expect { z: 1 } }',
        ["CEP0201", "CEP0201"],
    ),
    (matching("a: nope[x > 1] -> b: payment[n > a.x]", "within 5m emit y = last(a.z)"), ["CEP0201"]),
    (on("kind between 1 and 2"), ["CEP0207"]),
]


@pytest.mark.parametrize(("text", "codes"), FOLLOWING)
def test_what_only_follows_is_not_reported(text: str, codes: list[str]) -> None:
    assert [code for code, _ in errors(text)] == codes
