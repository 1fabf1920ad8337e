"""The contract of an operator: everything that the engine needs of one kind of rule.

An operator plans its rules (`plan`, `group`), runs them over a shard's events (`advance`), says when time
alone must wake a key (`due`), and takes what was kept under an earlier plan along (`carry`). What it keeps
between batches is keyed state by kind (cep.state.keyed_rows), in which rules have the numbers of their group.
`cep.operators.known` lists the operators.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Generic, Protocol, TypeVar

import numpy as np

from cep.counters import Counts
from cep.events import MAX_TIME
from cep.plan.plan import OperatorPlan, Plan, RulePlan, Space, StreamPlan
from cep.state.keyed_rows import Bools, Ints, Kept, KeyedRows
from rules.typed import Pack, Rule

if TYPE_CHECKING:
    from cep.batch.arrivals import Arrivals
    from cep.batch.clock import Clock
    from cep.batch.decisions import Decisions
    from cep.batch.taken import EventBook
    from cep.batch.texts import Texts
    from cep.batch.trace import Trace
    from cep.state.keys import Keys
    from cep.state.named_texts import Cells

Planned = TypeVar("Planned", bound=RulePlan)
Group = TypeVar("Group", bound=OperatorPlan)


@dataclass(frozen=True, slots=True)
class BatchContext:
    """Values that the operators of a space share in one shard and batch.

    `keys` are those that are looked at, `numbers` those of the events' keys, which rise where an operator of
    the space takes events key by key (`Operator.takes_by_time`). What is kept names
    texts by their places in `texts`, which only grows, and events by their numbers in `book`: those of this
    batch follow one another from `book.first` on. A space that is spread has no keys.
    `compiled` chooses the kernel; None: by the number of events. `counts` is added to.
    """

    plan: Plan
    space: Space
    clock: Clock
    keys: Keys
    numbers: Ints
    texts: Texts
    book: EventBook
    counts: Counts
    compiled: bool | None = None
    trace: Trace | None = None


class Delta(Protocol):
    """The state of some keys after a batch, beside that before it."""

    @property
    def changed(self) -> Ints:
        """The keys of which something is no more as it was, with repetitions."""

    def rest(self, changed: Bools) -> Kept:
        """The rows to be written: all of the keys that have `changed`, of others what is new."""


@dataclass(frozen=True, slots=True)
class Rewritten:
    """The delta that writes every key anew of which there was or is something."""

    before: Kept
    after: Kept

    @property
    def changed(self) -> Ints:
        """The keys of all rows."""
        kept = (rows.keys for of in (self.before, self.after) for rows in of.values())
        return np.concatenate([np.zeros(0, np.int64), *kept])

    def rest(self, changed: Bools) -> Kept:  # noqa: ARG002
        """Everything."""
        return self.after


class Operator(ABC, Generic[Planned, Group]):
    """One kind of rule. A value without state of its own: its methods are pure functions.

    `kind` names it; `state` gives for each kind of state that it keeps the form of its rows. The methods that
    are not abstract are right for operators whose state is flat rows without texts, and which look at
    every key that has an event.
    """

    kind: ClassVar[str]
    state: ClassVar[Mapping[str, type[KeyedRows]]] = {}
    has_generations: ClassVar[bool] = False
    """True if a rule that is deployed anew has nothing in common with one of the same text before."""

    @abstractmethod
    def takes(self, rule: Rule) -> bool:
        """True for the rules of this kind."""

    @abstractmethod
    def plan(self, pack: Pack, rule: Rule, observed: bool) -> Planned:
        """The plan of a rule. `observed`: it is to see every event of its streams, with all their fields."""

    @abstractmethod
    def group(self, rules: Sequence[Planned], streams: Sequence[StreamPlan]) -> Group:
        """The rules of a space, whose streams are given; the order of their numbers is that of identities."""

    @abstractmethod
    def advance(
        self, group: Group, kept: Kept, events: Arrivals, context: BatchContext
    ) -> tuple[list[Decisions], Kept]:
        """The rules' decisions about a batch's events, and the state of the context's keys after it.

        The events are those up to the watermark, in order of time, and in a space with keys key by key,
        unless all its operators take them as they come (`takes_by_time`).
        `kept` is everything that is kept of these keys; neither it nor the arrays in it are changed.
        """

    def takes_by_time(self, group: Group, plan: str, kept: Kept, events: Arrivals) -> bool:  # noqa: ARG002
        """True if `advance` takes these events in order of time, so that nobody puts them in order of key.
        Not asked where there is a trace or state to be carried."""
        return False

    def wanted(self, group: Group, plan: str, events: Arrivals, numbers: Ints, keys: int) -> Bools:  # noqa: ARG002
        """Of which of so many keys the state must be seen, to advance over events with keys of these numbers.

        Of other keys `advance` sees no state, and what it keeps of them is added to what was kept.
        `plan` is the id of the one that runs; events may have been evaluated under another.
        """
        return np.ones(keys, bool)

    def due(self, group: Group, kept: Kept, keys: int) -> Ints:  # noqa: ARG002
        """For each of so many keys the first instant at which time alone changes something about it: a batch
        whose watermark reaches it advances the key without an event."""
        return np.full(keys, MAX_TIME, np.int64)

    def carry(self, group: Group, kept: Kept, context: BatchContext) -> Kept:  # noqa: ARG002
        """State kept under another plan, in line with this one. Rules that are gone or have changed are
        out of it already, and the others have their new numbers (cep.operators.running)."""
        return kept

    def drains(self, rule: Rule) -> bool:  # noqa: ARG002
        """True if a rule that a deploy replaces goes on with what it left open."""
        return False

    def open_until(self, rule: Rule, replaced: int) -> int | None:  # noqa: ARG002
        """The instant at which all is over that a rule left open when it was replaced, at that watermark;
        None: when nothing is kept of it any more."""
        return None

    def texts(self, group: Group, kept: Kept, carried: bool) -> Iterator[Cells]:  # noqa: ARG002
        """The cells in which texts are named. `carried`: state that another plan left, before `carry`."""
        return iter(())

    def delta(self, group: Group, before: Kept, after: Kept) -> Delta:  # noqa: ARG002
        """The changes of a batch."""
        return Rewritten(before, after)
