"""Deploys of rules over windows: what they left open goes on under the old rule and the new one begins, as in
the reference, whatever is lost between batches."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from duel import Program, as_alert, pack_of, programs
from effort import examples
from event_tables import tables
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from random_windows import of_revisions, window_packs, window_rules

from alerts.notation import timestamp
from alerts.raised import Raised
from alerts.stages.order import in_order
from cep.inprocess.session import Session
from cep.packs.compile import compile_plan
from cep.plan.generations import Generations
from cep.shard.advance import MatchOptions

QUIET: Any = {"deadline": None, "suppress_health_check": list(HealthCheck)}


def deployed(program: Program, texts: Sequence[str]) -> list[dict[str, Any]]:
    """The alerts of the engine, with batch n under the n-th text, the last of which goes on."""
    session = new_session(program, texts[0])
    raised: list[Raised] = []
    offset = 0
    for number, batch in enumerate(program.batches):
        if 0 < number < len(texts):
            session.deploy([pack_of(texts[number])])
        raised += session.feed(tables(session.plan.packs[0], batch, offset))
        offset += len(batch)
        session.store()
        if number in program.restarts:
            session = restarted(session, program, texts)
    if program.drain:
        raised += session.drain()
        assert not session.plan.generations.closing
    return [one.alert.as_dict() for one in in_order(raised)]


def once(program: Program) -> Program:
    """The program without events that come again in a later batch.

    A new rule does not count an event that came before its deploy and waits; whether it counts one that comes
    again after it depends on whether the engine had the rule's key space before.
    """
    seen: set[tuple[str, object]] = set()
    batches = []
    for batch in program.batches:
        batches.append(tuple(one for one in batch if (one.stream, one.values["id_"]) not in seen))
        seen |= {(one.stream, one.values["id_"]) for one in batch}
    return replace(program, batches=tuple(batches))


def new_session(program: Program, text: str) -> Session:
    return Session(
        compile_plan([pack_of(text)]),
        program.shards,
        options=MatchOptions(compiled=program.compiled, merging=program.merging),
    )


def restarted(before: Session, program: Program, texts: Sequence[str]) -> Session:
    """A session that knows the snapshot, the packs' texts, and what a manifest says of generations."""
    packs = {pack.revision: pack for pack in map(pack_of, texts)}
    generations = Generations.of(json.loads(json.dumps(before.plan.generations.as_dict())))
    plan = compile_plan(
        [packs[pack.revision] for pack in before.plan.packs],
        generations=generations,
        replaced=[packs[revision] for revision in generations.revisions],
    )
    assert plan.id == before.plan.id
    session = Session(plan, program.shards, options=before.options)
    session.restore(before.snapshot())
    return session


def by_reference(program: Program, texts: Sequence[str]) -> list[dict[str, Any]]:
    """The same of the reference."""
    packs = {id(pack.rules[0]): pack for pack in map(pack_of, texts)}
    found = ((packs[id(rule)], one) for rule, one in of_revisions(program, texts))
    return [{**as_alert(pack, one), "revision": pack.revision} for pack, one in found]


def told(alert: dict[str, Any]) -> str:
    """All of it, in an order of its own."""
    time = alert["time"]
    names = ("id", "revision", "rule", "kind", "key", "emit", "events")
    return json.dumps([timestamp(time) if isinstance(time, int) else time, *(alert[name] for name in names)])


def assert_agreement(program: Program, texts: Sequence[str]) -> None:
    mine, theirs = deployed(program, texts), by_reference(program, texts)
    assert sorted(map(told, mine)) == sorted(map(told, theirs)), "\n".join([*texts, str(program)])


@settings(max_examples=examples(80), **QUIET)
@given(programs(texts=window_packs()), st.data())
def test_random_rules_through_random_deploys_are_as_in_the_reference(
    program: Program, data: st.DataObject
) -> None:
    head = program.text[: program.text.index("\nrule")]
    others = [f"{head}\n{data.draw(window_rules())}" for _ in range(data.draw(st.integers(1, 2)))]
    texts = [data.draw(st.sampled_from([program.text, *others])) for _ in program.batches]
    assert_agreement(once(program), [program.text, *texts[1:]])
