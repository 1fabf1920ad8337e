"""A rule over windows, through the revisions that were deployed: which windows are alerts."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from cep.events import MAX_TIME, MIN_TIME
from cep.expressions.scalar import evaluate
from cep.reference.alternatives import Alternative, Event
from cep.reference.keys import distinct, labels
from cep.reference.runs import Decided, Key, Scope
from cep.reference.windows.aggregates import Surroundings, aggregate, is_estimated, values
from cep.reference.windows.views import Evaluation, View, evaluations
from rules.typed import (
    Aggregate,
    Aligned,
    AtEachEvent,
    Expression,
    Over,
    Path,
    PrevRef,
    Rule,
    Session,
    StepRef,
    TextMatch,
    Window,
    WindowAggregate,
    walk,
)

NEWEST = 100
"""Events of a window that its alert names."""


@dataclass(frozen=True, slots=True)
class Revision:
    """A rule from a deploy on, None where it has none of the name any more.

    `watermark` is where event time stood at the deploy, in nanoseconds, and `place` that of the first event
    to arrive after it.
    """

    rule: Rule | None
    watermark: int = MIN_TIME
    place: int = 0


@dataclass(frozen=True, slots=True)
class Judged:
    """A window as a rule saw it: `holds` says that its `having` was true, `raised` that this gave an alert.

    `open`: it is not judged yet, and stands as it is.
    """

    seen: Judgement
    rule: Rule
    holds: bool
    raised: bool
    open: bool


def judged(
    revisions: Sequence[Revision], events: Sequence[Event], until: int, around: Surroundings
) -> Iterator[Decided]:
    """The alerts of a rule up to a watermark, key by key.

    `events` are those of its stream in order of time, late ones left out. Revisions of one structure go on
    with what the one before left open; another one begins anew.
    """
    return (one.seen.alert(one.rule) for one in windows(revisions, events, until, around) if one.raised)


def windows(
    revisions: Sequence[Revision], events: Sequence[Event], until: int, around: Surroundings
) -> Iterator[Judged]:
    """As `judged`, every window as often as it was judged, and those that are still open."""
    begun = events[0].time if events else MAX_TIME
    seen = [event for event in events if event.time <= until]
    ages = [list(of) for _, of in itertools.groupby(revisions, key=_structure)]
    for age, after in zip(ages, [*ages[1:], None], strict=True):
        if age[0].rule is not None:
            yield from _Age(tuple(age), after[0] if after else None, begun, around).windows(seen, until)


def _structure(revision: Revision) -> str | None:
    return None if revision.rule is None else revision.rule.structure


@dataclass(frozen=True, slots=True)
class _Age:
    """Revisions of a rule that go on with one another, and the one after them, which does not.

    `begun`: when the stream's first event was, taken or not, under any key.
    """

    revisions: tuple[Revision, ...]
    after: Revision | None
    begun: int
    around: Surroundings

    def windows(self, events: Sequence[Event], until: int) -> Iterator[Judged]:
        """Their windows, key by key."""
        rule, first, after = _rule(self.revisions[0]), self.revisions[0], self.after
        mine = [event for event in events if event.place >= first.place]
        if after is not None and isinstance(self.window, AtEachEvent):
            mine = [event for event in mine if _before(after, event.time, event)]
        keys: dict[Key, list[Event]] = {}
        for event in distinct(rule.by, mine):
            key = labels(rule.by, event)
            if None not in dict(key).values() and self.takes(event):
                keys.setdefault(key, []).append(event)
        for key, of_key in keys.items():
            yield from self.of_key(key, of_key, until)

    def of_key(self, key: Key, events: list[Event], until: int) -> Iterator[Judged]:
        """The windows of a key. One of its own of each event raises an alert where `having` becomes true,
        another one as often as it is evaluated, but once."""
        was_true, raised = False, set[int]()
        for one in evaluations(self.body, events):
            if not self.is_own(one):
                continue
            rule = self.in_force(one)
            found = Judgement(
                one, key, self.window, max(self.begun, self.revisions[0].watermark), self.around
            )
            if one.time > until:
                yield Judged(found, rule, False, False, True)
                continue
            holds = found.holds(rule)
            known = was_true and not one.anew if isinstance(self.window, AtEachEvent) else one.name in raised
            if holds:
                raised.add(one.name)
            yield Judged(found, rule, holds, holds and not known, False)
            was_true = holds

    def is_own(self, one: Evaluation) -> bool:
        """True if the window begins while these revisions run; if the rule is taken away, ends so, too. What
        an event decided before the deploy stays decided."""
        if isinstance(self.window, AtEachEvent):
            return True
        after, first = self.after, one.view.events[0]
        if isinstance(self.window, Aligned) and one.view.start < self.revisions[0].watermark:
            return False
        if after is None:
            return True
        if after.rule is None:
            return _before(after, one.time, one.at)
        if isinstance(self.window, Session):
            return _before(after, first.time, first)
        return one.view.start < after.watermark or _before(after, one.time, one.at)

    def in_force(self, one: Evaluation) -> Rule:
        """The revision by which a window is evaluated: what was decided before a deploy stays."""
        begun = [r for r in self.revisions[1:] if not _before(r, one.time, one.at)]
        return _rule(begun[-1] if begun else self.revisions[0])

    def takes(self, event: Event) -> bool:
        """True if the event satisfies the window's condition."""
        scope = Scope(Alternative(), event, [event], None, self.around.text, {})
        return scope.holds(self.body.condition)

    @property
    def body(self) -> Over:
        """The values that all of them have in common."""
        body = _rule(self.revisions[0]).body
        assert isinstance(body, Over)
        return body

    @property
    def window(self) -> Window:
        """Their window."""
        return self.body.window


def _rule(revision: Revision) -> Rule:
    assert revision.rule is not None
    return revision.rule


def _before(deploy: Revision, time: int, event: Event | None) -> bool:
    """True if it was decided before a deploy: by an event that had come, or by a deadline that had passed."""
    return time <= deploy.watermark and (event is None or event.place < deploy.place)


@dataclass(frozen=True, slots=True)
class Judgement:
    """What `having` and `emit` see of a window. Of one before it that begins before `watching` nothing is
    known."""

    of: Evaluation
    key_: Key
    shape: Window
    watching: int
    around: Surroundings

    def holds(self, rule: Rule) -> bool:
        """Unknown is not true."""
        assert isinstance(rule.body, Over)
        return evaluate(rule.body.having, self) is True

    def alert(self, rule: Rule) -> Decided:
        """The alert."""
        view, at, step = self.of.view, self.of.at, self.around.step
        newest = view.events[-NEWEST:]
        return Decided(
            rule.name,
            "window",
            self.key_,
            self.of.time,
            ((step, tuple(event.id for event in newest)),),
            tuple((item.name, evaluate(item.value, self)) for item in rule.emit),
            (0, view.start) if at is None else (1, at.place, view.start),
            taken=((step, tuple(event.place for event in newest)),),
            window=(view.start, view.end, None if at is None else at.id),
            approximate=tuple(item.name for item in rule.emit if self.is_estimate(item.value)),
        )

    def is_estimate(self, value: Expression) -> bool:
        """True if a sketch has part in the value."""
        named = (part for part in walk(value) if isinstance(part, WindowAggregate) and part.argument)
        seen = ((ref, self.view(ref)) for ref in named)
        return any(
            is_estimated(ref, values(ref, view, self.around.text), self.shape) for ref, view in seen if view
        )

    def view(self, ref: WindowAggregate) -> View | None:
        """The window that an aggregate is taken of; None where it is not wholly known."""
        if ref.which == "this":
            return self.of.view
        view = self.of.earlier(ref)
        return view if view is not None and view.start >= self.watching else None

    def window(self, ref: WindowAggregate) -> object:
        """An aggregate over this window, or over one before it."""
        view = self.view(ref)
        return None if view is None else aggregate(ref, view, self.shape, self.around)

    def key(self, name: str) -> object:
        """A field of the key."""
        return dict(self.key_)[name]

    def field(self, path: Path) -> object:
        raise AssertionError(f"the field {'.'.join(path)} of a window")

    def step(self, ref: StepRef) -> object:
        raise AssertionError(f"the step {ref.step} of a window")

    def previous(self, ref: PrevRef) -> object:
        raise AssertionError(f"prev({'.'.join(ref.path)}) of a window")

    def aggregate(self, ref: Aggregate) -> object:
        raise AssertionError(f"{ref.function} of the step {ref.step} of a window")

    def text_match(self, ref: TextMatch) -> bool | None:
        raise AssertionError(f"a text condition on {'.'.join(ref.path)} of a window")
