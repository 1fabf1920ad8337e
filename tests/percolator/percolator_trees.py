"""Hypothesis strategies: every tree that the parser can give, and documents of a small vocabulary."""

from __future__ import annotations

from hypothesis import strategies as st

from percolator.query.pieces import pieces
from percolator.query.tree import (
    And,
    AtLeast,
    Everything,
    Exact,
    Fielded,
    First,
    Fuzzy,
    Named,
    Near,
    Node,
    Not,
    NotNear,
    Or,
    Phrase,
    Present,
    Range,
    Regex,
    SomeOf,
    Together,
    Wildcard,
    Word,
)
from percolator.schema import Schema

NAMES = st.sampled_from(["title", "body", "a.b", "x-y", "_z", "AND", "straße"])
NUMBERS = st.integers(0, 1000)
SIGNS = "aB7é_ \t\\()\"{}[]*?~,:;/=<>-+&.'’\x00́"


def _joined(parts: list[str]) -> st.SearchStrategy[str]:
    return st.lists(st.sampled_from(parts), min_size=1, max_size=6).map("".join)


def _has_letters(node: Wildcard) -> bool:
    found = pieces(node)
    return any(piece.kind == "pattern" for piece in found) and any(piece.text.strip("*?") for piece in found)


WORDS = st.one_of(
    st.sampled_from(["apple", "AND", "OR", "NOT", "NEAR", "NEAR/5", "first/2", "of", "2", "sentence"]),
    st.text(SIGNS, min_size=1, max_size=6),
)
words = WORDS.map(Word).filter(lambda node: bool(pieces(node)))
exacts = st.text("aB é.&'\\*", min_size=1, max_size=5).map(Exact).filter(lambda node: bool(pieces(node)))
wildcards = (
    _joined(["a", "é", "*", "?", "\\*", "\\?", "\\\\", "-", ":", " ", "(", '"', "~", ",", "/", ".", "{"])
    .map(Wildcard)
    .filter(_has_letters)
)
regexes = _joined(["a", ".", "*", "[b/]", "/", "\\d", "\\\\", " ", ")"]).map(Regex)
fuzzies = st.builds(Fuzzy, words.map(lambda node: node.text), st.integers(1, 2)).filter(
    lambda node: len(pieces(Word(node.text))) == 1
)
phrases = st.builds(
    Phrase,
    _joined(["a", "B", " ", "*", "?", "\\*", '\\"', "\\\\", "{A}", "\\{", "é", "-", "(", "AND", "~"]),
    st.sampled_from([0, 0, 3]),
).filter(lambda node: bool(pieces(node)))
leaves = st.one_of(words, exacts, wildcards, regexes, fuzzies, phrases)


def _many(strategy: st.SearchStrategy[Node], least: int = 2) -> st.SearchStrategy[tuple[Node, ...]]:
    return st.lists(strategy, min_size=least, max_size=4).map(tuple)


positional: st.SearchStrategy[Node] = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.builds(Or, _many(inner)),
        st.builds(Near, inner, inner, NUMBERS, st.booleans()),
        st.builds(Fielded, NAMES, inner),
    ),
    max_leaves=6,
)


@st.composite
def _some_of(draw: st.DrawFn, inner: st.SearchStrategy[Node]) -> Node:
    operands = draw(_many(inner, 1))
    return SomeOf(draw(st.integers(1, len(operands))), operands)


@st.composite
def _ranges(draw: st.DrawFn) -> Node:
    bounds = st.none() | st.text("0123456789.:- *a", max_size=4)
    low, high = draw(bounds), draw(bounds)
    closed = draw(st.booleans()) and low is not None, draw(st.booleans()) and high is not None
    return Range(draw(NAMES), low, high, *closed)


trees: st.SearchStrategy[Node] = st.recursive(
    st.one_of(
        positional,
        st.just(Everything()),
        st.builds(Present, NAMES),
        _ranges(),
        st.builds(NotNear, positional, positional, NUMBERS),
        st.builds(AtLeast, st.integers(1, 9), positional),
        st.builds(First, st.integers(1, 9), positional),
        st.builds(Together, st.sampled_from(["sentence", "paragraph"]), _many(positional, 1)),
    ),
    lambda inner: st.one_of(
        st.builds(And, _many(inner)),
        st.builds(Or, _many(inner)),
        st.builds(Not, inner),
        st.builds(Fielded, NAMES, inner),
        st.builds(Named, st.sampled_from(["risk", "_x", "of"]), inner),
        _some_of(inner),
    ),
    max_leaves=10,
)
"""The whole language."""

# A small vocabulary meets itself often; its words differ by case, accent, joiner, stem and composition.
_DUEL_WORDS = [
    "a",
    "b",
    "c",
    "A",
    "ab",
    "abc",
    "café",
    "Cafe",
    "cafe\u0301",
    "runs",
    "running",
    "a.b",
    "o'b",
    "İz",
]
_DUEL_PATTERNS = ["a*", "*b", "?", "r*n*", "caf?", "*", "*n*ing", "RUN*", "a.?"]

_duel_leaves = st.one_of(
    st.sampled_from(_DUEL_WORDS).map(Word),
    st.sampled_from(["a-b", "b a&c", "running.runs"]).map(Word),
    st.sampled_from(_DUEL_WORDS).map(Exact),
    st.sampled_from(_DUEL_PATTERNS).filter(lambda text: text not in "*?").map(Wildcard),
    st.builds(
        Phrase,
        st.lists(
            st.sampled_from([*_DUEL_WORDS, *_DUEL_PATTERNS, "{A}", "{Cafe}"]), min_size=1, max_size=3
        ).map(" ".join),
        st.sampled_from([0, 0, 0, 1, 2, 3, 150]),
    ),
)

executable: st.SearchStrategy[Node] = st.recursive(
    st.one_of(
        _duel_leaves,
        _duel_leaves,
        st.just(Everything()),
        st.builds(Present, st.sampled_from(["title", "body"])),
    ),
    lambda inner: st.one_of(
        st.builds(And, _many(inner)),
        st.builds(And, _many(inner)),
        st.builds(Or, _many(inner)),
        st.builds(Not, inner),
        st.builds(Fielded, st.sampled_from(["title", "body"]), inner),
        _some_of(inner),
    ),
    max_leaves=8,
)
"""What the index answers, over the fields title and body."""

texts = st.lists(
    st.tuples(
        st.sampled_from(_DUEL_WORDS),
        st.sampled_from([*"    -\n\x00’.", ", ", ". "]),
    ),
    max_size=8,
).map(lambda pairs: "".join(word + separator for word, separator in pairs))

documents = st.fixed_dictionaries(
    {},
    optional={
        "title": texts,
        "body": st.lists(texts, max_size=3),
    },
)


# The whole language over fields of every type. Few words that meet often; CJK; sentences and paragraphs.
WHOLE_SCHEMA = Schema.of(
    {
        "title": "text",
        "body": "text english",
        "lang": "keyword",
        "price": "number",
        "day": "date",
        "ip": "ip",
        "paid": "boolean",
    }
)

_WHOLE_WORDS = [*_DUEL_WORDS, "手机", "手", "机手机", "straße"]
_TEXT_NAMES = st.sampled_from(["title", "body"])

_whole_leaves: st.SearchStrategy[Node] = st.one_of(
    st.sampled_from(_WHOLE_WORDS).map(Word),
    st.sampled_from(_WHOLE_WORDS).map(Word),
    st.sampled_from(["a-b", "b a&c", "running.runs"]).map(Word),
    st.sampled_from([*_DUEL_WORDS, "手"]).map(Exact),
    st.sampled_from(["a*", "*b", "r*n*", "caf?", "RUN*", "a.?", "stra?e", "手*"]).map(Wildcard),
    st.sampled_from(["a|b", "r.n+.*", "[A-C]{2}.?", "caf\\pL", ".{2}"]).map(Regex),
    st.builds(Fuzzy, st.sampled_from(["ab", "cafe", "runing", "bac", "strasse"]), st.integers(1, 2)),
    st.builds(
        Phrase,
        st.lists(
            st.sampled_from([*_WHOLE_WORDS, "a*", "*", "{A}", "{Cafe}", "caf?"]), min_size=1, max_size=3
        ).map(" ".join),
        st.sampled_from([0, 0, 0, 1, 2, 3, 150]),
    ),
)

_distances = st.sampled_from([0, 0, 1, 2, 5, 200])

_whole_places: st.SearchStrategy[Node] = st.recursive(
    _whole_leaves,
    lambda inner: st.one_of(
        st.builds(Or, _many(inner)),
        st.builds(Near, inner, inner, _distances, st.booleans()),
        st.builds(Near, inner, inner, _distances, st.booleans()),
        st.builds(Fielded, _TEXT_NAMES, inner),
    ),
    max_leaves=5,
)

_whole_values: st.SearchStrategy[Node] = st.one_of(
    st.builds(
        lambda low, high, signs: Range("price", low, high, *signs),
        st.sampled_from(["-1", "0", "2"]),
        st.sampled_from(["3", "4.5", "1e3"]),
        st.tuples(st.booleans(), st.booleans()),
    ),
    st.sampled_from(
        [
            Fielded("price", Word("3")),
            Fielded("price", Or((Word("0"), Word("4.5")))),
            Range("price", None, "3", False, False),
            Range("day", "2024-01", None, False, False),
            Range("day", "2023", "2024-01-31", True, True),
            Range("day", "2023", "2024-01-31", False, False),
            Fielded("day", Word("2024-01-31T10:00")),
            Fielded("ip", Word("10.0.0.0/8")),
            Range("ip", "10.0.0.1", "10.0.0.9", True, False),
            Fielded("paid", Word("true")),
            Fielded("lang", Or((Word("en"), Wildcard("d*"), Exact("De")))),
            Fielded("lang", Phrase("en GB")),
            Fielded("lang", Regex("e.*")),
            Fielded("lang", Fuzzy("en", 1)),
            *(Present(name) for name in ("title", "lang", "price", "day", "ip", "paid")),
        ]
    ),
)

whole: st.SearchStrategy[Node] = st.recursive(
    st.one_of(
        _whole_places,
        _whole_places,
        _whole_places,
        _whole_values,
        st.just(Everything()),
        st.builds(NotNear, _whole_places, _whole_places, _distances),
        st.builds(AtLeast, st.integers(1, 4), _whole_places),
        st.builds(First, st.integers(1, 5), _whole_places),
        st.builds(Together, st.sampled_from(["sentence", "paragraph"]), _many(_whole_places, 1)),
    ),
    lambda inner: st.one_of(
        st.builds(And, _many(inner)),
        st.builds(Or, _many(inner)),
        st.builds(Not, inner),
        st.builds(Fielded, _TEXT_NAMES, inner),
        st.builds(Named, st.sampled_from(["risk", "who", "risk2"]), inner),
        _some_of(inner),
    ),
    max_leaves=8,
)
"""Trees of the whole language over WHOLE_SCHEMA; percolator.checks refuses a few of them."""

_whole_texts = st.lists(
    st.tuples(
        st.sampled_from(_WHOLE_WORDS),
        st.sampled_from([*"    -\x00’.", ", ", ". ", '!" ', "\n\n", "。", ""]),
    ),
    max_size=9,
).map(lambda pairs: "".join(word + separator for word, separator in pairs))

whole_documents = st.fixed_dictionaries(
    {},
    optional={
        "title": _whole_texts | st.none(),
        "body": st.lists(_whole_texts, max_size=3),
        "lang": st.sampled_from(["en", "de", "De", "en GB", "\ud800", ["fr", "en"], []]),
        "price": st.sampled_from([3, 3.0, 0, 4.5, -7, float("nan"), [1, 100], None]),
        "day": st.sampled_from(["2024-01-31", "2024-02-01T00:00:00Z", "2024-01-31T10:00:30+00:00", "2022"]),
        "ip": st.sampled_from(["10.0.0.1", "::ffff:10.0.0.9", "192.168.0.1", "::1"]),
        "paid": st.booleans(),
    },
)
"""Documents of WHOLE_SCHEMA."""
