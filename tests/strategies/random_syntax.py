"""Random rule files as lists of tokens: every construct of the grammar, whether it means anything or not."""

from __future__ import annotations

from hypothesis import strategies as st

Tokens = list[str]

_NAMES = st.sampled_from(
    ("a", "b", "probe", "card_id", "by", "time", "any", "x", "`not`", "`two words`", "ä1")
)
_STRINGS = st.sampled_from(
    ('""', '"NG"', '"# no { comment"', r'"say \"hi\""', '"ein längeres Stück Text, das bricht"')
)
_NUMBERS = st.sampled_from(("0", "12", "1_000", "2.00", "1e6", "2.5E-3"))
_DURATIONS = st.sampled_from((["30s"], ["1.5h"], ["5", "minutes"], ["1", "day"], ["250ms"]))
_COMPARE = st.sampled_from(("+", "-", "*", "/", "%", "==", "!=", "<", "<=", ">", ">="))


def _flat(parts: list[Tokens], between: str = ",") -> Tokens:
    tokens: Tokens = []
    for place, part in enumerate(parts):
        tokens += ([between] if place and between else []) + part
    return tokens


def _dotted(draw: st.DrawFn) -> Tokens:
    return _flat([[name] for name in draw(st.lists(_NAMES, min_size=1, max_size=3))], ".")


@st.composite
def expressions(draw: st.DrawFn, depth: int = 3) -> Tokens:
    """An expression, each operand of an operator in parentheses unless it binds tighter by itself."""
    kind = draw(st.integers(0, 5 if depth == 0 else 16))
    inner = expressions(depth - 1)

    def operand() -> Tokens:
        tokens = draw(inner)
        return tokens if len(tokens) == 1 else ["(", *tokens, ")"]

    match kind:
        case 0:
            return [draw(_STRINGS)]
        case 1:
            return [draw(_NUMBERS)]
        case 2:
            return [draw(st.sampled_from(("true", "false", "null")))]
        case 3:
            return list(draw(_DURATIONS))
        case 4 | 5:
            return _dotted(draw)
        case 6:
            return ["(", *_flat(draw(st.lists(inner, min_size=1, max_size=4))), ")"]
        case 7:
            return [draw(_NAMES), "(", *_flat(draw(st.lists(inner, max_size=3))), ")"]
        case 8:
            path = [t for name in draw(st.lists(_NAMES, max_size=2)) for t in (".", name)]
            return [draw(_NAMES), "[", *draw(inner), "]", *path]
        case 9:
            return ["-", *operand()]
        case 10:
            return ["not", *operand()]
        case 11:
            return [*operand(), draw(_COMPARE), *operand()]
        case 12 | 13:
            word = draw(st.sampled_from(("and", "or")))
            return _flat([operand() for _ in range(draw(st.integers(2, 4)))], word)
        case 14:
            negated = draw(st.sampled_from(([], ["not"])))
            return [*operand(), *negated, "between", *operand(), "and", *operand()]
        case 15:
            word = draw(
                st.sampled_from((["in"], ["not", "in"], ["like"], ["not", "like"], ["=~"], ["matches"]))
            )
            return [*operand(), *word, *operand()]
        case _:
            if draw(st.booleans()):
                return [*operand(), "is", *draw(st.sampled_from(([], ["not"]))), "null"]
            return [*operand(), "?", *operand(), ":", *operand()]


@st.composite
def _sources(draw: st.DrawFn) -> Tokens:
    tokens = [draw(_NAMES)]
    if draw(st.integers(0, 4)) == 0:
        tokens += ["matching", draw(_NAMES)]
    if draw(st.booleans()):
        tokens += ["[", *draw(expressions(2)), "]"]
    return tokens


_QUANTIFIERS = st.sampled_from(
    (["+"], ["*"], ["?"], ["??"], ["+?"], ["{", "3", "}"], ["{", "2", ",", "}?"], ["{", "2", ",", "5", "}"])
)


@st.composite
def _suffixes(draw: st.DrawFn) -> Tokens:
    tokens = list(draw(_QUANTIFIERS)) if draw(st.integers(0, 2)) == 0 else []
    for kind in draw(st.lists(st.sampled_from(("each", "contiguous", "any", "until", "gap")), max_size=2)):
        tokens.append(kind)
        tokens += draw(_sources()) if kind == "until" else draw(_DURATIONS) if kind == "gap" else []
    return tokens


@st.composite
def patterns(draw: st.DrawFn, depth: int = 2) -> Tokens:
    """A sequence of steps, negations, absences and groups."""
    tokens: Tokens = []
    for place in range(draw(st.integers(1, 3))):
        tokens += [draw(st.sampled_from(("->", "=>", "~>")))] if place else []
        match draw(st.integers(0, 6)):
            case 0:
                tokens += ["not", *draw(_sources())]
            case 1:
                bound = ["for", *draw(_DURATIONS)] if draw(st.booleans()) else []
                tokens += ["absent", *draw(_sources()), *bound]
            case 2 if depth:
                branches = draw(st.lists(patterns(depth - 1), min_size=1, max_size=3))
                bar = draw(st.sampled_from("|&"))
                tokens += ["(", *_flat(branches, bar), ")", *draw(_suffixes())]
            case _:
                label = [draw(_NAMES), ":"] if draw(st.booleans()) else []
                tokens += [*label, *draw(_sources()), *draw(_suffixes())]
    return tokens


@st.composite
def _outputs(draw: st.DrawFn) -> Tokens:
    outputs = []
    for name in draw(st.lists(_NAMES, min_size=1, max_size=4)):
        outputs.append([name, "=", *draw(expressions(2))] if draw(st.booleans()) else [name])
    return _flat(outputs)


@st.composite
def _clauses(draw: st.DrawFn) -> Tokens:
    windows = (
        ["tumbling", "5m"], ["hopping", "5", "minutes", "every", "1m"], ["sliding", "1h"],
        ["session", "gap", "30s"], ["last", "5", "events"], ["last", "5", "events", "within", "1h"],
        ["tumbling", "1d", "zone", '"UTC"', "early"], ["session", "gap", "30s", "max", "5m", "early"],
    )  # fmt: skip
    skips = (["past", "last"], ["to", "next"], ["to", "first", "a"], ["to", "last", "b"], ["none"])
    match draw(st.integers(0, 15)):
        case 0:
            return ["on", *draw(_sources())]
        case 1 | 2 | 3:
            return ["match", *draw(patterns())]
        case 4:
            return ["over", *draw(_sources()), *draw(st.sampled_from(windows))]
        case 5:
            return ["within", *draw(_DURATIONS | st.just(["unbounded"]))]
        case 6:
            return ["having", *draw(expressions())]
        case 7:
            return ["skip", *draw(st.sampled_from(skips))]
        case 8:
            keys = [_flat([_dotted(draw) for _ in range(draw(st.integers(1, 2)))], "=") for _ in range(2)]
            return ["by", *_flat(keys)]
        case 9:
            return ["emit", *draw(_outputs())]
        case 10:
            return ["on", "timeout", "emit", *draw(_outputs())]
        case 11:
            plain = (["limit", "5", "runs"], ["severity", "high"], ["into", "hot"])
            return draw(st.sampled_from((*plain, ["episode", *draw(_DURATIONS)])))
        case 12:
            return [draw(st.sampled_from(("summary", "runbook"))), draw(_STRINGS)]
        case 13:
            return ["tags", *_flat([[s] for s in draw(st.lists(_STRINGS, min_size=1, max_size=3))])]
        case _:
            by = ["by", *_flat([[n] for n in draw(st.lists(_NAMES, min_size=1, max_size=3))])]
            # without a `by` of its own it would take that of a clause after it
            return ["suppress", *draw(_DURATIONS), *(by if draw(st.booleans()) else ["limit", "5", "runs"])]


@st.composite
def _types(draw: st.DrawFn, depth: int = 2) -> Tokens:
    match draw(st.integers(0, 5 if depth else 3)):
        case 0:
            return ["text", "english"]
        case 4:
            return ["list", "<", *draw(_types(depth - 1)), ">"]
        case 5:
            return ["{", *_flat(draw(st.lists(_fields(depth - 1), min_size=1, max_size=3)), ""), "}"]
        case _:
            return [draw(st.sampled_from(("string", "long", "double", "timestamp", "text")))]


@st.composite
def _fields(draw: st.DrawFn, depth: int = 2) -> Tokens:
    return [draw(_NAMES), ":", *draw(_types(depth)), *draw(st.sampled_from(([], ["?"])))]


@st.composite
def _settings(draw: st.DrawFn) -> Tokens:
    if draw(st.booleans()):
        return [draw(st.sampled_from(("lateness", "idle", "future"))), *draw(_DURATIONS)]
    corrected = ["corrected", "by", *_dotted(draw), ",", *_dotted(draw)] if draw(st.booleans()) else []
    return [draw(st.sampled_from(("id", "time"))), *_dotted(draw), *corrected]


@st.composite
def _values(draw: st.DrawFn, depth: int = 2) -> Tokens:
    match draw(st.integers(0, 4 if depth else 2)):
        case 3:
            return ["[", *_flat(draw(st.lists(_values(depth - 1), max_size=3))), "]"]
        case 4:
            return draw(_maps(depth - 1))
        case _:
            return draw(expressions(1))


@st.composite
def _maps(draw: st.DrawFn, depth: int = 2) -> Tokens:
    entries = []
    for name in draw(st.lists(_NAMES, max_size=4)):
        within = ["within", *draw(_NUMBERS.map(lambda n: [n]))] if draw(st.integers(0, 5)) == 0 else []
        entries.append([name, ":", *draw(_values(depth)), *within])
    return ["{", *_flat(entries), "}"]


@st.composite
def _lines(draw: st.DrawFn) -> Tokens:
    at = ["at", *draw(_DURATIONS)]
    match draw(st.integers(0, 6)):
        case 0:
            return [*at, "watermark"]
        case 1:
            return draw(
                st.sampled_from((["expect", "nothing"], ["allow", "other"], ["start", '"2026-01-05T09:00Z"']))
            )
        case 2 | 3:
            return ["expect", *(at if draw(st.booleans()) else []), *draw(_maps())]
        case _:
            every = ["every", *draw(_DURATIONS)] if draw(st.booleans()) else []
            times = ["x", "2", *every] if draw(st.booleans()) else []
            late = ["late"] if draw(st.booleans()) else []
            return [*at, *late, draw(_NAMES), *draw(_maps()), *times]


@st.composite
def blocks(draw: st.DrawFn) -> Tokens:
    """One block of a file."""

    def body(items: st.SearchStrategy[Tokens], least: int = 0) -> Tokens:
        return ["{", *_flat(draw(st.lists(items, min_size=least, max_size=5)), ""), "}"]

    name = draw(_NAMES)
    match draw(st.integers(0, 9)):
        case 0:
            return ["pack", name, "version", draw(_STRINGS)]
        case 1:
            return ["let", name, "=", *draw(expressions())]
        case 2:
            return ["queries", name, "{", "from", draw(_STRINGS), "}"]
        case 3:
            return ["table", name, "key", draw(_NAMES), *body(_fields() | st.just(["time", "a"]))]
        case 4:
            return ["stream", name, *body(_fields() | _settings())]
        case 5 | 6:
            rules = draw(st.sampled_from((["*"], ["a"], ["a", ",", "b"])))
            return ["test", *rules, draw(_STRINGS), *body(_lines())]
        case _:
            return ["rule", name, *body(_clauses())]


@st.composite
def files(draw: st.DrawFn) -> Tokens:
    """The tokens of a whole file."""
    return _flat(draw(st.lists(blocks(), max_size=4)), "")


_WORDLIKE = frozenset('"`_')
_MERGING = frozenset("-=<>~!?+*/|&")


def must_part(one: str, other: str) -> bool:
    """True if two tokens would become others if nothing stood between them."""
    end, begin = one[-1], other[0]
    wordlike = (end.isalnum() or end in _WORDLIKE) and (begin.isalnum() or begin in _WORDLIKE)
    merging = end in _MERGING and begin in _MERGING
    return wordlike or merging or (end == "}" and begin == "?") or (begin == "{" and one in ("?", "+"))


_COMMENTS = st.sampled_from(("#", "# why", '# "open', "# } {", "#allow CEP0301: so", "# rule r {", "#  ä  "))


BLANKS = (" ", "  ", "\t", "\n", "\n\n", "\r\n  ", "\n\n\n", " \n")


@st.composite
def spread(draw: st.DrawFn, tokens: Tokens, blanks: tuple[str, ...] = BLANKS, comments: bool = True) -> str:
    """A text of the tokens with random blanks, lines and comments between them."""
    pieces: list[str] = []
    for place in range(len(tokens) + 1):
        inner = 0 < place < len(tokens)
        kind = draw(st.integers(0, 11))
        if kind < 5:
            gap = " " if inner and must_part(tokens[place - 1], tokens[place]) else ""
        elif kind < 9 or not comments:
            gap = draw(st.sampled_from(blanks))
        else:
            count = draw(st.sampled_from((1, 1, 2)))
            gap = "".join(
                draw(st.sampled_from(("", " ", "\n", "\n\n"))) + draw(_COMMENTS) + "\n" for _ in range(count)
            )
        pieces.append(gap)
        pieces += tokens[place : place + 1]
    return "".join(pieces)
