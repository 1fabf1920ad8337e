"""Lints: found where they should be, silenced by a reason on the line above."""

from __future__ import annotations

import pytest
from writing import STREAMS

from rules.checks.query_cost import reason_of
from rules.packs import load_texts

USED = "rule used { by card_id  match payment -> login  within 1h }\n"


ARTICLES = "stream article { url: string  body: text  t: timestamp  id url  time t }\n"


def warnings(text: str, streams: str = STREAMS) -> list[tuple[str, str]]:
    found = load_texts([("a", streams + text)])
    assert found.pack is not None, found.diagnostics
    assert all(d.level in ("warning", "hint") for d in found.diagnostics)
    return [(d.code, d.span.text if d.span else "") for d in found.diagnostics]


def test_a_good_pack_has_none() -> None:
    assert warnings(USED) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("rule r { match payment -> login  within 1h }", [("CEP0301", "r")]),
        ("rule r { on payment }", []),
        ('rule r { on payment[kind like "wire*"] }', [("CEP0236", 'kind like "wire*"')]),
        ('rule r { on payment[kind not like "*wire_"] }', [("CEP0236", 'kind not like "*wire_"')]),
        ('rule r { on payment[kind like "wire%*" or kind like "wire%" or kind == "wire*"] }', []),
        ("let top = 5", [("CEP0303", "top")]),
        ("let top = 5\nlet more = top\nrule r { on payment[n > more] }", []),
        ("stream s { t: timestamp  time t }", [("CEP0303", "s")]),
        ("stream s { t: timestamp  time t }\nrule r { on s }", [("CEP0302", "s")]),
        ("table m key id { id: string  risk: double }", [("CEP0303", "m")]),
        ("table m key id { id: string  n: long }\nrule r { on payment[m[kind].n > 5] }", []),
        ('queries w { from "w" }', [("CEP0303", "w")]),
        ('queries w { from "w" }\nrule r { on payment matching w }', []),
        (
            'stream s { t: timestamp  x: text  time t }\nqueries w { from "w" }\nrule r { on s matching w }',
            [("CEP0302", "s")],
        ),
        ("rule r { over payment sliding 5m  having count() > 1 }", [("CEP0301", "r")]),
        (
            "rule r { by n  over payment[1 < 2] sliding 5m  having true }",
            [("CEP0305", "1 < 2"), ("CEP0305", "true")],
        ),
        ("rule r { on payment[n > 1]  emit n  into hot }\nrule q { on hot[n > 2] }", []),
        ("rule r { by n  match a: payment -> b: login gap 2h  within 1h }", [("CEP0304", "b: login gap 2h")]),
        (
            "rule r { by n  over payment session gap 1h max 1h  having count() > 1 }",
            [("CEP0304", "over payment session gap 1h max 1h")],
        ),
        ("rule r { by n  over payment session gap 1h max 61m  having count() > 1 }", []),
        ("rule r { by n  match a: payment -> b: login gap 2m  within 1h }", []),
        ("rule r { by n  match a: payment[1 > 2] -> b: login  within 1h }", [("CEP0305", "1 > 2")]),
        ("rule r { by n  match a: payment -> b: login  within 1h having true }", [("CEP0305", "true")]),
    ],
)
def test_what_looks_wrong_is_found(text: str, expected: list[tuple[str, str]]) -> None:
    assert warnings(USED + text) == expected


ENDLESS = "rule r { by card_id  match a: payment[amount > 1] -> b: login  within unbounded }"
GUARDED = "rule r { by card_id  match a: payment[n > 1] -> %s -> c: login[n > 3]  within 1h }"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (ENDLESS, [("CEP0307", "b: login")]),
        (
            "rule r { by n  over payment last 5 events  having count() > 1 }",
            [("CEP0321", "over payment last 5 events")],
        ),
        ("rule r { by n  over payment last 5 events within 1d  having count() > 1 }", []),
        ("rule r { by card_id  match a: payment -> b: login gap 1h  within unbounded }", []),
        ("rule r { by card_id  match payment -> absent login for 1h }", []),
        ("rule r { by card_id  match payment  ->  login  within 1h }", [("CEP0308", "r")]),
        ("rule r { by card_id  match payment -> login  within 2h }", []),
        ("rule r { by card_id  match a: payment -> login  within 1h }", []),
        ("rule r { on payment[n > 5] }\nrule s { on payment[n > 5 and amount > 2] }", [("CEP0309", "s")]),
        ("rule r { on payment }\nrule s { severity high  on payment[n > 5] }", []),
        ("rule r { on payment[n > 5] }\nrule s { on payment[n > 1 and amount > 2] }", []),
        (GUARDED % "not login[n > 1] -> b: login[n > 2]?", [("CEP0310", "not login[n > 1]")]),
        (GUARDED % "b: login[n > 2]* -> not login[n > 1]", [("CEP0310", "not login[n > 1]")]),
        (GUARDED % "not login[n > 1] -> b: login[n > 2]+", []),
        ('rule r { on payment  summary "large"  emit n }', [("CEP0311", '"large"')]),
        ('rule r { on payment  summary "large: {n}"  emit n }', []),
        ('rule r { on payment  summary "large" }', []),
        (
            "rule r { by n  match a: payment -> b: payment[n > 1]  within 1h }",
            [("CEP0316", "a: payment")],
        ),
        ("rule r { by n  match a: payment => b: payment  within 1h }", []),
        ("rule r { by n  match a: login => a: login  within 1h }", [("CEP0317", "a: login")]),
        ("rule r { by n  match login => login  within 1h }", [("CEP0317", "login")]),
        ("rule r { by n  match (login[n > 1] & login)  within 1h }", [("CEP0317", "login")]),
        ("rule r { by n  match (a: login[n > 5] | a: login[n < 2])  within 1h }", []),
        (
            "rule r { by n  match (a: login[n > 5] | b: payment) => (a: login | b: payment)  within 1h }",
            [("CEP0317", "a: login"), ("CEP0317", "b: payment")],
        ),
    ],
)
def test_what_costs_or_misleads_is_found(text: str, expected: list[tuple[str, str]]) -> None:
    assert warnings(USED + text) == expected


@pytest.mark.parametrize(
    ("query", "dear"),
    [
        ("recall", False),
        ("recall AND NOT test", False),
        ("NOT test", True),
        ("recall OR NOT test", True),
        ("2 of (recall, NOT test, NOT x)", True),
        ("reca*", False),
        ("*gate", True),
        ("/reg.x/", True),
        ("(recall OR -test) fire", False),
        (" OR ".join(f"w{n}" for n in range(1001)), True),
    ],
)
def test_queries_that_look_at_more_than_their_words_are_found(query: str, dear: bool) -> None:
    assert (reason_of(query) is not None) == dear


def test_an_expensive_query_is_reported_where_it_stands() -> None:
    text = 'pack p version "1"\n' + ARTICLES + 'rule r { on article[body matches "NOT test"] }'
    assert warnings(text, "") == [("CEP0315", 'body matches "NOT test"')]


def test_a_word_that_looks_like_an_operator_is_reported_inside_its_string() -> None:
    query = r'"\"a\u0062\" \u0057/5 c" or body matches "x or y" or body matches "x \"or\" y OR z"'
    head = f'pack p version "1"\n{ARTICLES}'
    rule = f"rule r {{ on article[body matches {query}] }}"
    assert warnings(head + rule, "") == [("CEP0318", r"\u0057/5"), ("CEP0318", "or")]
    (far, _) = load_texts([("a", head + rule)]).diagnostics
    assert (far.level, far.note) == ("warning", "PQ15")
    assert r"write `\"ab\" NEAR/5 c`" in far.help.replace(r"\u0062", "b")
    assert warnings(f"{head}# allow CEP0318: both words\n{rule}", "") == []


def test_some_lints_are_on_only_where_the_pack_requires_them() -> None:
    rule = "rule r { by card_id  match a: payment[n > 2] -> b: login  within 1h  emit n = a.n }\n"
    assert warnings(rule) == []
    assert warnings(f"# require CEP0312: the desk sorts by it\n{rule}") == [("CEP0312", "r")]
    assert warnings(f"{rule}# require CEP0313: we test\n") == [("CEP0313", "r")]
    assert warnings(f"# require CEP0314: names mean something\n{rule}") == [("CEP0314", "b")]
    test = 'test r "quiet" { at 0s payment {}  expect nothing }\n'
    assert warnings(f"# require CEP0313: we test\n{rule}{test}") == []
    every = test.replace("test r", "test *")
    assert warnings(f"# require CEP0313: we test\n{rule}{every}") == [("CEP0313", "r")]
    allowed = f"# require CEP0312: the desk sorts by it\n# allow CEP0312: no desk\n{rule}"
    assert warnings(allowed) == []


def test_a_step_name_that_tells_two_steps_apart_is_needed() -> None:
    reported = "# require CEP0314: names mean something\nrule other { on login }\n"
    pattern = "match a: payment[n > 2] -> b: payment -> c: payment  within 1h"
    assert warnings(f"{reported}rule r {{ by card_id  {pattern} }}") == [("CEP0314", "a")]
    plain = pattern.replace("c: ", "")
    assert warnings(f"{reported}rule r {{ by card_id  {plain} }}") == []
    hits = 'queries q { from "q.jsonl" }\nrule r { by card_id  match payment matching q -> login  within 1h }'
    assert ("CEP0314", "payment") not in warnings(f"{reported}{hits}")


def test_a_requirement_of_what_is_on_anyway_is_reported() -> None:
    assert warnings(f"# require CEP0301: shards\n{USED}") == [("CEP0306", "# require CEP0301: shards")]
    assert warnings(f"# require CEP0312\n{USED}") == [("CEP0306", "# require CEP0312")]


def test_a_comment_with_a_reason_silences_the_next_line() -> None:
    rule = "rule r { match payment -> login  within 1h }"
    assert warnings(f"{USED}# allow CEP0301: few events\n{rule}") == []
    assert warnings(f"{USED}# allow CEP0303: later\n# allow CEP0301: few\n{rule}\n") == [
        ("CEP0306", "# allow CEP0303: later")
    ]
    assert warnings(f"{USED}# allow CEP0301\n{rule}") == [("CEP0306", "# allow CEP0301"), ("CEP0301", "r")]
    assert warnings(f"{USED}# allow CEP0301: far\n\n{rule}") == [
        ("CEP0306", "# allow CEP0301: far"),
        ("CEP0301", "r"),
    ]


def test_no_comment_silences_an_error() -> None:
    found = load_texts([("a", STREAMS + "# allow CEP0202: so what\nrule r { on payment[nope > 1] }")])
    assert found.pack is None
    assert [d.code for d in found.diagnostics] == ["CEP0202"]


ENDLESS_LINES = ("rule r {", "by card_id", "match a: payment[n > 1]", "-> b: login", "within unbounded }")
ALLOWED = "# allow CEP0307: few cards\n"


@pytest.mark.parametrize(
    "text",
    [
        ALLOWED + " ".join(ENDLESS_LINES),
        *(
            "\n".join((*ENDLESS_LINES[:n], ALLOWED + ENDLESS_LINES[n], *ENDLESS_LINES[n + 1 :]))
            for n in (0, 2, 3)
        ),
    ],
)
def test_an_allow_holds_for_what_begins_below_it_however_it_is_broken_into_lines(text: str) -> None:
    assert warnings(USED + text) == []


def test_an_allow_holds_for_nothing_that_began_above_it_or_begins_after() -> None:
    rules = "rule r {\n # allow CEP0301: no\n severity low\n match payment[n > 4] -> login  within 3h\n}"
    assert [code for code, _ in warnings(USED + rules)] == ["CEP0301", "CEP0306"]
