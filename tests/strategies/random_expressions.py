"""Random expressions as text, by type, over the fields of one stream; and rows of that stream.

They begin small: Hypothesis finds the shortest expression that tells two engines apart.
"""

from __future__ import annotations

from decimal import Decimal

from hypothesis import strategies as st

FIELDS = {
    "id_": "string",
    "at": "timestamp",
    "k": "string",
    "s": "string?",
    "v": "long",
    "n": "long?",
    "w": "double?",
    "x": "double",
    "f": "boolean?",
    "t": "timestamp?",
    "ip": "string?",
    "m": "decimal",
    "q": "decimal?",
    "l": "list<string>",
    "u": "list<long>?",
    "j": "list<decimal>?",
    "r": "{ a: long?  s: string?  m: decimal  t: timestamp? }?",
    "y": "list<{ s: string?  n: long }>?",
}
STREAM = (
    "stream e {\n"
    + "".join(f"  {name}: {type_}\n" for name, type_ in FIELDS.items())
    + "  id id_\n  time at\n}\n"
)

_SECOND = 1_000_000_000
_BIG = (2**63 - 1, -(2**63), 2**62, 3_037_000_500, -3_037_000_500, 2**53 + 1)
_LONGS = st.integers(-4, 4) | st.sampled_from(_BIG)
_DOUBLES = st.sampled_from((0.0, 0.5, -0.5, 1.5, 2.5, -2.5, 3.0, 1e308, -1e308, 5e-324, 0.1, 1e16, 2.675))
_STRINGS = st.sampled_from(
    (
        "",
        "a",
        "b",
        "ab",
        "abc",
        "A",
        "Ab%",
        "a_b",
        "a\\b",
        "é",
        "É",
        "ß",
        "日本",
        "𝄞a",
        "\U0001f600",
        "a\nb",
        "10",
        "ｚ",
    )
)
_DECIMALS = st.sampled_from(
    [Decimal(d) for d in ("0", "1", "-1", "2", "0.5", "0.1", "-1.25", "2.5", "3.333333333333333333", "1E-18")]
    + [
        Decimal("9" * 20 + "." + "9" * 18),
        Decimal("-" + "9" * 20 + "." + "9" * 18),
        Decimal("12345678901234567890.123456789012345678"),
        Decimal(10**10),
    ]
)
_TIMES = st.sampled_from(
    [0, 1, -1, 86_399 * _SECOND, 1_500_000_000 * _SECOND + 7, -5_000_000_000 * _SECOND, 951_868_799 * _SECOND]
)
_ADDRESSES = st.sampled_from(
    ("10.1.2.3", "10.1.2.255", "192.168.0.1", "::1", "2001:db8::7", "no address", "10.1.2")
)


def rows() -> st.SearchStrategy[dict[str, object]]:
    """One event's values, in the types of the language; timestamps in nanoseconds."""
    return st.fixed_dictionaries(
        {
            "id_": _STRINGS,
            "at": st.integers(0, 5).map(lambda n: n * _SECOND),
            "k": _STRINGS,
            "s": st.none() | _STRINGS,
            "v": _LONGS,
            "n": st.none() | _LONGS,
            "w": st.none() | _DOUBLES,
            "x": _DOUBLES,
            "f": st.none() | st.booleans(),
            "t": st.none() | _TIMES,
            "ip": st.none() | _ADDRESSES,
            "m": _DECIMALS,
            "q": st.none() | _DECIMALS,
            "l": _some(_STRINGS),
            "u": st.none() | _some(_LONGS),
            "j": st.none() | _some(_DECIMALS),
            "r": st.none() | _RECORDS,
            "y": st.none() | _some(_ITEMS),
        }
    )


def _some(values: st.SearchStrategy[object]) -> st.SearchStrategy[tuple[object, ...]]:
    return st.lists(values, max_size=3).map(tuple)


_RECORDS = st.fixed_dictionaries(
    {"a": st.none() | _LONGS, "s": st.none() | _STRINGS, "m": _DECIMALS, "t": st.none() | _TIMES}
)
_ITEMS = st.fixed_dictionaries({"s": st.none() | _STRINGS, "n": _LONGS})


def quoted(text: str) -> str:
    """The text as a string literal of the language."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def _call(template: str, *parts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.tuples(*parts).map(lambda values: template.format(*values))


def _arithmetic(operators: str, of: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.tuples(of, st.sampled_from(operators), of).map(lambda parts: "({} {} {})".format(*parts))


def longs(depth: int) -> st.SearchStrategy[str]:
    """Expressions of type long."""
    ends = "9_223_372_036_854_775_807", "-9_223_372_036_854_775_808"
    leaf = st.sampled_from(("v", "n", "r.a", "0", "1", "2", "3", "7", *ends))
    if not depth:
        return leaf
    below, text = longs(depth - 1), strings(depth - 1)
    return st.one_of(
        leaf,
        _arithmetic("+-*%", below),
        _call("-{}", leaf),
        _call("abs({})", below),
        _call("length({})", text | _LISTS),
        _call("coalesce({}, {})", below, below),
        _call("({} ? {} : {})", booleans(depth - 1), below, below),
        st.sampled_from(
            ("hour(t)", "weekday(t)", 'hour(t, "Asia/Kolkata")', 'weekday(t, "America/New_York")', "round(v)")
        ),
    )


def doubles(depth: int) -> st.SearchStrategy[str]:
    """Expressions of type double."""
    leaf = st.sampled_from(("w", "x", "0.5", "2.0", "0.0", "1e3", "-1.5"))
    if not depth:
        return leaf
    below, whole = doubles(depth - 1), longs(depth - 1)
    return st.one_of(
        leaf,
        _arithmetic("+-*/%", below),
        _call("({} / {})", whole, whole),
        _call("({} * {})", whole, below),
        _call("abs({})", below),
        _call("round({})", below),
        _call("round({}, 2)", below),
        _call("coalesce({}, {})", below, below),
        _call("({} ? {} : {})", booleans(depth - 1), below, below),
        _call("distance_km({}, {}, 52.5, 13.4)", leaf, leaf),
        _call("double({})", decimals(depth - 1)),
    )


def decimals(depth: int) -> st.SearchStrategy[str]:
    """Expressions of type decimal."""
    leaf = st.sampled_from(("m", "q", "r.m", "decimal(v)", "decimal(x)", "decimal(w)"))
    if not depth:
        return leaf
    below, number = decimals(depth - 1), st.sampled_from(("1", "0", "-2", "1.1", "0.01", "n", "1e10"))
    return st.one_of(
        leaf,
        _arithmetic("+-*/%", below),
        _call("({} {} {})", below, st.sampled_from("+-*/%"), number),
        _call("-{}", leaf),
        _call("abs({})", below),
        _call("round({})", below),
        _call("round({}, {})", below, st.sampled_from(("2", "-1", "17", "18", "-19", "40", "-400", "n"))),
        _call("coalesce({}, {})", below, below),
        _call("({} ? {} : {})", booleans(depth - 1), below, below),
    )


_LISTS = st.sampled_from(("l", "u", "j", "y", "y.s", "y.n", 'coalesce(y.s, ("a", "b"))', "(f ? u : y.n)"))


def strings(depth: int) -> st.SearchStrategy[str]:
    """Expressions of type string."""
    leaf = st.sampled_from(("k", "s", "r.s")) | _STRINGS.map(quoted)
    if not depth:
        return leaf
    below, number = strings(depth - 1), st.sampled_from(("0", "1", "2", "-1", "n"))
    return st.one_of(
        leaf,
        _call("lower({})", below),
        _call("upper({})", below),
        _call("substr({}, {})", below, number),
        _call("substr({}, {}, {})", below, number, number),
        _call("coalesce({}, {})", below, below),
        _call("({} ? {} : {})", booleans(depth - 1), below, below),
    )


def booleans(depth: int) -> st.SearchStrategy[str]:
    """Conditions."""
    leaf = st.sampled_from(("f", "true", "false", "(v > 1)", '(k == "a")', "(n is null)", "(w is not null)"))
    if not depth:
        return leaf
    below, whole, number, text, exact = (f(depth - 1) for f in (booleans, longs, doubles, strings, decimals))
    compare = st.sampled_from(("==", "!=", "<", "<=", ">", ">="))
    like = st.sampled_from(("a%", "%b", "_", "a\\_b", "%\\%", "", "%", "日_", "a%b%", "_a")).map(quoted)
    regex = st.sampled_from(("a", "^a", "b$", "[a-z]+", "^$", "a.b", "(?i)AB", "\\w", "é", ".")).map(quoted)
    return st.one_of(
        leaf,
        *(_call("({} {} {})", of, compare, of) for of in (whole, number, text, exact)),
        _call("({} {} {})", exact, compare, st.sampled_from(("1", "0.1", "-1.25", "n"))),
        _call("({} in ({}, 0.5, {}))", exact, exact, whole),
        _call("({} between {} and {})", exact, whole, exact),
        _call("({} {} {})", whole, compare, number),
        _call("({} and {})", below, below),
        _call("({} or {})", below, below),
        _call("(not {})", below),
        _call("({} is null)", st.one_of(whole, number, text, below, exact, _LISTS, st.just("r"))),
        _about_lists(whole, text, exact),
        _call("({} in ({}, {}))", whole, whole, whole),
        _call("({} not in ({}, {}))", text, text, text),
        _call("({} between {} and {})", number, number, number),
        _call("({} not between {} and {})", whole, whole, whole),
        _call("({} like {})", text, like),
        _call("({} not like {})", text, like),
        _call("({} =~ {})", text, regex),
        st.sampled_from(("(t + 1 day > at)", "(t - at < 1 hour)", "(t == at)", "(at <= t)")),
        st.sampled_from(('in_cidr(ip, "10.1.2.0/24")', 'in_cidr(ip, "::/64")')),
    )


def _about_lists(
    whole: st.SearchStrategy[str], text: st.SearchStrategy[str], exact: st.SearchStrategy[str]
) -> st.SearchStrategy[str]:
    within = st.sampled_from(("in", "not in"))
    texts, longs_ = st.sampled_from(("l", "y.s")), st.sampled_from(("u", "y.n"))
    equal = st.sampled_from(("==", "!="))
    return st.one_of(
        _call("({} {} {})", text, within, texts),
        _call("({} {} {})", whole, within, longs_),
        _call("({} {} j)", exact, within),
        _call(
            "({} {} {})", texts, equal, texts | st.sampled_from(('("a", "b")', 'coalesce(y.s, ("a", "ab"))'))
        ),
        _call("({} {} {})", longs_, equal, longs_ | st.just("(1, 2)")),
        _call("(j {} (decimal(0.5), decimal(1)))", equal),
        _call("({} {} (l, y.s))", texts, within),
    )


EXPRESSIONS = st.one_of(booleans(2), longs(2), doubles(2), strings(2), decimals(2), _LISTS, st.just("r"))
"""Expressions of every type."""
