"""Records, lists and decimals: what they are in a typed pack, and where they are refused."""

from __future__ import annotations

from decimal import Decimal

import pytest

from rules import typed
from rules.packs import Loaded, load_texts
from rules.render import render_all
from rules.types import ListOf, Record, Scalar, Type

STREAMS = """pack p version "1"
stream order {
  meta:   { id: string  at: timestamp  shop: { name: string  zone: string? } }
  device: { os: string  version: long? }?
  tags:   list<string>
  days:   list<timestamp>
  scores: list<double>
  items:  list<{ sku: string  price: decimal?  codes: list<long> }>
  price:  decimal
  fee:    decimal?
  amount: double
  n:      long
  name:   string
  took:   duration
  id      meta.id
  time    meta.at
}
stream visit { at: timestamp  os: string  who: { shop: string }  n: long  time at }
"""


def loaded(text: str) -> Loaded:
    return load_texts([("t.rules", STREAMS + text)])


def errors(text: str) -> list[tuple[str, str]]:
    found = [d for d in loaded(text).diagnostics if d.level == "error"]
    return [(d.code, d.span.text if d.span else "") for d in found]


def emitted(value: str) -> typed.Expression:
    found = loaded(f"rule r {{ on order emit x = {value} }}")
    assert found.pack is not None, render_all(found.diagnostics)
    return found.pack.rules[0].emit[0].value


def test_a_declared_record_has_its_fields_and_knows_which_may_be_null() -> None:
    stream = loaded("rule r { on order }").need().stream("order")
    assert stream.id == ("meta", "id")
    assert stream.time == ("meta", "at")
    device = stream.field("device")
    assert device.nullable
    assert device.type == Record((("os", Scalar.STRING), ("version", Scalar.LONG)), frozenset({"version"}))
    assert str(stream.field("items").type) == "list<{sku: string, price: decimal?, codes: list<long>}>"


@pytest.mark.parametrize(
    ("value", "type_"),
    [
        ("device.os", Scalar.STRING),
        ("meta.shop.zone", Scalar.STRING),
        ("it.device.version", Scalar.LONG),
        ("tags", ListOf(Scalar.STRING)),
        ("items.sku", ListOf(Scalar.STRING)),
        ("items.codes", ListOf(ListOf(Scalar.LONG))),
        ("length(tags)", Scalar.LONG),
        ("price", Scalar.DECIMAL),
        ("price * n", Scalar.DECIMAL),
        ("price / 3", Scalar.DECIMAL),
        ("price * 1.1", Scalar.DECIMAL),
        ("-price % 2", Scalar.DECIMAL),
        ("double(price) * amount", Scalar.DOUBLE),
        ("decimal(amount) + price", Scalar.DECIMAL),
        ("round(price, 2)", Scalar.DECIMAL),
        ("coalesce(fee, 0)", Scalar.DECIMAL),
        ('name == "x" ? price : 0.5', Scalar.DECIMAL),
        ("took * 2 / 1s", Scalar.DOUBLE),
        ("meta.at + took * 1.5", Scalar.TIMESTAMP),
        ('meta.at - "2026-01-05T09:00Z"', Scalar.DURATION),
    ],
)
def test_a_value_has_its_type(value: str, type_: Type) -> None:
    assert emitted(value).type == type_


@pytest.mark.parametrize(
    "condition",
    [
        '"new" in tags and "old" not in tags',
        '"sku-1" in items.sku',
        '"2026-01-05T09:00Z" in days',
        "n in scores and 0.5 in scores",
        'tags == ("a", "b") or length(tags) == 0',
        "1.50 in items.price",
        "price in (1, 2.50, fee)",
        "price between 1 and 9.99",
        'device.os in ("ios", meta.shop.zone)',
        "device is null or items is not null",
        'coalesce(tags, ("a", "b")) == tags',
    ],
)
def test_a_condition_over_them_is_typed(condition: str) -> None:
    assert errors(f"rule r {{ on order[{condition}] }}") == []


@pytest.mark.parametrize(
    ("condition", "code", "place"),
    [
        ("device.so == 'x'".replace("'", '"'), "CEP0202", "so"),
        ('os == "x"', "CEP0202", "os"),
        ('device.os.name == "x"', "CEP0202", "name"),
        ('tags.name == "x"', "CEP0202", "name"),
        ('tags == "x"', "CEP0207", "tags"),
        ("n in tags", "CEP0207", "n"),
        ('"x" in items', "CEP0207", '"x"'),
        ("device == device", "CEP0207", "=="),
        ("tags > tags", "CEP0207", ">"),
        ("tags == (n, n)", "CEP0232", "n"),
        ("price > amount", "CEP0207", "price"),
        ("price * amount > 1", "CEP0208", "price * amount"),
        ("price in (amount)", "CEP0207", "amount"),
        ("price + took > 1", "CEP0208", "price + took"),
        ("took * price > 1s", "CEP0208", "took * price"),
        ("tags + tags == tags", "CEP0208", "tags"),
        ("device", "CEP0209", "device"),
        ("length(n) > 1", "CEP0211", "n"),
        ("lower(tags) == name", "CEP0211", "tags"),
        ("decimal(name) > 1", "CEP0211", "name"),
        ("price > 1e-30", "CEP0207", "price"),
    ],
)
def test_a_condition_that_does_not_fit_is_refused_at_its_place(condition: str, code: str, place: str) -> None:
    assert errors(f"rule r {{ on order[{condition}] }}") == [(code, place)]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("0.1 * 3 + price", Decimal("0.3")),
        ("1_000.000000000000000001 + price", Decimal("1000.000000000000000001")),
        ("-0.1 + price", Decimal("-0.1")),
        ("1 / 4 + price", Decimal("0.25")),
        ("tenth * 2 + price", Decimal("0.2")),
        ("7 + price", Decimal(7)),
    ],
)
def test_a_number_beside_a_decimal_is_the_one_that_was_written(value: str, expected: Decimal) -> None:
    found = loaded(f"let tenth = 0.1\nrule r {{ on order emit x = {value} }}").need().rules[0].emit[0].value
    assert isinstance(found, typed.Arithmetic)
    assert isinstance(found.left, typed.Literal)
    assert (found.left.value, found.left.type) == (expected, Scalar.DECIMAL)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("decimal(0.1) + 0.2", Decimal("0.3")),
        ("decimal(1) / 3", Decimal("0." + "3" * 18)),
        ("decimal(2) / 3", Decimal("0." + "6" * 17 + "7")),
        ("decimal(1) / 0", None),
        ("decimal(-7) % 3", Decimal(-1)),
        ("-decimal(5)", Decimal(-5)),
        ("decimal(99_999_999_999) * 10_000_000_000", None),
        ("double(decimal(0.1)) + 0.2", 0.1 + 0.2),
    ],
)
def test_constants_are_worked_out_in_decimals(value: str, expected: object) -> None:
    found = emitted(value)
    assert isinstance(found, typed.Literal)
    assert found.value == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("stream q { t: timestamp?  time t } rule r { on q }", [("CEP0223", "t")]),
        ("stream q { m: { t: timestamp }?  time m.t } rule r { on q }", [("CEP0223", "m.t")]),
        ("stream q { m: { t: timestamp? }  time m.t } rule r { on q }", [("CEP0223", "m.t")]),
        ("stream q { m: { t: timestamp }  time m } rule r { on q }", [("CEP0223", "m")]),
        ("stream q { m: { t: timestamp }  time m.s } rule r { on q }", [("CEP0202", "s")]),
        ("stream q { t: timestamp  m: { i: long }  id m  time t } rule r { on q }", [("CEP0223", "m")]),
        ("stream q { t: timestamp  m: { i: long  i: long }  time t } rule r { on q }", [("CEP0206", "i")]),
        ("stream q { t: timestamp  m: list<{ i: int }>  time t } rule r { on q }", [("CEP0224", "int")]),
        (
            "stream q { t: timestamp  m: { b: text english }  time t } rule r { on q }",
            [("CEP0224", "english")],
        ),
        (
            'stream q { t: timestamp  m: { b: text }  time t } rule r { on q[m.b matches "x"] }',
            [("CEP0216", "m.b")],
        ),
        ("rule r { by tags match a: order -> b: order within 1h }", [("CEP0219", "tags")]),
        ("rule r { by device match a: order -> b: order within 1h }", [("CEP0219", "device")]),
        ("rule r { by device.so match a: order -> b: order within 1h }", [("CEP0202", "so")]),
        ("rule r { by meta.shop.name = visit.n match order -> visit within 1h }", [("CEP0218", "meta")]),
    ],
)
def test_a_declaration_or_key_that_cannot_be_is_refused(text: str, expected: list[tuple[str, str]]) -> None:
    assert errors(text) == expected


def test_keys_are_fields_of_records() -> None:
    by = (
        loaded(
            "rule r { by order.meta.shop.name = visit.who.shop  match order -> visit  within 1h  emit name }"
        )
        .need()
        .rules[0]
        .by
    )
    assert by is not None
    assert by.names == ("name",)
    assert by.of("order") == (("meta", "shop", "name"),)
    assert by.of("visit") == (("who", "shop"),)


def test_steps_and_aggregates_lead_into_records() -> None:
    pattern = """rule r { by meta.shop.name match a: order{2} -> b: order[
            device.os == last(a.device.os) and max(a.device.version) > 3 and prev(device.version) == 1
      and "x" in last(a.tags)] within 1h
      emit os = b.device.os, all = list(a.device.os), n = length(b.tags) }"""
    assert errors(pattern) == []


def test_values_of_tests_are_records_and_lists() -> None:
    text = """
rule r { on order emit device, tags, price }
test r "nested" {
  at 1s order { meta: { id: "1", shop: { zone: null } }, device: { os: "ios" }, tags: ["a"], price: 1.10,
                items: [{ sku: "s", price: 2 }, { codes: [1, 2] }], days: ["2026-01-05T09:00Z", 5s] }
  expect { device: { os: "ios", version: null }, tags: ["a"], price: 1.10 }
}"""
    test = loaded(text).need().tests[0]
    given, expected = test.timeline
    assert isinstance(given, typed.Given)
    assert isinstance(expected, typed.Expected)
    values = dict(given.values)
    assert values["meta"] == {"id": "1", "shop": {"zone": None}}
    assert values["price"] == Decimal("1.10")
    assert values["items"] == ({"sku": "s", "price": Decimal(2)}, {"codes": (1, 2)})
    assert values["days"] == (1_767_603_600_000_000_000, 5_000_000_000)
    assert dict(expected.values)["device"] == {"os": "ios", "version": None}


@pytest.mark.parametrize(
    ("values", "code", "place"),
    [
        ("device: { so: 1 }", "CEP0602", "so"),
        ("device: { os: 1 }", "CEP0211", "1"),
        ("device: { os: null }", "CEP0603", "null"),
        ("device: [1]", "CEP0603", "[1]"),
        ("tags: { a: 1 }", "CEP0603", "{ a: 1 }"),
        ("tags: [1]", "CEP0211", "1"),
        ('tags: ["a", null]', "CEP0603", "null"),
        ('items: [{ codes: ["a"] }]', "CEP0211", '"a"'),
        ('device: { os: "a", os: "b" }', "CEP0206", "os"),
        ("price: name", "CEP0205", "name"),
    ],
)
def test_values_of_tests_that_do_not_fit_are_refused(values: str, code: str, place: str) -> None:
    text = f'rule r {{ on order }} test r "x" {{ at 1s order {{ {values} }} expect nothing }}'
    assert errors(text) == [(code, place)]
