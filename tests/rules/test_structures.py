"""The structure hash changes with what waiting runs depend on, and with nothing else."""

from __future__ import annotations

import pytest
from writing import STREAMS

from rules.packs import load_texts

RULE = """rule r {
  severity high
  by card_id
  match a: payment[amount < 2.00 and kind == "x" and country in ("a", "b")]{3,}
     -> b: payment[n > 20 * avg(a.n)]
  within 30 minutes
  having sum(a.n) > 5
  emit card_id, n = count(a), x = b.amount
  summary "{n}"
}"""
ON = "rule r { on payment[n > 5] by card_id emit n }"


def hashed(rule: str, streams: str = STREAMS) -> str:
    return load_texts([("a", streams + rule)]).need().rules[0].structure


KEPT = [
    ("2.00", "7"),
    ('"x"', '"y"'),
    ('("a", "b")', '("c", "d", "e")'),
    ("20 *", "30 *"),
    ("> 5", "> 6"),
    ("severity high", 'severity low  tags "a"  runbook "x"'),
    ("summary", "suppress 5m  summary"),
    ("summary", "episode 5m  summary"),
    ('"{n}"', '"{n} of {card_id}"'),
    ("x = b.amount", "y = b.amount, z = b.amount * 2 + count(a)"),
    ("rule r", "# why\nrule   r"),
    ("30 minutes", "1800s"),
]
CHANGED = [
    ("a: payment", "a: login"),
    ("{3,}", "{2,}"),
    ("{3,}", "{3,} contiguous"),
    ("{3,}", "{3,}?"),
    ("->", "=>"),
    ("amount < 2.00", "amount <= 2.00"),
    ("avg(a.n)", "sum(a.n)"),
    ("30 minutes", "31 minutes"),
    ("by card_id", "by kind"),
    ("having sum(a.n) > 5", ""),
    ("x = b.amount", "x = b.n"),
    ("x = b.amount", "x = first(a.n)"),
    ("within", "skip none within"),
    ("within", "limit 5 runs within"),
    ("summary", "on timeout emit card_id summary"),
    ("-> b:", "-> not login -> b:"),
]


@pytest.mark.parametrize(("old", "new"), KEPT)
def test_what_runs_do_not_depend_on_keeps_them(old: str, new: str) -> None:
    assert old in RULE
    assert hashed(RULE.replace(old, new, 1)) == hashed(RULE)


@pytest.mark.slow
@pytest.mark.parametrize(("old", "new"), CHANGED)
def test_what_runs_depend_on_changes_the_hash(old: str, new: str) -> None:
    assert old in RULE
    rule = RULE.replace(old, new, 1)
    if "login" in new and "not" not in new:
        rule = rule.replace('amount < 2.00 and kind == "x" and country in ("a", "b")', "n > 1")
        assert hashed(rule) != hashed(rule.replace("a: login", "a: payment"))
    elif new == "by kind":
        assert hashed(rule.replace("emit card_id", "emit kind")) != hashed(RULE)
    else:
        assert hashed(rule) != hashed(RULE)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("n: long", "n: double"),
        ("country: string?", "country: string"),
        ("time at }", "time at lateness 5s }"),
    ],
)
def test_the_definition_of_a_stream_belongs_to_it(old: str, new: str) -> None:
    other = STREAMS.replace(old, new, 1)
    assert hashed(RULE, other) != hashed(RULE)
    assert hashed(ON, other) != hashed(ON)


def test_streams_that_the_rule_does_not_read_do_not() -> None:
    assert hashed(RULE, STREAMS.replace("ok: boolean", "ok: long")) == hashed(RULE)


def test_a_rule_over_single_events_is_its_stream_and_key() -> None:
    assert hashed(ON) == hashed(ON.replace("n > 5", 'n < 7 and kind like "x"').replace("emit n", "emit kind"))
    assert hashed(ON) != hashed(ON.replace("by card_id", "by kind"))


WINDOW = """table m key id { id: string  risk: double }
rule r { by card_id  over payment[amount > 2 and kind like "a%" and m[kind].risk > 0.5]
  hopping 1 hour every 5 minutes
  having avg(n + 7) > 3 * previous(avg(n), 2) and card_id != "x"  emit card_id, n = count() }"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("> 3 *", "> 4 *"),
        ('"x"', '"y"'),
        ("n = count()", "n = count(), m = 2 * avg(n + 7)"),
    ],
)
def test_what_windows_do_not_depend_on_keeps_them(old: str, new: str) -> None:
    assert old in WINDOW
    assert hashed(WINDOW.replace(old, new, 1)) == hashed(WINDOW)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("1 hour", "2 hours"),
        ("every 5", "every 10"),
        ("hopping 1 hour every 5 minutes", "tumbling 1 hour"),
        ("hopping 1 hour every 5 minutes", "sliding 1 hour"),
        ("every 5 minutes", "every 5 minutes early"),
        ("hopping 1 hour every 5 minutes", 'tumbling 1 day zone "Europe/Berlin"'),
        ("amount > 2", "amount > 3"),
        ("a%", "b%"),
        ("n + 7", "n + 8"),
        ("avg(n), 2", "avg(n), 3"),
        ("previous(avg(n), 2)", "ago(avg(n), 1 day)"),
        ("n = count()", "n = max(n)"),
        ("amount > 2", "amount >= 2"),
        ("risk: double", "risk: long"),
        ("id: string", "id: string  since: timestamp  time since"),
    ],
)
def test_what_windows_depend_on_changes_the_hash(old: str, new: str) -> None:
    assert old in WINDOW
    assert hashed(WINDOW.replace(old, new, 1)) != hashed(WINDOW)


DERIVED = """rule r { by n  match h: hot[x > 1]{2}  within 1h }
rule make { on payment[amount > 5]  emit n, x = amount  into hot }"""


@pytest.mark.parametrize(
    ("old", "new", "changes"),
    [
        ("amount > 5", 'kind == "a"', False),
        ("emit n, x = amount", "emit x = amount, n", True),
        ("x = amount", "x = n", True),
        ("rule make", "rule made", True),
    ],
)
def test_a_reader_depends_on_the_fields_and_the_maker_of_a_derived_stream(
    old: str, new: str, changes: bool
) -> None:
    assert old in DERIVED
    assert (hashed(DERIVED.replace(old, new, 1)) != hashed(DERIVED)) == changes


def test_hits_of_other_queries_are_another_stream_and_those_of_another_file_are_not() -> None:
    queries = 'queries v { from "v" }\nqueries w { from "w" }\n'
    over_v, over_w = (queries + f"rule r {{ on payment matching {name} }}" for name in "vw")
    assert hashed(over_v) != hashed(over_w)
    assert hashed(over_w) == hashed(over_w.replace('"w"', '"elsewhere/w"'))


def test_a_corrected_clock_is_another_clock() -> None:
    streams = STREAMS.replace("at: timestamp", "at: timestamp  was: timestamp", 1)
    assert hashed(ON, streams) != hashed(ON, streams.replace("time at", "time at corrected by was, at", 1))


def test_hashes_stay_as_they_are() -> None:
    """Runs of a job that was started with an older version must find their rules again."""
    assert (hashed(RULE), hashed(ON)) == ("fd0458b3543aa062", "b7c4731207c44a34")
