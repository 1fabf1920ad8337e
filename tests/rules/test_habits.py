"""Habits from other languages get help in the words of this one."""

from __future__ import annotations

import pytest
from writing import loaded, matching, on

SEVERAL = "several events are seen by `match a: STREAM{3}` and `over STREAM sliding 5 minutes`"
EXPECTED = "`expect { }` is any alert, `expect at 5m { n: 6 }` one of that time with this value"
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
    on("kind == NULL"): "did you mean `is null`?",
    on("case when n > 5 then 1 else 0 end == 1"): "a choice is written `condition ? value : other`",
    on("count(*) > 5"): "several events are a pattern: `match a: s[...]{6}  within 5 minutes`",
    "rule r { by card_id  over payment sliding 1h  having count(*) > 3 }": "events are counted by `count()`",
    "stream s { a: varchar(3)  t: timestamp  time t }\n" + on("n > 1"):
        "types have no length: `string`, `decimal`",
    "stream s { a: string[]  t: timestamp  time t }\n" + on("n > 1"): "a list is written `list<string>`",
    on('kind ilike "%a%"'): 'a comparison in small letters: `lower(field) like "..."`',
    on('kind is not "x"'):
        "`is` asks for null: `is null`, `is not null`; values are compared by `==` and `!=`",
    on("kind not null"): "`not` stands before `in`, `between` and `like`, and in `is not null`",
    on("n between 3, 5"): "write `between low and high`",
    on('nvl(kind, "x") == "x"'): "write `coalesce(a, b, ...)`",
    on('concat(kind, "x") == "x"'): 'texts are put together in `summary "{a} {b}"`',
    on('kind + "x" == "x"'): 'texts are put together in `summary "{a} {b}"`, of emitted names',
    "rule r { on payment  emit payment.n }": "a field of the event is emitted under its own name: `n`",
    "rule r { emit a.n  by card_id  match a: payment  within 1h }":
        "a value is emitted under a name: `n = a.n`",
    "rule r { on payment  emit n as m }": "a value is emitted under a name: `m = n`",
    matching("a: payment", "within 1h emit a.n"): "a value is emitted under a name: `n = a.n`",
    matching("a: payment{3}", "within 1h emit count(a)"):
        "a value is emitted under a name: `name = count(...)`",
    on('at > "09:00"'): "a time of day is asked for by `hour(...) >= 9`, in UTC or a zone that it names",
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
    "rule r { on payment.win:time(5) }": "write `over payment sliding 5s`",
    "rule r { over payment.win:time(5 min)  having count() > 3 }": "write `over payment sliding 5m`",
    "rule r { over payment.win:time_batch(1 hour)  having count() > 3 }": "write `over payment tumbling 1h`",
    "rule r { over payment.win:ext_timed(at, 30 sec)  having count() > 3 }":
        "write `over payment sliding 30s`",
    "rule r { over payment.win:length(5)  having count() > 3 }":
        "write `over payment last 5 events`: it is evaluated at each event",
    "rule r { match a: payment.win:time(5 min) -> b: payment  within 1h }":
        "a pattern is bounded by `within 5m`, behind its last step",
    matching("a: payment", "for 5m"): "`for` belongs to `absent`; a pattern is bounded by `within 1 hour`",
    "rule r { by card_id  over payment sliding 5m every 1m  having count() > 3 }":
        "`sliding` is evaluated at each event; `hopping 1h every 5m` every five minutes",
    "rule r { on p: payment[n > 3] }": "only the steps of a pattern have names: remove it",
    on("count() > 3"): "several events are a pattern: `match a: payment{4}  within 5 minutes`",
    on("sum(n) > 3"): SEVERAL,
    on("n > prev(n)"): "write `match a: STREAM[...]` with `within`",
    matching("a: payment{3}", "within 1h skip to a"):
        "a step is skipped to by `to first STEP` or `to last STEP`",
    matching("a: payment{3}", "within 1h skip to last b"): "the steps are `a`",
    # KQL, Python, C
    on('kind startswith "x"'): 'write `like "...%"`',
    on('kind.contains("x")'): 'values have no methods: write `like "%...%"`, or `matches "..."` for a text',
    on('kind.frobnicate("x")'): "a function is called as `name(value)`; values have no methods",
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
    # SQL, Flink SQL
    on("kind = null"): "did you mean `is null`?",
    on("kind <> NULL"): "did you mean `is not null`?",
    on("kind is None"): "did you mean `is null`?",
    on("kind in (select kind from login)"):
        "rules ask no tables by `select`: write `in (a, b)`, or name a `table` or a list",
    on("n > 5 or < 2"): 'both sides are whole conditions: `n > 5 and n < 9`, `kind in ("a", "b")`',
    on('kind = "a" or = "b"'): "did you mean `==`?",
    on('kind == "a" or == "b"'): 'both sides are whole conditions: `n > 5 and n < 9`, `kind in ("a", "b")`',
    on("n mod 2 == 0"): "did you mean `%`?",
    on("n xor 2 == 0"): "write `a != b`",
    on('kind regexp "x"'): 'write `=~ "..."`',
    on('kind similar "x"'): 'write `=~ "..."`',
    on('kind isnull'): "write `is null`",
    on("cast(n as double) > 5"): "`double(x)` and `decimal(x)` convert numbers; nothing else is converted",
    on("n::double > 5"): "`double(x)` and `decimal(x)` convert numbers; nothing else is converted",
    on("extract(hour from at) > 5"):
        "of a time there are `hour(timestamp, zone)` and `weekday(timestamp, zone)`",
    on("year(at) == 2026"): "of a time there are `hour(timestamp, zone)` and `weekday(timestamp, zone)`",
    on("at > TIMESTAMP '2026-01-01 00:00:00'"):
        'an instant is a string alone, with its zone: `"2026-01-01T00:00:00Z"`',
    on("at - INTERVAL '5' MINUTE > at"): "did you mean `5m`?",
    on("datediff(at, at) > 5"): "times are subtracted: `b.at - a.at > 5 minutes`",
    on("date_add(at, 5) > at"): "durations are added: `at + 5 minutes`",
    on("date_trunc(at) == at"): "windows are cut by `over STREAM tumbling 1 hour`",
    on("now() > at"):
        "rules see no clock: compare event times; `absent STREAM[...] for 1 hour` waits for one",
    on("lag(amount) > 5"):
        f"it is called `prev` here; {SEVERAL}",
    on("lead(amount) > 5"): "conditions cannot look ahead: make the later event a step, `-> b: STREAM[...]`",
    on("greatest(n, 5) > 5"): "the greater of two is `a > b ? a : b`",
    on("sqrt(n) > 5"): "numbers have `+ - * / %`, `abs` and `round`",
    on("mod(n, 2) == 0"): "write `a % b`",
    on("trim(kind) == kind"): "strings are compared as they come: by `like`, `=~`, `lower` and `substr`",
    on("count(*) >= 5"): "several events are a pattern: `match a: s[...]{5}  within 5 minutes`",
    on("count() >= 5"): "several events are a pattern: `match a: payment{5}  within 5 minutes`",
    on("5 < count()"): "several events are a pattern: `match a: payment{6}  within 5 minutes`",
    matching("a: payment[count() > 2]"): "the number stands behind the step: `payment[...]{3}`",
    matching("a: payment", "within INTERVAL '5' MINUTE"): "did you mean `5m`?",
    matching("a: payment", "within 5 MINUTES"): "did you mean `5m`?",
    matching("a: payment", "within 1 month"): "months and years differ in length: `30d`?",
    matching("a: payment", "within 5m after match skip past last row"):
        "write `skip past last`, `skip to next`, `skip to first STEP`, `skip to last STEP` or `skip none`",
    matching("a: payment", "within 5m skip past last row"): "events are no rows: remove it",
    matching("a: payment", "within 5m one row per match"):
        "an alert is one match, and has all its events: remove it",
    matching("a: payment", "within 5m order by at"):
        "events are always in the order of their event times: remove it",
    matching("a: payment", "within 5m partition by card_id"): "the key stands after `by`: `by card_id`",
    matching("a: payment", "within 5m define b as n > 5"):
        "the condition of a step stands behind its stream: `b: s[...]`",
    matching("a: payment{3}", "within 5m emit x = final last(a.n)"):
        "what is emitted is always final: remove `final`",
    matching("a: payment{3}", "within 5m emit x = a.count"): "did you mean `count(a)`?",
    matching("a: payment{3}", "within 5m emit x = a.last.n"): "did you mean `last(a.n)`?",
    matching("a: payment{3}", "within 5m emit x = max(a.n, 5)"): "the greater of two is `a > b ? a : b`",
    matching("a: payment{3}", "within 5m emit x = median(a.n)"): "write `percentile(step.field, 0.5)`",
    matching("a: payment{3}", "within 5m emit x = p99(a.n)"): "write `percentile(step.field, 0.99)`",
    matching("a: payment{3}", "within 5m emit x = approx_count_distinct(a.kind)"):
        "write `distinct(step.field)`",
    matching("(A B+ C)"): "steps are joined by `->`, `=>` or `~>`",
    "rule r { by card_id  over payment sliding 1h  having lag(avg(n)) > 3 }":
        "write `previous(aggregate, n)`",
    "rule r { by card_id  over payment sliding 1h  having median(n) > 3 }": "write `percentile(field, 0.5)`",
    "rule r { by card_id  over payment sliding 1h  where count() > 3 }":
        "events are chosen in brackets, `over stream[...]`; the condition on a window stands after `having`",
    "rule r { by card_id  over payment tumble 1h  having count() > 3 }": "did you mean `tumbling 5 minutes`?",
    "rule r { by card_id  over payment 5 minutes  having count() > 3 }":
        "a window of time is `sliding 5 minutes` or `tumbling 5 minutes`",
    "rule r { by card_id  over payment last 5m  having count() > 3 }": "a window of time is `sliding 5m`",
    "rule r { on payment  emit * }": "every name is written: `emit card_id, n = count(a)`",
    "rule r { on payment  emit n AS m }": "a value is emitted under a name: `m = n`",
    "select * from payment where n > 5": "a rule is written `rule NAME { on STREAM[...] }`",
    "create table s (a varchar, t timestamp);\n" + on("n > 1"):
        "a stream is declared by `stream NAME { field: type  time field }`",
    "stream s { a: string not null  t: timestamp  time t }\n" + on("n > 1"):
        "a field without `?` is never null: remove it",
    "stream s { a: string default 5  t: timestamp  time t }\n" + on("n > 1"):
        "fields have no defaults: a field that may be null is written `name: type?`",
    "stream s { a: numeric  t: timestamp  time t }\n" + on("n > 1"): "did you mean `decimal`?",
    "stream s { a: string  t: timestamp  time t  watermark for t as t }\n" + on("n > 1"):
        "the watermark trails by `lateness 5 seconds`",
    "stream s { a: string  t: timestamp  time t  primary key a }\n" + on("n > 1"):
        "the field that identifies an event is named by `id FIELD`",
    # EPL, Siddhi, FlinkCEP
    "define stream s (a string, t long);\n" + on("n > 1"):
        "a stream is declared by `stream NAME { field: type  time field }`",
    "from every e1=payment[n > 5] -> e2=payment select e1.n insert into out;":
        "a rule is written `rule NAME { on STREAM[...] }`",
    matching("e1=payment[n > 5] -> e2=payment"): "a step is named by a colon: `a: stream[...]`",
    matching("a: payment --> b: payment"): "steps are joined by `->`, `=>` or `~>`",
    matching("a: payment ; b: payment"): "steps are joined by `->`, `=>` or `~>`",
    matching("a: payment or b: login"): "either is written `match (a: s | b: t)`",
    matching("a: payment && b: login"): "`|` and `&` stand once: `(a: s | b: t)`",
    matching("a: payment -> !login"):
        "what must not happen is `not stream[...]` between steps, `absent stream[...] for 5m` at the end",
    matching("a: payment -> no login"):
        "what must not happen is `not stream[...]` between steps, `absent stream[...] for 5m` at the end",
    matching("a: payment<3:5>"): "a number of events stands behind the step: `s[...]{3}`, `{3,5}`, `{3,}`",
    matching("a: payment.times(3)"):
        "a number of events stands behind the step: `s[...]{3}`, `{3,5}`, `{3,}`",
    matching("a: payment{3 times}"):
        "a number of events stands behind the step: `s[...]{3}`, `{3,5}`, `{3,}`",
    matching("a: payment{3}[n > 5]"):
        "the condition stands in one pair of brackets, before the number: `s[a and b]{3}`",
    matching("3 a: payment"): "a number of events stands behind the step: `s[...]{3}`, `{3,5}`, `{3,}`",
    matching("payment as a -> login as b"): "a step is named by a colon: `a: stream[...]`",
    matching("payment a -> login b"): "a step is named by a colon: `a: payment`",
    matching("every a: payment"): "a pattern begins anew at every event that fits: remove `every`",
    matching("a: payment next b: payment"): "`=>` joins a step to the very next event",
    matching("a: payment -> * -> b: payment"): "events that fit nothing are skipped by `->`: remove it",
    matching("a: payment -> b: payment[n > prev.n]"): "write `prev(n)`",
    on('str:contains(kind, "x")'): "functions stand without the name of a library: `lower(kind)`",
    on("sizeOfSet(n) > 5"):
        f"it is called `distinct` here; {SEVERAL}",
    on("card_id == login.card_id"):
        "`on` sees one event; two are a pattern: `match a: login -> b: payment[... a.card_id]`",
    "rule r { on payment, login }": "either is written `match (a: s | b: t)`",
    "rule r { on payment or login }": "either is written `match (a: s | b: t)`",
    "rule r { on payment as p }": "only the steps of a pattern have names: remove it",
    "rule r { on payment[n > 5][n < 9] }": "conditions are joined by `and`, in one pair of brackets",
    # Sigma, KQL, SPL
    "title: Suspicious\nlogsource:\n  product: cards\ndetection:\n  selection:\n    n: 5\n":
        "rules are no YAML: `rule NAME { severity high  on STREAM[...] }`",
    "rule r { on payment  level high }": "write `severity high`",
    "rule r { on payment  severity warning }": "did you mean `medium`?",
    "rule r { on payment  throttle 1h }": "write `suppress 1 hour`",
    "rule r { on payment  references \"x\" }": 'write `runbook "https://..."`',
    matching("a: payment", "timeframe 5m"): "a pattern is bounded by `within 1 hour`",
    on('kind has "x"'): 'write `like "%...%"`, or `matches "..."` for a text',
    on('kind hasprefix "x"'): 'write `like "...%"`',
    on("dcount(kind) > 5"):
        f"it is called `distinct` here; {SEVERAL}",
    on("ipv4_is_in_range(kind) > 5"): 'write `in_cidr(address, "10.0.0.0/8")`',
    on("haversine(1.0, 2.0, 3.0, 4.0) > 5"): "write `distance_km(lat, lon, lat, lon)`",
    on("bin(at) == at"): "windows are cut by `over STREAM tumbling 1 hour`",
    # Python, JavaScript, C
    on('f"{kind}" == "DE"'): "a field stands without quotes: `kind`",
    on('kind == f"{ kind }"'): "a field stands without quotes: `kind`",
    on('f"{kind}-x" == "DE"'): "no text is put together here but in `summary`: compare the fields themselves",
    on('kind == r"D.E"'): "strings have no letter before them: remove `r`",
    on('b"DE" == kind'): "strings have no letter before them: remove `b`",
    'rule r { on payment  emit x = f"{kind}" }': "a field stands without quotes: `kind`",
    on("n === 5"): "did you mean `==`?",
    on("n !== 5"): "did you mean `!=`?",
    on("kind ~= \"x\""): "did you mean `=~`?",
    on("kind !~ \"x\""): 'write `not (a =~ "...")`',
    on("kind =~ /^D/"): 'a pattern is a string: `"^D"`',
    on("kind =~ /^https?:\\/\\//i"): 'a pattern is a string: `"(?i)^https?:\\/\\/"`',
    on('kind not =~ "x"'): 'write `not (a =~ "...")`',
    on("n ** 2 > 5"): "there are no powers: write `x * x`",
    on("n =< 5"): "did you mean `<=`?",
    on("n > = 5"): "did you mean `>=`?",
    on("n | 2 > 5"): "did you mean `or`?",
    on('kind ?? "x" == "y"'): "write `coalesce(a, b)`",
    on("kind == None"): "did you mean `is null`?",
    on("kind != undefined"): "did you mean `is not null`?",
    on("true if flag else false"): "a choice is written `condition ? value : other`",
    on('kind in {"a"}'): "a list stands in parentheses: `(a, b)`",
    on("n in 5..9"): "write `between 5 and ...`",
    on("n in range(5, 9)"): "write `x between low and high`",
    on("kind.toLowerCase() == \"x\""): "values have no methods: write `lower(string)`",
    on("Math.abs(n) > 5"): "values have no methods: write `abs(number)`",
    on("kind.length > 5"): "write `length(kind)`",
    on("len(kind) > 5"): "write `length(string or list)`",
    on("this.n > 5"): "a bare field name is the event's: `n`",
    on("$n > 5"): "fields and numbers stand without it",
    on('"n" > 5'): "a field stands without quotes: `n`",
    on('payment["n"] > 5'): "a field is named alone: `n`",
    on("kind[0] == \"x\""): "of a string, write `substr(kind, 0, 1)`",
    on("kind == x"):
        'a string stands in quotes: `"x"`',
    on("flag == 1"): "write `flag` alone, or `not flag`",
    on("at > 1767225600000"): 'an instant is a string with its zone: `"2026-01-31T10:05:00Z"`',
    on("n == 1,000"): "digits are grouped by `_`: `1_000`",
    on("n > 5, flag"): "conditions are joined by `and`",
    on("amount > .5"): "a number begins with a digit: `0.5`",
    on("n > 10k"): "write `10_000`",
    on("n > 0x1F"): "numbers are decimal: `31`",
    on("took > 5 min"): "did you mean `5m`?",
    on("n := 5"): "did you mean `==`?",
    on("kind = 'x'").replace("'x'", '"x"'): "did you mean `==`?",
    'rule r { on payment  summary f"x" }': "strings have no letter before them: remove it",
    'rule r { on payment  emit n  summary "x " + n }':
        'a summary is one string, with emitted names in braces: `"{n} of {card_id}"`',
    'rule r { on payment  emit n  summary "{n:.2f}" }':
        "a name stands alone in its braces; round it where it is emitted: `n = round(n, 2)`",
    'rule r { on payment  emit n  summary "{n + 1}" }': "give it a name in `emit`: `name = n + 1`",
    "rule r { on payment  runbook https://x.y/z }": 'write it in quotes: `"https://x.y/z"`',
    "rule my rule { on payment }": "a name is one word: `my_rule`",
    'rule "my rule" { on payment }': "a name stands without quotes: `my_rule`",
    "rule r() { on payment }": "what belongs to it stands in braces: `{ ... }`",
    "import cards\n" + on("n > 1"):
        "all files of a folder that begin with the same `pack` header belong together: nothing is imported",
    "const x = 5\n" + on("n > 1"): "a constant is written `let name = value`",
    "stream s { a?: string  t: timestamp  time t }\n" + on("n > 1"):
        "the `?` stands behind the type: `a: type?`",
    "stream s { a: string | null  t: timestamp  time t }\n" + on("n > 1"):
        "a field that may be null is written `name: type?`",
    matching("a: payment", 'within "5 minutes"'): "a duration stands without quotes: `5 minutes`",
    matching("a: payment", 'within "5 min"'): "a duration stands without quotes: did you mean `5m`?",
    matching("a: payment", "within PT5M"): "a duration is written `5m` or `5 minutes`",
    matching("a: payment", "within 1h30m"): "a duration has one unit: `90m` for one hour and a half",
    matching("a: payment", "within (5m)"): "a duration needs no brackets",
    matching("a: payment", "within = 5m"): "the duration stands right behind the word: `within 5m`",
    matching("a: payment", "within one hour"): "a duration begins with a number: `1 hour`",
    matching("a: payment[3]"): "a number of events stands behind the step: `{3}`",
    matching("a: payment{3}", "within 5m emit x = len(a)"): "write `count(a)`",
    matching("a: payment{3}", "within 5m emit x = count(a.*)"):
        "the events of a step are counted by `count(a)`",
    'rule r { on payment }\ntest r { at 0s payment { n: 1 }  expect nothing }':
        'a test has a title: `test r "what happens" { ... }`',
    'rule r { on payment }\ntest r x { at 0s payment { n: 1 }  expect nothing }': 'write it in quotes: `"x"`',
    'rule r { on payment }\ntest "x" { at 0s payment { n: 1 }  expect nothing }':
        'a test names its rule: `test RULE "x"`',
    'rule r { on payment }\ntest r "x" { payment { n: 1 }  expect nothing }':
        "an event stands behind its time: `at 0s payment { amount: 6 }`",
    'rule r { on payment }\ntest r "x" { at 0s payment { n: 1 }  assert nothing }':
        f"did you mean `expect`? {EXPECTED}",
    'rule r { on payment }\ntest r "x" { at 0s payment { n: 1 }  expect alert }':
        EXPECTED,
    'rule r { on payment }\ntest r "x" { at 0s payment { n: 1 }  expect n: 1 }':
        EXPECTED,
    'rule r { on payment }\ntest r "x" { wait 5s  expect nothing }':
        "write `at 5m`: times count from the start",
    # what others tried
    "rule r {\n  on payment\n  rule s { on payment[n > 5] }\n}": "write `}` where the block ends",
    matching("in: payment"): "`in` is reserved; in backquotes it is a name",
    "rule r { by kind, user_card  match a: payment[n > 1] -> b: login  within 1h }":
        "did you mean `by payment.kind = login.user_card`?",
    "rule r {\n on login\n | where n > 5\n | summarize count() by user_card, bin(at, 5m)\n}":
        "a rule looks at `on STREAM[...]`, `match PATTERN` or `over STREAM[...] WINDOW`",
    on("amount > 1.000,50"): "a number has a point and groups its digits by `_`: `1_000.50`",
    on("n > 5 unless flag"): "write `and not (...)`",
    on('kind is not in ("a", "b")'): "`in` and `not in` stand without `is`",
    on('kind matches "x.*"'):
        "declare it as `kind: text` in stream `payment`, "
        "or search it for a regular expression: `kind =~ \"x.*\"`",
    matching("a: payment -> not payment[n < 5] for 10m"):
        "what must not happen for a while is `absent payment[...] for 5 minutes`",
    matching("a: payment{>=3}"): "a number of events stands behind the step: `s[...]{3}`, `{3,5}`, `{3,}`",
    matching("any 3 of payment"): "a number of events stands behind the step: `s[...]{3}`, `{3,5}`, `{3,}`",
    matching("a: payment", "within 1h suppress 1 per hour"): "did you mean `1h`?",
    "rule r { on payment  having n > 5 }":
        "a rule with `on` sees one event: put its condition behind the stream, `payment[...]`",
    "rule r { on payment  emit n and kind }": "a comma stands between the items of a list",
    'rule r { on payment  emit n as "value" }': "a value is emitted under a name: `value = n`",
    "rule r { by payment.card_id == login.user_card  match a: payment -> b: login  within 1h }":
        "the fields of a key are joined by one `=`: `by a.f = b.g`",
    "function f(x) { return x }\n" + on("n > 5"): "rules have no functions of their own: write it out",
}  # fmt: skip


@pytest.mark.parametrize("text", SAID)
def test_a_habit_is_reported_once_and_how_it_is_said_here(text: str) -> None:
    (only,) = [d for d in loaded(text).diagnostics if d.level == "error"]
    assert only.help == SAID[text]


OVER = "rule r {{ by card_id  over payment {} }}"
INSIDE = 'the condition stands inside: `count(kind == "fee")`, `sum(kind == "fee" ? amount : null)`'
OF_WINDOWS = {
    "sliding 1h having count() > 3 AND sum(n) > 3": SMALL.format("and"),
    "sliding 1h having count() > 3, sum(n) > 3": "conditions are joined by `and`",
    "sliding 1h having n.sum() > 3": "values have no methods: write `sum(field)`",
    'sliding 1h having count() filter (where kind == "x") > 3': INSIDE,
    'sliding 1h having sum(n where kind == "x") > 3': INSIDE,
    'sliding 1h having kind == "x"':
        "write `last(kind)`, or `count(kind == ...)` for the number of such events",
    "sliding 1h having flag": "write `last(flag)`, or `count(flag)` for the number of such events",
    'sliding 1h having collect(kind) == "x"':
        "windows give no lists: `distinct(field)` counts the different values",
    "sliding 1h having row_number() > 3": "events are counted by `count()`, those of a step by `count(step)`",
    "sliding 1h having count() > 3 emit s = window_start": "write `start()`",
    "sliding 1h having count() > 3 emit s = window.end": "write `end()`",
    "cumulate 1h step 5m having count() > 3":
        "`tumbling 1 hour early` is evaluated at each event, over the window so far",
    "hopping 1h having count() > 3": "write `hopping 1 hour every 5 minutes`, or `tumbling 1 hour`",
    "last 1 event having count() > 3": "write `last 1 events`",
    "last 50 having count() > 3": "write `last 50 events`",
    "having count() > 3": "a window stands after its stream: `over stream sliding 5 minutes`",
    "tumbling 1h allowed lateness 5m having count() > 3":
        "how late events may come is said by their stream: `lateness 30 seconds`",
    "tumbling 1h offset 10m having count() > 3":
        "windows count from 1970-01-01T00:00Z, weeks from a Monday, days of a zone by `zone`: remove it",
    ", login tumbling 1h having count() > 3":
        "a window is of one stream; events of several are a pattern: `match (a: s & b: t)`",
    ": payment tumbling 1h having count() > 3":
        "the events of a window have no name: `over stream sliding 5 minutes`, then `sum(field)`",
}  # fmt: skip


@pytest.mark.parametrize("body", OF_WINDOWS)
def test_what_others_write_of_windows_is_told_as_it_is_written_here(body: str) -> None:
    (only,) = [d for d in loaded(OVER.format(body)).diagnostics if d.level == "error"]
    assert only.help == OF_WINDOWS[body]
