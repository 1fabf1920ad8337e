"""Reports of a batch's counters: to the metrics, and in sentences where somebody should look."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypeVar, assert_never

from cep.counters import (
    AlternativesDropped,
    Count,
    RecordEvents,
    RecordFailures,
    UndecidedDocuments,
    of_kind,
    values,
)
from cep.losses import OverLimit, over_limit
from cep.operators.patterns.kernel.merge import MOST_ALTERNATIVES
from cep.web.desk.feeds import lags
from rules.typed import Match, On, Over, Rule

if TYPE_CHECKING:
    from cep.job.batches.driver import FinishedBatch
    from cep.web.metrics import Metrics

_Kind = TypeVar("_Kind", bound=Count)


class MetricsReporter:
    """Of one run of a job. `tell` is called with sentences for the user."""

    def __init__(self, metrics: Metrics, tell: Callable[[str], None]) -> None:
        self._metrics = metrics
        self._tell = tell
        self._undecided: set[tuple[str, str]] = set()
        self._not_recorded: dict[str, str] = {}

    def take(self, batch: FinishedBatch) -> None:
        """A batch that counts: one that was not replayed."""
        outcome, metrics = batch.outcome, self._metrics
        runs = Counter({rule.rule.name: 0 for rule in batch.plan.rules()})
        for (_, rule), number in outcome.runs.items():
            runs[rule] += number
        metrics.count(outcome.counts)
        for (pack, rule), lost in sorted(over_limit(outcome.counts).items()):
            self._over_limit(batch, pack, rule, lost)
        for unknown, number in _in_order(outcome.counts, UndecidedDocuments):
            self._not_known(unknown, number)
        for given_up, number in _in_order(outcome.counts, AlternativesDropped):
            self._too_many_alternatives(batch, f"{given_up.rule} of pack {given_up.pack}", number)
        self._record(batch)
        metrics.rules(batch.matches, runs)
        metrics.alerts(batch.alerts)
        metrics.batch(batch.seconds, batch.stages, outcome.state_bytes)
        metrics.packs(batch.manifest.revisions)
        metrics.lags(lags(batch))

    def _over_limit(self, batch: FinishedBatch, pack: str, name: str, lost: OverLimit) -> None:
        rule = next(plan.rule for plan in batch.plan.rules() if plan.name == (pack, name))
        told = f"dropped {lost.number(rule)} {lost.sentence(rule)}; {_without(rule)}"
        self._tell(f"batch {batch.number}: rule {name} of pack {pack} {told}")

    def _too_many_alternatives(self, batch: FinishedBatch, rule: str, number: int) -> None:
        given_up = f"{number:,} alternative{'' if number == 1 else 's'}"
        self._tell(
            f"batch {batch.number}: rule {rule} gave up {given_up} of its runs, the least preferred of more "
            f"than {MOST_ALTERNATIVES:,}; what they would have come to is not found"
        )

    def _record(self, batch: FinishedBatch) -> None:
        """Once for a stream and reason, and once when its events are recorded again."""
        counts = batch.outcome.counts
        failed = {one.stream: one.reason for one, _ in _in_order(counts, RecordFailures)}
        for stream, reason in failed.items():
            if self._not_recorded.get(stream) != reason:
                self._tell(
                    f"batch {batch.number}: events of {stream} are not recorded: {reason}; alerts are raised "
                    "as usual, and are shown without them"
                )
        written = {one.stream for one, _ in of_kind(counts, RecordEvents) if one.outcome == "written"}
        for stream in sorted((written - failed.keys()) & self._not_recorded.keys()):
            self._tell(f"batch {batch.number}: events of {stream} are recorded again")
            del self._not_recorded[stream]
        self._not_recorded |= failed

    def _not_known(self, of: UndecidedDocuments, number: int) -> None:
        """Once for a query: what it costs does not change with the next batch."""
        if (of.queries, of.query) not in self._undecided:
            self._undecided.add((of.queries, of.query))
            self._tell(
                f"query {of.query} of {of.queries} came to its limit on {number:,} of {of.stream}: whether "
                "it hits them is not known; `cep percolate --slow` measures queries"
            )


def _in_order(counts: Mapping[Count, int], kind: type[_Kind]) -> list[tuple[_Kind, int]]:
    """The counters of a kind with their numbers, by the values of their labels."""
    return sorted(of_kind(counts, kind), key=lambda one: values(one[0]))


def _without(rule: Rule) -> str:
    """The meaning of what a rule has dropped over its limit."""
    match rule.body:
        case Over():
            return "its windows are judged without them"
        case On() | Match():
            return "what they waited for is not found"
        case _:
            assert_never(rule.body)
