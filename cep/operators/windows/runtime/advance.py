"""A rule's windows over the events of a batch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cep.batch.texts import Texts
from cep.operators.windows.compile.window_plan import WindowPlan
from cep.operators.windows.runtime.evaluations import Advanced, RuleEvents, Watch
from cep.operators.windows.runtime.window_rows import WindowRows
from cep.state.named_texts import Cells


def advance(
    plan: WindowPlan,
    kept: WindowRows,
    events: RuleEvents,
    watch: Watch,
    texts: Texts,
    compiled: bool | None,
) -> Advanced:
    """The evaluations of a rule over some events and what was kept of it; `kept` is not changed.

    Texts are named by their places in `texts`, to which those of the events are added. `compiled` chooses the
    kernel; None: by the number of events.
    """
    raise NotImplementedError


def texts_in(plans: Sequence[WindowPlan], kept: WindowRows) -> Iterator[Cells]:
    """The cells in which the windows of these rules, by their numbers, name texts."""
    raise NotImplementedError
