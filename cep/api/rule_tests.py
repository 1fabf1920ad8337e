"""The test blocks of a pack, run as `cep test` runs them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from rules.typed import Pack


@dataclass(frozen=True, slots=True)
class RuleTestResult:
    """The outcome of one test block.

    `label` is its rules and its title, as in `a, b "title"`; `file` and `line` are where it begins. `text` is
    what `cep test` prints: one line, and for a test that failed its timeline and how far the nearest run
    came.
    """

    label: str
    rules: tuple[str, ...]
    title: str
    file: str
    line: int
    passed: bool
    text: str = field(repr=False)

    def __str__(self) -> str:
        return self.text


def results(pack: Pack, wanted: str | None) -> tuple[RuleTestResult, ...]:
    """The results that `Pack.run_tests` returns. Raises re.error."""
    from alerts.notation import json_value
    from cep.inprocess.timelines import engine_of, observer_of
    from rules.testing import label, result_text, run_test, selected

    engine, observe = engine_of(pack), observer_of(pack)
    found = []
    for test in selected(pack, None if wanted is None else re.compile(wanted)):
        result = run_test(pack, test, engine, json_value)
        story = None if result.passed else observe(result.timeline.moments, test.rules)
        found.append(
            RuleTestResult(
                label(test),
                test.rules,
                test.title,
                test.span.file.name,
                test.span.line,
                result.passed,
                result_text(result, json_value, story),
            )
        )
    return tuple(found)
