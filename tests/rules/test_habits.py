"""What authors bring from other languages is told in the words of this one."""

from __future__ import annotations

import pytest
from writing import loaded, matching, on

JOINED = "steps are joined by `->`, `=>` or `~>`"
CONDITION = "a condition stands in square brackets: `stream[...]`"
SMALL = "keywords are written in small letters: `{}`"

SAID = {
    # SQL
    "rule r { select n from payment where n > 5 }": "an alert carries what `emit` names: `emit n = a.n`",
    "rule r { from payment where n > 5 }":
        "a rule looks at `on STREAM[...]`, `match PATTERN` or `over STREAM[...] WINDOW`",
    "rule r { on payment WHERE n > 5 }": CONDITION,
    "rule r { on payment GROUP BY card_id }": "the key stands after `by`: `by card_id`",
    on("n = 5"): "did you mean `==`?",
    on("n <> 5"): "did you mean `!=`?",
    on("n > 5 AND n < 9"): SMALL.format("and"),
    on("n > 5 Or n < 9"): SMALL.format("or"),
    on("NOT flag"): SMALL.format("not"),
    on("kind IS NULL"): SMALL.format("is"),
    on("kind == NULL"): "did you mean `null`?",
    on("case when n > 5 then 1 else 0 end == 1"): "a choice is written `condition ? value : other`",
    on("count(*) > 5"): "events are counted by `count()`",
    "stream s { a: varchar(3)  t: timestamp  time t }\n" + on("n > 1"):
        "types have no length: `string`, `decimal`",
    "stream s { a: string[]  t: timestamp  time t }\n" + on("n > 1"): "a list is written `list<string>`",
    on('kind ilike "%a%"'): 'a comparison in small letters: `lower(field) like "..."`',
    on('kind is not "x"'):
        "`is` asks for null: `is null`, `is not null`; values are compared by `==` and `!=`",
    on("kind not null"): "`not` stands before `in`, `between` and `like`, and in `is not null`",
    on("n between 3, 5"): "write `between low and high`",
    on('nvl(kind, "x") == "x"'): "write `coalesce(a, b)`",
    on('concat(kind, "x") == "x"'): 'texts are put together in `summary "{a} {b}"`',
    on('kind + "x" == "x"'): 'texts are put together in `summary "{a} {b}"`, of emitted names',
    "rule r { on payment  emit payment.n }": "a field of the event is emitted under its own name: `n`",
    "rule r { emit a.n  by card_id  match a: payment  within 1h }":
        "a value is emitted under a name: `n = a.n`",
    "rule r { on payment  emit n as m }": "a value is emitted under a name: `m = n`",
    matching("a: payment", "within 1h emit a.n"): "a value is emitted under a name: `n = a.n`",
    matching("a: payment{3}", "within 1h emit count(a)"):
        "a value is emitted under a name: `name = count(...)`",
    on("at - 5 > at"): "a duration has a unit: `5s`",
    on('kind == "a" or "b"'): 'write `kind in ("a", "b")`',
    on('kind in ("a" "b")'): "a comma stands between values",
    on('at + "5m" > at'): "a duration stands without quotes: `5m`",
    "rule r { on payment[n > 5], severity high }": "nothing stands between clauses: remove it",
    "rule r { severity: high  on payment }": "only names are followed by a colon: remove it",
    "rule r { on payment  emit n kind }": "a comma stands between the items of a list",
    'rule r { on payment  tags "a" "b" }': "a comma stands between the items of a list",
    "rule r { on payment  suppress n for 1h }": "the time comes first: `suppress 1 hour by card_id`",
    "rule r { by card_id  over payment sliding 1h  having count > 3 }": "did you mean `count()`?",
    "rule r { by card_id  over payment sliding 1h  having count(distinct kind) > 3 }":
        "different values are counted by `distinct(...)`",
    # EPL, Siddhi, Flink
    "rule r { every a=payment -> b=payment }":
        "a pattern is written `match a: s[...] -> b: s[...]`; it begins anew at every event that fits",
    "rule r { match a: payment followedBy b: payment  within 1h }": JOINED,
    "rule r { match a: payment and b: payment  within 1h }": JOINED,
    "rule r { match a: payment -> not b: payment -> c: payment within 1h }":
        "what must not happen has no name: `not stream[...]`",
    "rule r { on payment.win:time(5) }": "a window stands after its stream: `over stream sliding 5 minutes`",
    matching("a: payment", "for 5m"): "`for` belongs to `absent`; a pattern is bounded by `within 1 hour`",
    "rule r { by card_id  over payment sliding 5m every 1m  having count() > 3 }":
        "`sliding` is judged at each event; `hopping 1h every 5m` is judged every five minutes",
    "rule r { on p: payment[n > 3] }": "only the steps of a pattern have names: remove it",
    on("count() > 3"): "several events are seen by `match a: STREAM{3}` and `over STREAM sliding 5 minutes`",
    on("n > prev(n)"): "write `match a: STREAM[...]` with `within`",
    matching("a: payment{3}", "within 1h skip to a"):
        "a step is skipped to by `to first STEP` or `to last STEP`",
    matching("a: payment{3}", "within 1h skip to last b"): "the steps are `a`",
    # KQL, Python, C
    on('kind startswith "x"'): 'write `like "...%"`',
    on('kind.contains("x")'): "a function is called as `name(value)`; values have no methods",
    on("if n > 3 then flag else false"): "a choice is written `condition ? value : other`",
    matching("a: payment{3} -> b: payment[n > a[0].n]"): "`a` is a step: write `first(a.n)` or `last(a.n)`",
    'rule r { description "x"  on payment }': 'write `summary "..."`, or a comment: `# ...`',
    'rule r { on payment }\ntest r "x" { at 0s payment { "n": 1 }  expect nothing }':
        "names stand without quotes",
    'rule r { on payment }\ntest r "x" { at 0s payment { n = 1 }  expect nothing }': "did you mean `:`?",
    'rule r { on payment }\ntest r "x" { at 0s payment { n: 1 kind: "a" }  expect nothing }':
        "a comma stands between values",
    'rule r { on payment }\ntest r "x" { at 0s payment { kind: a }  expect nothing }':
        'a string stands in quotes: `"a"`',
    'rule r { on payment }\ntest r "x" { at 0s payment { n: 1 }  expect none }': "did you mean `nothing`?",
    on("flag == True"): "did you mean `true`?",
    on("n > 5 && n < 9"): "did you mean `and`?",
    on("!flag"): "did you mean `not`?",
    on("n in [1, 2]"): "a list stands in parentheses: `in (a, b)`",
    "let x := 5\n" + on("n > 1"): "a constant is written `let name = value`",
    "stream s { a string  t: timestamp  time t }\n" + on("n > 1"): "a field is written `a: type`",
    matching("a: payment", "within 5 min"): "did you mean `5m`?",
    matching("a: payment", "within 10secs"): "did you mean `10s`?",
    'rule r { on payment  severity "high" }': "a severity stands without quotes",
    "rule r { on payment  tags fraud }": 'write it in quotes: `"fraud"`',
    "let x = payment.amount\n" + on("n > 1"): "use the field in a condition: `stream[...]`",
    matching("a: payment", "within 1h suppress 1h by amount"):
        "it can compare `card_id`; what else is to be compared is first emitted",
}  # fmt: skip


@pytest.mark.parametrize("text", SAID)
def test_a_habit_is_told_how_it_is_said_here(text: str) -> None:
    first, *_ = [d for d in loaded(text).diagnostics if d.level == "error"]
    assert first.help == SAID[text]
