"""Random packs as text: few fields, few values, patterns grown from small ones.

Two streams with the same few fields; `g` is the key. Everything that a rule compares takes so few values that
events often fit several steps at once, which is where engines differ.
"""

from __future__ import annotations

import random_values
from hypothesis import strategies as st
from random_conditions import Named, about_candidate, about_matches
from random_patterns import patterns

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
  t:   text?{values}
  id id_  time at  lateness {lateness} seconds
}}
"""


def header(lateness: int) -> str:
    """Everything before the rules."""
    streams = (
        _STREAM.format(name=name, lateness=lateness, values=random_values.FIELDS) for name in ("e", "f")
    )
    return 'pack p version "1"\n' + "".join(streams)


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
        choices += random_values.emits(s, named.single)
        if named.single:
            choices += [f"v_{s} = {s}.v", f"due_{s} = {s}.at + 4 hours", f"w_{s} = coalesce({s}.w, 7.0)"]
    return draw(st.lists(st.sampled_from(choices), max_size=3, unique=True)) if choices else []


@st.composite
def match_rules(
    draw: st.DrawFn, name: str, fancy: bool | None = None, equal: bool = False, dense: bool = False
) -> str:
    """One rule with a pattern; `fancy`: of every construct, or not (None: mostly); others as in patterns."""
    streams = draw(st.sampled_from((("e",), ("e",), ("e",), ("e", "f"))))
    fancy = draw(st.integers(0, 3)) > 0 if fancy is None else fancy
    pattern, names = draw(patterns(streams, fancy, equal, dense))
    keys = [""] if dense else ["by g", "by g", "by g", "by n", "by g, n", ""]
    if all(f"{name}" in pattern for name in ("f[", "e[")):
        keys += ["by e.g = f.h", "by e.g = f.h"]
    keys += [f"by {key}" for key in random_values.KEYS if not dense]
    by = draw(st.sampled_from(keys))
    within = draw(
        st.sampled_from((2, 3, 5, 8, 20, 20)).map(lambda s: f"within {s}s") | st.just("within unbounded")
    )
    skips = ["", "", "", "skip none", "skip to next", "skip past last"]
    skips += [f"skip to {end} {named.name}" for named in names[1:] for end in ("first", "last")]
    skips += ["skip none"] * 8 if equal else []
    emits = draw(_emits(names, by[3:4]))
    limit = draw(st.sampled_from(("", "", "", "", "limit 1 runs", "limit 2 runs", "limit 5 runs")))
    clauses = [by, f"match {pattern}", within, draw(st.sampled_from(skips)), limit]
    if fancy and draw(st.integers(0, 5)) == 0:
        clauses.append(f"having {draw(about_matches(names))}")
    bounded = within.strip() not in ("", "within unbounded") or " gap " in pattern
    if fancy and bounded and draw(st.integers(0, 3)) == 0:
        told = draw(_emits(names, by[3:4])) or ["nothing = 1"]
        clauses.append("on timeout emit " + ", ".join(told))
    clauses += ["emit " + ", ".join(emits)] if emits else []
    return f"rule {name} {{\n" + "".join(f"  {clause}\n" for clause in clauses if clause) + "}\n"


@st.composite
def on_rules(draw: st.DrawFn, name: str) -> str:
    """One rule that raises an alert for every event."""
    source = draw(st.just("e") | about_candidate().map(lambda c: f"e[{c}]"))
    by = draw(st.sampled_from(("", "  by g, n\n")))
    emits = ("", "  emit k, twice = 2 * v, w\n", "  emit id_, low = v < 2\n", "  emit m, l, r, y, c = y.m\n")
    emit = draw(st.sampled_from(emits))
    return f"rule {name} {{\n{by}  on {source}\n{emit}}}\n"


@st.composite
def packs(draw: st.DrawFn, fancy: bool | None = None) -> str:
    """A whole pack of one to three rules, `fancy` as in `match_rules`."""
    count = draw(st.sampled_from((1, 1, 1, 2, 3)))
    kinds = [draw(st.integers(0, 9)) for _ in range(count)]
    rules = [
        draw(on_rules(f"r{i}") if kind == 9 else match_rules(f"r{i}", fancy)) for i, kind in enumerate(kinds)
    ]
    return header(draw(st.sampled_from((LATENESS, LATENESS, 0)))) + "\n" + "\n".join(rules)


@st.composite
def crowded_packs(draw: st.DrawFn) -> str:
    """A pack of one rule whose steps mostly ask for values of earlier ones, with many runs side by side."""
    rule = draw(match_rules("r0", draw(st.sampled_from((True, False))), True))
    return header(draw(st.sampled_from((LATENESS, 0)))) + "\n" + rule


@st.composite
def dense_packs(draw: st.DrawFn) -> str:
    """A pack of one rule of loops in loops that most events fit, so that a run may have many alternatives."""
    rule = draw(match_rules("r0", dense=True))
    return header(draw(st.sampled_from((LATENESS, 0)))) + "\n" + rule
