"""Words of other languages, as tables: for what the grammar expected, word -> help.

`habits` looks them up, after the phrases of `foreign_phrases`. Words are in small letters.
"""

from __future__ import annotations

from collections.abc import Mapping

CONDITION = "a condition stands in square brackets: `stream[...]`"
EVERY_NAME = "every name is written: `emit card_id, n = count(a)`"
JOINED = "steps are joined by `->`, `=>` or `~>`"
NAMED = "a step is named by a colon: `a: stream[...]`"
NUMBER = "a number of events stands behind the step: `s[...]{3}`, `{3,5}`, `{3,}`"
EITHER = "either is written `match (a: s | b: t)`"
_WINDOW = "a window stands after its stream: `over stream sliding 5 minutes`"
_KEY = "the key stands after `by`: `by card_id`"
_BODY = "a rule looks at `on STREAM[...]`, `match PATTERN` or `over STREAM[...] WINDOW`"
_PATTERN = "a pattern is written `match a: s[...] -> b: s[...]`; it begins anew at every event that fits"
CHOICE = "a choice is written `condition ? value : other`"
ABSENT = "what must not happen is `not stream[...]` between steps, `absent stream[...] for 5m` at the end"
_BOUND = "a pattern is bounded by `within 1 hour`"
_REMARK = 'write `summary "..."`, or a comment: `# ...`'
ONE_TEXT = 'a summary is one string, with emitted names in braces: `"{n} of {card_id}"`'
_SKIP = "write `skip past last`, `skip to next`, `skip to first STEP`, `skip to last STEP` or `skip none`"
_NULLABLE = "a field that may be null is written `name: type?`"
_MATCHING = "`matching` names a block of `queries`; a query in quotes stands in `[field matches ...]`"
_REGEX = 'write `=~ "..."`'
SOME_EVENTS = 'the condition stands inside: `count(kind == "fee")`, `sum(kind == "fee" ? amount : null)`'
_CHOSEN = "events are chosen in brackets, `over stream[...]`; the condition on a window stands after `having`"
_EARLY = "`tumbling 1 hour early` is evaluated at each event, over the window so far"
HOPS = "write `hopping 1 hour every 5 minutes`, or `tumbling 1 hour`"
_ONE_STREAM = "a window is of one stream; events of several are a pattern: `match (a: s & b: t)`"
_NO_NAMES = "the events of a window have no name: `over stream sliding 5 minutes`, then `sum(field)`"
_LATE = "how late events may come is said by their stream: `lateness 30 seconds`"
_ALIGNED = "windows count from 1970-01-01T00:00Z, weeks from a Monday, days of a zone by `zone`: remove it"
_IS = "`is` asks for null: `is null`, `is not null`; values are compared by `==` and `!=`"

CLAUSES = frozenset(
    {"on", "match", "over", "by", "emit", "severity", "within", "summary", "tags", "suppress", "episode"}
)
_OF_A_RULE: Mapping[str, str] = {
    **dict.fromkeys(["where", "when", "if", "filter", "detection", "selection", "condition"], CONDITION),
    **dict.fromkeys(["followed", "followedby", "followedbyany", "then", "and", ","], JOINED),
    **dict.fromkeys(["pattern", "sequence", "every", "seq", "match_recognize"], _PATTERN),
    **dict.fromkeys(["from", "join", "|", "logsource", "stream", "source", "index"], _BODY),
    **dict.fromkeys(["window", "timewindow", "win"], _WINDOW),
    **dict.fromkeys(["group", "partition", "keyby", "per", "key"], _KEY),
    **dict.fromkeys(
        ["select", "return", "project", "measures"], "an alert carries what `emit` names: `emit n = a.n`"
    ),
    "insert": "`into STREAM` makes events of a rule's alerts",
    **dict.fromkeys(["description", "desc", "comment", "doc"], _REMARK),
    **dict.fromkeys(["author", "status", "date", "id", "version", "falsepositives", "enabled"], _REMARK),
    **dict.fromkeys(["references", "reference", "url", "link"], 'write `runbook "https://..."`'),
    **dict.fromkeys(
        ["alert", "message", "title"], 'an alert says `summary "..."` and carries what `emit` names'
    ),
    **dict.fromkeys(["priority", "level", "risk", "criticality"], "write `severity high`"),
    **dict.fromkeys(["throttle", "cooldown", "dedup", "debounce", "mute"], "write `suppress 1 hour`"),
    **dict.fromkeys(["timeframe", "timespan", "maxspan", "duration", "during", "lookback", "in"], _BOUND),
    **dict.fromkeys(["threshold", "count", "times", "frequency"], NUMBER),
    **dict.fromkeys(["notify", "action", "send", "output", "do"], "job.toml says where alerts go"),
    "define": "the condition of a step stands behind its stream: `b: s[...]`",
    "order": "events are always in the order of their event times: remove it",
    "after": _SKIP,
    **dict.fromkeys(["one", "all"], "an alert is one match, and has all its events: remove it"),
    "for": f"`for` belongs to `absent`; {_BOUND}",
}
_EVENTS: Mapping[str, str] = {
    "or": EITHER,
    "and": "several events are a pattern: `match (a: s & b: t)`",
    "matching": _MATCHING,
    **dict.fromkeys("({", CONDITION),
    "[": "conditions are joined by `and`, in one pair of brackets",
    ".": _WINDOW,
    **dict.fromkeys([":", "as"], "only the steps of a pattern have names: remove it"),
}
BEHIND: Mapping[str, Mapping[str, str]] = {
    "match": {
        **dict.fromkeys("->;", JOINED),
        "<": NUMBER,
        "next": "`=>` joins a step to the very next event",
        **dict.fromkeys(["=", "as"], NAMED),
        **dict.fromkeys(["{", "*", "x", "times", "."], NUMBER),
        "or": EITHER,
        "matching": _MATCHING,
        "(": CONDITION,
        "where": CONDITION,
    },
    "on": _EVENTS,
    "over": {
        **_EVENTS,
        "where": _CHOSEN,
        **dict.fromkeys(["allowed", "grace", "lateness", "watermark"], _LATE),
        **dict.fromkeys(["offset", "align", "aligned", "starting"], _ALIGNED),
        **dict.fromkeys(["trigger", "cumulate", "updates"], _EARLY),
        "every": "`sliding` is evaluated at each event; `hopping 1h every 5m` every five minutes",
    },
    "having": {
        **dict.fromkeys(["filter", "where"], SOME_EVENTS),
        **dict.fromkeys([",", "&"], "conditions are joined by `and`"),
        "|": "did you mean `or`?",
    },
    **dict.fromkeys(
        ["emit", "by", "tags"], dict.fromkeys(["and", "&", ";"], "a comma stands between the items of a list")
    ),
    "summary": dict.fromkeys(["+", "%", ".", "&", "|"], ONE_TEXT),
    "skip": dict.fromkeys(["row", "rows"], "events are no rows: remove it"),
    "severity": {"and": "a rule has one severity"},
}
"""Help for words of other languages inside a clause, by the keyword of the clause."""
_TYPES_HOLD = "types that hold others are `list<string>` and `{ name: string }`"
_OF_A_STREAM: Mapping[str, str] = {
    ",": "nothing separates fields: remove it",
    "(": "types have no length: `string`, `decimal`",
    "[": "a list is written `list<string>`",
    "<": _TYPES_HOLD,
    **dict.fromkeys(["|", "null", "nullable", "optional"], _NULLABLE),
    **dict.fromkeys(["not", "required"], "a field without `?` is never null: remove it"),
    **dict.fromkeys(["=", "default"], f"fields have no defaults: {_NULLABLE}"),
    **dict.fromkeys(["watermark", "delay", "out_of_order"], "the watermark trails by `lateness 5 seconds`"),
    **dict.fromkeys(
        ["primary", "key", "unique"], "the field that identifies an event is named by `id FIELD`"
    ),
    "partition": "the key belongs to the rules: `by FIELD`",
    **dict.fromkeys(
        ["event_time", "eventtime", "timefield", "rowtime"],
        "the event time is named by `time FIELD`",
    ),
    **dict.fromkeys(["with", "from"], "job.toml says where events come from: remove it"),
}
EXPECTED = "`expect { }` is any alert, `expect at 5m { n: 6 }` one of that time with this value"
EVENT = "an event stands behind its time: `at 0s payment { amount: 6 }`"
BRACES = "what belongs to it stands in braces: `{ ... }`"
_WHOLE = 'both sides are whole conditions: `n > 5 and n < 9`, `kind in ("a", "b")`'
_TWICE = "a condition stands between two of them: remove one"
_COMPARED = frozenset({"=", "==", "!=", "<", ">", "<=", ">=", "=~", "like", "between", "in"})
_WHOLE_CONDITIONS = dict.fromkeys(_COMPARED, _WHOLE)

HABITS: tuple[tuple[str, Mapping[str, str]], ...] = (
    ("a clause of a rule", _OF_A_RULE),
    ("a field `name: type`", _OF_A_STREAM),
    ("expected `key`", {"(": "a table is declared by `table NAME key FIELD { ... }`"}),
    (
        "expected `{`",
        {
            "-": "a name has no `-`: write `_`, or put the name in backquotes",
            **dict.fromkeys(["(", ":", "[", "=", "as", *CLAUSES], BRACES),
        },
    ),
    ("the rule's name", {"{": "a rule has a name: `rule NAME { ... }`"}),
    ("expected `=`", {":": "a constant is written `let name = value`"}),
    ("a string in quotes", {"[": "a list of tags needs no brackets"}),
    ("the test's title", {"{": 'a test has a title: `test r "what happens" { ... }`'}),
    (
        "a window: ",
        {
            "session": "write `session gap` and a duration",
            **dict.fromkeys(["tumble", "every", "each", "per"], "did you mean `tumbling 5 minutes`?"),
            "hop": "did you mean `hopping 1 hour every 5 minutes`?",
            "cumulate": _EARLY,
            ",": _ONE_STREAM,
            **dict.fromkeys([":", "as"], _NO_NAMES),
            **dict.fromkeys(["having", "emit", "by", "}"], _WINDOW),
            **dict.fromkeys(
                ["window", "slide", "range", "rows", "time", "for", "in", "within"],
                "did you mean `sliding 5 minutes`?",
            ),
        },
    ),
    (
        "or `nothing`",
        {
            **dict.fromkeys(["none", "no", "empty", "null", "not"], "did you mean `nothing`?"),
            **dict.fromkeys(["alert", "alerts", "match", "one", "1"], EXPECTED),
        },
    ),
    (
        "expected `at`, `expect`",
        {
            **dict.fromkeys(["assert", "then", "should", "alert"], f"did you mean `expect`? {EXPECTED}"),
            **dict.fromkeys(["after", "wait", "+", "sleep"], "write `at 5m`: times count from the start"),
            **dict.fromkeys(["given", "when", "event", "send"], EVENT),
            **dict.fromkeys(["*", "repeat", "times"], "an event is repeated by `x 3`, or `x 3 every 10s`"),
        },
    ),
    ("or `none`", {"to": "a step is skipped to by `to first STEP` or `to last STEP`", "past": _SKIP}),
    ("a key field", {"=": "the fields of a key are joined by one `=`: `by a.f = b.g`"}),
    ("expected `runs`", dict.fromkeys("};", "`limit 50 runs` bounds what waits under one key")),
    ("expected `emit`", {"}": "a timeout says what it raises: `on timeout emit card_id`"}),
    ("expected `:`", dict.fromkeys(["=", "=="], "did you mean `:`?")),
    (
        "an emitted name",
        {
            **dict.fromkeys("{(", "a list of names needs no brackets"),
            "*": EVERY_NAME,
        },
    ),
    (
        "expected a stream",
        {
            "*": "a rule names its stream: one rule looks at one",
            "}": "the time of an alert comes first: `expect at 5m { ... }`",
        },
    ),
    (
        "expected a step",
        {
            **dict.fromkeys(["!", "~"], ABSENT),
            **dict.fromkeys("|&", "`|` and `&` stand once: `(a: s | b: t)`"),
            **dict.fromkeys(".*", "events that fit nothing are skipped by `->`: remove it"),
        },
    ),
    (
        "a duration",
        {
            "(": "a duration needs no brackets",
            **dict.fromkeys(["=", "<", "<=", "of"], "the duration stands right behind the word: `within 5m`"),
            **dict.fromkeys(["a", "an", "one", "two"], "a duration begins with a number: `1 hour`"),
        },
    ),
    (
        "an operator or",
        {
            "(": "a function is called as `name(value)`; values have no methods",
            "contains": 'write `=~ "..."`, or `matches "..."` for a field of type text',
            **dict.fromkeys(["has", "includes"], 'write `like "%...%"`, or `matches "..."` for a text'),
            **dict.fromkeys(["startswith", "starts", "hasprefix"], 'write `like "...%"`'),
            **dict.fromkeys(["endswith", "ends", "hassuffix"], 'write `like "%..."`'),
            **dict.fromkeys(["~", "regexp", "rlike", "regex", "similar", "re"], _REGEX),
            **dict.fromkeys(["then", "when", "if"], CHOICE),
            "is": _IS,
            "not": "`not` stands before `in`, `between` and `like`, and in `is not null`",
            "exists": "write `is not null`",
            **dict.fromkeys(["isnull", "null"], "write `is null`"),
            "notnull": "write `is not null`",
            "ilike": 'a comparison in small letters: `lower(field) like "..."`',
            **dict.fromkeys(["equals", "eq"], "did you mean `==`?"),
            **dict.fromkeys(["ne", "neq"], "did you mean `!=`?"),
            **{
                word: f"did you mean `{sign}`?"
                for word, sign in zip(
                    ["gt", "gte", "ge", "lt", "lte", "le"], [">", ">=", ">=", "<", "<=", "<="], strict=True
                )
            },
            "mod": "did you mean `%`?",
            "div": "did you mean `/`?",
            **dict.fromkeys(["unless", "except", "without"], "write `and not (...)`"),
            "xor": "write `a != b`",
            "|": "did you mean `or`?",
            "&": "did you mean `and`?",
            "from": "of a time there are `hour(timestamp, zone)` and `weekday(timestamp, zone)`",
            "as": "a value is named where it is emitted: `emit name = value`",
        },
    ),
    ("expected a value after `in`", {"[": "a list stands in parentheses: `in (a, b)`"}),
    ("expected a value after `*`", {"*": "there are no powers: write `x * x`"}),
    (
        "expected a value after `?`",
        {
            **dict.fromkeys(":?", "write `coalesce(a, b)`"),
            ".": "names are joined by `.` alone: of a null every field is null",
        },
    ),
    ("expected a value after `and`", {**_WHOLE_CONDITIONS, **dict.fromkeys(["and", "or"], _TWICE)}),
    ("expected a value after `or`", {**_WHOLE_CONDITIONS, **dict.fromkeys(["and", "or"], _TWICE)}),
    ("expected a value after `not`", dict.fromkeys(_COMPARED, 'write `not (a =~ "...")`, `a not in (...)`')),
    (
        "expected a value",
        {
            "!": "did you mean `not`?",
            "=": "here `=` stands once",
            "[": "a list stands in parentheses: `(a, b)`",
            "{": "a list stands in parentheses: `(a, b)`",
            "/": 'a pattern is a string: `=~ "..."`',
        },
    ),
)
_RULE_MEANT = "a rule is written `rule NAME { on STREAM[...] }`"
BETWEEN_BLOCKS: Mapping[str, str] = {
    **dict.fromkeys(
        ["select", "from", "with", "every", "insert", "match", "on", "def", "alert", "when", "if", "|"],
        _RULE_MEANT,
    ),
    **dict.fromkeys(
        ["title", "id", "name", "detection", "logsource", "rules", "groups", "-"],
        "rules are no YAML: `rule NAME { severity high  on STREAM[...] }`",
    ),
    **dict.fromkeys(
        ["create", "define", "schema", "type", "event", "struct", "class", "source"],
        "a stream is declared by `stream NAME { field: type  time field }`",
    ),
    **dict.fromkeys(
        ["import", "include", "use", "require", "module", "namespace", "package"],
        "all files of a folder that begin with the same `pack` header belong together: nothing is imported",
    ),
    **dict.fromkeys(["const", "var", "val", "set", "macro"], "a constant is written `let name = value`"),
    **dict.fromkeys(
        ["function", "func", "fn", "fun", "lambda"], "rules have no functions of their own: write it out"
    ),
    "@": "there are no annotations: remove it",
}
"""Help for words of other languages where a block should begin."""
CHARACTERS = {
    **dict.fromkeys("→⟶➔➜—", "write `->`"),
    **dict.fromkeys("⇒⟹", "write `=>`"),
    **dict.fromkeys("⇝↝", "write `~>`"),
    "≥": "write `>=`",
    "≤": "write `<=`",
    **dict.fromkeys("≠≄", "write `!=`"),
    **dict.fromkeys("≡＝", "write `==`"),
    "∧": "write `and`",
    "∨": "write `or`",
    "¬": "write `not`",
    "∈": "write `in`",
    "∉": "write `not in`",
    "…": "write out what is meant",
    **dict.fromkeys("$@", "fields and numbers stand without it"),
    **dict.fromkeys("'\"“”„‘’«»", "strings stand in double quotes, and end on their line"),
    ";": "nothing is needed between clauses: remove it",
    "\\": "lines need nothing to go on: remove it",
}
