"""An automaton as a graph of nodes and arrows, and that as Graphviz DOT or Mermaid text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count

from cep.explanation.wording import duration, guarded, written
from cep.operators.patterns.compile.automaton import Automaton, Since, Transition, Watch
from rules.typed import Match

MATCH = "match"


@dataclass(frozen=True, slots=True)
class Arrow:
    """An edge from a node to another; `rank` is its place in order of preference, from 1."""

    source: str
    target: str
    label: str
    rank: int


@dataclass(frozen=True, slots=True)
class Graph:
    """Nodes by identifier with their labels, in the order of states; the last is the match."""

    nodes: tuple[tuple[str, str], ...]
    arrows: tuple[Arrow, ...]


def graph(machine: Automaton, match: Match) -> Graph:
    """The automaton's graph. A state is called after what just happened in it."""
    labels = _labels(machine)
    nodes = tuple((f"s{number}", label) for number, label in enumerate(labels))
    arrows = []
    for number, state in enumerate(machine.states):
        for rank, transition in enumerate(state.transitions, 1):
            target = MATCH if transition.target is None else f"s{transition.target}"
            arrows.append(Arrow(f"s{number}", target, _label(machine, transition), rank))
    having = "" if match.having is None else f"\nhaving {written(match.having.span)}"
    return Graph((*nodes, (MATCH, f"match{having}")), tuple(arrows))


def _labels(machine: Automaton) -> list[str]:
    """Names of states: from the transition that leads there, numbered where several have the same."""
    shown: dict[int, str] = {0: "start"}
    for state in machine.states:
        for transition in state.transitions:
            if transition.target is not None and transition.target not in shown:
                shown[transition.target] = (
                    "waited" if transition.step is None else f"after {machine.steps[transition.step].name}"
                )
    numbers: dict[str, Iterator[int]] = {}
    found = []
    for number in range(len(machine.states)):
        label = shown.get(number, f"state {number}")
        same = numbers.setdefault(label, count(1))
        place = next(same)
        found.append(label if place == 1 else f"{label} ({place})")
    return found


def _label(machine: Automaton, transition: Transition) -> str:
    parts = []
    if transition.step is not None:
        step = machine.steps[transition.step]
        sign = "" if transition.sign == "->" else f"{transition.sign} "
        condition = "" if step.condition is None else f"[{written(step.condition.span)}]"
        name = step.stream if step.name == step.stream else f"{step.name}: {step.stream}"
        parts.append(f"{sign}{name}{condition}")
    if transition.kind == "timer":
        parts.append(" or ".join(_when(since) for since in transition.over))
    if transition.gap is not None:
        parts.append(f"within {duration(transition.gap)} of the event before")
    for need in transition.needs:
        if need.kind == "at least":
            parts.append(f"after at least {need.number} rounds")
        elif need.kind == "below":
            parts.append(f"fewer than {need.number} rounds so far")
    parts += [f"until {guarded(machine.guards[watch.guard])}" for watch in transition.untils]
    parts += [_watched(machine, watch) for watch in transition.watches]
    for guard, back in transition.absences:
        parts.append(f"no {guarded(machine.guards[guard])} in the {duration(back)} before")
    return "\n".join(parts)


def _when(since: Since) -> str:
    if since.duration is None:
        return "when `within` is over"
    return f"after {duration(since.duration)}"


def _watched(machine: Automaton, watch: Watch) -> str:
    guard = guarded(machine.guards[watch.guard])
    return f"unless {guard} comes next" if watch.next_only else f"unless {guard}"


def dot(drawn: Graph, title: str) -> str:
    """Graphviz DOT."""
    lines = [
        "digraph rule {",
        f"  label={_quoted(title)};",
        "  rankdir=LR;",
        '  node [shape=box, style=rounded, fontname="Helvetica"];',
        '  edge [fontname="Helvetica", fontsize=10];',
    ]
    for name, label in drawn.nodes:
        shape = ", shape=doublecircle" if name == MATCH and "\n" not in label else ""
        lines.append(f"  {name} [label={_quoted(label)}{shape}];")
    for arrow in drawn.arrows:
        lines.append(f"  {arrow.source} -> {arrow.target} [label={_quoted(_ranked(drawn, arrow))}];")
    return "\n".join([*lines, "}"]) + "\n"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def mermaid(drawn: Graph, title: str) -> str:
    """A Mermaid flowchart."""
    lines = ["---", f"title: {title}", "---", "flowchart LR"]
    for name, label in drawn.nodes:
        opening, closing = ("(((", ")))") if name == MATCH else ("(", ")")
        lines.append(f'  {name}{opening}"{_entities(label)}"{closing}')
    for arrow in drawn.arrows:
        label = _entities(_ranked(drawn, arrow))
        shaft = f'-- "{label}" -->' if label else "-->"
        lines.append(f"  {arrow.source} {shaft} {arrow.target}")
    return "\n".join(lines) + "\n"


def _entities(text: str) -> str:
    """Text in quotes of Mermaid: what it would read as markup is written as entities."""
    special = {'"': "#quot;", "#": "#35;", "<": "#lt;", ">": "#gt;", "`": "#96;", "\n": "<br/>"}
    return "".join(special.get(char, char) for char in text)


def _ranked(drawn: Graph, arrow: Arrow) -> str:
    """The label, with the place in order of preference where there is a choice."""
    choices = sum(other.source == arrow.source for other in drawn.arrows)
    rank = f"{arrow.rank}. " if choices > 1 else ""
    return f"{rank}{arrow.label}".rstrip()
