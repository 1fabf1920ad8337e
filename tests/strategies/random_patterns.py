"""Random patterns as text, of every construct, grown from small ones.

Not everything that is built here is a pattern: what the front end refuses is left out by those who ask.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from hypothesis import strategies as st
from random_conditions import Named, about_candidate, conditions, equalities

PLAIN = ("{2}", "{2,}", "{1,}", "+", "{1,2}", "{2,3}", "{3}", "?", "*", "{0,2}")
RELUCTANT = ("+?", "*?", "??", "{1,3}?", "{0,2}?", "{2,}?")
_SINGLE = ("", "?", "??")


@dataclass(frozen=True, slots=True)
class Shape:
    """Bounds of a pattern: the streams, how many elements are left, how deep groups may nest, which signs.

    `equal`: most conditions say that an event has a value of an earlier one. `dense`: most steps take any
    event, and most of them, and of the groups, are loops.
    """

    streams: tuple[str, ...]
    depth: int
    fancy: bool
    signs: tuple[str, ...]
    equal: bool = False
    dense: bool = False


@dataclass(slots=True)
class Build:
    """A pattern's text so far and the steps that conditions may name, by what they can see of them."""

    names: list[Named] = field(default_factory=list)
    count: int = 0
    left: int = 5

    def name(self) -> str:
        """A name that no other step has."""
        self.count += 1
        return f"s{self.count - 1}"


@st.composite
def _source(draw: st.DrawFn, names: list[Named], stream: str, shape: Shape) -> str:
    if shape.dense and draw(st.integers(0, 3)):
        return stream
    if shape.equal and names and draw(st.integers(0, 3)):
        return f"{stream}[{draw(equalities(names))}]"
    how = draw(st.sampled_from(("any", "any", "alone", "alone", "alone", "whatever", "whatever")))
    if how == "any":
        return stream
    return f"{stream}[{draw(about_candidate() if how == 'alone' else conditions(names))}]"


@st.composite
def _loop(draw: st.DrawFn, build: Build, shape: Shape) -> tuple[str, bool]:
    """A quantifier with what follows it, and whether it takes at most one."""
    simple = PLAIN if shape.dense else ("", "", "", "", "", *PLAIN)
    quantifier = draw(st.sampled_from((*simple, *RELUCTANT) if shape.fancy else simple))
    more = []
    if quantifier and draw(st.integers(0, 3)) == 0:
        more.append("contiguous")
    if shape.fancy and quantifier and quantifier not in RELUCTANT and draw(st.integers(0, 4)) == 0:
        more = [draw(st.sampled_from(("each", "each", "any", "each contiguous", "any each")))]
    if shape.fancy and quantifier and draw(st.integers(0, 5)) == 0:
        more.append(f"until {draw(_source(build.names, draw(st.sampled_from(shape.streams)), shape))}")
    if shape.fancy and draw(st.integers(0, 7)) == 0:
        more.append(f"gap {draw(st.integers(1, 4))}s")
    return " ".join([quantifier, *more]), quantifier in _SINGLE


@st.composite
def _step(draw: st.DrawFn, build: Build, shape: Shape) -> str:
    stream = draw(st.sampled_from(shape.streams))
    before = list(build.names)
    again = [named.name for named in before if named.stream == stream]
    name = draw(st.sampled_from(again)) if again and draw(st.integers(0, 9)) == 0 else build.name()
    build.names = [*before, Named(name, stream, False)]
    loop, single = draw(_loop(build, shape))
    own = Named(name, stream, single and name not in again)
    visible = before if single or draw(st.booleans()) else [*before, own]
    build.names = before
    source = draw(_source(visible, stream, shape))
    build.names = [*before, own]
    return f"{name}: {source}{loop}"


@st.composite
def _group(draw: st.DrawFn, build: Build, shape: Shape) -> str:
    kind = draw(st.sampled_from(("->", "|", "|", "&", "&")))
    before = list(build.names)
    inner = replace(shape, depth=shape.depth - 1)
    count = 1 if kind == "->" else draw(st.sampled_from((2, 2, 2, 3)))
    parts, bound = [], []
    for _ in range(count):
        build.names = list(before)
        parts.append(draw(_sequence(build, inner)))
        bound += build.names[len(before) :]
    build.names = [*before, *bound]
    loop, single = draw(_loop(build, shape))
    build.names = [*before, *(named if single else replace(named, single=False) for named in bound)]
    return f"({f' {kind} '.join(parts)}){loop}"


@st.composite
def _sequence(draw: st.DrawFn, build: Build, shape: Shape) -> str:
    parts: list[str] = []
    for _ in range(draw(st.sampled_from((1, 1, 2, 2, 3)))):
        if build.left <= 0 and parts:
            break
        sign = draw(st.sampled_from(shape.signs)) if parts else ""
        build.left -= 1
        kind = draw(st.integers(0, 13)) if shape.fancy else 0
        stream = draw(st.sampled_from(shape.streams))
        if kind == 13:
            sign = "->" if parts else ""
            guard = draw(_source(build.names, stream, shape))
            parts.append(f"{sign} absent {guard} for {draw(st.integers(1, 4))}s")
            continue
        if kind in (11, 12) and parts:
            guard = draw(_source(build.names, stream, shape))
            parts.append(f"{draw(st.sampled_from(('->', '=>')))} not {guard}")
            continue
        grouped = kind in (3, 4, 5, 6, 7, 8, 9, 10)[0 if shape.dense else 4 :] and shape.depth > 0
        parts.append(f"{sign} {draw(_group(build, shape) if grouped else _step(build, shape))}".strip())
    return " ".join(parts)


@st.composite
def patterns(
    draw: st.DrawFn,
    streams: tuple[str, ...] = ("e", "f"),
    fancy: bool = True,
    equal: bool = False,
    dense: bool = False,
) -> tuple[str, list[Named]]:
    """A pattern's text and its steps; `equal` and `dense` as in Shape. Not `fancy`: one sequence."""
    build = Build(left=draw(st.sampled_from((2, 2, 3, 3, 4) if equal else (2, 3, 4, 5, 6))))
    signs = ("->", "->", "=>") + (("~>",) if fancy and draw(st.booleans()) else ())
    depth = draw(st.sampled_from((1, 2) if dense else (0, 1, 1, 2)))
    shape = Shape(streams, depth, fancy, signs, equal, dense)
    parts = [draw(_sequence(build, shape))]
    while build.left > 0 and draw(st.booleans()):
        parts.append(f"{draw(st.sampled_from(signs))} {draw(_sequence(build, shape))}")
    if draw(st.integers(0, 4)) == 0:
        source = draw(_source(build.names, draw(st.sampled_from(streams)), shape))
        parts.append(f"-> absent {source} for {draw(st.integers(1, 4))}s")
    elif fancy and draw(st.integers(0, 8)) == 0:
        source = draw(_source(build.names, draw(st.sampled_from(streams)), shape))
        parts.append(draw(st.sampled_from((f"-> absent {source}", f"=> not {source}"))))
    return " ".join(parts), build.names
