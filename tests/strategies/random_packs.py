"""Random packs as text: few fields, few values, patterns grown from small ones.

Two streams with the same few fields; `g` is the key. Everything that a rule compares takes so few values that
events often fit several steps at once, which is where engines differ.
"""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

LATENESS = 3
"""Seconds, of both streams."""
_STREAM = """
stream {name} {{
  id_: string
  at:  timestamp
  g:   string?
  k:   string
  v:   long?
  w:   double?
  id id_  time at  lateness {lateness} seconds
}}
"""
HEADER = 'pack p version "1"\n' + "".join(_STREAM.format(name=name, lateness=LATENESS) for name in ("e", "f"))

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
    value = st.sampled_from(("v", "w", "2 * v", "v + 1"))
    return st.one_of(
        st.sampled_from(keys),
        st.tuples(value, _COMPARE, ends | aggregates).map(" ".join),
        st.tuples(ends | aggregates, _COMPARE, _SMALL.map(str)).map(" ".join),
        st.just(f"{'last(' if not named.single else '('}{s}.v) is null"),
        st.just(f"at - {'first(' if not named.single else '('}{s}.at) < 4 seconds"),
    )


_ABOUT_PREVIOUS = st.sampled_from(
    ('prev(k) == "a"', "prev(v) < v", "prev(v, 2) is null", "prev(k) is null", "prev(w) != w", "k == prev(k)")
)


def conditions(names: list[Named]) -> st.SearchStrategy[str]:
    """A condition over the candidate and the steps before it."""
    alone = _about_candidate()
    earlier = [_about_earlier(named) for named in names[-3:]]
    atom = st.one_of(alone, alone, _ABOUT_PREVIOUS, *earlier)
    return st.one_of(
        alone,
        *earlier,
        st.tuples(atom, atom).map(lambda p: f"{p[0]} and {p[1]}"),
        st.tuples(atom, atom).map(lambda p: f"({p[0]}) or {p[1]}"),
        atom.map(lambda c: f"not ({c})"),
    )


QUANTIFIERS = ("", "", "", "{2}", "{2,}", "{1,}", "{1,2}", "{2,3}", "{3}")


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
        named = Named(f"s{number}", stream, quantifier == "")
        visible = [*names, named] if quantifier and draw(st.booleans()) else names
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
def _emits(draw: st.DrawFn, names: list[Named], by: bool) -> list[str]:
    choices = ["g"] if by else []
    for named in names:
        s = named.name
        choices += [
            f"n_{s} = count({s})", f"sum_{s} = sum({s}.v)", f"avg_{s} = avg({s}.w)", f"max_{s} = max({s}.k)",
            f"min_{s} = min({s}.w)", f"first_{s} = first({s}.v)", f"last_{s} = last({s}.k)",
            f"second_{s} = first({s}.v, 1)",
        ]  # fmt: skip
        if named.single:
            choices += [f"v_{s} = {s}.v", f"due_{s} = {s}.at + 4 hours", f"w_{s} = coalesce({s}.w, 7.0)"]
    return draw(st.lists(st.sampled_from(choices), max_size=3, unique=True)) if choices else []


@st.composite
def match_rules(draw: st.DrawFn, name: str) -> str:
    """One rule with a pattern."""
    pattern, names, _ = draw(patterns(draw(st.sampled_from((("e",), ("e",), ("e",), ("e", "f"))))))
    by = draw(st.sampled_from(("by g", "by g", "")))
    within = draw(
        st.sampled_from((2, 3, 5, 8, 20, 20)).map(lambda s: f"within {s}s") | st.just("within unbounded")
    )
    skips = ["", "", "", "skip none", "skip to next", "skip past last"]
    skips += [f"skip to {end} {named.name}" for named in names[1:] for end in ("first", "last")]
    emits = draw(_emits(names, bool(by)))
    clauses = [by, f"match {pattern}", within, draw(st.sampled_from(skips))]
    clauses += ["emit " + ", ".join(emits)] if emits else []
    return f"rule {name} {{\n" + "".join(f"  {clause}\n" for clause in clauses if clause) + "}\n"


@st.composite
def on_rules(draw: st.DrawFn, name: str) -> str:
    """One rule that raises an alert for every event."""
    source = draw(st.just("e") | _about_candidate().map(lambda c: f"e[{c}]"))
    by = draw(st.sampled_from(("", "  by g\n")))
    emit = draw(st.sampled_from(("", "  emit k, twice = 2 * v, w\n", "  emit id_, low = v < 2\n")))
    return f"rule {name} {{\n{by}  on {source}\n{emit}}}\n"


@st.composite
def packs(draw: st.DrawFn) -> str:
    """A whole pack of one to three rules."""
    count = draw(st.sampled_from((1, 1, 1, 2, 3)))
    kinds = [draw(st.integers(0, 9)) for _ in range(count)]
    rules = [draw(on_rules(f"r{i}") if kind == 9 else match_rules(f"r{i}")) for i, kind in enumerate(kinds)]
    return HEADER + "\n" + "\n".join(rules)
