"""Conditions of which it is certain before any event that they are never true, or always.

Conditions are read as conjunctions, each part in the light of those before it (interval arithmetic over
one value at a time; nothing is known of two values together). Three-valued: where a value may be null,
nothing about it is always true. What is found is certain; much is not found.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

from rules import typed
from rules.checks.atoms import Atom, atom, domain, is_never_null
from rules.checks.ranges import Range
from rules.checks.shapes import shape
from rules.source import Span

Certainty = Literal["never", "always", "open"]
_OTHER: dict[Certainty, Certainty] = {"never": "always", "always": "never", "open": "open"}


@dataclass(frozen=True, slots=True)
class Certain:
    """A part of a condition that decides nothing. `because` are parts before it that say so."""

    node: typed.Expression
    certainty: Literal["never", "always"]
    because: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class Truth:
    """The certain truth of a whole condition, and of its parts where nothing is certain of the whole."""

    certainty: Certainty
    because: tuple[Span, ...]
    parts: tuple[Certain, ...]


def truth_of(condition: typed.Expression, stream: typed.Stream | None) -> Truth:
    """The certain truth of a condition whose candidate is of that stream."""
    evaluation = _Evaluation(stream)
    certainty, because = evaluation.of(condition, False)
    parts = tuple(evaluation.parts) if certainty == "open" else ()
    return Truth(certainty, because, parts)


def implies(condition: typed.Expression | None, other: typed.Expression | None, stream: typed.Stream) -> bool:
    """True if it is certain that the other is true of every event of which the condition is."""
    if other is None:
        return True
    if condition is None:
        return truth_of(other, stream).certainty == "always"
    if shape(condition) == shape(other):
        return True
    evaluation = _Evaluation(stream)
    evaluation.of(condition, False)
    return evaluation.of(other, False)[0] == "always"


@dataclass(frozen=True, slots=True)
class _Known:
    """Knowledge of one value: where it lies, whether there is one, and what says so."""

    range: Range
    null: bool | None
    because: tuple[Span, ...] = ()


class _Evaluation:
    def __init__(self, stream: typed.Stream | None) -> None:
        self.parts: list[Certain] = []
        self._stream = stream
        self._known: dict[object, _Known] = {}
        self._trail: list[tuple[object, _Known | None]] = []

    def of(self, node: typed.Expression, negated: bool) -> tuple[Certainty, tuple[Span, ...]]:
        """The certain truth of the node, or of its negation; what it says when true is known from then on."""
        match node:
            case typed.Literal():
                return ("always" if node.value is (not negated) else "never"), ()
            case typed.Not():
                return self.of(node.operand, not negated)
            case typed.Logical():
                if (node.operator == "and") is not negated:
                    return self._all(node, negated)
                return self._any(node, negated)
            case typed.Compare() if shape(node.left) == shape(node.right):
                return self._same(node, negated)
            case _:
                tested = atom(node, negated)
                return ("open", ()) if tested is None else self._atom(tested, node.span)

    def _all(self, node: typed.Logical, negated: bool) -> tuple[Certainty, tuple[Span, ...]]:
        certainties: set[Certainty] = set()
        listed = _has_parts(node)
        for operand in node.operands:
            certainty, because = self.of(operand, negated)
            if listed:
                self._certain(operand, negated, certainty, because)
            if certainty == "never":
                return "never", (operand.span, *because)
            certainties.add(certainty)
        return ("always" if certainties == {"always"} else "open"), ()

    def _any(self, node: typed.Logical, negated: bool) -> tuple[Certainty, tuple[Span, ...]]:
        certainties: set[Certainty] = set()
        because: tuple[Span, ...] = ()
        listed = _has_parts(node)
        seen: dict[object, Span] = {}
        for operand in node.operands:
            with self._supposing():
                certainty, because = self.of(operand, negated)
            name = shape(operand)
            if name in seen and listed:
                self._certain(operand, negated, "never", (seen[name],))
            seen.setdefault(name, operand.span)
            if certainty == "always":
                return "always", because
            if listed:
                self._certain(operand, negated, certainty, because)
            certainties.add(certainty)
        if certainties == {"never"}:
            return "never", because
        return ("always" if self._cover(node, negated) else "open"), ()

    def _cover(self, node: typed.Logical, negated: bool) -> bool:
        """True if one of the operands is true of whatever value: they cannot all be false together."""
        with self._supposing():
            for operand in node.operands:
                tested = atom(operand, negated)
                if tested is None or tested.operator in ("null", "not null"):
                    continue
                known = self._of(tested.subject)
                narrowed = tested.narrow_to_false(known.range)
                if known.null is False and narrowed.is_empty:
                    return True
                self._learn(tested.subject, _Known(narrowed, known.null, known.because))
            return False

    def _same(self, node: typed.Compare, negated: bool) -> tuple[Certainty, tuple[Span, ...]]:
        """A value compared with itself."""
        if (node.operator in ("==", "<=", ">=")) is negated:
            return "never", ()
        return ("always" if self._of(node.left).null is False else "open"), ()

    def _atom(self, tested: Atom, span: Span) -> tuple[Certainty, tuple[Span, ...]]:
        known = self._of(tested.subject)
        if tested.operator in ("null", "not null"):
            null = tested.operator == "null"
            self._learn(tested.subject, _Known(known.range, null, (*known.because, span)))
            if known.null is None:
                return "open", ()
            return ("always" if known.null is null else "never"), known.because
        narrowed = tested.narrow(known.range)
        always = known.null is False and tested.narrow_to_false(known.range).is_empty
        self._learn(tested.subject, _Known(narrowed, False, (*known.because, span)[-3:]))
        if known.null is True or narrowed.is_empty:
            return "never", known.because
        return ("always" if always else "open"), known.because

    def _of(self, subject: typed.Expression) -> _Known:
        found = self._known.get(shape(subject))
        if found is not None:
            return found
        return _Known(domain(subject), False if is_never_null(subject, self._stream) else None)

    def _learn(self, subject: typed.Expression, known: _Known) -> None:
        name = shape(subject)
        self._trail.append((name, self._known.get(name)))
        self._known[name] = known

    @contextmanager
    def _supposing(self) -> Iterator[None]:
        """A scope: knowledge learnt inside is forgotten at its end."""
        start = len(self._trail)
        try:
            yield
        finally:
            while len(self._trail) > start:
                name, before = self._trail.pop()
                if before is None:
                    del self._known[name]
                else:
                    self._known[name] = before

    def _certain(
        self, node: typed.Expression, negated: bool, certainty: Certainty, because: tuple[Span, ...]
    ) -> None:
        """Remember a part that decides nothing, by what it says itself; a `not` around it turns that."""
        said = _OTHER[certainty] if negated else certainty
        if said != "open" and not (isinstance(node, typed.Logical) and _has_parts(node)):
            self.parts.append(Certain(node, said, because))


def _has_parts(node: typed.Logical) -> bool:
    """True if the parts are reported one by one: those of `between` have no text of their own."""
    return node.operands[-1].span != node.span
