"""A failing test of a rule over windows tells of the window as it stood; coverage, of what windows held."""

from __future__ import annotations

import pytest
from by_reference import reference_engine

from alerts.notation import json_value
from cep.inprocess.timelines import observer_of
from rules.packs import load_texts
from rules.testing import Coverage, RuleCoverage, coverage_text, result_json, result_text, run_test
from rules.typed import Pack

HEAD = """pack p version "1"
stream payment {
  id: string  at: timestamp  card: string?  amount: double  ok: boolean  id id  time at
}
"""
BURST = """rule burst {
  by card
  over payment[ok] tumbling 1 hour
  having count() > 3 * previous(count()) and sum(amount) > 100
  emit card, n = count()
}
"""
FAST = "rule fast { by card  over payment sliding 5 minutes having count() >= 3  emit card, n = count() }\n"


def told(rules: str, test: str) -> list[str]:
    """The lines of a test that fails, those below its timeline."""
    pack = load_texts([("p.rules", HEAD + rules + test)]).need()
    (one,) = pack.tests
    result = run_test(pack, one, reference_engine(pack), json_value)
    assert not result.passed
    story = observer_of(pack)(result.timeline.moments, one.rules)
    assert result_json(result, json_value, story)["passed"] is False
    lines = result_text(result, json_value, story).splitlines()
    first = next(n for n, line in enumerate(lines) if line.strip().startswith(("nearest", "the alert")))
    return [line.removeprefix("    ") for line in lines[first:]]


def test_the_window_that_was_judged_is_drawn_with_what_it_needed() -> None:
    assert told(
        BURST,
        """test burst "four" {
          at 10m payment { card: "c1", amount: 50, ok: true } x 2 every 1m
          at 65m payment { card: "c1", amount: 500, ok: false }
          at 70m payment { card: "c1", amount: 20, ok: true } x 4 every 1m
          at 130m payment { card: "c1", amount: 20, ok: true }
          expect at 3h { card: "c1" }
        }""",
    ) == [
        'nearest: the window of burst for card "c1" from 2h to 3h held 1 event (payment-8)',
        "  at 3h its `having` was not true:",
        "    8 |   having count() > 3 * previous(count()) and sum(amount) > 100",
        "      |          |       |   | |                 |   |           |",
        "      |          1       |   | 4                 |   20          false",
        "      |                  |   12                  false",
        "      |                  false",
        "  needed: `count()` more than 12; it was 1",
        "  needed: `sum(amount)` more than 100; it was 20",
    ]


def test_an_earlier_window_that_is_not_known_is_told() -> None:
    lines = told(
        BURST,
        """test burst "first" {
          at 10m payment { card: "c1", amount: 50, ok: true } x 4 every 1m
          expect at 1h { card: "c1", n: 4 }
        }""",
    )
    assert lines[0] == (
        'nearest: the window of burst for card "c1" from 0s to 1h held 4 events '
        "(payment-1, payment-2, payment-3, payment-4)"
    )
    assert lines[-1] == (
        "  `previous(count())` is null: the window that it looks at begins before the first event of "
        "`payment`, when the rule did not watch yet"
    )


def test_a_window_that_is_still_open_says_when_it_is_judged() -> None:
    lines = told(
        BURST,
        """test burst "open" {
          at 10m payment { card: "c1", amount: 50, ok: true } x 4 every 1m
          expect at 13m { card: "c1", n: 4 }
        }""",
    )
    assert lines[1] == "  the test ends at 13m, and the window is judged at 1h; until then it holds:"


@pytest.mark.parametrize(
    ("rule", "why"),
    [
        (FAST, "  at 3m its `having` is true, as at the event before: it raises when it becomes so"),
        (
            FAST.replace("sliding 5 minutes", "tumbling 5 minutes early"),
            "  at 3m its `having` is true, but this window has raised its alert before",
        ),
    ],
)
def test_what_was_raised_before_is_not_raised_again(rule: str, why: str) -> None:
    lines = told(
        rule,
        """test fast "again" {
          at 0s payment { card: "c1" } x 4 every 1m
          expect at 2m { card: "c1", n: 3 }
          expect at 3m { card: "c1", n: 4 }
        }""",
    )
    assert lines[0].startswith('nearest: the window of fast for card "c1" from ')
    assert lines[1] == why


def test_the_window_of_an_alert_that_came_otherwise_is_drawn() -> None:
    held = 'the alert at 12m: the window of fast for card "c1" from 7m to 12m held 3 events'
    assert told(
        FAST,
        """test fast "otherwise" {
          at 10m payment { card: "c1" } x 3 every 1m
          expect at 12m { card: "c1", n: 4 }
        }""",
    ) == [
        f"{held} (payment-1, payment-2, payment-3)",
        f"    5 | {FAST.strip()}",
        "      |                                                            |       |",
        "      |                                                            3       true",
    ]


def test_an_event_that_no_window_took_is_drawn() -> None:
    assert told(
        BURST,
        """test burst "refused" {
          at 10m payment { card: "c1", amount: 50, ok: false }
          expect at 1h { card: "c1" }
        }""",
    ) == [
        "nearest: no event satisfied burst",
        "  at 10m payment-1 is not taken into a window:",
        "    7 |   over payment[ok] tumbling 1 hour",
        "      |                |",
        "      |                false",
    ]


def test_an_event_without_a_key_is_told() -> None:
    (line,) = told(BURST, 'test burst "null" { at 10m payment { ok: true }  expect at 1h { n: 1 } }')
    assert line == (
        "nearest: no event satisfied burst: payment-1 has no `card`, and an event with a null in its key "
        "meets no rule"
    )


def test_the_window_under_the_expected_key_is_told() -> None:
    lines = told(
        FAST,
        """test fast "of c2" {
          at 0s payment { card: "c1" } x 2 every 1m
          at 10m payment { card: "c2" }
          expect at 10m { card: "c2" }
        }""",
    )
    assert lines[0] == 'nearest: the window of fast for card "c2" from 5m to 10m held 1 event (payment-3)'


def covered(rules: str, *tests: str) -> tuple[Pack, RuleCoverage]:
    """What tests show of one rule."""
    pack = load_texts([("p.rules", HEAD + rules + "\n".join(tests))]).need()
    coverage, observe = Coverage(pack), observer_of(pack)
    for test in pack.tests:
        result = run_test(pack, test, reference_engine(pack), json_value)
        coverage.add(result, observe(result.timeline.moments, test.rules))
    (found,) = coverage.rules()
    return pack, found


def sides(found: RuleCoverage, kind: str) -> dict[str, int]:
    (item,) = (item for item in found.items if item.kind == kind)
    return dict(item.sides)


def test_a_window_is_covered_when_it_held_two_events_and_one_was_outside_of_it() -> None:
    rule = FAST.replace("payment sliding", "payment[ok] sliding")
    together = 'test fast "a" { at 0s payment { card: "c", ok: true } x 3 every 1m  expect { n: 3 } }'
    apart = 'test fast "b" { at 0s payment { card: "c", ok: true } x 2 every 5m  expect nothing }'
    other = 'at 9m payment { card: "d", ok: true }'
    keys = f'test fast "c" {{ at 0s payment {{ card: "c", ok: true }}  {other}  expect nothing }}'
    _, found = covered(rule, together)
    assert (sides(found, "window"), sides(found, "event")) == (
        {"kept": 2, "left": 0},
        {"taken": 3, "refused": 0},
    )
    _, found = covered(rule, apart, keys)
    assert sides(found, "window") == {"kept": 0, "left": 1}
    _, found = covered(rule, keys)
    assert sides(found, "window") == {"kept": 0, "left": 0}


def test_what_no_test_shows_of_a_window_is_drawn_under_it() -> None:
    pack, found = covered(
        BURST, 'test burst "none" { at 0s payment { card: "c", ok: true }  expect nothing }'
    )
    drawn = coverage_text(pack, [found])
    assert "over payment[ok] tumbling 1 hour" in drawn
    for missing in ("never held two events, held every event of its key", "every event satisfied it"):
        assert missing in drawn


def test_last_1_events_need_not_hold_two() -> None:
    rule = "rule one { by card  over payment last 1 events having sum(amount) > 3 }\n"
    _, found = covered(rule, 'test one "a" { at 0s payment { card: "c" } x 2 every 1m  expect nothing }')
    assert sides(found, "window") == {"left": 1}
