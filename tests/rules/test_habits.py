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
    # EPL, Siddhi, Flink
    "rule r { every a=payment -> b=payment }":
        "a pattern is written `match a: s[...] -> b: s[...]`; it begins anew at every event that fits",
    "rule r { match a: payment followedBy b: payment  within 1h }": JOINED,
    "rule r { match a: payment and b: payment  within 1h }": JOINED,
    "rule r { match a: payment -> not b: payment -> c: payment within 1h }":
        "what must not happen has no name: `not stream[...]`",
    "rule r { on payment.win:time(5) }": "a window stands after its stream: `over stream sliding 5 minutes`",
    matching("a: payment", "for 5m"): "`for` belongs to `absent`; a pattern is bounded by `within 1 hour`",
    # KQL, Python, C
    on('kind startswith "x"'): 'write `like "...%"`',
    on('kind.contains("x")'): "a function is called as `name(value)`; values have no methods",
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
