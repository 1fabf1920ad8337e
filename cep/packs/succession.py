"""What becomes of rules when packs take the place of others: which begin, and which go on beside their
successors until what they left open is over."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass

from cep.events import MIN_TIME
from cep.operators import known
from cep.plan.generations import NO_GENERATIONS, Closing, Generations
from cep.plan.plan import Plan, RuleId, RuleName, RulePlan
from rules.source import Span
from rules.typed import Pack, QueryHits, Rule, Stream

Packs = Mapping[str, Pack]
"""By name."""


@dataclass(frozen=True, slots=True)
class Standing:
    """The rules of a job before a batch: since when (watermarks, of those that a deploy brought) and in which
    generations they are there."""

    since: Mapping[RuleName, int]
    generations: Generations


NOTHING_RAN = Standing({}, NO_GENERATIONS)


def succession(
    before: Standing, old: Packs, new: Packs, replaced: Iterable[Pack], batch: int, watermark: int
) -> Standing:
    """The rules from a batch on that is the first to run with new packs; `watermark` is the one before it.

    What was closing, of packs `replaced` before, goes on, unless the new packs have other streams.
    """
    earlier = {pack.revision: pack for pack in replaced}
    names = {(pack.name, rule.name) for pack in new.values() for rule in pack.rules}
    fresh = {name for pack in new.values() for name in begun(old.get(pack.name), pack)}
    since = {name: at for name, at in before.since.items() if name in names}
    numbers = {name: at for name, at in before.generations.begun.items() if name in names}
    closing = [one for one in before.generations.closing if _goes_on(one, earlier[one.revision], new)]
    for name, pack in old.items():
        for rule in drained(pack, new.get(name), new):
            of = (name, rule.name)
            at = before.since.get(of, MIN_TIME)
            number = before.generations.begun.get(of, 0)
            closing.append(Closing(name, rule.name, pack.revision, number, at, watermark))
    since |= dict.fromkeys(fresh, watermark)
    return Standing(since, Generations(numbers | dict.fromkeys(fresh, batch), tuple(closing)))


def _goes_on(closing: Closing, pack: Pack, packs: Packs) -> bool:
    rule = next(rule for rule in pack.rules if rule.name == closing.rule)
    return reads_as_before(pack, rule, packs)


def begun(before: Pack | None, after: Pack) -> set[RuleName]:
    """The rules that begin to watch when a pack takes the place of another."""
    old = {rule.name: rule.structure for rule in before.rules} if before else {}
    return {(after.name, rule.name) for rule in after.rules if old.get(rule.name) != rule.structure}


def drained(before: Pack, after: Pack | None, packs: Packs) -> Iterator[Rule]:
    """The rules of a pack that go on with what they left open: they have another structure in the pack after,
    and `packs`, which run then, have their streams as they were."""
    new = {} if after is None else {rule.name: rule for rule in after.rules}
    for rule in before.rules:
        changed = rule.name in new and new[rule.name].structure != rule.structure
        if changed and known.operator_of(rule).drains(rule) and reads_as_before(before, rule, packs):
            yield rule


def reads_as_before(pack: Pack, rule: Rule, packs: Packs) -> bool:
    """True if all streams that a rule of a pack reads are in the packs that run now as they were."""
    now = {stream.name: (stream, of) for of in packs.values() for stream in of.streams}
    for name in rule.streams:
        if name not in now:
            return False
        stream, of = now[name]
        if _content(pack, pack.stream(name)) != _content(of, stream):
            return False
    return True


def _content(pack: Pack, stream: Stream) -> object:
    """All that decides what events a stream has."""
    match stream.origin:
        case QueryHits(documents, queries):
            asked = next(one.content for one in pack.queries if one.name == queries)
            return meaning(stream), meaning(pack.stream(documents)), asked
        case _:
            return meaning(stream)


def meaning(stream: object) -> object:
    """A stream without the places where it is written."""
    if isinstance(stream, Span):
        return None
    if is_dataclass(stream):
        return (type(stream).__name__, *(meaning(getattr(stream, f.name)) for f in fields(stream)))
    if isinstance(stream, tuple):
        return tuple(meaning(part) for part in stream)
    return stream


def over(plan: Plan, watermark: int, kept: Mapping[RuleId, int]) -> set[Closing]:
    """The closing rules of which nothing is open after a batch, at its watermark; `kept` is of how many keys
    something is kept, by rule and generation."""
    return {
        rule.closing
        for rule in plan.rules()
        if rule.closing is not None and _is_over(rule, rule.closing, watermark, kept)
    }


def _is_over(rule: RulePlan, closing: Closing, watermark: int, kept: Mapping[RuleId, int]) -> bool:
    until = known.operator_of(rule.rule).open_until(rule.rule, closing.until)
    return not kept.get(rule.identity) if until is None else watermark >= until
