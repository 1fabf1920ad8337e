"""Esper and our engine on one core: JSON to alerts, parsed events to alerts, one event alone."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from peers import alerts, java, strict
from peers.process import Conversation, conversation
from peers.turns import Comparison, Latency, Taken, measured

JVM = ("-Xms4g", "-Xmx4g")
"""A heap that is never short, taken at the start, so that it does not grow while it is measured. The
collector is the one that a JVM chooses on one core (Serial): the others have threads to share there."""
WARM_UP = 3
"""Turns before the first that counts; Esper's rate rises until about the third million of events."""
ACCEPT = {("json", 1): 3.5, ("parsed", 1): 2.5, ("parsed", 10): 8.0, ("parsed", 100): 15.0}
ALONE = 4_000


@dataclass(frozen=True, slots=True)
class Size:
    """So many rules over so many events of so many keys in every turn; `rare` are rules with few alerts."""

    rules: int
    events: int
    keys: int
    rare: bool = False

    def __str__(self) -> str:
        if self.rules == 1:
            return "1 rule"
        return f"{self.rules} rules, {'few' if self.rare else 'many'} alerts"


SIZES = (
    Size(1, 1_000_000, 100_000), Size(10, 250_000, 25_000), Size(10, 250_000, 25_000, True),
    Size(100, 50_000, 5_000), Size(100, 50_000, 5_000, True),
)  # fmt: skip
"""Ten events a key. With 100 rules of many alerts an event raises seven: writing is most of the work."""
SMALL = (
    Size(1, 20_000, 2_000), Size(10, 10_000, 1_000), Size(10, 10_000, 1_000, True),
    Size(100, 2_000, 200), Size(100, 2_000, 200, True),
)  # fmt: skip


def compare(folder: Path, turns: int, small: bool) -> Iterator[Comparison]:
    """The rows, one after the other; both processes are new for every number of rules."""
    for size in SMALL if small else SIZES:
        command = [sys.executable, "-m", "peers.ours.engine"]
        with (
            conversation(command, folder / "ours.log", 1) as ours,
            conversation(java.program("esper", JVM), folder / "esper.log", 1) as theirs,
        ):
            yield from _rows(folder, size, (ours, theirs), (turns, 1 if small else WARM_UP))


def _rows(
    folder: Path, size: Size, sides: tuple[Conversation, Conversation], turns: tuple[int, int]
) -> Iterator[Comparison]:
    rules = strict.rules(size.rules, size.rare)
    given: tuple[dict[str, object], ...] = (
        {"pack": strict.pack(rules)},
        {"rules": [asdict(rule) for rule in rules]},
    )
    starts = [side.ask("set_up", **asked)["seconds"] for side, asked in zip(sides, given, strict=True)]
    print(f"{size}: set up in {starts[0]:.1f} s (ours), {starts[1]:.1f} s (Esper)", flush=True)
    contest = _Strict(folder, strict.Feed(size.events, size.keys, size.rules), sides)
    for way, name in (("json", "JSON to alerts"), ("parsed", "parsed events to alerts")):
        contest.way = way
        pairs, same = measured(contest, turns[1], turns[0])
        # What is kept for the parsed events would count in the peak.
        peaks = (sides[0].peak(), sides[1].peak()) if way == "json" else None
        found = Comparison(
            f"Esper: {name}, {size}", "events", size.events, pairs,
            ACCEPT.get((way, size.rules)), peaks, same=same,
        )  # fmt: skip
        if way == "json" and size.rules == 1:
            found = replace(found, latencies=contest.alone())
        yield found


@dataclass(slots=True)
class _Strict:
    """The same file, or the same events read from it, to a file of alerts. `way` is json or parsed."""

    folder: Path
    feed: strict.Feed
    sides: tuple[Conversation, Conversation]
    way: str = "json"
    made: int = 0

    def prepare(self) -> None:
        for number in range(len(self.sides)):
            # Emptying the file of the turn before would count: a twentieth of ours with many alerts.
            self._out(number).unlink(missing_ok=True)
        self.feed.write(self._input, self.made)
        self.made += 1
        if self.way == "parsed":
            for side in self.sides:
                side.ask("load", path=str(self._input))

    def ours(self) -> Taken:
        return self._run(0)

    def theirs(self) -> Taken:
        return self._run(1)

    def check(self) -> str:
        return alerts.verdict(alerts.ours(self._out(0)), alerts.theirs([self._out(1)]))

    def alone(self) -> tuple[Latency, Latency]:
        """Each of some events alone, from its line to its alerts; what comes first warms up."""
        self.feed.write(self._input, self.made, ALONE)
        self.made += 1
        found = []
        for number, side in enumerate(self.sides):
            taken = side.ask("alone", path=str(self._input), out=str(self._out(number)))["microseconds"]
            found.append(Latency.of(taken[len(taken) // 4 :]))
        self.check()
        return found[0], found[1]

    def _run(self, number: int) -> Taken:
        given = {"path": str(self._input)} if self.way == "json" else {}
        return Taken.of(self.sides[number].ask(self.way, out=str(self._out(number)), **given))

    @property
    def _input(self) -> Path:
        return self.folder / "events.jsonl"

    def _out(self, number: int) -> Path:
        return self.folder / f"alerts-{number}.jsonl"
