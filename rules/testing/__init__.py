"""Runs the `test` blocks of packs: timeline -> engine -> comparison -> report.

No engine is known here: one is passed in as a function from a timeline to the alerts that it raises.
"""

from rules.testing.compare import Comparison, Seen, compare
from rules.testing.report import result_json, result_text
from rules.testing.run import Engine, RefusedError, Result, run_test, selected
from rules.testing.timeline import Arrival, Moment, Timeline, timeline

__all__ = [
    "Arrival",
    "Comparison",
    "Engine",
    "Moment",
    "RefusedError",
    "Result",
    "Seen",
    "Timeline",
    "compare",
    "result_json",
    "result_text",
    "run_test",
    "selected",
    "timeline",
]
