"""Tables and lookups: types, and what is reported of those that cannot be."""

from __future__ import annotations

import pytest
from writing import loaded

from rules import typed
from rules.types import Record, Scalar

TABLE = (
    "table m key id { id: string  risk: double?  since: timestamp  tags: list<string>"
    "  place: { city: string }  time since }\n"
)


def lookups(rule: str, table: str = TABLE) -> list[typed.Lookup]:
    """The lookups of a rule, in the order of the text."""
    pack = loaded(table + rule).need()
    found = [part for part in typed.walk(pack.rules[0]) if isinstance(part, typed.Lookup)]
    return sorted(found, key=lambda lookup: lookup.span.start)


def test_a_table_says_its_key_its_fields_and_since_when_a_row_holds() -> None:
    (table,) = loaded(TABLE + "rule r { on payment[m[kind].risk > 1] }").need().tables
    assert (table.name, table.key, table.time) == ("m", "id", ("since",))
    assert [(f.name, f.nullable) for f in table.fields] == [
        ("id", False),
        ("risk", True),
        ("since", False),
        ("tags", False),
        ("place", False),
    ]
    assert table.field("place").type == Record((("city", Scalar.STRING),))


@pytest.mark.parametrize(
    "rule",
    [
        "rule r { on payment[m[kind].risk > 1] }",
        "rule r { on payment emit x = m[kind].risk }",
        "rule r { by kind  match a: payment -> b: payment[m[kind].risk > 1]  within 1h }",
        "rule r { by n  match a: payment -> not payment[m[kind].risk > 1] -> b: login  within 1h }",
        "rule r { by kind  match a: payment{2}  within 1h  having m[last(a.kind)].risk > 1 }",
        "rule r { by kind  match a: payment{2}  within 1h  emit x = m[kind].risk }",
        "rule r { by kind  over payment[m[kind].risk > 1] sliding 5m  having true }",
        "rule r { by kind  over payment sliding 5m  having m[kind].risk > avg(amount) }",
    ],
)
def test_a_lookup_may_stand_in_any_expression(rule: str) -> None:
    (found,) = lookups(rule)
    assert (found.table, found.path, found.type) == ("m", ("risk",), Scalar.DOUBLE)
    assert found.key.type is Scalar.STRING


def test_a_lookup_may_lead_into_a_record_and_to_another_lookup() -> None:
    found = lookups("rule r { on payment[m[m[kind].place.city].risk > 1] }")
    assert [(f.path, f.type) for f in found] == [
        (("risk",), Scalar.DOUBLE),
        (("place", "city"), Scalar.STRING),
    ]


def test_a_key_is_widened_to_the_type_of_the_table_s() -> None:
    table = "table m key x { x: double  at: timestamp }\ntable w key at { at: timestamp  n: long }\n"
    rule = 'rule r { on payment[m[n].x > 1 and m[2].x > 1 and w["2026-01-05T09:00Z"].n > 1] }'
    keys = [f.key for f in lookups(rule, table)]
    assert [key.type for key in keys] == [Scalar.DOUBLE, Scalar.DOUBLE, Scalar.TIMESTAMP]
    assert isinstance(keys[0], typed.Convert)
    assert isinstance(keys[1], typed.Literal)


MISTAKES = {
    "rule r { on payment[x[kind].risk > 1] }": [("CEP0250", "x", "unknown table `x`", "there are no tables")],
    TABLE + "rule r { on payment[mm[kind].risk > 1] }": [
        ("CEP0250", "mm", "unknown table `mm`", "did you mean `m`?")
    ],
    TABLE + "rule r { on payment[payment[kind].risk > 1] }": [
        (
            "CEP0250",
            "payment",
            "unknown table `payment`",
            "`payment` is a stream; a table is declared by `table NAME key FIELD { ... }`",
        )
    ],
    TABLE + "rule r { on payment[m[n].risk > 1] }": [
        ("CEP0251", "n", "table `m` is looked up by a string, but this is a long", "look it up by a string")
    ],
    TABLE + "rule r { on payment[m[null].risk > 1] }": [
        ("CEP0251", "null", "table `m` is looked up by a string, but this is null", "look it up by a string")
    ],
    TABLE + "rule r { on payment[m[nope].risk > 1] }": [
        (
            "CEP0202",
            "nope",
            "stream `payment` has no field `nope`",
            "the fields are `payment_id`, `card_id`, `at`, `kind`, `amount`, `n` and 5 more",
        )
    ],
    TABLE + "rule r { on payment[m[kind].rsk > 1] }": [
        ("CEP0202", "rsk", "table `m` has no field `rsk`", "did you mean `risk`?")
    ],
    TABLE + 'rule r { on payment[m[kind].place.town == "x"] }': [
        ("CEP0202", "town", "record `place` has no field `town`", "the only one is `city`")
    ],
    TABLE + "rule r { on payment[m[kind].risk.x > 1] }": [
        (
            "CEP0202",
            "x",
            "`risk` is a double and has no fields",
            "write `risk` alone, or declare it as a record",
        )
    ],
    TABLE + "rule r { on payment[m[kind] is null] }": [
        (
            "CEP0252",
            "m[kind]",
            "a lookup names the field of table `m` that it wants",
            "such as `m[kind].risk`",
        )
    ],
    TABLE + "rule r { on payment[m[kind].place == 1] }": [
        (
            "CEP0207",
            "m[kind].place",
            "rule `r` compares {city: string} with long",
            "compare its fields, such as `m[kind].place.city`",
        )
    ],
    TABLE + "rule r { on m }": [
        ("CEP0201", "m", "unknown stream `m`", "`m` is a table: look its rows up as `m[key].field`")
    ],
    TABLE + 'let x = m["a"].risk\nrule r { on payment[n > x] }': [
        (
            "CEP0226",
            'm["a"].risk',
            "constant `x` must be evaluated before anything runs",
            "write a constant, or an expression of constants",
        )
    ],
    TABLE
    + "rule r { by card_id  over payment[amount > m[kind].risk] sliding 5m  having m[kind].risk > 1 }": [
        (
            "CEP0417",
            "kind",
            "`kind` is a field of single events, but a window holds many: which one is meant?",
            "write `last(kind)`, or `count(kind == ...)` for the number of such events",
        )
    ],
    TABLE + "rule r { by card_id  match a: payment{2} -> b: payment[m[a.kind].risk > 1]  within 1h }": [
        (
            "CEP0213",
            "a.kind",
            "step `a` may take several events: which `kind` is meant?",
            "write `last(a.kind)`, `first(...)` or an aggregate of it",
        )
    ],
    "table m key id { name: string }\nrule r { on payment }": [
        ("CEP0254", "id", "table `m` has no field `id` to be its key", "the only one is `name`")
    ],
    "table m key id { id: string? }\nrule r { on payment }": [
        ("CEP0254", "id", "the key `id` of a table must not be nullable", "remove its `?`")
    ],
    "table m key id { id: list<string> }\nrule r { on payment }": [
        (
            "CEP0254",
            "id",
            "the key of a table is a single value, but `id` is a list of strings",
            "name a field of a single value",
        )
    ],
    "table m key id { id: { x: long } }\nrule r { on payment[m[1].id == 2] }": [
        (
            "CEP0254",
            "id",
            "the key of a table is a single value, but `id` is a record",
            "name a field of a single value",
        )
    ],
    "table m key id { id: string  id: long }\nrule r { on payment }": [
        ("CEP0206", "id", "field `id` is declared twice", "rename or remove one of them")
    ],
    "table m key id { id: sting }\nrule r { on payment[m[n].id == 1] }": [
        ("CEP0224", "sting", "`sting` is not a type", "did you mean `string`?")
    ],
    "table m key id { id: string  time at }\nrule r { on payment }": [
        ("CEP0202", "at", "table `m` has no field `at`", "the only one is `id`")
    ],
    "table m key id { id: string  at: timestamp?  time at }\nrule r { on payment }": [
        ("CEP0223", "at", "the time of a row `at` must not be nullable", "remove the `?` of `at`")
    ],
    "table m key id { id: string  at: long  time at }\nrule r { on payment }": [
        (
            "CEP0223",
            "at",
            "the time of a row must be a timestamp, but `at` is a long",
            "name a field of type timestamp",
        )
    ],
    "table m key id { id: string  at: timestamp  time at  time at }\nrule r { on payment }": [
        ("CEP0112", "time at", "`time` is given twice", "remove one of them")
    ],
    "table m key id { id: string }\ntable m key id { id: long }\nrule r { on payment }": [
        ("CEP0206", "m", "table `m` is declared twice", "rename or remove one of them")
    ],
    'table m key at { at: timestamp  n: long }\nrule r { on payment[m["yesterday"].n > 1] }': [
        (
            "CEP0227",
            '"yesterday"',
            "`yesterday` is not a time such as `2026-01-05T09:00:00Z`",
            "write it as `2026-01-31T10:05:00Z`",
        )
    ],
}


def reported(text: str) -> list[tuple[str, str, str, str]]:
    found = [d for d in loaded(text).diagnostics if d.level == "error"]
    return [(d.code, d.span.text if d.span else "", d.message, d.help) for d in found]


@pytest.mark.parametrize("text", MISTAKES)
def test_a_mistake_with_tables_is_reported(text: str) -> None:
    assert reported(text) == MISTAKES[text]
