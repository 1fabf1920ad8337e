"""The conditions of a rule, each with whose it is: what the lints over conditions go through."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rules import typed
from rules.checks.truth import Truth, truth_of


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition of a rule, `owner` being its step, guard, body or rule, and what is certain of it."""

    rule: typed.Rule
    owner: object
    node: typed.Expression
    truth: Truth


def conditions(pack: typed.Pack) -> Iterator[Condition]:
    """Every condition of a pack, in the order of its rules."""
    streams = {stream.name: stream for stream in pack.streams}
    for rule in pack.rules:
        for part in typed.walk(rule.body):
            if type(part) is typed.Literal:  # of which a condition may list many
                continue
            stream = streams.get(getattr(part, "stream", ""))
            for name, candidate in (("condition", stream), ("having", None)):
                node = getattr(part, name, None)
                if isinstance(node, typed.Expression):
                    yield Condition(rule, part, node, truth_of(node, candidate))
