"""Records, lists and the values of tests are read as deep as they are written, each part with its place."""

from __future__ import annotations

import pytest

from rules import syntax
from rules.grammar import parse
from rules.source import SourceFile


def read(text: str) -> syntax.Block:
    file, diagnostics = parse(SourceFile("t", text))
    assert not diagnostics, [d.message for d in diagnostics]
    return file.blocks[0]


def fields(text: str) -> list[syntax.Field]:
    block = read(f"stream s {{ {text} }}")
    assert isinstance(block, syntax.Stream)
    return [part for part in block.parts if isinstance(part, syntax.Field)]


def refused(text: str) -> list[tuple[str, str, str]]:
    _, diagnostics = parse(SourceFile("t", text))
    return [(d.code, d.span.text if d.span else "", d.message) for d in diagnostics]


def test_a_record_holds_its_fields_with_their_places() -> None:
    (device,) = fields("device: { os: string  version: { major: long  minor: long? }? }")
    assert isinstance(device.type, syntax.RecordType)
    assert device.type.span.text == "{ os: string  version: { major: long  minor: long? }? }"
    os, version = device.type.fields
    assert (os.name.text, os.span.text, os.nullable) == ("os", "os: string", False)
    assert version.nullable
    assert isinstance(version.type, syntax.RecordType)
    assert [f.span.text for f in version.type.fields] == ["major: long", "minor: long?"]


def test_a_list_holds_the_type_of_its_values() -> None:
    (items,) = fields("items: list< list<{ sku: string  body: text english }> >?")
    assert items.nullable
    assert isinstance(items.type, syntax.ListType)
    inner = items.type.element
    assert isinstance(inner, syntax.ListType)
    assert inner.span.text == "list<{ sku: string  body: text english }>"
    assert isinstance(inner.element, syntax.RecordType)
    body = inner.element.fields[1].type
    assert isinstance(body, syntax.ScalarType)
    assert body.analyser is not None
    assert body.analyser.span.text == "english"


def test_fields_may_be_called_like_settings_and_types() -> None:
    names = [f.name.text for f in fields("id: { time: timestamp  list: list<long> }  text: text  time: long")]
    assert names == ["id", "text", "time"]


def test_values_of_a_test_nest() -> None:
    block = read('test r "t" { at 1s s { d: { os: "x", tags: [1, [2, 3], { a: -n }], e: {}, f: [] } } }')
    assert isinstance(block, syntax.TestBlock)
    (given,) = block.lines
    assert isinstance(given, syntax.Given)
    value = given.values.entries[0].value
    assert isinstance(value, syntax.MapValue)
    assert [(e.name.text, e.value.span.text) for e in value.entries] == [
        ("os", '"x"'),
        ("tags", "[1, [2, 3], { a: -n }]"),
        ("e", "{}"),
        ("f", "[]"),
    ]
    tags = value.entries[1].value
    assert isinstance(tags, syntax.ListValue)
    assert [type(item).__name__ for item in tags.items] == ["Number", "ListValue", "MapValue"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("stream s { d: {} }", ("CEP0101", "}")),
        ("stream s { d: { os string } }", ("CEP0101", "os")),
        ("stream s { d: { os: string, v: long } }", ("CEP0101", ",")),
        ("stream s { d: list }", ("CEP0101", "list")),
        ("stream s { d: list<string }", ("CEP0101", "}")),
        ("stream s { d: list<string?> }", ("CEP0101", "?")),
        ("stream s { d: list<> }", ("CEP0101", ">")),
        ("stream s { d: }", ("CEP0101", "}")),
        ("stream s { d: " + "list<" * 17 + "long" + ">" * 17 + "}", ("CEP0104", "list<")),
        ("stream s { " + "d: {" * 17 + "e: long" + "}" * 17 + "}", ("CEP0104", "{")),
        ('test r "t" { at 1s s { a: [1, 2 } }', ("CEP0101", "}")),
        ('test r "t" { at 1s s { a: [1, ] } }', ("CEP0109", ",")),
        ('test r "t" { at 1s s { a: { b 1 } } }', ("CEP0101", "1")),
        ('test r "t" { at 1s s { a: { b: } } }', ("CEP0101", "}")),
        ('test r "t" { at 1s s { a: ' + "[" * 60 + "]" * 60 + " } }", ("CEP0104", "[")),
    ],
)
def test_what_is_not_nested_right_is_reported_where(text: str, expected: tuple[str, str]) -> None:
    ((code, place, _),) = refused(text)
    assert (code, place) == expected
