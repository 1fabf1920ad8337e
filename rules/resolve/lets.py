"""`let` declarations -> constants, in whatever order they name one another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rules import syntax, typed
from rules.resolve.declared import Declared
from rules.resolve.expression import expression
from rules.resolve.scope import Scope


def declare_lets(nodes: Sequence[syntax.Let], declared: Declared) -> None:
    """Add every constant to what is declared; one that could not be worked out as None."""
    by_name = {node.name.text: node for node in nodes}
    for node in _in_order(by_name, declared):
        declared.constants[node.name.text] = _constant(node, declared)


def _in_order(by_name: dict[str, syntax.Let], declared: Declared) -> list[syntax.Let]:
    """Each after those that it names; those that name themselves are reported and left out."""
    needs = {name: _names(node.value) & by_name.keys() for name, node in by_name.items()}
    users: dict[str, list[str]] = {name: [] for name in by_name}
    for name, needed in needs.items():
        for other in needed:
            users[other].append(name)
    waiting = {name: len(needed) for name, needed in needs.items()}
    ready = [name for name, count in waiting.items() if count == 0]
    ordered: list[syntax.Let] = []
    for name in ready:  # grows while it is read
        ordered.append(by_name[name])
        for user in users[name]:
            waiting[user] -= 1
            if waiting[user] == 0:
                ready.append(user)
    done = set(ready)
    left = {name: sorted(needed - done) for name, needed in needs.items() if name not in done}
    for name in _one_of_each_circle(left):
        message = f"constant `{name}` depends on itself"
        declared.findings.error("CEP0231", message, by_name[name].name.span)
    declared.constants.update(dict.fromkeys(left))
    return ordered


def _one_of_each_circle(needs: dict[str, list[str]]) -> Iterator[str]:
    """From each name to the first that it needs, until a name comes again: that is a circle."""
    order = {name: number for number, name in enumerate(needs)}
    seen: set[str] = set()
    for name in needs:
        path: dict[str, None] = {}
        at = name
        while at not in seen and at not in path:
            path[at] = None
            at = needs[at][0]
        if at in path:
            walked = list(path)
            yield min(walked[walked.index(at) :], key=order.__getitem__)
        seen.update(path)


def _names(node: object) -> set[str]:
    """All bare names of an expression."""
    return {
        part.names[0].text
        for part in typed.walk(node)
        if isinstance(part, syntax.Dotted) and len(part.names) == 1
    }


def _constant(node: syntax.Let, declared: Declared) -> typed.Literal | None:
    scope = Scope(declared, f"constant `{node.name.text}`")
    found = expression(node.value, scope)
    if found is None or isinstance(found, typed.Literal):
        return found
    message = f"{scope.subject} must be worked out before anything runs"
    declared.findings.error("CEP0226", message, node.value.span)
    return None
