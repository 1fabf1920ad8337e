"""The examples of the language's page can be read; what is not built yet is said once, at its keyword."""

from __future__ import annotations

import pytest
from writing import LANGUAGE, STREAMS, fraud, loaded, matching, on

from rules import typed
from rules.packs import load_texts


def test_the_first_example_is_a_pack() -> None:
    pack = load_texts([("fraud.rules", LANGUAGE)]).need()
    burst = pack.rules[2]
    assert isinstance(burst.body, typed.Over)
    assert burst.body.window == typed.Sliding(5 * 60 * 10**9)
    assert [e.name for e in burst.emit] == ["merchant", "n", "p99"]


def test_the_first_example_without_its_window_is_a_pack() -> None:
    pack = load_texts([("fraud.rules", fraud())]).need()
    assert (pack.name, pack.version) == ("fraud", "1.4.0")
    assert [s.name for s in pack.streams] == ["payment", "settlement", "article"]
    assert [r.name for r in pack.rules] == ["card_testing", "unsettled_wire", "acme_recall"]
    probes = pack.rules[0]
    assert isinstance(probes.body, typed.Match)
    assert probes.by is not None
    assert probes.by.names == ("card_id",)
    assert probes.body.within == 30 * 60 * 10**9
    assert [e.name for e in probes.emit] == ["card_id", "n", "spent", "amount", "country"]
    assert probes.suppress == typed.Suppress(3600 * 10**9, ("card_id",), probes.suppress.span)  # type: ignore[union-attr]
    assert [type(t).__name__ for t in pack.tests[0].timeline] == [
        "Given",
        "Given",
        "Given",
        "Given",
        "Expected",
    ]


PATTERNS = [
    "a: payment[n > 1]",
    "payment -> login",
    "a: payment => b: payment",
    "a: payment ~> b: payment",
    *(f"a: payment{q}" for q in ("{3}", "{2,5}", "{2,}", "+", "*", "?", "+?", "{2,}?", "??", "*?")),
    "a: payment+ each",
    "(a: payment -> b: login)? each",
    "a: payment{2} contiguous",
    "a: payment{2,} any",
    "a: payment+ until payment[n > last(a.n)]",
    "a: payment* each contiguous until login gap 5m",
    "a: payment -> not login -> b: payment",
    "a: payment -> not login -> not payment[n > a.n] -> b: payment",
    "a: payment => not login",
    "a: payment -> absent login for 5m",
    "a: payment -> absent login",
    "a: payment -> absent login for 5m -> b: payment",
    "absent login for 5m -> a: payment",
    "(a: payment | b: login)",
    "(a: payment & b: login & c: payment)",
    "a: payment -> (absent login for 5m | b: login)",
    "(a: payment -> b: login){2,3}",
    "((a: payment{3})? -> b: login)+",
    "a: payment -> b: login gap 30s",
    "(a: payment -> b: login | a: payment => c: payment)",
    "it: payment -> time: login -> any: payment -> count: login -> `not`: payment",
    "a: payment -> b: payment[n > a.n]+ -> c: login[n == last(b.n) and n > first(b.n, 1)]",
]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_every_pattern_of_the_table_is_read(pattern: str) -> None:
    assert loaded(matching(pattern)).need().rules


CLAUSES = [
    "within unbounded",
    "within 1 hour having count(a) > 1 and last(a.n) between 1 and 5",
    *(f"within 5m skip {s}" for s in ("past last", "to next", "to first a", "to last a", "none")),
    "within 5m on timeout emit n = count(a), card_id",
    "within 5m limit 50 runs",
    'within 5m emit card_id, n = count(a), all = list(a.n) summary "{n} on {card_id}: {{{all}}}"',
    'within 5m tags "a", "b" runbook "https://x.example" severity info suppress 5m by card_id',
    "within 5m suppress 1h",
]


@pytest.mark.parametrize("clauses", CLAUSES)
def test_every_clause_is_read(clauses: str) -> None:
    assert loaded(matching("a: payment{2,}", clauses)).need().rules


EXPRESSIONS = [
    "took > 5 minutes and took < 30s or took == 1.5h",
    'kind == "x" and amount > 1_000 and flag == true and country is not null',
    'country in ("a", "b") or country in "NG" or n not in (1, 2) or country in ("NG")',
    "n between 1 and 5 and n not between 7 and 9",
    'kind like "50\\%%" and kind not like "_x" and kind =~ "^a\\d+$"',
    "flag ? n > 1 : amount > 2",
    "not flag and -n < -(3 % 2) and (n + 2) * 3 / 4 > 1e3",
    "abs(n) > 1 and round(amount, 2) > 1 and lower(kind) == upper(kind) and length(kind) > 2",
    'substr(kind, 1, 2) == "x" and coalesce(country, kind) == "x" and hour(at) > 5',
    'weekday(at, "Europe/Berlin") > 5 and distance_km(1, 2, 3.5, amount) > 5 and in_cidr(kind, "10.0.0.0/8")',
    'at > "2026-01-05T09:00Z" and at - "2026-01-05T09:00:00+01:00" > 5m and at + 5m * 2 > at - took / 2',
    "took / 5m > 2.5 and took - 1s > took + 2s",
    'title matches "acme AND recall" and body matches "\\"product fire\\""',
    "it.n > 1 and `n` > 2",
]


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_every_expression_is_read(expression: str) -> None:
    assert loaded(on(expression)).need().rules


WINDOWS = [
    "tumbling 5m having count() > 1 emit card_id, n = rate()",
    "hopping 1 hour every 5 minutes having sum(n) > 3 and ago(sum(n), 7 days) < 3",
    "sliding 5 minutes having count() > 100 and avg(amount) > 3 * previous(avg(amount))",
    "session gap 30s having min(at) < last(at) and first(kind) == max(kind)",
    'last 5 events having stddev(n) > previous(stddev(n), 4) or distinct(country) > 2 or card_id == "c1"',
    "tumbling 1d having percentile(amount, 0.99) > ago(percentile(amount, 0.99), 1w) emit top = last(title)",
]


@pytest.mark.parametrize("window", WINDOWS)
def test_every_window_is_read(window: str) -> None:
    (rule,) = loaded(f"rule r {{ by card_id  over payment[amount > 2] {window} }}").need().rules
    assert isinstance(rule.body, typed.Over)


TABLE = "table m key id { id: string  since: timestamp  risk: double?  time since }\n"
QUERIES = 'queries w { from "x.jsonl" }\n'
BLOCKS = [
    TABLE + "rule r { on payment[m[kind].risk > 0.8] }",
    TABLE
    + matching(
        "a: payment -> b: payment[m[a.kind].risk > m[kind].risk]", "within 5m emit r = m[b.kind].risk"
    ),
    QUERIES + "rule r { on payment matching w[priority > 2] emit query, title, names }",
    QUERIES
    + matching("h: payment matching w{3,} => not payment matching w[query == last(h.query)] -> login"),
    QUERIES + "rule r { by query  over payment matching w tumbling 1d having count() > 3 }",
    "rule r { on payment emit card_id, n into hot } rule q { by card_id match hot -> payment within 5m }",
    "stream s { t: timestamp  u: timestamp  v: timestamp  time t corrected by u, v } rule r { on s }",
]


@pytest.mark.parametrize("text", BLOCKS)
def test_every_block_is_read(text: str) -> None:
    assert loaded(text).need().rules


def test_all_errors_of_all_files_are_reported_at_once() -> None:
    header = STREAMS.splitlines()[0]
    files = [
        ("a.rules", STREAMS + "rule a { on paymnt }\nrule b { match }\nrule c { on payment[n > ] }"),
        ("b.rules", header + "\nrule d { on payment[nn > 1] severity urgent }\nlet x = \n"),
    ]
    found = [(d.span.file.name if d.span else "", d.code) for d in load_texts(files).diagnostics]
    assert found == [
        ("a.rules", "CEP0201"),
        ("a.rules", "CEP0101"),
        ("a.rules", "CEP0101"),
        ("b.rules", "CEP0202"),
        ("b.rules", "CEP0228"),
        ("b.rules", "CEP0101"),
    ]


def test_keywords_are_names_by_their_place() -> None:
    text = """pack pack version "1"
stream on { id: string time: timestamp lateness: long text: text idle: text english by: string each: long
  id id time time lateness 1s idle 5m }
stream within { time: timestamp  by: string emit: long `not`: string? time time }
let let = 5
let test = let + 1
rule rule { by by
  match match: on[by == "x" and each > let] -> any: within[emit > match.each and `not` is null]{2,}?
     -> each: on gap 5m
  within 5m emit by, emit = last(any.emit), within = first(any.emit), severity = match.each severity low
  having count(any) > test skip none limit 5 runs on timeout emit on = 1 suppress 5m by by, on tags "x" }
rule test { on within emit emit, x = (by == "y" ? time : time + 1m) tags "a" }
test test "x" { at 1s within { emit: 1 } expect at 1s { emit: 1, kind: "event" } }
test rule, test "y" { expect nothing }
"""
    found = load_texts([("words.rules", text)])
    pack = found.need()
    assert [r.name for r in pack.rules] == ["rule", "test"]
    assert [t.rules for t in pack.tests] == [("test",), ("rule", "test")]
    assert [e.name for e in pack.rules[0].emit] == ["by", "emit", "within", "severity"]
    analysers = {f.name: f.analyser for f in pack.stream("on").fields}
    assert (analysers["text"], analysers["idle"]) == ("", "english")


def test_keywords_of_windows_tables_and_queries_are_names_by_their_place() -> None:
    text = """pack p version "1"
stream sliding { id: string  at: timestamp  key: string  query: long  events: long  over: double?
                 gap: text  every: list<string>  id id  time at corrected by at, `by` `by`: timestamp }
stream last { corrected: timestamp  from: string  tumbling: long  matching: text  time corrected }
table table key key { key: string  time: timestamp  from: long  matching: { key: string }  time time }
table count key from { from: long  last: string }
queries queries { from "queries" }
queries within { from "within" }
rule over { by key  over sliding[events > count[query].from and table[key].matching.key == key] sliding 5m
  having last(events) > previous(first(query)) and table[key].from > 1 and ago(count(), 1m) > 1
  emit key, sliding = rate()  into session }
rule into { by sliding  over session last 5 events having avg(sliding) > 1
  emit last = last(sliding)  into into }
rule last { over last matching within tumbling 5m  having count() > 1 and last(query) == "q"
  emit hopping = last(tags) }
rule matching { match matching: last matching queries["x" in tags] -> not last matching within -> last: last
  within 5m }
rule session { on session[sliding > 1] emit key }
rule hits { on last matching queries emit query }
test over "x" { at 1s sliding { query: 1, events: 2 } expect nothing }
"""
    pack = load_texts([("words.rules", text)]).need()
    assert [r.name for r in pack.rules] == ["over", "into", "last", "matching", "session", "hits"]
    assert [t.name for t in pack.tables] == ["table", "count"]
    hits = {"last matching within", "last matching queries"}
    assert {s.name for s in pack.streams} == {"sliding", "last", "session", "into"} | hits
