"""Derived streams and corrected clocks: what streams are made of, and the findings where they cannot be."""

from __future__ import annotations

import pytest
from writing import loaded

from rules import typed
from rules.types import ListOf, Scalar

CHAIN = """
rule third  { on second[m > 2] }
rule second { by n  match f: first{2}  within 1h  emit n, m = count(f), k = list(f.kind)  into second }
rule first  { on payment  emit n, kind, b = body, t = title  into first }
"""
CLOCKS = "stream s { a: timestamp  b: timestamp  c: timestamp?  d: long  time a "


def test_emitted_names_are_the_fields_of_a_derived_stream() -> None:
    pack = loaded(CHAIN).need()
    assert [(f.name, f.type, f.nullable, f.analyser) for f in pack.stream("first").fields] == [
        ("n", Scalar.LONG, True, ""),
        ("kind", Scalar.STRING, True, ""),
        ("b", Scalar.TEXT, True, "english"),
        ("t", Scalar.TEXT, True, ""),
    ]
    second = pack.stream("second")
    assert [(f.name, f.type) for f in second.fields] == [
        ("n", Scalar.LONG),
        ("m", Scalar.LONG),
        ("k", ListOf(Scalar.STRING)),
    ]
    assert (second.id, second.time, second.origin) == (None, (), typed.Derived("second"))


def test_rules_stand_in_any_order_and_stay_in_it() -> None:
    pack = loaded(CHAIN).need()
    assert [r.name for r in pack.rules] == ["third", "second", "first"]
    assert [r.into for r in pack.rules] == [None, "second", "first"]
    assert [s.name for s in pack.fed] == ["payment", "login"]


def test_what_a_timeout_emits_is_there_too() -> None:
    rule = "rule r { by n  match a: payment{2}  within 1h  emit n, x = count(a)"
    text = rule + "  on timeout emit n, late = true  into s }\nrule q { on s[late is null or x > 1] }"
    assert [f.name for f in loaded(text).need().stream("s").fields] == ["n", "x", "late"]


def test_windows_make_streams_too() -> None:
    text = """rule r { by kind  over payment tumbling 1h  having rate() > 2  emit kind, n = rate() into busy }
rule q { by kind  match busy{3} contiguous  within 1d }
"""
    assert [f.type for f in loaded(text).need().stream("busy").fields] == [Scalar.STRING, Scalar.DOUBLE]


def test_every_circle_is_drawn_with_its_readers() -> None:
    text = """rule a { on z[n > 1]  emit n  into x }
rule b { on x  emit n  into y }
rule c { on y  emit n  into z }
rule behind { on z  emit n  into w }
rule own { on own  emit n  into own }
"""
    found = [d for d in loaded(text).diagnostics if d.level == "error"]
    way = "`a` into `x` -> `b` into `y` -> `c` into `z` -> `a`"
    assert [d.message for d in found] == [
        f"rules feed one another in a circle: {way}",
        "rules feed one another in a circle: `own` into `own` -> `own`",
    ]
    assert [(label.span.text, label.text) for label in found[0].labels] == [
        ("z", "`a` reads what `c` makes"),
        ("y", "`c` reads what `b` makes"),
        ("x", "`b` reads what `a` makes"),
    ]


@pytest.mark.parametrize(
    "maker",
    [
        "rule make { on payment[n >]  emit n  into hot }",
        "rule make { on payment  emit n = )  into hot }",
        "rule make { on payment  emit n  into hot  suppress 5 }",
        "rule make { on payment  emit n  suppress 5  into hot }",
        "rule make ( on payment  emit n  into hot }",
    ],
)
def test_the_stream_of_a_rule_with_a_syntax_error_is_known_wherever_it_stands(maker: str) -> None:
    reader = "rule read { by n  match h: hot[m > 1]{2}  within 1h  emit x = last(h.y) }"
    for text in (f"{maker}\n{reader}", f"{reader}\n{maker}"):
        (found,) = [d for d in loaded(text).diagnostics if d.level == "error"]
        assert found.code.startswith("CEP01")


def test_of_a_long_circle_the_beginning_is_drawn() -> None:
    text = "\n".join(f"rule r{n} {{ on s{(n - 1) % 300}  emit n  into s{n} }}" for n in range(300))
    (found,) = [d for d in loaded(text).diagnostics if d.level == "error"]
    assert found.message.endswith("-> `r11` into `s11` -> 288 more -> `r0`")
    assert len(found.labels) == 12


def test_the_clocks_that_correct_the_event_time_are_named() -> None:
    stream = "stream s { id_: string  a: timestamp  h: { b: timestamp }  c: timestamp  id id_"
    found = loaded(stream + "  time a corrected by h.b, c }\nrule r { on s }").need().stream("s").corrected
    assert found is not None
    assert (found.sent, found.received, found.span.text) == (("h", "b"), ("c",), "corrected by h.b, c")


MISTAKES = {
    "rule r { on payment  into hot }": [
        (
            "CEP0259",
            "hot",
            "stream `hot` has no fields: rule `r` emits nothing",
            "add `emit` with the values that its events shall have",
        )
    ],
    "rule r { on payment  emit n  into payment }": [
        (
            "CEP0258",
            "payment",
            "stream `payment` is declared: `into` makes a stream of its own",
            "remove the declaration, or write another name after `into`",
        )
    ],
    "rule r { on payment  emit n  into timeout }": [
        ("CEP0206", "timeout", "a stream may not be called `timeout`", "`on timeout` begins a clause")
    ],
    "rule r { on payment  emit n  into hot }\nrule s { on login  emit n  into hot }": [
        (
            "CEP0258",
            "hot",
            "stream `hot` is made twice: one rule makes a stream",
            "write another name after `into`",
        )
    ],
    "rule r { on payment  emit n  into hot }\nrule s { on hot[m > 1] }": [
        ("CEP0202", "m", "stream `hot` has no field `m`", "the only one is `n`")
    ],
    "rule r { on payment  emit n  into hot }\nrule s { on hott }": [
        ("CEP0201", "hott", "unknown stream `hott`", "did you mean `hot`?")
    ],
    "rule r { on payment  emit n  into hot }\nrule s { by kind  match hot -> payment  within 1h }": [
        (
            "CEP0218",
            "kind",
            "stream `hot` has no key field `kind`",
            "name the field it has: `by payment.kind = hot.its_field`",
        )
    ],
    "rule r { on payment  emit n = null  into hot }": [
        (
            "CEP0261",
            "n",
            "`n` is always null: the field of the stream has no type",
            "emit a value that has a type, or leave it out",
        )
    ],
    "rule r { by n  match a: payment+  within 1h  emit x = 1  on timeout emit x = true  into hot }": [
        (
            "CEP0261",
            "x",
            "`x` is one field of the stream, but here a boolean",
            "emit values of one type under one name, or take two names",
        )
    ],
    "rule r { on hot[n > 1]  emit n  into hot }": [
        (
            "CEP0260",
            "hot",
            "rules feed one another in a circle: `r` into `hot` -> `r`",
            "let one of these rules read a stream that is declared",
        )
    ],
    "rule a { on y  emit n = x  into x }\nrule b { on x  emit x = n  into y }\nrule c { on y[x > 1] }": [
        (
            "CEP0260",
            "x",
            "rules feed one another in a circle: `a` into `x` -> `b` into `y` -> `a`",
            "let one of these rules read a stream that is declared",
        )
    ],
    'rule a { on payment  emit n  into x }\nrule b { on x }\ntest b "x" { at 0s x { n: 1 } expect {} }': [
        (
            "CEP0262",
            "x",
            "`x` is made by rule `a`: a test cannot give its events",
            "give the events that the rule makes it of",
        )
    ],
    'rule a { on payment  emit n, n = 2  into x }\nrule b { on x[n == "a"] }': [
        ("CEP0206", "n", "`n` is emitted twice", "rename or remove one of them"),
    ],
    'rule a { on payment  emit n = nope  into x }\nrule b { on x[n == "a" and m > 2] }': [
        (
            "CEP0202",
            "nope",
            "stream `payment` has no field `nope`",
            "the fields are `payment_id`, `card_id`, `at`, `kind`, `amount`, `n` and 5 more",
        ),
        ("CEP0202", "m", "stream `x` has no field `m`", "the only one is `n`"),
    ],
    'rule a { on nope  emit n  into x }\nrule b { on x[n == "a"] }': [
        ("CEP0201", "nope", "unknown stream `nope`", "the streams are `payment`, `login`")
    ],
    'rule a { on payment[n >]  emit n  into x }\nrule b { on x[n == "a"] }': [
        (
            "CEP0101",
            "]",
            "expected a value after `>`",
            "write a field, a number, a string or an expression in parentheses here",
        )
    ],
    "rule a { on payment  emit n  into x }\nrule a { on payment  emit n  into x }": [
        ("CEP0206", "a", "rule `a` is declared twice", "rename or remove one of them")
    ],
    CLOCKS + "corrected by b, b }\nrule r { on s }": [
        (
            "CEP0263",
            "corrected by b, b",
            "a clock is corrected by the difference of two times, but this is one and the same",
            "write `corrected by sent_at, received_at`",
        )
    ],
    CLOCKS + "corrected by b, c }\nrule r { on s }": [
        ("CEP0223", "c", "the time of receipt `c` must not be nullable", "remove the `?` of `c`")
    ],
    CLOCKS + "corrected by d, e }\nrule r { on s }": [
        (
            "CEP0223",
            "d",
            "the time of sending must be a timestamp, but `d` is a long",
            "name a field of type timestamp",
        ),
        ("CEP0202", "e", "stream `s` has no field `e`", "the fields are `a`, `b`, `c`, `d`"),
    ],
}


def reported(text: str) -> list[tuple[str, str, str, str]]:
    found = [d for d in loaded(text).diagnostics if d.level == "error"]
    return [(d.code, d.span.text if d.span else "", d.message, d.help) for d in found]


@pytest.mark.parametrize("text", MISTAKES)
def test_a_mistake_with_derived_streams_is_reported(text: str) -> None:
    assert reported(text) == MISTAKES[text]
