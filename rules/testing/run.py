"""Runs tests: a timeline goes to the engine, its alerts to the comparison.

RefusedError    raised by an engine for an event that it cannot take
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from rules.testing.compare import Comparison, Notation, Seen, compare
from rules.testing.timeline import Moment, Timeline, timeline
from rules.typed import Pack, Test

Engine = Callable[[Sequence[Moment], tuple[str, ...]], Sequence[Seen]]
"""Feeds the moments to the rules of those names from an empty state and gives their alerts in order, those
that suppression keeps back marked as withheld.

Nothing is drained at the end. May raise RefusedError.
"""


class RefusedError(Exception):
    """An event of the test cannot be one: its place and the reason, in one clause."""


@dataclass(frozen=True, slots=True)
class Result:
    """The result of one test. `withheld` are alerts that `suppress` kept back: nothing need expect them."""

    pack: Pack
    test: Test
    timeline: Timeline
    comparison: Comparison
    withheld: tuple[Seen, ...] = ()

    @property
    def passed(self) -> bool:
        """True if every expectation was met, nothing else was raised and the test itself makes sense."""
        unexpected = self.comparison.others and (self.test.nothing or not self.test.allow_other)
        return not (self.timeline.problems or self.comparison.missing or unexpected)


def label(test: Test) -> str:
    """The label of a test: its rules and its title."""
    return f'{", ".join(test.rules)} "{test.title}"'


def selected(pack: Pack, wanted: re.Pattern[str] | None) -> tuple[Test, ...]:
    """The tests of a pack whose label the expression is found in; all of them without one."""
    return tuple(test for test in pack.tests if wanted is None or wanted.search(label(test)))


def run_test(pack: Pack, test: Test, engine: Engine, notation: Notation) -> Result:
    """Run one test. The engine may give alerts of other rules of the pack; they are not looked at."""
    line = timeline(pack, test)
    try:
        alerts = [seen for seen in engine(line.moments, test.rules) if seen.rule in test.rules]
    except RefusedError as error:
        line = replace(line, problems=(*line.problems, str(error)))
        alerts = []
    raised = [seen for seen in alerts if not seen.withheld]
    withheld = tuple(seen for seen in alerts if seen.withheld)
    return Result(pack, test, line, compare(pack, test, raised, notation), withheld)
