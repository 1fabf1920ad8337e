"""Runs the `test` blocks of packs: timeline -> engine -> comparison -> report.

No engine is known here: one is passed in as a function from a timeline to the alerts that it raises.
"""

from rules.testing.compare import Comparison, Seen, compare
from rules.testing.coverage import Coverage, RuleCoverage, percent
from rules.testing.coverage_report import coverage_json, coverage_text, share_text
from rules.testing.operands import Value
from rules.testing.report import result_json, result_text, summary
from rules.testing.run import Engine, RefusedError, Result, label, run_test, selected
from rules.testing.story import Happening, Story
from rules.testing.timeline import Arrival, Moment, Timeline, timeline

__all__ = [
    "Arrival",
    "Comparison",
    "Coverage",
    "Engine",
    "Happening",
    "Moment",
    "RefusedError",
    "Result",
    "RuleCoverage",
    "Seen",
    "Story",
    "Timeline",
    "Value",
    "compare",
    "coverage_json",
    "coverage_text",
    "label",
    "percent",
    "result_json",
    "result_text",
    "run_test",
    "selected",
    "share_text",
    "summary",
    "timeline",
]
