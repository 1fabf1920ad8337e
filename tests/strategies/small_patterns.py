"""Small patterns over one stream of three kinds of event, and small streams for them.

Small enough that whatever may still come can be tried. A condition is a set of kinds, so that conditions
overlap. Whatever an alternative waits for can come: it needs at most MOST_NEEDED events, an `until` leaves
the steps inside its loop something to take, and no absence lasts as long as a gap. And two alternatives that
take the same events do so by different steps, but for absences of which one is left out.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from event_tables import Row
from hypothesis import HealthCheck, Phase
from hypothesis import strategies as st

from cep.operators.patterns.compile.too_many import OF_AUTOMATA
from cep.packs.unsupported import unsupported
from cep.reference import Decided, decided
from rules.packs import load_texts
from rules.typed import Pack

# A case is small as it is, and to make one that fails smaller takes long.
UNSHRUNK: dict[str, Any] = {
    "deadline": None, "suppress_health_check": list(HealthCheck), "phases": (Phase.explicit, Phase.generate),
}  # fmt: skip
"""Settings for tests that are slow where they fail."""
SECOND = 1_000_000_000
KINDS = "abc"
MOST_NEEDED = 4
HEAD = 'pack p version "1"\nstream e { id_: string  at: timestamp  k: string  g: string  id id_  time at }\n'
SKIPS = ("", "skip none", "skip none", "skip to next", "skip past last")

Stream = tuple[tuple[str, int], ...]
"""Kinds of event, each with the seconds since the one before it."""
Alerts = dict[tuple[str, tuple[tuple[str, tuple[str, ...]], ...]], int]
"""Times by kind and by what each step took, in order of name."""

_SETS = ("a", "a", "b", "b", "c", "ab", "bc", "abc")
_LOOPS = ("", "", "", "", "?", "*", "+", "{2}", "{1,2}", "{2,}", "??", "*?", "+?", "{1,2}?")
_EACH = ("?", "?", "*", "*", "+", "{1,2}")


def rows(stream: Stream, key: str = "x") -> list[Row]:
    """The events as the reference takes them, named by kind, place and key."""
    times = accumulate(after for _, after in stream)
    return [
        ("e", f"{kind}{n}{key}", {"id_": f"{kind}{n}{key}", "at": time * SECOND, "k": kind, "g": key})
        for n, ((kind, _), time) in enumerate(zip(stream, times, strict=True))
    ]


def streams(most: int) -> st.SearchStrategy[Stream]:
    """At most so many events; some of one instant."""
    event = st.tuples(st.sampled_from(KINDS), st.sampled_from((0, 0, 1, 1, 2, 4)))
    return st.lists(event, min_size=1, max_size=most).map(tuple)


def pack_of(rule: str) -> Pack:
    """The pack of one rule `r` with that body."""
    return load_texts([("p.rules", f"{HEAD}rule r {{ {rule} }}")]).need()


def accepted(rule: str) -> bool:
    """True if a rule is taken: the front end refuses some, others are too large to run."""
    pack = load_texts([("p.rules", f"{HEAD}rule r {{ {rule} }}")]).pack
    return pack is not None and not any(found.code in OF_AUTOMATA for found in unsupported(pack))


def alerts(pack: Pack, stream: Stream, until: int) -> Alerts:
    """The alerts of the reference once the watermark is there."""
    return by_content(decided(pack, rows(stream), until))


def by_content(told: Iterable[Decided]) -> Alerts:
    """Alerts of one rule by what they tell."""
    return {(one.kind, tuple(sorted(one.events))): one.time for one in told}


def source(kinds: str) -> str:
    """The stream, with a condition that just these kinds satisfy; `z` satisfies none."""
    return "e[" + " or ".join(f'k == "{kind}"' for kind in kinds) + "]"


@dataclass(frozen=True, slots=True)
class Part:
    """Some of a pattern: its text, the most events that a path through it needs, what its steps take."""

    text: str
    needs: int
    takes: tuple[str, ...] = ()


@dataclass(slots=True)
class _Pattern:
    draw: st.DrawFn
    independent: bool
    name: str
    named: int = 0

    def _pick(self, *choices: str) -> str:
        return self.draw(st.sampled_from(choices))

    def _once_in(self, count: int) -> bool:
        return self.draw(st.integers(1, count)) == count

    def whole(self) -> Part:
        found = self._sequence(2)
        if self._once_in(8):
            return _after(found, f" -> {self._absent()}")
        if self._once_in(12):
            return _after(found, f" => not {source(self._pick(*_SETS))}")
        return found

    def _sequence(self, depth: int) -> Part:
        found = Part("", 0)
        for place in range(self.draw(st.sampled_from((1, 1, 2, 2, 3)))):
            if place and self._once_in(6):
                found = _after(found, f" {self._pick('->', '=>')} not {source(self._pick(*_SETS))}")
            elif place and self._once_in(6):
                found = _after(found, f" -> {self._absent()}")
            signs = ("->", "->", "=>", "~>") if self.independent else ("->", "->", "=>")
            if place:
                guarded = " not " in found.text
                found = _after(found, f" {self._pick(*(signs[:3] if guarded else signs))} ")
            part = self._group(depth) if depth and self._once_in(2) else self._quantified(self._step())
            found = Part(found.text + part.text, found.needs + part.needs, (*found.takes, *part.takes))
        return found

    def _step(self) -> Part:
        kinds = self._pick(*_SETS)
        self.named += 1
        return Part(f"{self.name}{self.named}: {source(kinds)}", 1, (kinds,))

    def _group(self, depth: int) -> Part:
        sign = self._pick("->", "|", "|", "&", "&")
        parts = [self._sequence(depth - 1)]
        for _ in range(0 if sign == "->" else self.draw(st.sampled_from((1, 1, 1, 2)))):
            absent = sign == "&" and self._once_in(6)
            parts.append(Part(self._absent(), 0) if absent else self._sequence(depth - 1))
        text = "(" + f" {sign} ".join(part.text for part in parts) + ")"
        needs = (max if sign == "|" else sum)(part.needs for part in parts)
        return self._quantified(Part(text, needs, sum((part.takes for part in parts), ())))

    def _quantified(self, part: Part) -> Part:
        each = self.independent and self._once_in(3)
        loop = self._pick(*(_EACH if each else _LOOPS))
        if not loop:
            return part
        more = " " + self._pick("each", "each", "any", "each contiguous") if each else ""
        if not each and self._once_in(4):
            more = " contiguous"
        until = self._pick(*_SETS)
        if self._once_in(6) and all(set(kinds) - set(until) for kinds in part.takes):
            more += f" until {source(until)}"
        if self._once_in(10):
            more += " gap 20s"
        return Part(f"{part.text}{loop}{more}", part.needs * (2 if "{2" in loop else 1), part.takes)

    def _absent(self) -> str:
        return f"absent {source(self._pick(*_SETS))} for {self._pick('1s', '2s')}"


def _after(part: Part, text: str) -> Part:
    return Part(part.text + text, part.needs, part.takes)


def patterns(independent: bool, name: str = "s") -> st.SearchStrategy[str]:
    """Patterns that the front end takes; `independent`: with `~>`, `each` and `any`, too.

    Their steps are called `name` and a number.
    """
    drawn = st.composite(lambda draw: _Pattern(draw, independent, name).whole())()
    return drawn.filter(_is_small).map(lambda part: part.text)


def _is_small(part: Part) -> bool:
    return part.needs <= MOST_NEEDED and accepted(f"match {part.text} within unbounded")
