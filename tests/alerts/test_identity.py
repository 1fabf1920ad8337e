"""One id for one alert: a golden digest, and canonical JSON against the standard library and RFC 8785."""

from __future__ import annotations

import hashlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alerts.identity import alert_id, canonical

TEXT = st.text(st.characters(exclude_categories=()), max_size=8)


def test_the_id_is_this_digest_of_this_text() -> None:
    text = (
        '["fraud","card_testing","a1","match",["c1",7,null],[["probe",["p1","p2"]],["big",["p9"]]],null,null]'
    )
    steps = [("probe", ["p1", "p2"]), ("gone", []), ("big", ("p9",))]
    found = alert_id("fraud", "card_testing", "a1", "match", ["c1", 7.0, None], steps)
    assert found == hashlib.sha256(text.encode()).hexdigest()
    assert found == "246379559addd83560fa97f18ada4e3a63c4689255484d8994f9ac41814efcc4"


def test_hits_and_windows_are_in_the_id() -> None:
    text = '["p","r","a1","hit",[],[["s",["d1"]]],"q1",["1970-01-01T00:00:00Z","1970-01-01T00:05:00Z"]]'
    window = ("1970-01-01T00:00:00Z", "1970-01-01T00:05:00Z")
    found = alert_id("p", "r", "a1", "hit", (), [("s", ["d1"])], "q1", window)
    assert found == hashlib.sha256(text.encode()).hexdigest()


@given(st.tuples(TEXT, TEXT, TEXT), st.tuples(TEXT, TEXT, TEXT))
def test_different_alerts_have_different_ids(one: tuple[str, str, str], other: tuple[str, str, str]) -> None:
    def of(parts: tuple[str, str, str]) -> str:
        return alert_id("p", parts[0], "s", "match", [parts[1]], [("a", [parts[2]])])

    assert (of(one) == of(other)) == (one == other)


def test_big_keys_stay_apart() -> None:
    ids = {alert_id("p", "r", "s", "match", [key], []) for key in (2**53, 2**53 + 1)}
    assert len(ids) == 2


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda part: st.lists(part) | st.dictionaries(st.text(st.characters(max_codepoint=0xD7FF)), part),
    max_leaves=12,
)


@pytest.mark.slow
@given(JSON)
def test_without_doubles_it_is_the_standard_library_sorted(value: object) -> None:
    assert canonical(value) == json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def test_the_example_of_rfc_8785() -> None:
    value = {
        "numbers": [333333333.33333329, 1e30, 4.50, 2e-3, 0.000000000000000000000000001],
        "string": '\u20ac$\u000f\nA\'B"\\\\"/',
        "literals": [None, True, False],
    }
    assert canonical(value) == (
        '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],'
        '"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}'
    )


def test_names_are_sorted_by_utf_16() -> None:
    names = ["\u20ac", "\r", "\ufb33", "1", "\U0001f600", "\u0080", "\u00f6"]
    assert list(json.loads(canonical(dict.fromkeys(names, 0)))) == [
        "\r", "1", "\u0080", "\u00f6", "\u20ac", "\U0001f600", "\ufb33",
    ]  # fmt: skip


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_what_is_not_finite_has_no_id(value: float) -> None:
    with pytest.raises(ValueError, match="not finite"):
        canonical([value])


def test_what_is_no_json_has_no_id() -> None:
    with pytest.raises(TypeError, match="no JSON value"):
        canonical(b"bytes")
