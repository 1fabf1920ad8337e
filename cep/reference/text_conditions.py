"""Text conditions of one row, by the percolator's own brute-force reading."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import assert_never

from cep.expressions.held import value_at
from cep.reference.runs import TextPredicate
from percolator.query.parse import parse
from percolator.reference import matches
from rules.text_schema import text_schema
from rules.typed import Guard, Match, On, Over, Pack, Step, TextMatch, walk


def text_predicate(*packs: Pack) -> TextPredicate:
    """A predicate: true if an event's values satisfy a text condition of one of the packs."""
    known = {}
    for pack in packs:
        for condition, name in _text_conditions(pack):
            fields = ((f.name, f.type, f.analyser) for f in pack.stream(name).fields)
            known[condition] = parse(condition.query), text_schema(fields, condition.path)

    def predicate(condition: TextMatch, values: Mapping[str, object]) -> bool:
        query, schema = known[condition]
        found = ((name, value_at(values, tuple(name.split(".")))) for name in schema.fields)
        document = {name: text for name, text in found if isinstance(text, str)}
        return matches(query, document, schema)

    return predicate


def _text_conditions(pack: Pack) -> Iterator[tuple[TextMatch, str]]:
    """Every text condition of a pack, with the stream that it is asked of."""
    for rule in pack.rules:
        for node in walk(rule.body):
            if isinstance(node, On | Over | Step | Guard) and node.condition is not None:
                yield from (
                    (part, node.stream) for part in walk(node.condition) if isinstance(part, TextMatch)
                )
        match rule.body:
            case On(stream):  # `emit` sees the event
                for item in rule.emit:
                    yield from ((part, stream) for part in walk(item) if isinstance(part, TextMatch))
            case Over(stream, having=having):  # aggregates see each event
                for seen in (having, *rule.emit):
                    yield from ((part, stream) for part in walk(seen) if isinstance(part, TextMatch))
            case Match():
                pass
            case _:
                assert_never(rule.body)
