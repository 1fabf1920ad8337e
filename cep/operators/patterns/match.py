"""The operator of `match`: its rules become automata, which one call of the kernel runs for a whole space.

What it keeps of a key are live runs (those of strict sequences packed), the last events for `prev`
(histories), when events that an `absent` before the first step forbids were last seen, and matches to which a
live run may come again (raised).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

from cep.operators.operator import Operator
from cep.operators.patterns.compile.pattern_plan import PatternPlan, pattern_plan
from cep.operators.patterns.compile.space_tables import SpaceTables, space_tables
from cep.operators.patterns.runtime.kinds import HISTORIES, LAST_SEEN, PACKED, RAISED, RUNS
from cep.operators.patterns.runtime.packed_runs import PackedRuns
from cep.operators.patterns.runtime.runs import RunRows
from cep.plan.plan import StreamPlan
from cep.state.keyed_rows import Bools, FlatRows, Ints, Kept, KeyedRows
from rules.typed import Match, Pack, Rule

if TYPE_CHECKING:
    from cep.batch.arrivals import Arrivals
    from cep.batch.decisions import Decisions
    from cep.operators.operator import BatchContext
    from cep.operators.patterns.runtime.delta import GoingOn
    from cep.state.named_texts import Cells


class MatchOperator(Operator[PatternPlan, SpaceTables]):
    """Rules that match a pattern in the events of one key.

    What runs them is imported when they run: a process that only plans does without it.
    """

    kind = "match"
    state: ClassVar[Mapping[str, type[KeyedRows]]] = {
        RUNS: RunRows,
        PACKED: PackedRuns,
        HISTORIES: FlatRows,
        LAST_SEEN: FlatRows,
        RAISED: FlatRows,
    }

    def takes(self, rule: Rule) -> bool:
        """True for rules with `match`."""
        return isinstance(rule.body, Match)

    def plan(self, pack: Pack, rule: Rule, observed: bool) -> PatternPlan:
        """The plan with the rule's tables. Raises TooLargeError."""
        assert isinstance(rule.body, Match)
        return pattern_plan(pack, rule, rule.body, observed)

    def group(self, rules: Sequence[PatternPlan], streams: Sequence[StreamPlan]) -> SpaceTables:
        """The rules' tables, laid end to end."""
        return space_tables(rules, streams)

    def advance(
        self, group: SpaceTables, kept: Kept, events: Arrivals, context: BatchContext
    ) -> tuple[list[Decisions], Kept]:
        """Run every rule over the events."""
        from cep.operators.patterns.runtime.advance import run_patterns

        return run_patterns(group, kept, events, context)

    def takes_by_time(self, group: SpaceTables, plan: str, kept: Kept, events: Arrivals) -> bool:
        """True where all rules are strict sequences that run as sets."""
        from cep.operators.patterns.runtime.advance import only_sets

        return only_sets(group, plan, kept, events)

    def wanted(self, group: SpaceTables, plan: str, events: Arrivals, numbers: Ints, keys: int) -> Bools:
        """Keys with an event that a waiting run may wait for: others only begin runs."""
        from cep.operators.patterns.runtime.start_only import may_matter

        return may_matter(group, plan, events, numbers, keys)

    def due(self, group: SpaceTables, kept: Kept, keys: int) -> Ints:
        """When a run's time is over, or a past ends that is looked back at."""
        from cep.operators.patterns.runtime.due import due

        return due(group, kept, keys)

    def carry(self, group: SpaceTables, kept: Kept, context: BatchContext) -> Kept:
        """The runs with the registers that the rules' tables have now."""
        from cep.operators.patterns.runtime.carry import carried

        return carried(group, kept, context)

    def texts(self, group: SpaceTables, kept: Kept, carried: bool) -> Iterator[Cells]:
        """Registers of alternatives, which are evaluated again when carried, and values for `prev`."""
        from cep.operators.patterns.runtime.text_places import text_places

        return text_places(group, registers=not carried).of(kept)

    def delta(self, group: SpaceTables, before: Kept, after: Kept) -> GoingOn:
        """Of a key whose runs all stay, only those that have begun are written."""
        from cep.operators.patterns.runtime.delta import GoingOn

        return GoingOn.of(group, before, after)


MATCH = MatchOperator()
