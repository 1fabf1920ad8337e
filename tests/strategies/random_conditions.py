"""Random conditions as text, over the candidate, the steps before it and the events before it."""

from __future__ import annotations

from dataclasses import dataclass

import random_values
from hypothesis import strategies as st

_LETTERS = st.sampled_from("abc")
_SMALL = st.integers(0, 3)
_COMPARE = st.sampled_from(("==", "!=", "<", "<=", ">", ">="))


@dataclass(frozen=True, slots=True)
class Named:
    """A step that conditions behind it can name."""

    name: str
    stream: str
    single: bool


def about_candidate() -> st.SearchStrategy[str]:
    return st.one_of(
        st.sampled_from(('k == "a"', 'k == "a"', 'k == "b"', 'k != "c"', "v >= 1")),
        _LETTERS.map(lambda k: f'k != "{k}"'),
        st.tuples(_COMPARE, _SMALL).map(lambda p: f"v {p[0]} {p[1]}"),
        st.sampled_from(
            (
                'k in ("a", "b")',
                "v is null",
                "v is not null",
                "w <= 0.5",
                "v % 2 == 0",
                "v + w > 2",
                "not (w > 1.0)",
            )
        ),
        st.sampled_from(random_values.ALONE),
    )


def _about_earlier(named: Named) -> st.SearchStrategy[str]:
    s = named.name
    aggregates = st.sampled_from(
        [f"{f}({s}.{x})" for f in ("sum", "avg", "min", "max") for x in "vw"] + [f"count({s})"]
    )
    ends = st.sampled_from(
        (f"first({s}.v)", f"last({s}.v)", f"last({s}.w)", f"first({s}.v, 1)", f"last({s}.v, 1)")
    )
    keys = [f"k == last({s}.k)", f"k != first({s}.k)", f"first({s}.k) == last({s}.k)"]
    if named.single:
        keys += [f"k == {s}.k", f"k > {s}.k"]
        ends |= st.sampled_from((f"{s}.v", f"{s}.w"))
    keys += [f"min({s}.k) == k", f"max({s}.k) > k", f'k in (last({s}.k), "a")', f'last({s}.k) like "a%"']
    first, last = (f"{s}.", f"{s}.") if named.single else (f"first({s}.", f"last({s}.")
    end = "" if named.single else ")"
    keys += [
        f"lower({last}k{end}) == k",
        f"coalesce({first}v{end}, 1) == v",
        f"(v > 1 ? {last}v{end} : 1) == 1",
        f"abs({last}v{end} - v) <= 1",
        f"round({last}w{end} * 1.5) > w",
        f"({last}v{end} is null or {last}v{end} > 1)",
        f"v between {last}v{end} and 3",
        f"{last}g{end} == g",
        f"-{last}v{end} < v - 2",
        f"{last}v{end} % 2 == v % 2",
        f"{last}v{end} / v > 0.5",
        f"{last}v{end} * v + {first}v{end} > 3",
        f"at - {first}at{end} < 4 seconds",
        f"at > {last}at{end} + 1 second",
        f"hour({last}at{end}) == 0",
        f"distinct({s}.k) >= 2",
        f"percentile({s}.w, 0.5) > w",
        f"stddev({s}.v) > 0.5",
        f"substr({last}k{end}, v) == k",
    ]
    keys += random_values.earlier(s, named.single)
    value = st.sampled_from(("v", "w", "2 * v", "v + 1"))
    return st.one_of(
        st.sampled_from(keys),
        st.tuples(value, _COMPARE, ends | aggregates).map(" ".join),
        st.tuples(ends | aggregates, _COMPARE, _SMALL.map(str)).map(" ".join),
    )


def equalities(names: list[Named]) -> st.SearchStrategy[str]:
    """A condition that says that the candidate has a value of a step before it, and perhaps more."""
    found = []
    for named in names:
        first, last = (
            (f"{named.name}.",) * 2 if named.single else (f"first({named.name}.", f"last({named.name}.")
        )
        end = "" if named.single else ")"
        found += [f"{x} == {last}{x}{end}" for x in "kkknnnvvwg"]
        found += [f"{first}k{end} == k", f"v == {first}n{end}", f"lower({last}k{end}) == lower(k)"]
        found += [f"prev(k) == {last}k{end}", f"count({named.name}) == v", f"max({named.name}.w) == w"]
    if not found:
        return about_candidate()
    one = st.sampled_from(found)
    more = st.one_of(about_candidate(), conditions(names))
    return st.one_of(one, one, st.tuples(one, more).map(" and ".join), st.tuples(more, one).map(" and ".join))


_TEXTS = st.sampled_from(
    (
        't matches "red"',
        't matches "red AND car"',
        't matches "car OR NOT house"',
        't matches "\\"red car\\""',
    )
)

_ABOUT_PREVIOUS = st.sampled_from(
    (
        'prev(k) == "a"', "prev(v) < v", "prev(v, 2) is null", "prev(k) is null", "prev(w) != w",
        "k == prev(k)", *random_values.PREVIOUS,
    )
)  # fmt: skip


def conditions(names: list[Named]) -> st.SearchStrategy[str]:
    """A condition over the candidate and the steps before it."""
    alone = about_candidate()
    earlier = [_about_earlier(named) for named in names[-3:]]
    atom = st.one_of(alone, alone, _ABOUT_PREVIOUS, _TEXTS, *earlier)
    return st.one_of(
        alone,
        *earlier,
        _ABOUT_PREVIOUS | _TEXTS,
        st.tuples(atom, atom).map(lambda p: f"{p[0]} and {p[1]}"),
        st.tuples(atom, atom).map(lambda p: f"({p[0]}) or {p[1]}"),
        atom.map(lambda c: f"not ({c})"),
    )


def about_matches(names: list[Named]) -> st.SearchStrategy[str]:
    """A condition over all that was taken: for `having`."""
    found = []
    for named in names:
        s = named.name
        last = f"{s}." if named.single else f"last({s}."
        end = "" if named.single else ")"
        found += [
            f"count({s}) > 1", f"count({s}) == 1", f"distinct({s}.k) >= 2", f"sum({s}.v) > 1",
            f"{last}k{end} == \"a\"", f"{last}v{end} is null", f"avg({s}.w) > 0.6", f"sum({s}.m) > 2",
            f"\"a\" in {last}l{end}",
        ]  # fmt: skip
    return st.sampled_from(found) if found else st.just("true")
