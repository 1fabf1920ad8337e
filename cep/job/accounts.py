"""What a batch counted: to the metrics, and in sentences where somebody should look."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING

from cep.job.progress import lags
from cep.losses import OverLimit, over_limit
from cep.matching.kernel import MOST_WAYS

if TYPE_CHECKING:
    from cep.job.driver import Batch
    from cep.metrics import Metrics


class Accounts:
    """Of one run of a job. `tell` is called with sentences for the user."""

    def __init__(self, metrics: Metrics, tell: Callable[[str], None]) -> None:
        self._metrics = metrics
        self._tell = tell
        self._undecided: set[tuple[str, str]] = set()

    def take(self, batch: Batch) -> None:
        """A batch that counts: one that was not replayed."""
        outcome, metrics = batch.outcome, self._metrics
        runs = Counter({rule.rule.name: 0 for rule in batch.plan.rules()})
        dropped = over_limit(outcome.counts)
        for (_, rule), number in outcome.runs.items():
            runs[rule] += number
        for name, number in sorted(outcome.counts.items()):
            match name:
                case ("events", stream, became):
                    metrics.events(stream, became, number)
                case ("runs", pack, rule, reason):
                    metrics.dropped(pack, rule, reason, number)
                    if reason == "limit":
                        self._over_limit(batch, pack, rule, dropped[pack, rule])
                case ("ways", pack, rule, _):
                    metrics.ways(pack, rule, number)
                    self._too_many_ways(batch, f"{rule} of pack {pack}", number)
                case ("poison", stream, stage):
                    metrics.poison(stream, stage, number)
                case ("overflows", "rule", pack, rule):
                    metrics.overflows("rule", pack, rule, number)
                case ("overflows", "stream", stream):
                    metrics.overflows("stream", "", stream, number)
                case ("queries", stream, queries, became):
                    metrics.queries(stream, queries, became, number)
                case ("undecided", stream, queries, query, _):
                    self._not_known(stream, queries, query, number)
                case _:
                    pass
        metrics.rules(batch.matches, runs)
        metrics.alerts(batch.alerts)
        metrics.batch(batch.seconds, batch.stages, outcome.state_bytes)
        metrics.packs(batch.manifest.revisions)
        metrics.lags(lags(batch))

    def _over_limit(self, batch: Batch, pack: str, name: str, lost: OverLimit) -> None:
        rule = next(plan.rule for plan in batch.plan.rules() if plan.name == (pack, name))
        runs = f"{lost.runs:,} run{'' if lost.runs == 1 else 's'}"
        self._tell(
            f"batch {batch.number}: rule {name} of pack {pack} dropped {runs} {lost.sentence(rule)}; "
            "what they waited for is not found"
        )

    def _too_many_ways(self, batch: Batch, rule: str, number: int) -> None:
        ways = f"{number:,} way{'' if number == 1 else 's'}"
        self._tell(
            f"batch {batch.number}: rule {rule} gave up {ways} in which runs might have gone on, the least "
            f"preferred of more than {MOST_WAYS:,}; what they would have come to is not found"
        )

    def _not_known(self, stream: str, queries: str, query: str, number: int) -> None:
        """Once for a query: what it costs does not change with the next batch."""
        if (queries, query) not in self._undecided:
            self._undecided.add((queries, query))
            self._tell(
                f"query {query} of {queries} came to its limit on {number:,} of {stream}: whether it hits "
                "them is not known; `cep percolate --slow` measures queries"
            )
