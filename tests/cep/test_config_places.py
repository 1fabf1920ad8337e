"""Positions in TOML: every value that tomllib finds has a place, and its text is that value."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cep.config.places import KeyPath, Places, places_of
from rules.source import SourceFile

TEXT = '''\
# comment with [brackets] and "quotes"
top = 1   # behind
"quoted key".'a.b'.c = """multi
line ] } # no comment \\"" """
[a.b]
x = [1, [2, 3], { y = 'z#', "w" = [ # inside
  4,
] }, ]
when = 1979-05-27 07:32:00Z
 [ a . c ] # spaces
f = { p.q = true, r = {} }
[[list]]
n = 1
[list.sub]
deep = inf
[[list]]
n = 2
lit = \'\'\'it's
\'\'\'\'\'
'''


def leaves(value: object, path: KeyPath = ()) -> Iterator[tuple[KeyPath, object]]:
    match value:
        case dict() if value:
            for key, part in value.items():
                yield from leaves(part, (*path, key))
        case list() if value:
            for number, part in enumerate(value):
                yield from leaves(part, (*path, number))
        case _:
            yield path, value


def check(text: str) -> Places:
    places = places_of(SourceFile("t.toml", text))
    for path, value in leaves(tomllib.loads(text)):
        if path and path not in places.values:
            assert value == {}, f"{path} has no place"
            assert path in places.keys
        elif path:
            assert tomllib.loads(f"x = {places.values[path].text}") == {"x": value}, path
    return places


def test_every_value_has_its_place() -> None:
    places = check(TEXT)
    assert places.key(("a", "c", "f", "p", "q")).text == "q"
    assert places.key(("quoted key", "a.b", "c")).text == "c"
    assert places.key(("list", 1, "n")).line == 17
    assert places.key(("a", "b", "x", 2, "w")).text == '"w"'
    assert places.key(("a", "nowhere", "x")).text == "a"
    assert (places.key(("nowhere",)).start, places.key(("nowhere",)).end) == (0, 0)


@pytest.mark.parametrize("text", ["a = 1\na = 2", "[t]\na = 1\nb.c = 1\nb.c = 2", "a = { b = 1, b = 2 }"])
def test_a_key_given_twice_is_found(text: str) -> None:
    with pytest.raises(tomllib.TOMLDecodeError):
        tomllib.loads(text)
    places = places_of(SourceFile("t.toml", text))
    assert [span.start for span in places.twice] == [
        text.rindex("b" if "b" in text else "a", 0, -4) if "c" not in text else text.rindex("c")
    ]


@given(st.text(st.sampled_from("ab=[]{}\"'.,#\n 1\\"), max_size=40))
def test_no_text_stops_the_scanner(text: str) -> None:
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        places_of(SourceFile("t.toml", text))
    else:
        check(text)


SCALARS = st.one_of(
    st.integers(-(2**40), 2**40).map(str),
    st.booleans().map(lambda b: str(b).lower()),
    st.text(st.characters(min_codepoint=32, max_codepoint=0x2FF, exclude_characters="\x7f"), max_size=6).map(
        lambda t: '"' + t.replace("\\", "\\\\").replace('"', '\\"') + '"'
    ),
    st.just("2020-01-01"),
    st.just("'''a\n'b'''"),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3).map(lambda items: "[ " + " ,\n".join(items) + " ]")
        | st.dictionaries(st.sampled_from("pqr"), inner, max_size=3).map(
            lambda table: "{ " + ", ".join(f"{k} = {v}" for k, v in table.items()) + " }"
        )
    ),
    max_leaves=6,
)


@pytest.mark.slow
@given(
    st.dictionaries(st.sampled_from("abcd"), VALUES),
    st.dictionaries(st.sampled_from(["x.y", "x.z", "w"]), VALUES),
)
def test_places_of_generated_files(top: dict[str, str], table: dict[str, str]) -> None:
    lines = [f"{key} = {value}" for key, value in top.items()]
    lines += ["[t.'u v']", *(f"{key}={value} # end" for key, value in table.items())]
    check("\n".join(lines))
