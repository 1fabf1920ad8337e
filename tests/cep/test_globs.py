"""Patterns that read the same files are found: the oracle tries every short name."""

from __future__ import annotations

import itertools
import os
import re
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cep.sources.files.globs import GlobError, escaped, fits, meet, parse, reaches
from cep.sources.files.names import listed

PARTS = st.sampled_from(["a", "b", "*", "?", "[ab]", "[^a]", "{a,bb}", "{b*,?a}"])
PATTERNS = st.lists(PARTS, max_size=4).map("".join)
LONGER = ["".join(letters) for size in range(9) for letters in itertools.product("ab", repeat=size)]
NAMES = [name for name in LONGER if len(name) < 5]


def expression(pattern: str) -> re.Pattern[str]:
    """The pattern as a regular expression: sign by sign, since none of the parts above hold a slash."""
    text = (
        pattern.replace("*", ".*").replace("?", ".").replace("{", "(?:").replace("}", ")").replace(",", "|")
    )
    return re.compile(text)


@given(PATTERNS, PATTERNS)
def test_two_patterns_meet_where_a_name_fits_both(one: str, other: str) -> None:
    first, second = expression(one), expression(other)
    both = [name for name in NAMES if first.fullmatch(name) and second.fullmatch(name)]
    if both:
        assert meet(one, other), f"both take {both[0]!r}"
    elif meet(one, other):  # then only a longer name, or one of another letter, can fit both
        assert set("?*^") & set(one + other) or any(
            first.fullmatch(name) and second.fullmatch(name) for name in LONGER
        )


@pytest.mark.slow
@given(PATTERNS)
def test_a_name_fits_as_its_regular_expression_says(pattern: str) -> None:
    wanted = expression(pattern)
    assert [n for n in NAMES if fits(pattern, n)] == [n for n in NAMES if wanted.fullmatch(n)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("inbox/*.jsonl", "inbox/payment-*.jsonl", True),
        ("inbox/*.jsonl", "inbox/*.csv", False),
        ("inbox/*.{csv,jsonl}", "inbox/a.csv", True),
        ("inbox/a*", "inbox/b*", False),
        ("inbox/*", "inbox/day/*", False),
        ("inbox/*/x", "inbox/day/*", True),
        ("in[ab]ox/*", "in[c-z]ox/*", False),
        ("a\\*", "ab", False),
        ("a\\*", "a*", True),
        ("?" * 300, "*" * 3 + "a" * 299, True),
        ("?" * 300, "a" * 299, False),
        ("{a,b}" * 60, "zz", False),  # 2^60 names, none of them tried
        ("{a,b}" * 60, "ab" * 30, True),
        ("{a,b}" * 60, "{b,c}" * 60, True),
        ("{a,b}" * 60, "{c,d}" * 60, False),
        ("{*,*}" * 40 + "x", "a" * 60, False),
        ("{a,{b,{c,d*}}}e", "dde", True),
    ],
)
def test_patterns_of_feeds(one: str, other: str, same: bool) -> None:
    assert meet(one, other) is same
    assert meet(other, one) is same


@pytest.mark.parametrize(
    ("pattern", "folder", "found"),
    [
        ("/a/state/*", "/a/state", True),
        ("/a/*/*", "/a/state", True),
        ("/a/state/deep/*", "/a/state", True),
        ("/a/*", "/a/state", False),
        ("/a/other/*", "/a/state", False),
    ],
)
def test_a_folder_is_reached_where_files_in_it_fit(pattern: str, folder: str, found: bool) -> None:
    assert reaches(pattern, folder) is found


@given(st.text("ab*?{}[]\\,", max_size=6), st.text("ab*?{}[]\\,", max_size=6))
def test_what_is_escaped_takes_itself_alone(one: str, other: str) -> None:
    assert fits(escaped(one), one)
    assert fits(escaped(one), other) is (one == other)


@pytest.mark.parametrize("pattern", ["a[b", "a{b", "b}", "[z-a]", "a{b,c"])
def test_what_spark_would_refuse_is_an_error(pattern: str) -> None:
    with pytest.raises(GlobError):
        parse(pattern)


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        ("{" * 30 + "a" + "}" * 30, "its braces stand more than 20 deep"),
        ("x/" + "{a,b}" * 300, "it has 1,500 signs between two slashes, at most 1,000 are read"),
    ],
)
def test_what_is_absurd_is_refused_with_what_to_write(pattern: str, said: str) -> None:
    with pytest.raises(GlobError, match=said) as refused:
        parse(pattern)
    assert refused.value.help


@given(PATTERNS, st.sets(st.sampled_from(NAMES[1:]), max_size=6))
def test_files_are_listed_as_their_names_fit(pattern: str, names: set[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            (Path(folder) / name).touch()
        found = {Path(path).name for path in listed(f"{folder}/{pattern}")} if pattern else set()
        assert found == {name for name in names if pattern and fits(pattern, name)}


def test_braces_are_listed_without_trying_every_name_that_they_stand_for(tmp_path: Path) -> None:
    name = "ab" * 30
    for one in (name, name + "x", "a"):
        (tmp_path / one).touch()
    assert listed(f"{tmp_path}/{'{a,b}' * 60}") == [f"{tmp_path}/{name}"]
    assert listed(f"{tmp_path}/{'{*,*}' * 40}q") == []


def test_names_and_folders_are_passed_over_as_spark_does(tmp_path: Path) -> None:
    for path in ("day/a.csv", "day/_b.csv", "day/.c.csv", "day/deep/e.csv", "x[1]/f.csv", "g.csv"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).touch()
    (tmp_path / os.fsdecode(b"caf\xe9.csv")).touch()

    def names(pattern: str) -> list[str]:
        return sorted(os.path.relpath(path, tmp_path) for path in listed(f"{tmp_path}/{pattern}"))

    assert names("*/*.csv") == ["day/a.csv", "x[1]/f.csv"]
    assert names("d?y/*") == ["day/a.csv", "day/deep/e.csv"]
    assert names("x\\[1\\]/*") == ["x[1]/f.csv"]
    assert names("*.csv") == [os.fsdecode(b"caf\xe9.csv"), "g.csv"]
    assert names("nowhere/*") == names("g.csv/*") == []
