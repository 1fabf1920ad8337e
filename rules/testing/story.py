"""The story of a test's runs, as an engine records it: for failure texts and for coverage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from rules.testing.operands import Value
from rules.testing.timeline import Arrival
from rules.typed import Guard, On, Over, Step

Kind = Literal[
    "began", "took", "tried", "prevented", "broken", "expired", "passed", "skipped", "dropped", "matched",
    "forked", "timed out", "stopped", "refused", "gave up", "waiting", "repeated",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Happening:
    """One thing that happened to a run, or to an event that might have begun one (`run` None).

    began, took     the step `node` took `event`
    tried           `event` did not satisfy the step, or a guard that was watching
    prevented       `event` satisfied the guard `node`
    broken          `event` was not the very next event that the step `node` wanted
    expired         `bound` was over, and the run with it; `timed out`: and raised
    stopped         `event` satisfied the `until` of a loop, the guard `node`, and the loop is over
    refused         it came to an end where `having` is not true
    passed          the time of the guard `node` was over undisturbed
    skipped         the match of run `by` ended the run
    dropped         `limit` ended it
    gave up         it went on without its least preferred ways, of which there were too many
    matched         it came to a match, or an event satisfied an `on` rule
    forked          it goes on as another run beside run `parent`
    waiting         it still waits at the end of the test, for `waits`, until the time `until`

    Of a rule over windows, whose `node` is its body, an event was taken or tried, and each time that a window
    was judged it `matched`, which raised the alert, was `refused`, or `repeated` what was raised or true
    before; it is `waiting` where it is still open. Then `window` are its bounds, `taken` the events in it,
    and `event` the one that it was judged at, None at its end.

    `failed` is "absence" where a step was tried and only what was to be absent before it stood in its way.
    `key` holds the key's fields as an alert shows them, times are nanoseconds since 1970, `taken` is what the
    run had taken by then, in order. `value` evaluates an expression as it was seen then.
    """

    kind: Kind
    rule: str
    key: tuple[tuple[str, object], ...]
    time: int
    run: int | None = None
    parent: int | None = None
    node: Step | Guard | On | Over | None = None
    event: Arrival | None = None
    taken: tuple[tuple[str, Arrival], ...] = ()
    bound: str = ""
    failed: str = ""
    by: int | None = None
    waits: tuple[str, ...] = ()
    until: int | None = None
    value: Value | None = None
    window: tuple[int, int] | None = None

    @property
    def of(self) -> tuple[str, tuple[tuple[str, object], ...], int | None]:
        """The run that it happened to: rule, key, number."""
        return self.rule, self.key, self.run


Story = Sequence[Happening]
"""Everything that happened in one test, in order; who waits at its end comes last."""
