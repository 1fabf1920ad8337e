"""Random well-typed rules with all their clauses and a test, and the mistakes that each part can be given."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from hypothesis import strategies as st

STREAMS = """pack p version "1"
stream e { id_: string  at: timestamp  g: string  n: long  k: string  w: double?  t: text  l: list<string>
           id id_  time at }
stream f { id_: string  at: timestamp  g: string  n: long  k: string  w: double?  t: text  l: list<string>
           id id_  time at }
"""
Mistake = tuple[str, str]
"""What may be written instead, and the code of its diagnostic."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of a rule's text that is right, and what would be wrong there."""

    text: str
    mistakes: tuple[Mistake, ...] = field(default=(), repr=False)


Parts = list[Piece]
_CANDIDATE = (
    *("n > 3", 'k == "a"', "w is null", "n * 2 >= w", 't matches "red"', '"x" in l', "n between 1 and 3"),
    *('k like "a%"', "abs(n) in (1, 2)", "(n > 1 ? w : 2.5) < 3", 'at > "2026-01-05T09:00Z"', "hour(at) > 8"),
)
_OF_VALUES: tuple[Mistake, ...] = (
    *(("n == k", "CEP0207"), ('n in (1, "a")', "CEP0207"), ("k + 1 > 2", "CEP0208"), ("n", "CEP0209")),
    *(("abs(n, n) > 1", "CEP0210"), ("abs(k) > 1", "CEP0211"), ("k == null", "CEP0230")),
    *(("nothing(n) > 1", "CEP0204"), ("nope > 1", "CEP0202"), ("zz.n > 1", "CEP0203"), ("l > 1", "CEP0207")),
    *(
        ('k =~ "("', "CEP0215"),
        ('n matches "a"', "CEP0216"),
        ('t matches "("', "CEP0217"),
        ("n = 1", "CEP0107"),
    ),
)
_AGGREGATES = ("count({0}) > 1", "n > avg({0}.n)", "distinct({0}.k) == 2", "last({0}.n) != first({0}.n, 1)")
_OF_AGGREGATES: tuple[Mistake, ...] = (
    *(
        ("sum({0}.k) > 1", "CEP0211"),
        ("avg({0}.nope) > 1", "CEP0202"),
        ("percentile({0}.n, 2) > 1", "CEP0214"),
    ),
    *(("count({0}.n) > 1", "CEP0225"), ("sum(n) > 1", "CEP0225"), ("list({0}.n) is null", "CEP0225")),
)


@dataclass(frozen=True, slots=True)
class Step:
    """A step's name, its stream, and whether it takes several events."""

    name: str
    stream: str
    repeated: bool

    def over_the_other(self) -> str:
        """The same name over the other stream."""
        return f"{self.name}: {'f' if self.stream == 'e' else 'e'}"


@st.composite
def _condition(draw: st.DrawFn, seen: Sequence[Step], later: Mistake) -> Piece:
    """A condition of a step; `later` is a step that it cannot see, with the code that says so."""
    about = list(_CANDIDATE)
    mistakes = [*_OF_VALUES, (f"{later[0]}.n > 1", later[1])]
    for step in seen:
        about += [form.format(step.name) for form in _AGGREGATES]
        mistakes += [(form.format(step.name), code) for form, code in _OF_AGGREGATES]
        if step.repeated:
            mistakes.append((f"{step.name}.n > 1", "CEP0213"))
        else:
            about += [f"n > {step.name}.n", f"at - {step.name}.at < 5m"]
            mistakes += [(f"k > {step.name}.n", "CEP0207"), (f"at - {step.name}.n > at", "CEP0208")]
    text = " and ".join(draw(st.lists(st.sampled_from(about), min_size=1, max_size=2, unique=True)))
    return Piece(text, tuple(mistakes))


@st.composite
def _source(draw: st.DrawFn, seen: Sequence[Step], later: Mistake) -> Parts:
    stream = Piece(draw(st.sampled_from("ef")), (("nope", "CEP0201"),))
    return [stream, Piece("["), draw(_condition(seen, later)), Piece("]")]


@st.composite
def _pattern(draw: st.DrawFn) -> tuple[Parts, list[Step]]:
    """Two to four steps, the last one plain; guards and groups between them."""
    parts: Parts = []
    seen: list[Step] = []
    number = draw(st.integers(2, 4))
    names = [f"s{i}" for i in range(number)]
    for place, name in enumerate(names):
        last = place == number - 1
        if place:
            parts.append(Piece(draw(st.sampled_from((" -> ", " => ")))))
        if place and draw(st.integers(0, 3)) == 0:
            guard = draw(_source(seen, (names[-1], "CEP0212")))
            parts += [Piece("not "), *guard, Piece(" -> ")]
        loop = "" if last else draw(st.sampled_from(("", "{2}", "{2,3}", "+", "{2,}?", "{2} contiguous")))
        wrong: tuple[Mistake, ...] = (("{3,2}", "CEP0407"), ("{0}", "CEP0407"))
        wrong += () if loop else ((" contiguous", "CEP0408"), (" until e", "CEP0408"))
        taken = draw(_source(seen, (name, "CEP0213" if loop else "CEP0212")))
        step = [Piece(f"{name}: "), *taken, Piece(loop, wrong)]
        if draw(st.integers(0, 3)) == 0:
            source = draw(_source(seen, (name, "CEP0212")))
            unused = [s for s in seen if s.name not in source[2].text]
            over_another = tuple((f"{s.over_the_other()} | {name}b: ", "CEP0411") for s in unused[:1])
            step = [Piece("("), *step, Piece(" | "), Piece(f"{name}b: ", over_another), *source, Piece(")")]
        parts += step
        seen.append(Step(name, taken[0].text, bool(loop)))
    if draw(st.booleans()):
        parts += [
            Piece(" -> absent "),
            *draw(_source(seen, ("zz", "CEP0203")))[:1],
            Piece(" for 5m", ((" for 0s", "CEP0402"),)),
        ]
    return parts, seen


@st.composite
def _match(draw: st.DrawFn) -> Parts:
    pattern, steps = draw(_pattern())
    name = steps[-1].name
    skip = draw(st.sampled_from(("past last", "to next", "none", f"to last {name}")))
    wrong: tuple[Mistake, ...] = (
        ("x = zz.n", "CEP0203"),
        ("x = nope", "CEP0205"),
        (f"x = {name}", "CEP0205"),
    )
    wrong += ((f"x = {name}.k + 1", "CEP0208"), ("x = g, x = 1", "CEP0206"), (f"x = {name}.nope", "CEP0202"))
    return [
        *(Piece("  match "), *pattern),
        *(
            Piece("\n  within "),
            Piece("1 hour", (("0s", "CEP0402"), ("an hour", "CEP0101"), ("5", "CEP0105"))),
        ),
        *(Piece("\n  skip "), Piece(skip, (("to first zz", "CEP0203"), ("to zz", "CEP0101")))),
        *(Piece("\n  limit "), Piece("50 runs", (("0 runs", "CEP0402"),))),
        *(Piece("\n  having "), Piece(f"{name}.n > 1", ((f"{name}.n", "CEP0209"), ("zz.n > 1", "CEP0203")))),
        *(Piece("\n  emit g, "), Piece(f"x = sum({name}.n)", wrong)),
    ]


@st.composite
def _over(draw: st.DrawFn) -> Parts:
    windows = ("tumbling 1h", "hopping 1h every 15m", "sliding 5m", "session gap 30s", "last 7 events")
    having = ("count() > 3", "avg(n) > 3 * previous(avg(n))", "distinct(k) > 1", "count(n > 1) > 1")
    bad: tuple[Mistake, ...] = (("n > 1", "CEP0417"), ("avg(k) > 1", "CEP0211"), ("count()", "CEP0209"))
    return [
        *(
            Piece("  over "),
            *draw(_source([], ("zz", "CEP0203")))[:2],
            Piece(draw(st.sampled_from(_CANDIDATE)), _OF_VALUES),
        ),
        *(
            Piece("] "),
            Piece(
                draw(st.sampled_from(windows)),
                (("hopping 1h every 7m", "CEP0420"), ("sliding 5m early", "CEP0427")),
            ),
        ),
        *(Piece("\n  having "), Piece(draw(st.sampled_from(having)), bad)),
        *(Piece("\n  emit g, "), Piece("x = sum(n)", (("x = n", "CEP0417"), ("x = sum(nope)", "CEP0202")))),
    ]


@st.composite
def _on(draw: st.DrawFn) -> Parts:
    source = draw(_source([], ("zz", "CEP0203")))
    source[2] = Piece(draw(st.sampled_from(_CANDIDATE)), _OF_VALUES)
    wrong = (("within 1h", "CEP0414"), ("skip none", "CEP0414"), ("x = k + 1", "CEP0208"))
    emit = Piece("x = n", (*wrong[2:], ("x = nope", "CEP0202"), ("x = s.n", "CEP0203")))
    return [Piece("  on "), *source, Piece("\n  emit g, "), emit, Piece("\n"), Piece("  ", wrong[:2])]


_CLAUSES: Parts = [
    *(Piece("\n  severity "), Piece("high", (("urgent", "CEP0228"),))),
    *(Piece("\n  summary "), Piece('"{x} of {g}"', (('"{nope}"', "CEP0220"), ('"{x"', "CEP0221")))),
    *(Piece("\n  suppress "), Piece("1h by g, x", (("0s", "CEP0402"), ("1h by nope", "CEP0220")))),
    *(Piece("\n  episode "), Piece("1h", (("0s", "CEP0402"),))),
    Piece("\n}\n"),
]
_GIVEN = Piece(
    '{ g: "a", n: 1 }', (("{ nope: 1 }", "CEP0602"), ('{ n: "a" }', "CEP0211"), ("{ n: null }", "CEP0603"))
)
_WANTED = Piece(
    '{ g: "a", x: 1 }', (("{ nope: 1 }", "CEP0605"), ('{ x: "a" }', "CEP0211"), ("{ g: 1 }", "CEP0211"))
)
_TEST: Parts = [
    *(Piece("test "), Piece("r", (("rr", "CEP0601"),)), Piece(' "of any kind" {\n  at 5m ')),
    *(Piece("e", (("nope", "CEP0201"),)), Piece(" "), _GIVEN),
    *(
        Piece("\n  at "),
        Piece("6m", (("4m", "CEP0604"), ("6", "CEP0105"))),
        Piece(" f {}\n  expect at 5m "),
        _WANTED,
    ),
    *(
        Piece("\n  expect "),
        Piece('{ severity: "high" }', (('{ severity: "urgent" }', "CEP0603"),)),
        Piece("\n}\n"),
    ),
]


@st.composite
def rules(draw: st.DrawFn) -> tuple[Piece, ...]:
    """A rule with its test, in parts."""
    body = draw(st.one_of(_match(), _match(), _over(), _on()))
    key = Piece("g", (("g, nope", "CEP0218"), ("g, l", "CEP0219"), ("g, g", "CEP0206")))
    return (Piece("rule r {\n  by "), key, Piece("\n"), *body, *_CLAUSES, *_TEST)


def written(parts: Sequence[Piece]) -> str:
    """The text of the parts after the streams."""
    return STREAMS + "".join(part.text for part in parts)


def mistaken(parts: Sequence[Piece]) -> Iterator[tuple[str, str, int, int]]:
    """Every text with one mistake: the text, the code to be reported, and between which places."""
    for place, part in enumerate(parts):
        start = len(written(parts[:place]))
        for text, code in part.mistakes:
            changed = [*parts[:place], Piece(text), *parts[place + 1 :]]
            yield written(changed), code, start, start + len(text)
