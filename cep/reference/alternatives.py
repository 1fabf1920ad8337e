"""The state of a run: what has happened to it and what it waits for.

A run is a tree of alternatives. Each leaf waits for something; the inner nodes say how they stand to one
another:

    Joint    they wait together: what happens first decides, and the rest are given up
    First    in order of preference: the next takes its place when one can no longer lead to a match
    Each     they go on independently, and each is a match of its own

All alternatives are kept, however many they become; what runs in production keeps fewer (decision 12).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from cep.events import MAX_TIME
from cep.expressions.held import value_at
from rules.typed import Guard, Path, Sign, Step


@dataclass(frozen=True, slots=True)
class Event:
    """One event. `place` ranks arrivals; `index` counts its key's events in the streams of the pattern."""

    stream: str
    id: str
    time: int
    values: Mapping[str, object]
    place: int
    index: int = 0

    def get(self, path: Path) -> object:
        """The field of that path; null inside a null record, a list of the values in a list of records."""
        return value_at(self.values, path)


@dataclass(frozen=True, slots=True)
class Watch:
    """An event that ends the alternative if it comes before `until`; `strict`: only as the very next event.

    The watch begins when the alternative has taken more than `after` events: with a repeated step's first
    event.
    """

    guard: Guard
    strict: bool = False
    until: int = MAX_TIME
    after: int = -1


@dataclass(frozen=True, slots=True)
class Alternative:
    """An alternative of a run: the events taken, in order, and when it came to where it waits now.

    `watches` are on until the next event is taken; `lookback` are the absences before the first event;
    `rounds` says for the steps of a group where in `taken` the present round begins.
    """

    taken: tuple[tuple[str, Event], ...] = ()
    time: int = 0
    watches: tuple[Watch, ...] = ()
    lookback: tuple[tuple[Guard, int], ...] = ()
    rounds: tuple[tuple[str, int], ...] = ()

    def take(self, step: str, event: Event) -> Alternative:
        """The alternative that has also taken the event."""
        return replace(self, taken=(*self.taken, (step, event)), time=event.time, watches=())

    def of(self, step: str) -> list[Event]:
        """The events that the step took, in order."""
        return [event for name, event in self.taken if name == step]

    @property
    def arrival(self) -> tuple[int, list[int]]:
        """Earlier first event, then arrival of the events taken."""
        return self.taken[0][1].index, [event.index for _, event in self.taken]


@dataclass(frozen=True, slots=True)
class Inside:
    """Conditions on every event taken inside the elements around a step: `until`s, gap, watches.

    An `until` is on when the alternative has taken more than so many events.
    """

    untils: tuple[tuple[Guard, int], ...] = ()
    gap: int = MAX_TIME
    watches: tuple[Watch, ...] = ()


Then = Callable[[Alternative], "Node"]
"""What is waited for after that: the tree of all that may come next for the alternative."""


@dataclass(frozen=True, slots=True)
class Option:
    """Waits for one event of a step. From `deadline` on it is too late."""

    step: Step
    sign: Sign
    alternative: Alternative
    inside: Inside
    deadline: int
    then: Then


@dataclass(frozen=True, slots=True)
class Timer:
    """Waits until a time, unless a watched event comes first."""

    alternative: Alternative
    inside: Inside
    deadline: int
    then: Then


@dataclass(frozen=True, slots=True)
class Ending:
    """Complete but for a last `=> not`: the next event decides, or the end of `within`."""

    alternative: Alternative
    deadline: int


@dataclass(frozen=True, slots=True)
class Done:
    """Complete. Raised when no preferred alternative is left."""

    alternative: Alternative
    deadline: int = MAX_TIME


@dataclass(frozen=True, slots=True)
class Joint:
    """Alternatives that wait together, the preferred before the others."""

    nodes: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class First:
    """Alternatives of which the first that comes to a match counts."""

    nodes: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Each:
    """Alternatives that are runs of their own."""

    nodes: tuple[Node, ...]


Leaf = Option | Timer | Ending | Done
Node = Leaf | Joint | First | Each | None
"""None: what can no longer lead to a match."""


def first(nodes: Iterable[Node]) -> Node:
    """The nodes in order of preference; behind a complete one nothing is needed."""
    alive: list[Node] = []
    for node in nodes:
        alive.extend(node.nodes if isinstance(node, First) else [node] * (node is not None))
        if alive and isinstance(alive[-1], Done):
            break
    return First(tuple(alive)) if len(alive) > 1 else alive[0] if alive else None


def each(nodes: Iterable[Node]) -> Node:
    """The nodes, independently."""
    alive = [node for node in nodes if node is not None]
    return Each(tuple(alive)) if len(alive) > 1 else alive[0] if alive else None


def joint(nodes: Iterable[Node]) -> Node:
    """The nodes, waiting together. One that is at its end stays in reserve behind those preferred to it.

    Nothing waits behind one that is complete, or of which an independent alternative is.
    """
    ordered: list[Node] = []
    waiting: list[Node] = []
    for part in _parts(nodes):
        if isinstance(part, Done | Ending):
            ordered += [_together(waiting), part]
            waiting = []
        else:
            waiting.append(part)
        if complete(part)[0]:
            break
    return first([*ordered, _together(waiting)])


def _parts(nodes: Iterable[Node]) -> Iterator[Each | Leaf]:
    for node in nodes:
        if isinstance(node, First | Joint):
            yield from _parts(node.nodes)
        elif node is not None:
            yield node


def _together(nodes: list[Node]) -> Node:
    return Joint(tuple(nodes)) if len(nodes) > 1 else nodes[0] if nodes else None


def move(node: Node, leaf: Callable[[Leaf], tuple[Node, bool]]) -> tuple[Node, bool]:
    """The tree after something happened, and whether it waited for that; `leaf` says so of a leaf."""
    match node:
        case None:
            return None, False
        case Joint(nodes):
            moved = [move(part, leaf) for part in nodes]
            if any(fits for _, fits in moved):
                return first(part for part, fits in moved if fits), True
            return joint(part for part, _ in moved), False
        case Each(nodes):
            moved = [move(part, leaf) for part in nodes]
            return each(part for part, _ in moved), any(fits for _, fits in moved)
        case First(nodes):
            moved = [move(part, leaf) for part in nodes]
            return first(part for part, _ in moved), any(fits for _, fits in moved)
        case _:
            return leaf(node)


def leaves(node: Node) -> list[Leaf]:
    """The leaves, the preferred before the others."""
    if isinstance(node, Joint | First | Each):
        return [leaf for part in node.nodes for leaf in leaves(part)]
    return [] if node is None else [node]


def complete(node: Node) -> tuple[list[Alternative], Node]:
    """The complete alternatives with none preferred left, and the tree without them and their reserve."""
    match node:
        case Done(alternative):
            return [alternative], None
        case Each(nodes):
            parts = [complete(part) for part in nodes]
            return [alternative for alternatives, _ in parts for alternative in alternatives], each(
                rest for _, rest in parts
            )
        case First((preferred, *reserve)):
            alternatives, rest = complete(preferred)
            return alternatives, rest if alternatives else first([rest, *reserve])
        case _:
            return [], node


def forks(node: Node) -> list[Node]:
    """The independent alternatives of a run, each a run of its own."""
    return [fork for part in node.nodes for fork in forks(part)] if isinstance(node, Each) else [node]
