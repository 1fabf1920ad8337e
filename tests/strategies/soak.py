"""Long runs of random programs, chunk by chunk: a line for each, and every program that fails is kept.

A chunk tries packs drawn from its seed, each with several feeds, cuts and restarts, through the reference
and both forms of the engine. It ends at the first program on which they differ; that one is shown at once,
and again when it is as small as it can be made: Hypothesis makes the pack smaller, and what can be left out
of the feed is.
"""

from __future__ import annotations

import base64
import pickle
import traceback
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache

from duel import (
    Answer,
    Program,
    accepted,
    by_engine,
    by_reference,
    difference,
    gave_up,
    pack_of,
    plan_of,
    program,
)
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st
from hypothesis.errors import Flaky

from cep.reference import TooManyAlternativesError
from rules.typed import (
    Absent,
    Aggregate,
    AnyOrder,
    Either,
    Group,
    Match,
    Over,
    Pack,
    PrevRef,
    Rule,
    Sequence,
    Step,
    StepRef,
    TextMatch,
    Unless,
    walk,
)

FEEDS = 5
"""Of a pack."""


@dataclass(slots=True)
class Tally:
    """Counts of distinct programs, their events, the alerts that were raised, programs that differ.

    `bounded` are those of which a run had more alternatives than the engine keeps, or than the reference can
    try: they are compared with nothing, since the interpreted engine takes minutes for some of them.
    `constructs` counts the programs in which each construct of the language stands, `matched` those of them
    that raised an alert.
    """

    programs: int = 0
    events: int = 0
    alerts: int = 0
    bounded: int = 0
    differences: int = 0
    constructs: Counter[str] = field(default_factory=Counter)
    matched: Counter[str] = field(default_factory=Counter)

    def __str__(self) -> str:
        return (
            f"{self.programs:,} programs, {self.events:,} events, {self.alerts:,} alerts, "
            f"{self.bounded:,} with too many ways, {self.differences:,} differ"
        )

    def add(self, other: Tally) -> None:
        """Count what another one counted."""
        self.programs += other.programs
        self.events += other.events
        self.alerts += other.alerts
        self.bounded += other.bounded
        self.differences += other.differences
        self.constructs += other.constructs
        self.matched += other.matched

    def count(self, program: Program, answer: Answer | None) -> None:
        """Count a program with its answer; None: it has too many alternatives."""
        if answer is None:
            self.bounded += 1
            return
        self.programs += 1
        self.events += sum(map(len, program.batches))
        self.alerts += len(answer.alerts)
        found = set(constructs(pack_of(program.text)))
        self.constructs.update(found)
        if answer.alerts:
            self.matched.update(found)


class DifferError(AssertionError):
    """The engines do not agree about a program."""


@st.composite
def families(draw: st.DrawFn, texts: st.SearchStrategy[str], most: int = 12) -> list[Program]:
    """A pack with several feeds, which cost less than packs."""
    text = draw(texts.filter(accepted))
    seeds = draw(st.lists(st.integers(0, 2**32 - 1), min_size=FEEDS, max_size=FEEDS, unique=True))
    return [program(text, seed, most) for seed in seeds]


def run_chunk(
    number: int, packs: int, source: st.SearchStrategy[list[Program]], show: Callable[[str], None]
) -> Tally:
    """Try so many packs of a seed, fewer if one fails. `show` is called with the program that does."""
    tally = Tally()
    tried: set[str] = set()
    smallest: list[Program] = []

    @seed(number)
    @settings(
        max_examples=packs, deadline=None, database=None, print_blob=False, report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(source)
    def chunk(family: list[Program]) -> None:
        new = [one for one in family if repr(one) not in tried]
        tried.update(map(repr, new))
        for one in family if smallest else new:
            found, answer = judged(one)
            if not smallest:
                tally.count(one, answer)
            if found:
                if not smallest:
                    tally.differences += 1
                    show(f"seed {number}, the first that differs:\n{found}\n{packed(one)}")
                smallest[:] = [one]
                raise DifferError

    try:
        chunk()
    except (DifferError, Flaky):
        least = smaller(smallest[0])
        show(f"seed {number}, as small as it can be made:\n{judged(least)[0]}\n{packed(least)}")
    return tally


def smaller(program: Program) -> Program:
    """The program without all that it differs without: restarts, cuts, events."""
    while True:
        for less in _less(program):
            if judged(less)[0]:
                program = less
                break
        else:
            return program


def _less(program: Program) -> Iterator[Program]:
    if len(program.batches) > 1:
        yield replace(program, batches=(sum(program.batches, ()),), restarts=frozenset())
    if program.restarts:
        yield replace(program, restarts=frozenset())
    for plain in ({"shards": 1}, {"crowd": None}):
        if replace(program, **plain) != program:  # type: ignore[arg-type]
            yield replace(program, **plain)  # type: ignore[arg-type]
    for number, batch in enumerate(program.batches):
        for place in range(len(batch)):
            left = (*batch[:place], *batch[place + 1 :])
            yield replace(program, batches=(*program.batches[:number], left, *program.batches[number + 1 :]))


def judged(program: Program) -> tuple[str, Answer | None]:
    """The difference of the engines on a program, and the reference's answer; None where it is not asked."""
    expected = None
    try:
        plan = _plan(program.text, program.crowd)
        compiled = by_engine(replace(program, compiled=True), plan=plan)
        if gave_up(compiled):
            return "", None
        plain = by_engine(replace(program, compiled=False), plan=plan)
    except Exception:  # what an engine stumbles over is a find, too
        return f"{program}\n{traceback.format_exc()}", None
    found = ""
    with suppress(TooManyAlternativesError):
        expected = by_reference(program)
        found = difference(program, expected, plain)
    if not found and (compiled.alerts, compiled.counts) != (plain.alerts, plain.counts):
        found = f"{program}\nthe two forms of the kernel differ\n{plain}\n{compiled}"
    return found, expected


_plan = lru_cache(maxsize=4)(plan_of)


def packed(program: Program) -> str:
    """The very program as a line of text."""
    return base64.b85encode(zlib.compress(pickle.dumps(program))).decode()


def unpacked(line: str) -> Program:
    """The program of a line that `packed` gave."""
    program = pickle.loads(zlib.decompress(base64.b85decode(line)))
    assert isinstance(program, Program)
    return program


def constructs(pack: Pack) -> Iterator[str]:
    """The constructs of the language in a pack, some of it more than once."""
    for rule in pack.rules:
        yield "by" if rule.by is not None else "without by"
        if isinstance(rule.body, Match):
            yield from _of_match(rule.body)
            yield from _of_elements(rule.body)
        elif isinstance(rule.body, Over):
            yield type(rule.body.window).__name__
        else:
            yield "on"
        yield from _of_expressions(rule)


def _of_match(body: Match) -> Iterator[str]:
    yield f"skip {body.skip.to}" + ("" if body.skip.step is None else " v")
    yield "within" if body.within is not None else "within unbounded"
    if body.having is not None:
        yield "having"
    if body.on_timeout is not None:
        yield "on timeout"
    if body.limit < 1_000:
        yield "limit"
    if len(body.streams) > 1:
        yield "several streams"
    names = [node.name for node in walk(body.pattern) if isinstance(node, Step)]
    if len(set(names)) < len(names):
        yield "a name twice"


def _of_elements(body: Match) -> Iterator[str]:
    for node in walk(body.pattern):
        match node:
            case Sequence(elements):
                for place, (sign, element) in enumerate(elements):
                    if isinstance(element, Unless):
                        yield f"{sign} not" + (" at the end" if element is elements[-1][1] else "")
                    elif isinstance(element, Absent):
                        where = "first" if place == 0 else "last" if element is elements[-1][1] else "between"
                        yield f"absent {where}"
                    elif place:
                        yield sign
            case Step() | Group() | Either() | AnyOrder():
                yield {Step: "step", Group: "group", Either: "|", AnyOrder: "&"}[type(node)]
                loop = node.quantifier
                if not loop.single:
                    yield f"{loop.mode} loop" + ("" if isinstance(node, Step) else " of a group")
                    yield f"{loop.own} loop"
                if loop.least == 0:
                    yield "optional"
                if node.until is not None:
                    yield "until"
                if node.gap is not None:
                    yield "gap"
            case _:
                pass


def _of_expressions(rule: Rule) -> Iterator[str]:
    for node in walk(rule.body):
        match node:
            case PrevRef():
                yield "prev"
            case TextMatch():
                yield "matches"
            case Aggregate(function):
                yield f"{function} in a condition"
            case StepRef():
                yield "a step's field in a condition"
            case _:
                pass
