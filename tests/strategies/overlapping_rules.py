"""Rules of loops in loops over four values, whose conditions overlap.

An event fits several steps, so that a run goes on in many alternatives; what these have taken, and so what
they may still come to, differs. Cheap to make by chance, since one rule is tried with many feeds.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field

from duel import Program
from random_streams import SECOND, Arrival

HEAD = """pack p version "1"
stream e { id_: string  at: timestamp  k: string  v: long  id id_  time at  lateness 0s }
"""
VALUES = range(4)


def rule(chance: random.Random) -> str:
    """A rule `r` over HEAD, which the front end may refuse."""
    return f"rule r {{ match {_Rule(chance).text()} }}"


def fed(text: str, chance: random.Random) -> Program:
    """A pack with a few events of one key, one a second, in two batches; each event merges alternatives."""
    came = [
        Arrival("e", "0", "one", {"id_": f"{n}", "at": n * SECOND, "k": "x", "v": chance.choice(VALUES)})
        for n in range(chance.choice((6, 8, 10)))
    ]
    cut = chance.randrange(len(came))
    return Program(text, (tuple(came[:cut]), tuple(came[cut:])), crowd=0)


@dataclass(slots=True)
class _Rule:
    chance: random.Random
    names: Iterator[str] = field(default_factory=lambda: iter("abcdefghij"))
    seen: list[str] = field(default_factory=list)

    def text(self) -> str:
        pick, often = self.chance.choice, self._often
        begin = "" if often(0.7) else self._step("", "v == 0") + " -> "
        found = begin + self._group(1) + (self._absent() if often(0.15) else "")
        found += pick((" -> ", " -> ", " => ", " ~> ")) + self._step("", self._condition(0.7))
        if often(0.25):
            found += f" => not e[{self._condition(0.3)}]"
        elif often(0.15):
            found += self._absent()
        found += pick((" within 6s", " within 20s", " within 20s limit 3 runs", " within 20s limit 2 runs"))
        found += pick(("", "", " skip to next", " skip none"))
        found += f" having {self._about('2')}" if often(0.2) else ""
        return found + (" on timeout emit n = 1" if often(0.3) else "")

    def _often(self, share: float) -> bool:
        return self.chance.random() < share

    def _about(self, value: str) -> str:
        """A condition on what an earlier step took."""
        step, sign = self.chance.choice(self.seen), self.chance.choice(("<", "<=", ">", ">=", "==", "!="))
        function = self.chance.choice(
            ("last", "first", "min", "max", "sum", "count", "avg", "distinct", "second")
        )
        if function == "second":
            return f"first({step}.v, 1) {sign} {value}"
        if function in ("count", "distinct"):
            of = step if function == "count" else f"{step}.v"
            return f"{function}({of}) {sign} {self.chance.randrange(1, 3)}"
        return f"{function}({step}.v) {sign} {value}"

    def _condition(self, share: float) -> str:
        some = sorted(self.chance.sample(VALUES, self.chance.choice((2, 2, 3))))
        alone = f"v in ({', '.join(map(str, some))})"
        return f"{alone} and {self._about('v')}" if self.seen and self._often(share) else alone

    def _step(self, loop: str, condition: str) -> str:
        name = next(self.names)
        self.seen.append(name)
        return f"{name}: e[{condition}]{loop}"

    def _absent(self) -> str:
        return f" -> absent e[{self._condition(0)}] for {self.chance.choice((1, 2))}s"

    def _loop(self, optional: bool) -> str:
        pick = self.chance.choice
        loops = (
            ("*", "?", "*?", "??", "{0,2}") if optional else ("", "", "*", "+", "?", "{2,}", "+?", "{2,}?")
        )
        loop = pick(loops)
        if loop and loop not in ("?", "??"):
            loop += pick(("", "", " contiguous", " any"))
        if loop in ("?", "*", "+", "{2,}", "{0,2}") and self._often(0.25):
            loop += " each"
        return loop + pick(("", "", "", " gap 2s"))

    def _sequence(self, depth: int, length: int, optional: bool) -> str:
        found = self._step(self._loop(optional), self._condition(0.25))
        for _ in range(length - 1):
            if self._often(0.12):
                found += self._absent()
            if self._often(0.12):
                found += f"{self.chance.choice((' -> ', ' => '))}not e[{self._condition(0.3)}]"
            found += self.chance.choice((" -> ", " -> ", " -> ", " => ", " ~> "))
            inner = depth > 0 and self._often(0.4)
            found += (
                self._group(depth - 1) if inner else self._step(self._loop(optional), self._condition(0.25))
            )
        return found

    def _group(self, depth: int) -> str:
        loop = self.chance.choice(("+", "{2,}", "{3,}", "{2,3}", "*", "{2,}?", "+?", "+ each"))
        optional = self._often(0.35)
        if self._often(0.2):
            return f"({self._sequence(depth, 1, optional)} | {self._sequence(depth, 2, optional)}){loop}"
        return f"({self._sequence(depth, 2, optional)}){loop}"
