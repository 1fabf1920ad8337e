"""Matchers hold for the alerts that they describe, and one that is wrong says what to write."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from some_alerts import raised

from alerts.gates import Gates
from alerts.matchers import Labels, Matcher, MatcherError, Matchers, matcher

ALERT: dict[str, Any] = {
    "pack": "fraud",
    "rule": "card_testing",
    "kind": "match",
    "severity": "high",
    "key": {"card_id": "c1", "amount": "key"},
    "emit": {"amount": 900.0, "n": 3, "country": None, "sure": True, "list": ["DE", "NG"], "half": "\ud800"},
    "tags": ["card-testing", "night"],
}


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("severity = high", True),
        ("severity=low", False),
        ("severity != low", True),
        ("severity =~ critical|high", True),
        ("severity =~ hig", False),  # the whole value
        ("rule =~ card_.*", True),
        ("pack = fraud", True),
        ("kind != match", False),
        ("tags = night", True),
        ("tags = day", False),
        ("tags != night", False),
        ("tags != day", True),
        ("tags =~ card.*", True),
        ("card_id = c1", True),
        ('card_id = "c1"', True),
        ("amount = key", True),  # the key goes before what is emitted
        ("emit.amount = 900", True),  # as summaries show it
        ("key.amount = key", True),
        ("key.n = 3", False),
        ("n =~ [0-9]", True),
        ("sure = true", True),
        ("list = DE, NG", True),
        ("country =", True),  # null is empty, and so is what is not there
        ('nothing = ""', True),
        ("nothing != x", True),
        ("nothing =~ .+", False),
        ("half =~ .*", True),
        ("half = x", False),
    ],
)
def test_a_matcher_holds_for_what_it_describes(text: str, holds: bool) -> None:
    assert matcher(text).matches(Labels(ALERT)) == holds
    found = Matchers.of([text]).against(Labels(ALERT))
    assert found == (None if holds else matcher(text))


def test_an_alert_without_tags_has_the_empty_one() -> None:
    assert matcher("tags = ").matches(Labels(ALERT | {"tags": []}))


@pytest.mark.parametrize(
    ("text", "said", "help_"),
    [
        ("severity", "`severity` is no matcher", "severity = high"),
        ("", "it is empty", "severity = high"),
        ("severity == high", "no operator `==`", "`severity = high`"),
        ("rule ~ a.*", "no operator `~`", "`rule =~ a.*`"),
        ("rule !~ a", "no operator `!~`", "`=~`"),
        ("rule =~ (", "cannot be used: missing", "RE2"),
        ("rule =~ (?=a)", "cannot be used", "RE2"),
        ('rule = "a', "no text in quotes", "JSON"),
        ("rule = " + "a" * 1_001, "1,000 characters", "shorten"),
        ("rule =~ \ud800", "surrogate", "RE2"),
    ],
)
def test_what_is_no_matcher_says_what_to_write(text: str, said: str, help_: str) -> None:
    with pytest.raises(MatcherError) as caught:
        matcher(text)
    assert said in str(caught.value)
    assert help_ in caught.value.help


@given(
    name=st.sampled_from(["rule", "card_id", "key.a", "emit.n"]), value=st.text(max_size=20), data=st.data()
)
def test_a_matcher_that_is_written_is_read_as_itself(name: str, value: str, data: st.DataObject) -> None:
    operator = data.draw(st.sampled_from(["=", "!="]))
    one = Matcher(name, operator, value)
    assert matcher(str(one)) == one


@given(st.text("ab", max_size=4), st.sampled_from(["a*", "a|b", ".b", "a.*b|", "[^a]+"]))
def test_expressions_take_the_whole_value(value: str, pattern: str) -> None:
    """Python's own expressions mean the same, where both have them."""
    labels = Labels(ALERT | {"key": {"v": value}})
    assert matcher(f"v =~ {pattern}").matches(labels) == (re.fullmatch(pattern, value) is not None)


def test_what_all_alerts_of_a_rule_share_is_known() -> None:
    assert Matchers.of(["rule = a", "severity =~ b", "pack != c"]).of_a_rule
    assert not Matchers.of(["rule = a", "tags = b"]).of_a_rule
    assert str(Matchers()) == "every alert"


def test_a_raised_alert_has_labels() -> None:
    labels = Labels(json.loads(raised(7).body))
    assert Matchers.of(["card_id = c7", "n = 7", "tags = t", "kind = match"]).matches(labels)


NAMED = st.sampled_from(["rule", "tags", "n", "card_id", "nothing"])
VALUES = st.sampled_from(["a", "b", "card_testing", "t", "1", "c.*", "[0-4]", "", "x|y", "(?i)C1", "c1"])
SOME = st.lists(st.builds(Matcher, NAMED, st.sampled_from(["=", "!=", "=~"]), VALUES), max_size=3)


@given(st.lists(SOME.map(tuple).map(Matchers), max_size=8), st.integers(0, 9), st.sampled_from(["c1", "C1"]))
def test_gates_lose_none_that_holds(all_: list[Matchers], number: int, key: str) -> None:
    labels = Labels(raised(number, key=key).alert.as_dict())
    holding = [place for place, one in enumerate(all_) if one.matches(labels)]
    possible = Gates(all_).possible(labels)
    assert set(holding) <= set(possible)
    assert possible == sorted(set(possible))
