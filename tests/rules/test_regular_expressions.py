"""Regular expressions are refused where RE2 refuses them: pyarrow has RE2, and is the oracle."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from rules.regex import problem_in


def re2_takes(pattern: str) -> bool:
    try:
        pc.match_substring_regex(pa.array(["x"]), pattern)
    except pa.ArrowInvalid:
        return False
    return True


GOOD = [
    *(
        "",
        "a|b",
        "^a.*b$",
        r"\d+\s\w\b",
        "[a-z]{2,5}",
        r"\pL+",
        r"\p{Greek}",
        "(?i)abc",
        "a(?i)b",
        "(?U)a+",
        "x*?",
    ),
    *(
        r"\z",
        r"\A\x41\x{10FFFF}",
        r"\Qa.b\E",
        "(?P<n>a)",
        "(?:a)",
        "[[:alpha:]]",
        "[^]a]",
        "a{1000}",
        "(?s-i:a)",
        "é",
    ),
]
BAD = [
    *(
        "(",
        ")",
        "[",
        "a**",
        "*a",
        "(?=a)",
        "(?<!a)",
        r"(a)\1",
        "(?>a)",
        "a{1001}",
        "a{5,2}",
        "[z-a]",
        "\\",
        r"\y",
    ),
    *("a++", "(?P=n)", "(?#c)", "(?P<n", r"\Z", "(?(1)a|b)", "+"),
]


@pytest.mark.parametrize("pattern", GOOD)
def test_what_re2_takes_is_taken(pattern: str) -> None:
    assert re2_takes(pattern)
    assert problem_in(pattern) is None


@pytest.mark.parametrize("pattern", BAD)
def test_what_re2_refuses_is_refused_with_a_place(pattern: str) -> None:
    assert not re2_takes(pattern)
    found = problem_in(pattern)
    assert found is not None
    assert 0 <= found[1] <= len(pattern)


@settings(max_examples=examples(300), deadline=None)
@given(
    st.lists(
        st.sampled_from(["a", "b", ".", "*", "+", "?", "(", ")", "|", "^", "$", r"\d", "[ab]", "{2}"]),
        max_size=8,
    )
)
def test_what_is_taken_runs(pieces: list[str]) -> None:
    """The checker may refuse a little more than RE2, and never less."""
    pattern = "".join(pieces)
    if problem_in(pattern) is None:
        assert re2_takes(pattern), pattern
