"""Random packs as text with every kind of block and stream: fed, hits of queries, derived, under any body.

All streams have a field `g` (string) and `n` (long), so that any rule can read any of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hypothesis import strategies as st

HEAD = 'pack p version "1"'
_STREAM = """stream {name} {{ id_: string  at: timestamp  sent: timestamp  got: timestamp  g: string  n: long
  w: double?  t: text  l: list<string>  d: {{ os: string? }}  id id_  time at{corrected} }}"""
_TABLE = "table m key g { g: string  risk: double  since: timestamp  place: { city: string? } %s }"
_QUERIES = 'queries q { from "q.jsonl" }'
_AGGREGATES = (
    *("count()", "rate()", "sum(n)", "avg(n)", "min(n)", "max(n)", "stddev(n)", "distinct(g)"),
    *("percentile(n, 0.9)", "first(n)", "last(n)", "count(n > 1)", 'sum(g == "a" ? n : null)'),
)
_WINDOWS = (
    *("tumbling 1h", "hopping 1h every 15m", "sliding 5m", "session gap 30s", "last 7 events"),
    *("tumbling 1h early", 'hopping 1w every 1d zone "Asia/Tokyo"', "session gap 30s max 1h early"),
    "last 7 events within 5m",
)


@dataclass(frozen=True, slots=True)
class Pack:
    """The blocks of a pack but its header; those of rules say which stream they make and which they read."""

    blocks: tuple[str, ...]
    makers: dict[str, str]
    readers: dict[str, tuple[str, ...]]

    def text(self, order: Sequence[int] | None = None, without: str = "") -> str:
        """The pack with its blocks in that order, less one of them."""
        blocks = [self.blocks[number] for number in order or range(len(self.blocks))]
        return "\n".join((HEAD, *(block for block in blocks if block != without)))


@st.composite
def _condition(draw: st.DrawFn, source: str) -> str:
    atoms = ["n > 1", 'g in ("a", "b")', "m[g].risk > 0.5", "m[g].place.city is null", 'm["a"].risk < n']
    if "matching" in source:
        atoms += ['"x" in tags', "priority > 2", 'query like "a%"', "names is not null"]
    if not source.startswith("s"):
        atoms += ['"x" in l', 'd.os == "x"', 't matches "red"']
    chosen = draw(st.lists(st.sampled_from(atoms), max_size=2, unique=True))
    return f"{source}[{' and '.join(chosen)}]" if chosen else source


@st.composite
def _window(draw: st.DrawFn, source: str) -> str:
    window = draw(st.sampled_from(_WINDOWS))
    earlier = ["previous({})", "previous({}, 3)"]
    earlier += [] if window.startswith(("session", "last")) else ["ago({}, 7 days)"]
    calls = st.sampled_from(_AGGREGATES)
    calls = calls | st.tuples(st.sampled_from(earlier), calls).map(lambda pair: pair[0].format(pair[1]))
    left, right, shown = draw(calls), draw(calls | st.just("m[g].risk") | st.just("3")), draw(calls)
    return f"over {source} {window}  having {left} > {right}  emit g, n = count(), x = {shown}"


@st.composite
def _body(draw: st.DrawFn, sources: list[str]) -> tuple[str, tuple[str, ...]]:
    """The text after `by g`, and the streams that it reads."""
    name = draw(st.sampled_from(sources))
    source = draw(_condition(name))
    match draw(st.sampled_from(("on", "over", "match"))):
        case "on":
            return f"on {source}  emit g, n, x = m[g].risk", (name,)
        case "over":
            return draw(_window(source)), (name,)
        case _:
            sign = draw(st.sampled_from(("->", "=>", "~>")))
            other = draw(st.sampled_from(sources))
            second = draw(_condition(other))
            pattern = f"a: {source} {sign} b: {second}{{1,2}}"
            return f"match {pattern}  within 5m  emit g, n = count(b), x = list(b.n), y = m[a.g].risk", (
                name,
                other,
            )


@st.composite
def packs(draw: st.DrawFn) -> Pack:
    """A pack of one to five rules; some make streams that later ones read."""
    corrected = draw(st.sampled_from(("", " corrected by sent, got")))
    blocks = [_STREAM.format(name=name, corrected=corrected) for name in ("e", "f")]
    blocks += [_TABLE % draw(st.sampled_from(("", " time since"))), _QUERIES]
    sources = ["e", "f", "e matching q", "f matching q"]
    makers: dict[str, str] = {}
    readers: dict[str, tuple[str, ...]] = {}
    for number in range(draw(st.integers(1, 5))):
        body, read = draw(_body(sources))
        into = f"  into s{number}" if draw(st.booleans()) else ""
        block = f"rule r{number} {{ by g  {body}{into} }}"
        blocks.append(block)
        for stream in read:
            readers[stream] = (*readers.get(stream, ()), block)
        if into:
            makers[f"s{number}"] = block
            sources += [f"s{number}"] * 2
    return Pack(tuple(blocks), makers, readers)
