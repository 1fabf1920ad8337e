"""The score of the rules against the labels: by rule, and precision and recall by scenario.

An alert accuses the payments that its last payment step took (`events` of the alert): of five usual
payments and an odd one, the odd one. Recall counts every fraud of the labels, also those of the
first days, for which no chargeback can be known yet.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from text_table import table

PURPOSE: dict[str, tuple[str | None, int, str]] = {
    "large_amount": ("payment", 1, "amounts above 220"),
    "compromised_terminal": ("taken", 2, "terminals with two chargebacks"),
    "complained_terminal": ("taken", 2, "terminals with a chargeback of a small amount"),
    "terminal_fraud_rate": (None, 2, "three chargebacks of two cards within a week"),
    "terminal_gone_quiet": (None, 2, "such terminals falling silent"),
    "spending_jump": ("odd", 3, "several times what is usual for the card"),
    "far_above_median": ("payment", 3, "several times the median of the card"),
    "unusual_amount": ("payment", 3, "three deviations above the card's own history"),
    "stolen_card_again": ("again", 3, "cards used on after a chargeback"),
    "probe_then_purchase": ("large", 3, "two small payments, then a large one"),
    "gift_cards": ("payment", 3, "what thieves buy"),
    "velocity": (None, 0, "three payments of a card in ten minutes"),
    "many_terminals": (None, 0, "a card at four terminals within an hour"),
    "large_in_a_row": ("large", 3, "three large payments in an hour (from revision 1.1)"),
}
"""Rule: the step that accuses (None: it accuses no payment), the scenario it is after (0: none), in words.

The step of a window is its stream; it accuses the newest payment.
"""


@dataclass(slots=True)
class RuleScore:
    """The alerts of one rule, and payment ids that they accuse."""

    alerts: int = 0
    accused: set[str] = field(default_factory=set)


def scores(alerts: Iterable[Mapping[str, object]]) -> dict[str, RuleScore]:
    """By rule, in the order of PURPOSE; `alerts` are alert objects."""
    found = {rule: RuleScore() for rule in PURPOSE}
    for alert in alerts:
        score = found[str(alert["rule"])]
        score.alerts += 1
        step = PURPOSE[str(alert["rule"])][0]
        if step is not None:
            events = alert["events"]
            assert isinstance(events, dict)
            score.accused.update(events[step][-1:] if alert["kind"] == "window" else events[step])
    return found


def report(found: Mapping[str, RuleScore], labels: Mapping[str, int]) -> str:
    """Two tables: every rule beside what it was written to catch, and every scenario."""
    rows: list[list[object]] = [
        ["rule", "written to catch", "scenario", "alerts", "payments", "right", "any fraud"]
    ]
    for rule, score in found.items():
        step, scenario, words = PURPOSE[rule]
        if step is None:
            rows.append([rule, words, scenario or "-", score.alerts, "-", "-", "-"])
            continue
        right = sum(labels[p] == scenario for p in score.accused)
        fraud = sum(labels[p] > 0 for p in score.accused)
        rows.append([rule, words, scenario, score.alerts, len(score.accused), right, fraud])
    by_scenario: list[list[object]] = [
        ["scenario", "frauds", "caught", "recall", "precision", "precision, any fraud"]
    ]
    for scenario in (1, 2, 3):
        frauds = {p for p, s in labels.items() if s == scenario}
        accused = set().union(*(found[r].accused for r, (_, s, _) in PURPOSE.items() if s == scenario))
        caught = frauds & accused
        by_scenario.append(
            [
                scenario,
                len(frauds),
                len(caught),
                len(caught) / len(frauds) if frauds else "-",
                len(caught) / len(accused) if accused else "-",
                sum(labels[p] > 0 for p in accused) / len(accused) if accused else "-",
            ]
        )
    return f"{table(rows)}\n\n{table(by_scenario)}"
