"""Timelines of test blocks through the functions that the job runs, plainly or with a trace."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from alerts.stages.decided import InProcess
from alerts.stages.suppress import Suppress
from cep.batch.trace import Trace
from cep.events import MIN_TIME, Events
from cep.inprocess.engines import Compiled
from cep.inprocess.rows import typed_events
from cep.packs.compile import compile_plan
from cep.plan.plan import Plan
from cep.resources.resource import Resources
from rules.testing import Arrival, Engine, Happening, Moment, RefusedError, Seen
from rules.typed import Match, Pack

if TYPE_CHECKING:
    from cep.reference.runs import TextPredicate

Observer = Callable[[Sequence[Moment], tuple[str, ...]], list[Happening]]
"""What happened to the runs of the rules of those names, while the moments went by."""
Note = Callable[[Sequence[Events], Sequence[Arrival], int], None]


def engine_of(pack: Pack) -> Engine:
    """Runs a timeline through the engine of the job, suppression applied, nothing drained."""
    plans, resources = _plans(pack, observed=False), Resources()

    def run(moments: Sequence[Moment], rules: tuple[str, ...]) -> list[Seen]:
        return _fed(pack, Compiled(plans(rules), True, resources=resources), moments, lambda *_: None)

    return run


def observer_of(pack: Pack) -> Observer:
    """Runs a timeline once more, with a trace of what happens to the runs of some rules.

    Where no test of a pack fails nothing of it is needed, and nothing loaded.
    """
    plans, resources = _plans(pack, observed=True), Resources()

    @cache
    def text() -> TextPredicate:
        from cep.reference.text_conditions import text_predicate

        return text_predicate(pack)

    def observe(moments: Sequence[Moment], rules: tuple[str, ...]) -> list[Happening]:
        from cep.inprocess.observing import Observed

        trace, observed = Trace(), Observed(pack, rules, text(), resources)
        patterns = {rule.name for rule in pack.rules if isinstance(rule.body, Match)}
        traced = tuple(name for name in rules if name in patterns)  # others are told of from what came
        with contextlib.suppress(RefusedError):  # the plain run has told of it
            _fed(pack, Compiled(plans(traced), True, trace, resources), moments, observed.note)
        return observed.story(trace, moments[-1].watermark if moments else MIN_TIME)

    return observe


def _plans(pack: Pack, observed: bool) -> Callable[[tuple[str, ...]], Plan]:
    """The plan of some rules of a pack: what a test costs is not to grow with rules that it does not test.

    A rule that makes a stream goes with all, as others may read it.
    """

    @cache
    def plan(names: tuple[str, ...]) -> Plan:
        rules = tuple(rule for rule in pack.rules if rule.name in names or rule.into is not None)
        return compile_plan([replace(pack, rules=rules)], observed=observed)

    return plan


def _fed(pack: Pack, engine: Compiled, moments: Sequence[Moment], note: Note) -> list[Seen]:
    stages = InProcess()
    seen: list[Seen] = []
    number = 0
    for moment in moments:
        events, refused = typed_events(pack, moment.arrivals, number)
        for letter in refused:
            arrival = moment.arrivals[letter.offset - number]
            if arrival.ahead:
                continue  # as the test says; where it does not, its timeline tells so
            raise RefusedError(f"the event of line {arrival.given.span.line}: {letter.reason}")
        note(events, moment.arrivals, number)
        number += len(moment.arrivals)
        passed = stages.decide(engine.feed(events, moment.watermark))
        seen.extend(Seen(one.time, json.loads(one.body)) for one in passed.on)
        withheld = passed.held.get(Suppress.name, ())
        seen.extend(Seen(one.time, json.loads(one.body), withheld=True) for one in withheld)
    return seen
