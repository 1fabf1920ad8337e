"""Random packs as text: few fields, few values, patterns grown from small ones.

Two streams with the same few fields; `g` is the key. Everything that a rule compares takes so few values that
events often fit several steps at once, which is where engines differ.
"""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

LATENESS = 3
"""Seconds, of both streams, where there is any."""
_STREAM = """
stream {name} {{
  id_: string
  at:  timestamp
  g:   string?
  h:   string?
  n:   long
  k:   string
  v:   long?
  w:   double?
  t:   text?
  id id_  time at  lateness {lateness} seconds
}}
"""


def header(lateness: int) -> str:
    """Everything before the rules."""
    streams = (_STREAM.format(name=name, lateness=lateness) for name in ("e", "f"))
    return 'pack p version "1"\n' + "".join(streams)


_LETTERS = st.sampled_from("abc")
_SMALL = st.integers(0, 3)
_COMPARE = st.sampled_from(("==", "!=", "<", "<=", ">", ">="))


@dataclass(frozen=True, slots=True)
class Named:
    """A step that conditions behind it can name."""

    name: str
    stream: str
    single: bool


def _about_candidate() -> st.SearchStrategy[str]:
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
    ]
    value = st.sampled_from(("v", "w", "2 * v", "v + 1"))
    return st.one_of(
        st.sampled_from(keys),
        st.tuples(value, _COMPARE, ends | aggregates).map(" ".join),
        st.tuples(ends | aggregates, _COMPARE, _SMALL.map(str)).map(" ".join),
    )


_TEXTS = st.sampled_from(
    (
        't matches "red"',
        't matches "red AND car"',
        't matches "car OR NOT house"',
        't matches "\\"red car\\""',
    )
)

_ABOUT_PREVIOUS = st.sampled_from(
    ('prev(k) == "a"', "prev(v) < v", "prev(v, 2) is null", "prev(k) is null", "prev(w) != w", "k == prev(k)")
)


def conditions(names: list[Named]) -> st.SearchStrategy[str]:
    """A condition over the candidate and the steps before it."""
    alone = _about_candidate()
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


QUANTIFIERS = ("", "", "", "", "{2}", "{2,}", "{1,}", "+", "{1,2}", "{2,3}", "{3}", "?", "*", "{0,2}")


@st.composite
def _source(draw: st.DrawFn, names: list[Named], stream: str) -> str:
    how = draw(st.sampled_from(("any", "any", "alone", "alone", "alone", "whatever", "whatever")))
    if how == "any":
        return stream
    return f"{stream}[{draw(_about_candidate() if how == 'alone' else conditions(names))}]"


@st.composite
def patterns(draw: st.DrawFn, streams: tuple[str, ...] = ("e", "f")) -> tuple[str, list[Named], bool]:
    """A pattern's text, its steps, and whether it ends with an absence."""
    names: list[Named] = []
    parts: list[str] = []
    for number in range(draw(st.sampled_from((1, 2, 2, 3, 3, 4)))):
        stream = draw(st.sampled_from(streams))
        quantifier = draw(st.sampled_from(QUANTIFIERS))
        named = Named(f"s{number}", stream, quantifier in ("", "?"))
        visible = names if named.single or draw(st.booleans()) else [*names, named]
        source = draw(_source(visible, stream))
        own = " contiguous" if quantifier and draw(st.integers(0, 3)) == 0 else ""
        sign = draw(st.sampled_from(("->", "->", "=>"))) if parts else ""
        parts.append(f"{sign} {named.name}: {source}{quantifier}{own}".strip())
        names.append(named)
    absent = draw(st.integers(0, 3)) == 0
    if absent:
        stream = draw(st.sampled_from(streams))
        parts.append(f"-> absent {draw(_source(names, stream))} for {draw(st.integers(1, 4))}s")
    return " ".join(parts), names, absent


@st.composite
def _emits(draw: st.DrawFn, names: list[Named], key: str) -> list[str]:
    choices = [key] if key in ("g", "n") else []
    for named in names:
        s = named.name
        choices += [
            f"n_{s} = count({s})", f"sum_{s} = sum({s}.v)", f"avg_{s} = avg({s}.w)", f"max_{s} = max({s}.k)",
            f"min_{s} = min({s}.w)", f"first_{s} = first({s}.v)", f"last_{s} = last({s}.k)",
            f"second_{s} = first({s}.v, 1)", f"before_{s} = last({s}.w, 1)", f"list_{s} = list({s}.k)",
            f"distinct_{s} = distinct({s}.k)", f"half_{s} = percentile({s}.w, 0.5)",
            f"dev_{s} = stddev({s}.v)", f"since_{s} = last({s}.at) - first({s}.at)",
        ]  # fmt: skip
        if named.single:
            choices += [f"v_{s} = {s}.v", f"due_{s} = {s}.at + 4 hours", f"w_{s} = coalesce({s}.w, 7.0)"]
    return draw(st.lists(st.sampled_from(choices), max_size=3, unique=True)) if choices else []


@st.composite
def match_rules(draw: st.DrawFn, name: str) -> str:
    """One rule with a pattern."""
    streams = draw(st.sampled_from((("e",), ("e",), ("e",), ("e", "f"))))
    pattern, names, _ = draw(patterns(streams))
    keys = ["by g", "by g", "by g", "by n", "by g, n", ""]
    if all(f"{name}" in pattern for name in ("f[", "e[")):
        keys += ["by e.g = f.h", "by e.g = f.h"]
    by = draw(st.sampled_from(keys))
    within = draw(
        st.sampled_from((2, 3, 5, 8, 20, 20)).map(lambda s: f"within {s}s") | st.just("within unbounded")
    )
    skips = ["", "", "", "skip none", "skip to next", "skip past last"]
    skips += [f"skip to {end} {named.name}" for named in names[1:] for end in ("first", "last")]
    emits = draw(_emits(names, by[3:4]))
    limit = draw(st.sampled_from(("", "", "", "", "limit 1 runs", "limit 2 runs")))
    clauses = [by, f"match {pattern}", within, draw(st.sampled_from(skips)), limit]
    clauses += ["emit " + ", ".join(emits)] if emits else []
    return f"rule {name} {{\n" + "".join(f"  {clause}\n" for clause in clauses if clause) + "}\n"


@st.composite
def on_rules(draw: st.DrawFn, name: str) -> str:
    """One rule that raises an alert for every event."""
    source = draw(st.just("e") | _about_candidate().map(lambda c: f"e[{c}]"))
    by = draw(st.sampled_from(("", "  by g, n\n")))
    emit = draw(st.sampled_from(("", "  emit k, twice = 2 * v, w\n", "  emit id_, low = v < 2\n")))
    return f"rule {name} {{\n{by}  on {source}\n{emit}}}\n"


@st.composite
def packs(draw: st.DrawFn) -> str:
    """A whole pack of one to three rules."""
    count = draw(st.sampled_from((1, 1, 1, 2, 3)))
    kinds = [draw(st.integers(0, 9)) for _ in range(count)]
    rules = [draw(on_rules(f"r{i}") if kind == 9 else match_rules(f"r{i}")) for i, kind in enumerate(kinds)]
    return header(draw(st.sampled_from((LATENESS, LATENESS, 0)))) + "\n" + "\n".join(rules)
