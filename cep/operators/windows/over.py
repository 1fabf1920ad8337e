"""The operator of `over`: rules over windows of one key's events.

What it keeps of a key and a rule are its newest events, panes or sessions, as the rule's shape says
(cep.operators.windows.compile.shapes).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from cep.events import MAX_TIME
from cep.operators.operator import Operator
from cep.operators.windows.compile.shapes import Panes, shape_of
from cep.operators.windows.compile.window_plan import WindowPlan, window_plan
from cep.operators.windows.runtime.window_rows import KIND, WindowRows
from cep.plan.plan import StreamPlan
from cep.state.keyed_rows import Bools, Ints, Kept, KeyedRows, of_kind
from rules.typed import AtEachEvent, Hopping, Over, Pack, Rule, Tumbling

if TYPE_CHECKING:
    from cep.batch.arrivals import Arrivals
    from cep.batch.decisions import Decisions
    from cep.operators.operator import BatchContext
    from cep.state.named_texts import Cells


_DAY = 86_400 * 10**9


@dataclass(frozen=True, slots=True)
class WindowRules:
    """The rules over windows of one space. `chosen` marks by stream those of its atoms that choose events."""

    kind: ClassVar[str] = "over"
    rules: tuple[WindowPlan, ...]
    chosen: Mapping[str, Bools]


class OverOperator(Operator[WindowPlan, WindowRules]):
    """Rules over the windows of one key.

    What runs them is imported when they run: a process that only plans does without it.
    """

    kind = "over"
    state: ClassVar[Mapping[str, type[KeyedRows]]] = {KIND: WindowRows}
    has_generations = True

    def takes(self, rule: Rule) -> bool:
        """True for rules with `over`."""
        return isinstance(rule.body, Over)

    def plan(self, pack: Pack, rule: Rule, observed: bool) -> WindowPlan:  # noqa: ARG002
        """The plan: the shape of the windows, and what is read of them."""
        assert isinstance(rule.body, Over)
        return window_plan(pack, rule, rule.body)

    def group(self, rules: Sequence[WindowPlan], streams: Sequence[StreamPlan]) -> WindowRules:
        """The rules in order of identity."""
        chosen = {stream.stream: np.zeros(len(stream.atoms), bool) for stream in streams}
        for rule in rules:
            for stream, atom in rule.places[0].items():
                chosen[stream][atom] = True
        return WindowRules(tuple(sorted(rules, key=lambda rule: rule.identity)), chosen)

    def advance(
        self, group: WindowRules, kept: Kept, events: Arrivals, context: BatchContext
    ) -> tuple[list[Decisions], Kept]:
        """Evaluate the windows that the events and the watermark decide."""
        from cep.operators.windows.runtime.run_windows import run_windows

        found, rows = run_windows(group.rules, of_kind(kept, KIND, WindowRows), events, context)
        return found, {KIND: rows}

    def wanted(self, group: WindowRules, plan: str, events: Arrivals, numbers: Ints, keys: int) -> Bools:
        """Keys with an event that some rule takes."""
        found = np.zeros(keys, bool)
        for number, part in enumerate(events.parts):
            where, rows = events.rows_of(number)
            if part.layout.plan == plan:  # bits of another plan say nothing
                where = where.compress(part.predicates.any_of(group.chosen[part.stream], rows))
            found[numbers.take(where)] = True
        return found

    def due(self, group: WindowRules, kept: Kept, keys: int) -> Ints:  # noqa: ARG002
        """When a window ends, or nothing of it can be asked for any more."""
        return of_kind(kept, KIND, WindowRows).due(keys)

    def drains(self, rule: Rule) -> bool:
        """True of windows that are no event's own."""
        return isinstance(rule.body, Over) and not isinstance(rule.body.window, AtEachEvent)

    def open_until(self, rule: Rule, replaced: int) -> int | None:
        """The end of the last window that had begun; of sessions nobody knows it."""
        assert isinstance(rule.body, Over)
        match rule.body.window:
            case Tumbling(size) | Hopping(size):
                shape = shape_of(rule.body, ())
                assert isinstance(shape, Panes)
                if shape.zone is not None:  # its days are longer by an hour or so when clocks change
                    return min(replaced + size + _DAY, MAX_TIME)
                begun = (replaced - 1 - shape.origin) // shape.every * shape.every + shape.origin
                return min(begun + size, MAX_TIME)
            case _:
                return None

    def texts(self, group: WindowRules, kept: Kept, carried: bool) -> Iterator[Cells]:  # noqa: ARG002
        """Values of arguments that are kept."""
        rows = of_kind(kept, KIND, WindowRows)
        if not len(rows.heads):
            return iter(())
        from cep.operators.windows.runtime.restoring import texts_in

        return texts_in(group.rules, rows)


OVER = OverOperator()
